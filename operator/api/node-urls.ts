// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { list, object, text, textMap } from './field.ts'
import { urlPort, word } from './names.ts'
import { duration } from './quantity.ts'
import { namedValue, tls } from './refs.ts'
import type { z } from 'zod'

const headerName = text({
  description: 'Name of the header.',
  example: 'Authorization',
  max: 256,
  pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/,
  must: 'name must be the name of an HTTP header',
  rules: [
    {
      rule: "!self.lowerAscii().matches(r'^(connection|content-length|expect|http2-settings|keep-alive|proxy-(authenticate|authorization|connection)|te|trailer|transfer-encoding|upgrade)$')",
      message: 'name must not be a header that belongs to the connection, such as Connection or TE',
    },
  ],
})

const queryName = text({
  description: 'Name of the parameter.',
  example: 'apikey',
  max: 256,
  pattern: /^[^\s&=#]+$/,
  must: 'name must be the name of a query parameter, without spaces, &, = and #',
})

/** How the router authenticates itself to a node. */
const upstreamAuth = object(
  {
    headers: list(
      namedValue(headerName, {
        description: 'A header.',
        example: { name: 'Authorization', value: 'Bearer ${API_TOKEN}' },
      }),
      {
        description: 'Headers that are sent with every request to this URL.',
        example: [{ name: 'Authorization', value: 'Bearer ${API_TOKEN}' }],
        max: 16,
        kind: ['name'],
        rules: [
          {
            rule: 'self.all(a, self.exists_one(b, a.name.lowerAscii() == b.name.lowerAscii()))',
            message: 'headers must have different names; case makes no difference',
          },
        ],
      },
    ).optional(),
    query: list(
      namedValue(queryName, {
        description: 'A query parameter.',
        example: { name: 'apikey', valueFrom: { secretKeyRef: { name: 'beta', key: 'apiKey' } } },
      }),
      {
        description:
          "Parameters that are put at the head of the query string of every request to this URL. A client's own of the same names are left out.",
        example: [{ name: 'apikey', valueFrom: { secretKeyRef: { name: 'beta', key: 'apiKey' } } }],
        max: 16,
        kind: ['name'],
      },
    ).optional(),
    tls: tls({
      description:
        'TLS settings, for https, wss and grpcs URLs. Unset: the authorities of the system are trusted.',
      example: { clientCertificate: { secretName: 'alpha-mtls' } },
    }).optional(),
  },
  {
    description: 'How the router authenticates itself to this URL.',
    example: { headers: [{ name: 'Authorization', value: 'Bearer ${API_TOKEN}' }] },
  },
)

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
