// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { list, object, text, textMap } from './field.ts'
import { urlPort, word } from './names.ts'
import { duration } from './quantity.ts'
import { upstreamAuth } from './upstream-auth.ts'

const nodeUrl = object(
  {
    url: text({
      description:
        'The URL: http, https, ws, wss, grpc or grpcs. `${NAME}` in it stands for a variable of the provider, also for all of it. A user and a password in it are sent as Basic authentication.',
      example: 'https://eth.alpha.example/v2/${API_KEY}',
      max: 2048,
      pattern: /^((https?|wss?|grpcs?):\/\/[^\s#/?]|[$][{])[^\s#]*$/,
      must: 'url must begin with http://, https://, ws://, wss://, grpc:// or grpcs:// and a host, or with ${NAME}, and have no space and no #',
      rules: [urlPort('url')],
    }),
    timeout: duration({
      name: 'timeout',
      description:
        'Time for one attempt at this URL. Unset: the router computes it from the method.',
      example: '3s',
      min: '1ms',
      max: '24h',
    }).optional(),
    addons: list(
      word('addons', { description: 'An add-on or an extension.', example: 'archive' }),
      {
        description:
          'Add-ons and extensions that this URL serves, such as debug, trace, archive and bundler. Methods that need one go to no other URL.',
        example: ['archive', 'debug'],
        max: 16,
        kind: 'set',
      },
    ).optional(),
    skipVerifications: list(
      word('skipVerifications', { description: 'A verification, or *.', example: 'chain-id' }),
      {
        description: 'Names of start-up verifications to leave out, or * for all.',
        example: ['*'],
        max: 32,
        kind: 'set',
      },
    ).optional(),
    auth: upstreamAuth.optional(),
    grpc: textMap({
      description:
        'Settings of a gRPC upstream, as the router names them. It has none yet: they have no effect, and its log warns of them.',
      example: { 'max-message-size': '16MiB' },
      max: 16,
      maxValueLength: 256,
    }).optional(),
  },
  {
    description: 'One URL of the node.',
    example: { url: 'https://eth.alpha.example/v2/${API_KEY}', addons: ['archive'] },
    rules: [
      {
        rule: "!has(self.auth) || !has(self.auth.tls) || self.url.matches('^(https|wss|grpcs|[$])')",
        message: 'auth.tls must be set only beside an https, wss or grpcs URL',
      },
      {
        rule: "!has(self.grpc) || self.url.matches('^(grpc|[$])')",
        message: 'grpc must be set only beside a grpc or grpcs URL',
      },
    ],
  },
)

/** The URLs that stand for one upstream. */
export const nodeUrls = list(nodeUrl, {
  description: 'One or more URLs that stand for this upstream and fail over among themselves.',
  example: [{ url: 'https://eth.alpha.example/v2/${API_KEY}' }],
  min: 1,
  max: 16,
  kind: ['url'],
})

export type NodeUrl = z.output<typeof nodeUrl>
