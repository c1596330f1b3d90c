// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { bareKeyword, crossValidationSchema } from './cross-validation.ts'
import { derived, kindKeyword, list, optional } from './fields/field.ts'
import {
  address,
  apiInterface,
  boolean,
  chainId,
  duration,
  durationOrNever,
  integer,
  label,
  methodPattern,
  oneOf,
  word,
} from './fields/fields.ts'
import { authHeaders, authQuery } from './fields/upstream-auth.ts'
import { upstreamUrl } from './fields/upstream-url.ts'
import { storeSchema } from './store.ts'
import { tlsSchema } from './tls-section.ts'
import {
  defaultPort,
  logVerifications,
  type SettingName,
  settingGroups,
  settingNames,
  settings,
} from './settings.ts'
import { Scalar } from './yaml/scalar.ts'

const authSchema = z.strictObject({
  'auth-headers': optional(authHeaders).describe(
    'Headers sent with every request to this URL, for gRPC as metadata. They replace client headers of the same names.',
  ),
  'auth-query': optional(authQuery).describe(
    'Parameters prepended to the query string of every request. Client parameters of the same names are dropped. Not for gRPC.',
  ),
  tls: optional(tlsSchema).describe('TLS settings, for https, wss and grpcs.'),
})

const methodPatterns = optional(list(methodPattern, 1))

const limitsSchema = z.strictObject({
  'per-second': optional(integer(1, 100_000)).describe(
    'Requests in any second. The items of a batch count singly.',
  ),
  'per-day': optional(integer(1, 1_000_000_000)).describe(
    'Requests per UTC day. Each replica counts its own, so divide by the number of replicas; a restart counts anew.',
  ),
  concurrent: optional(integer(1, 100_000)).describe('Requests in flight.'),
})

const nodeUrlSchema = z.strictObject({
  url: upstreamUrl.describe(
    'http, https, ws or wss URL. The router sends its user and password as Basic authentication.',
  ),
  timeout: optional(duration('1ms', '24h')).describe(
    'Timeout of one attempt at this URL. Unset: the router computes it from the method.',
  ),
  'max-batch': optional(integer(1, 1_000), '100').describe(
    'JSON-RPC over HTTP: batch items sent to this URL in one request; 1 sends them singly. The router lowers it when the node refuses a batch.',
  ),
  limits: optional(limitsSchema).describe(
    "Limits on the requests to this URL. Further calls go elsewhere, or wait for up to a second. The router's own requests count but never wait. Unset: the router learns a rate that the node refuses.",
  ),
  'max-log-blocks': optional(integer(1, 100_000_000)).describe(
    'Largest range of blocks that this URL accepts in one request for logs. Unset: the router learns it from the errors of the node.',
  ),
  compression: optional(boolean, 'true for https').describe('Request gzip answers from this URL.'),
  'trace-context': optional(boolean, 'false').describe(
    'Send the trace context of a call (W3C: `traceparent`, `tracestate`) to this URL, over HTTP and gRPC. Enable it for nodes and gateways that you trace.',
  ),
  addons: optional(list(word('add-on').transform((name) => name.toLowerCase()))).describe(
    'Add-ons and extensions that this URL serves, such as `debug`, `trace`, `archive`, `bundler`.',
  ),
  'skip-verifications': optional(list(word('verification'))).describe(
    'Names of start-up verifications to skip, or `"*"` for all.',
  ),
  'auth-config': optional(authSchema).describe('How the router authenticates itself to this URL.'),
  'grpc-config': z
    .record(z.string(), z.custom<Scalar>((value) => value instanceof Scalar).meta({}))
    .optional()
    .meta({ [kindKeyword]: 'map' })
    .describe(
      'Settings of a gRPC upstream. Accepted with a warning in the log, but without effect: calls are relayed as bytes, without descriptors and reflection, and the scheme of the URL determines TLS.',
    ),
})

const usualInterface = 'see Short configs'

const upstreamSchema = z.strictObject({
  name: label('name').describe(
    'Name of the upstream, the value of `rpc-select-provider`. Unique per chain and interface over both tiers.',
  ),
  'chain-id': chainId.describe('Chain of the upstream, by the id or an alias of its spec.'),
  'api-interface': derived(apiInterface, usualInterface).describe('Interface of the upstream.'),
  'group-label': optional(label('group label')).describe(
    'Free label for a group of upstreams, such as `external` and `internal`. Used by cross-validation only; upstreams without a label form one group.',
  ),
  'allowed-methods': methodPatterns.describe(
    'The only methods that go to this upstream, as patterns: the name in the chain spec, in which `*` matches any characters. Unset: all that the endpoint serves.',
  ),
  'denied-methods': methodPatterns.describe(
    'Methods that do not go to this upstream, as patterns. It wins over `allowed-methods`.',
  ),
  'node-urls': list(nodeUrlSchema.meta({ [bareKeyword]: 'url' }), 1).describe(
    'One or more URLs of this upstream, which fail over to each other.',
  ),
})

