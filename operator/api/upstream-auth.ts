// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { list, object, text } from './field.ts'
import { namedValue } from './refs.ts'
import { tls } from './tls.ts'

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
export const upstreamAuth = object(
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
