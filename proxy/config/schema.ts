// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { hostAndPortPattern } from './fields/address.ts'
import { kindKeyword, list } from './fields/field.ts'
import {
  address,
  boolean,
  duration,
  integer,
  oneOf,
  text,
  apiInterface,
  chainId,
  filePath,
  label,
  word,
} from './fields/fields.ts'
import { authHeaders, authQuery, secretText } from './fields/upstream-auth.ts'
import { upstreamUrl } from './fields/upstream-url.ts'
import { relaying, settingNames, settings } from './settings.ts'
import { Scalar } from './yaml/scalar.ts'

/** What a TLS connection needs, to an upstream or to a store. */
export const tlsSchema = z.strictObject({
  'ca-file': filePath()
    .optional()
    .describe('PEM file of the authorities to trust instead of those of the system.'),
  'cert-file': filePath()
    .optional()
    .describe('PEM file of the client certificate. Needs `key-file`.'),
  'key-file': filePath().optional().describe('PEM file of the client key. Needs `cert-file`.'),
  'server-name': word('server')
    .optional()
    .describe('The name to expect in the certificate, and to send as SNI.'),
  'insecure-skip-verify': boolean()
    .optional()
    .meta({ 'x-default': 'false' })
    .describe('Accept any certificate. For tests.'),
})

const authSchema = z.strictObject({
  'auth-headers': authHeaders()
    .optional()
    .describe(
      "Headers that are sent with every request to this URL, for gRPC as metadata. They stand in place of a client's own of the same names.",
    ),
  'auth-query': authQuery()
    .optional()
    .describe(
      "Parameters that are put at the head of the query string of every request. A client's own of the same names are left out. Not for gRPC.",
    ),
  tls: tlsSchema.optional().describe('TLS settings, for https, wss and grpcs.'),
})

const nodeUrlSchema = z.strictObject({
  url: upstreamUrl().describe(
    'http, https, ws or wss URL. A user and a password in it are sent as Basic authentication.',
  ),
  timeout: duration({ min: 1, max: 86_400_000 })
    .optional()
    .describe(
      'Time for one attempt at this URL, after which it is taken back. Unset: the router works out from the method when it is late.',
    ),
  'max-batch': integer({ min: 1, max: 1_000 })
    .optional()
    .meta({ 'x-default': '100' })
    .describe(
      "JSON-RPC over HTTP: items of a client's batch that go to this URL in one request; 1 sends them singly. The router lowers it by itself when the node refuses a batch.",
    ),
  compression: boolean()
    .optional()
    .meta({ 'x-default': 'true for https' })
    .describe('Ask this URL for answers in gzip.'),
  addons: list(word('add-on'))
    .optional()
    .describe(
      'Add-ons and extensions that this URL serves, such as `debug`, `trace`, `archive`, `bundler`.',
    ),
  'skip-verifications': list(word('verification'))
    .optional()
    .describe('Names of start-up verifications to leave out, or `"*"` for all.'),
  'auth-config': authSchema.optional().describe('How the router authenticates itself to this URL.'),
  'grpc-config': z
    .record(z.string(), z.custom<Scalar>((value) => value instanceof Scalar).meta({}))
    .optional()
    .meta({ [kindKeyword]: 'map' })
    .describe(
      'Settings of a gRPC upstream. Taken, with a warning in the log, and without effect: calls are relayed as bytes, without descriptors and reflection, and TLS follows from the scheme of the URL.',
    ),
})

/** An upstream, of either tier. */
export const upstreamSchema = z.strictObject({
  name: label('name').describe(
    'Name of the upstream, the value of `rpc-select-provider`. Unique per chain and interface over both tiers.',
  ),
  'chain-id': chainId().describe('Chain that it serves, by the id or an alias of its spec.'),
  'api-interface': apiInterface().describe('Interface that it serves.'),
  'group-label': label('group label')
    .optional()
    .describe(
      'Free label for a group of upstreams, such as `external` and `internal`. It has an effect with cross-validation only, which this version does not have yet.',
    ),
  'node-urls': list(nodeUrlSchema, 1).describe(
    'One or more URLs that stand for this upstream and fail over among themselves.',
  ),
})

/* Sections that this version refuses, with keys that stay: see capabilities.ts. */

const count = integer({ min: 1, max: 1000 })

const bounds = z
  .preprocess(
    (value) => (value instanceof Scalar ? { floor: value } : value),
    z.strictObject({
      floor: count.optional().describe('The least; what a caller asks for is raised to it.'),
      cap: count.optional().describe('The most; what a caller asks for is cut to it.'),
    }),
  )
  .meta({ type: ['object', 'integer'] })