/** Call classes by how long an answer stays valid. */
export const ageClasses = ['finalized', 'near-head', 'latest'] as const

const cachePolicySchema = z.strictObject({
  'chain-id': optional(chainId).describe(
    'Chain to match, by the id or an alias of its spec. Unset: all.',
  ),
  'api-interface': optional(apiInterface).describe('Interface to match. Unset: all.'),
  method: methodPattern.describe(
    'Method, or path without its verb, as the chain spec names it; `*` matches any text.',
  ),
  class: optional(oneOf(ageClasses)).describe('Class to match. Unset: all.'),
  ttl: durationOrNever('24h').describe(
    'How long to cache such answers at most. `never`: not at all.',
  ),
})

const cacheSchema = z.strictObject({
  shared: optional(boolean, 'true, but false if sessions use the same Redis').describe(
    'Share the answers with other replicas through `cache-be` or a Redis.',
  ),
  'resp-cache': optional(storeSchema).describe(
    'A separate Redis for answers, which may evict them. Then `resp-cache` or `cache-be` stores only sessions.',
  ),
  policies: optional(list(cachePolicySchema)).describe(
    'Overrides of cache times. The first matching policy applies.',
  ),
})

const logsSchema = z.strictObject({
  verify: optional(oneOf(logVerifications), 'sample').describe(
    'Which queries for logs of final blocks to compare with a second upstream: none, one in a hundred, or each.',
  ),
})

export const defaultAddress = { host: '0.0.0.0', port: defaultPort } as const

type SettingShape<Names extends SettingName> = {
  [N in Names]: z.ZodOptional<
    N extends 'use-static-spec' | 'env-file' | 'allowed-origins' | 'trusted-proxies' | 'admin-hosts'
      ? z.ZodType<z.output<(typeof settings)[N]['field']>[]>
      : (typeof settings)[N]['field']
  >
}

function settingShape<N extends SettingName>(names: readonly N[], withDefaults: boolean) {
  const shape = names.map((name) => {
    const { field, repeatable, description, default: text } = settings[name]
    const value: z.ZodType = repeatable ? list(field) : field
    const meta = { description, ...(withDefaults && text !== null && { 'x-default': text }) }
    return [name, value.optional().meta(meta)] as const
  })
  return Object.fromEntries(shape) as SettingShape<N>
}

const relaying = Object.keys(settingGroups.Relaying) as (keyof typeof settingGroups.Relaying)[]

const endpointSchema = z.strictObject({
  'network-address': optional(address(defaultPort), `0.0.0.0:${defaultPort}`).describe(
    `Bind address. Without a host: all interfaces; without a port, as in \`localhost\`: ${defaultPort}.`,
  ),
  'listen-address': optional(address(defaultPort)).describe('Alias of `network-address`.'),
  'chain-id': chainId.describe(
    'Chain to serve, by the id or an alias of its spec, such as `ETH1`.',
  ),
  'api-interface': derived(apiInterface, usualInterface).describe(
    'Interface to serve. The chain must have it.',
  ),
  'allowed-methods': methodPatterns.describe(
    'The only methods that are served, as patterns: the name in the chain spec, in which `*` matches any characters. Unset: all. Methods for operators of a node need a pattern other than `*`.',
  ),
  'denied-methods': methodPatterns.describe(
    'Methods that are refused, as patterns. It wins over `allowed-methods`.',
  ),
  relay: optional(z.strictObject(settingShape(relaying, false))).describe(
    'Settings of this listener that override the top-level settings and the flags.',
  ),
})

/** The whole file: its sections, plus one key per process-wide setting. */
export const configSchema = z.strictObject({
  endpoints: derived(list(endpointSchema, 1), 'see Short configs').describe(
    'Listeners: one per chain and interface.',
  ),
  'direct-rpc': list(upstreamSchema).describe(
    'Primary upstreams, each with `name`, `chain-id` and `node-urls`.',
  ),
  'backup-direct-rpc': optional(list(upstreamSchema)).describe(
    'Upstreams that take over when no primary upstream is available.',
  ),
  'cross-validation': optional(crossValidationSchema).describe(
    'Which answers to compare between upstreams before returning one.',
  ),
  cache: optional(cacheSchema).describe('How long to cache answers.'),
  logs: optional(logsSchema).describe('How to answer queries for logs.'),
  'resp-cache': optional(storeSchema).describe(
    'A Redis, or a compatible store, that the replicas share.',
  ),
  ...settingShape(settingNames, true),
})

export type AgeClass = (typeof ageClasses)[number]
export type ConfigFile = z.output<typeof configSchema>
export type CachePolicyEntry = z.output<typeof cachePolicySchema>
export type UpstreamEntry = z.output<typeof upstreamSchema>
export type NodeUrlEntry = z.output<typeof nodeUrlSchema>
