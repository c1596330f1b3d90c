// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { tiers } from '../../proxy/config/types.ts'
import { described } from './described.ts'
import { at, boolean, immutable, integer, list, object, oneOf, text, kindSchema } from './field.ts'
import { upstreamProviderNames } from './group.ts'
import { apiInterface, chainId, headerName, label, methodLists, urlPort, word } from './names.ts'
import { duration } from './quantity.ts'
import { namedValue, tls, variables } from './refs.ts'
import { upstreamProviderStatus } from './status.ts'

const ofUrl = (key: string, ...more: string[]) => described(`direct-rpc.node-urls.${key}`, ...more)

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

const upstreamAuth = object(ofUrl('auth-config'), {
  headers: list(
    ofUrl('auth-config.auth-headers'),
    namedValue(requestHeader, 'A header.', {
      name: 'Authorization',
      value: 'Bearer ${API_TOKEN}',
    }),
    {
      max: 16,
      kind: ['name'],
      rules: {
        'headers must have different names, ignoring case':
          'self.all(a, self.exists_one(b, a.name.lowerAscii() == b.name.lowerAscii()))',
      },
    },
  ).optional(),
  query: list(
    ofUrl('auth-config.auth-query'),
    namedValue(queryName, 'A query parameter.', {
      name: 'apikey',
      valueFrom: { secretKeyRef: { name: 'beta', key: 'apiKey' } },
    }),
    { max: 16, kind: ['name'] },
  ).optional(),
  tls: tls(
    'TLS settings, for https, wss and grpcs URLs. Unset: the CA certificates of the system are trusted.',
  ).optional(),
})

const limits = object(ofUrl('limits'), {
  perSecond: integer(ofUrl('limits.per-second'), [1, 100_000], 25).optional(),
  perDay: integer(ofUrl('limits.per-day'), [1, 1_000_000_000], 100_000).optional(),
  concurrent: integer(ofUrl('limits.concurrent'), [1, 100_000], 50).optional(),
})

const nodeUrl = object(
  'One URL of the node.',
  {
    url: text(
      'The URL: http, https, ws, wss, grpc or grpcs. `${NAME}` is replaced by a variable of the provider, which can be the whole URL. A user and a password are sent as Basic authentication.',
      {
        example: 'https://eth.alpha.example/v2/${API_KEY}',
        max: 2048,
        pattern: /^((https?|wss?|grpcs?):\/\/[^\s#/?]|[$][{])[^\s#]*$/,
        must: 'url must begin with http://, https://, ws://, wss://, grpc:// or grpcs:// and a host, or with ${NAME}, and have no space and no #',
        rules: urlPort,
      },
    ),
    timeout: duration(ofUrl('timeout'), ['1ms', '24h'], '3s').optional(),
    addons: list(
      ofUrl('addons', 'Methods that need one only go to such URLs.'),
      word('An add-on or an extension.', 'archive'),
      { example: ['archive', 'debug'], max: 16, kind: 'set' },
    ).optional(),
    skipVerifications: list(
      ofUrl('skip-verifications'),
      word('A verification, or *.', 'chain-id'),
      { example: ['*'], max: 32, kind: 'set' },
    ).optional(),
    limits: limits.optional(),
    maxBatch: integer(ofUrl('max-batch', 'Unset: 100.'), [1, 1_000], 20).optional(),
    maxLogBlocks: integer(ofUrl('max-log-blocks'), [1, 100_000_000], 10_000).optional(),
    compression: boolean(ofUrl('compression', 'Unset: true for https.'), false).optional(),
    traceContext: boolean(ofUrl('trace-context', 'Unset: false.'), true).optional(),
    auth: upstreamAuth.optional(),
  },
  {
    'auth.tls must be set only with an https, wss or grpcs URL':
      "!has(self.auth) || !has(self.auth.tls) || self.url.matches('^(https|wss|grpcs|[$])')",
  },
)

const nodeUrls = list(described('direct-rpc.node-urls'), nodeUrl, {
  example: [{ url: 'https://eth.alpha.example/v2/${API_KEY}' }],
  min: 1,
  max: 16,
  kind: ['url'],
})

export type NodeUrl = z.output<typeof nodeUrl>

const another = 'create another UpstreamProvider'

const spec = object(
  'Definition of the upstream.',
  {
    chainId: chainId(described('direct-rpc.chain-id', 'Immutable.'), 'ETH1', immutable(another)),
    apiInterface: apiInterface(
      'Interface of the upstream. The chain must have it. Immutable.',
      'jsonrpc',
      immutable(another),
    ),
    upstreamName: label(
      'Name of the upstream in metrics and headers, and the value of rpc-select-provider. Unique among the providers of a router that serve the same chain and interface. Unset: the name of the object. Immutable.',
      'alpha',
      immutable(another),
    ).optional(),
    groupLabel: label(described('direct-rpc.group-label'), 'external').optional(),
    tier: oneOf('primary serves; backup serves only when no primary upstream can.', tiers).default(
      'primary',
    ),
    ...methodLists('direct-rpc'),
    nodeUrls,
    variables: variables.optional(),
  },
  {
    [`upstreamName must not be added or removed: ${another}`]: at(
      '.upstreamName',
      'has(self.upstreamName) == has(oldSelf.upstreamName)',
    ),
    'every ${NAME} in a url must be the name of exactly one of variables': at(
      '.nodeUrls',
      "has(self.variables) || !self.nodeUrls.exists(u, u.url.replace('$${', '').contains('${'))",
      "!has(self.variables) || self.nodeUrls.all(u, u.url.replace('$${', '').split('${').size() == 1 + self.variables.map(v, u.url.replace('$${', '').split('${' + v.name + '}').size() - 1).sum())",
    ),
  },
)

/** An upstream: one provider's node for one chain and interface. */
export const upstreamProviderSchema = kindSchema(
  upstreamProviderNames.kind,
  "An upstream: one provider's node for one chain and interface. An RpcRouter of the same namespace selects it by its labels.",
  spec,
  upstreamProviderStatus,
  {
    'metadata.name must be at most 63 characters: it is used in headers and metrics':
      'self.metadata.name.size() <= 63',
  },
)

/** An UpstreamProvider as the operator reads it, with defaults. */
export type UpstreamProvider = z.output<typeof upstreamProviderSchema>