const policySchema = z.strictObject({
  'chain-id': chainId().describe('Chain.'),
  'api-interface': apiInterface().describe('Interface.'),
  method: word('method').describe('Method that the policy applies to.'),
  enabled: boolean()
    .optional()
    .meta({ 'x-default': 'true' })
    .describe('Whether the policy is active.'),
  'agreement-threshold': bounds
    .optional()
    .describe('How many answers must match. N means `{floor: N}`.'),
  'max-participants': bounds
    .optional()
    .describe('How many upstreams are asked. N means `{floor: N}`.'),
  'min-groups': bounds
    .optional()
    .describe('How many groups the matching answers must come from. N means `{floor: N}`.'),
  'per-group-quorum': count.optional().describe('How many answers must match within each group.'),
  'forbid-caller-cv': boolean()
    .optional()
    .meta({ 'x-default': 'false' })
    .describe('Whether callers may not ask for cross-validation of this method.'),
})

/** Which answers are compared between upstreams before one is given. */
const crossValidationSchema = z.strictObject({
  policies: list(policySchema).optional().describe('One policy per chain, interface and method.'),
})

const hostAndPort = text({
  kind: 'host:port',
  pattern: hostAndPortPattern,
  fault: 'is not host:port',
  hint: 'Write one such as redis:6379.',
  privacy: 'public',
})

const keyPrefix = text({
  kind: 'text',
  pattern: /^[!-~]{1,128}$/,
  fault: 'cannot be a key prefix',
  hint: 'Printable ASCII without spaces, 128 characters at most.',
  privacy: 'public',
})

/** A key-value store as cache backend. */
const responseCacheSchema = z.strictObject({
  topology: oneOf(['standalone', 'sentinel', 'cluster'])
    .optional()
    .meta({ 'x-default': 'standalone' })
    .describe('How the store is deployed.'),
  addresses: list(hostAndPort, 1).describe('Addresses of the nodes of the store.'),
  username: secretText().optional().describe('User to authenticate as.'),
  password: secretText().optional().describe('Password of the user.'),
  'password-file': filePath().optional().describe('File that holds the password.'),
  db: integer({ min: 0, max: 65_535 })
    .optional()
    .meta({ 'x-default': '0' })
    .describe('Number of the database.'),
  'key-prefix': keyPrefix.optional().describe('What every key begins with.'),
  tls: tlsSchema.optional().describe('TLS settings of the connection.'),
})

/** The port of a listener that names none. */
export const defaultPort = 3360

type Relaying = typeof relaying
type RelayShape = { [N in keyof Relaying]: z.ZodOptional<Relaying[N]['field']> }

/** The same settings as at the top of the file, without their defaults. */
const relayShape = Object.fromEntries(
  Object.entries(relaying).map(([name, { field, description }]) => [
    name,
    (field as z.ZodType).optional().describe(description),
  ]),
) as RelayShape

const endpointSchema = z.strictObject({
  'network-address': address(defaultPort)
    .optional()
    .meta({ 'x-default': `0.0.0.0:${defaultPort}` })
    .describe(
      `Bind address. Without a host: all interfaces; without a port, as in \`localhost\`: ${defaultPort}.`,
    ),
  'listen-address': address(defaultPort).optional().describe('Another name of `network-address`.'),
  'chain-id': chainId().describe(
    'Chain that is served, by the id or an alias of its spec, such as `ETH1`.',
  ),
  'api-interface': apiInterface().describe('Interface that is served. The chain must have it.'),
  relay: z
    .strictObject(relayShape)
    .optional()
    .describe('What this listener does otherwise than the settings at the top and the flags say.'),
})

/** The whole file: the sections, and every process-wide setting as a key of its own. */
export const configSchema = z.strictObject({
  endpoints: list(endpointSchema, 1).describe('Listeners: one per chain and interface.'),
  'direct-rpc': list(upstreamSchema).describe('Primary upstreams.'),
  'backup-direct-rpc': list(upstreamSchema)
    .optional()
    .describe('Upstreams that take over when no primary one is left.'),
  'cross-validation': crossValidationSchema
    .optional()
    .describe('Which answers are compared between upstreams before one is given.'),
  'resp-cache': responseCacheSchema.optional().describe('A key-value store as cache backend.'),
  ...settingShape(),
})

export type ConfigFile = z.output<typeof configSchema>

function settingShape(): Record<string, z.ZodType> {
  return Object.fromEntries(
    settingNames.map((name) => {
      const { field, repeatable, description, default: defaultText } = settings[name]
      const value: z.ZodType = repeatable ? list(field) : field
      const meta = { description, ...(defaultText !== null && { 'x-default': defaultText }) }
      return [name, value.optional().meta(meta)]
    }),
  )
}
