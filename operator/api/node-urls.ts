// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { list, object, text, textMap } from './field.ts'
import { headerName, urlPort, word } from './names.ts'
import { duration } from './quantity.ts'
import { namedValue, tls } from './refs.ts'
import type { z } from 'zod'

const requestHeader = headerName('Name of the header.', 'Authorization', {
  'name must not be a header that belongs to the connection, such as Connection or TE':
    "!self.lowerAscii().matches(r'^(connection|content-length|expect|http2-settings|keep-alive|proxy-(authenticate|authorization|connection)|te|trailer|transfer-encoding|upgrade)$')",
})

const queryName = text('Name of the parameter.', {
  example: 'apikey',
  max: 256,
  pattern: /^[^\s&=#]+$/,
  must: 'name must be the name of a query parameter, without spaces, &, = and #',
})

/** How the router authenticates itself to a node. */
const upstreamAuth = object(
  'How the router authenticates itself to this URL.',
  {
    headers: list(
      'Headers that are sent with every request to this URL.',
      namedValue(requestHeader, 'A header.', {
        name: 'Authorization',
        value: 'Bearer ${API_TOKEN}',
      }),
      {
        max: 16,
        kind: ['name'],
        rules: {
          'headers must have different names; case makes no difference':
            'self.all(a, self.exists_one(b, a.name.lowerAscii() == b.name.lowerAscii()))',
        },
      },
    ).optional(),
    query: list(
      "Parameters that are put at the head of the query string of every request to this URL. A client's own of the same names are left out.",
      namedValue(queryName, 'A query parameter.', {
        name: 'apikey',
        valueFrom: { secretKeyRef: { name: 'beta', key: 'apiKey' } },
      }),
      { max: 16, kind: ['name'] },
    ).optional(),
    tls: tls(
      'TLS settings, for https, wss and grpcs URLs. Unset: the authorities of the system are trusted.',
      { clientCertificate: { secretName: 'alpha-mtls' } },
    ).optional(),
  },
  { headers: [{ name: 'Authorization', value: 'Bearer ${API_TOKEN}' }] },
)

const nodeUrl = object(
  'One URL of the node.',
  {
    url: text(
      'The URL: http, https, ws, wss, grpc or grpcs. `${NAME}` in it stands for a variable of the provider, also for all of it. A user and a password in it are sent as Basic authentication.',
      {
        example: 'https://eth.alpha.example/v2/${API_KEY}',
        max: 2048,
        pattern: /^((https?|wss?|grpcs?):\/\/[^\s#/?]|[$][{])[^\s#]*$/,
        must: 'url must begin with http://, https://, ws://, wss://, grpc:// or grpcs:// and a host, or with ${NAME}, and have no space and no #',
        rules: urlPort,
      },
    ),
    timeout: duration(
      'Time for one attempt at this URL. Unset: the router computes it from the method.',
      ['1ms', '24h'],
      '3s',
    ).optional(),
    addons: list(
      'Add-ons and extensions that this URL serves, such as debug, trace, archive and bundler. Methods that need one go to no other URL.',
      word('An add-on or an extension.', 'archive'),
      { example: ['archive', 'debug'], max: 16, kind: 'set' },
    ).optional(),
    skipVerifications: list(
      'Names of start-up verifications to leave out, or * for all.',
      word('A verification, or *.', 'chain-id'),
      { example: ['*'], max: 32, kind: 'set' },
    ).optional(),
    auth: upstreamAuth.optional(),
    grpc: textMap(
      'Settings of a gRPC upstream, as the router names them. It has none yet: they have no effect, and its log warns of them.',
      { example: { 'max-message-size': '16MiB' }, max: 16, maxValueLength: 256 },
    ).optional(),
  },
  { url: 'https://eth.alpha.example/v2/${API_KEY}', addons: ['archive'] },
  {
    'auth.tls must be set only beside an https, wss or grpcs URL':
      "!has(self.auth) || !has(self.auth.tls) || self.url.matches('^(https|wss|grpcs|[$])')",
    'grpc must be set only beside a grpc or grpcs URL':
      "!has(self.grpc) || self.url.matches('^(grpc|[$])')",
  },
)

/** The URLs that stand for one upstream. */
export const nodeUrls = list(
  'One or more URLs that stand for this upstream and fail over among themselves.',
  nodeUrl,
  { example: [{ url: 'https://eth.alpha.example/v2/${API_KEY}' }], min: 1, max: 16, kind: ['url'] },
)

export type NodeUrl = z.output<typeof nodeUrl>
