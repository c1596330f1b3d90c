// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { crossValidationSchema } from './cross-validation.ts'
import { kindKeyword, list, optional } from './fields/field.ts'
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
import { type SettingName, settingGroups, settingNames, settings } from './settings.ts'
import { Scalar } from './yaml/scalar.ts'

const authSchema = z.strictObject({
  'auth-headers': optional(authHeaders).describe(
    'Headers that are sent with every request to this URL, for gRPC as metadata. They replace those of the client with the same names.',
  ),
  'auth-query': optional(authQuery).describe(
    "Parameters that are put at the head of the query string of every request. A client's own of the same names are left out. Not for gRPC.",
  ),
  tls: optional(tlsSchema).describe('TLS settings, for https, wss and grpcs.'),
})

const nodeUrlSchema = z.strictObject({
  url: upstreamUrl.describe(
    'http, https, ws or wss URL. A user and a password in it are sent as Basic authentication.',
  ),
  timeout: optional(duration('1ms', '24h')).describe(
    'Time for one attempt at this URL, after which it is aborted. Unset: the router computes from the method when it is late.',
  ),
  'max-batch': optional(integer(1, 1_000), '100').describe(
    "JSON-RPC over HTTP: items of a client's batch that go to this URL in one request; 1 sends them singly. The router lowers it by itself when the node refuses a batch.",
  ),
  compression: optional(boolean, 'true for https').describe('Ask this URL for answers in gzip.'),
  'trace-context': optional(boolean, 'false').describe(
    'Send the trace context of a call (W3C: `traceparent`, `tracestate`) to this URL, over HTTP and gRPC. Switch it on for nodes and gateways that you trace.',
  ),
  addons: optional(list(word('add-on').transform((name) => name.toLowerCase()))).describe(
    'Add-ons and extensions that this URL serves, such as `debug`, `trace`, `archive`, `bundler`.',
  ),
  'skip-verifications': optional(list(word('verification'))).describe(
    'Names of start-up verifications to leave out, or `"*"` for all.',
  ),
  'auth-config': optional(authSchema).describe('How the router authenticates itself to this URL.'),
  'grpc-config': z
    .record(z.string(), z.custom<Scalar>((value) => value instanceof Scalar).meta({}))
    .optional()
    .meta({ [kindKeyword]: 'map' })
    .describe(
      'Settings of a gRPC upstream. Taken, with a warning in the log, and without effect: calls are relayed as bytes, without descriptors and reflection, and TLS follows from the scheme of the URL.',
    ),
})

const upstreamSchema = z.strictObject({
  name: label('name').describe(
    'Name of the upstream, the value of `rpc-select-provider`. Unique per chain and interface over both tiers.',
  ),
  'chain-id': chainId.describe('Chain that it serves, by the id or an alias of its spec.'),
  'api-interface': apiInterface.describe('Interface that it serves.'),
  'group-label': optional(label('group label')).describe(
    'Free label for a group of upstreams, such as `external` and `internal`. It has an effect with cross-validation only; upstreams without one are one group.',
  ),
  'node-urls': list(nodeUrlSchema, 1).describe(
    'One or more URLs of this upstream, which fail over among themselves.',
  ),
})

/** Classes of calls by how long an answer stays valid. */
export const ageClasses = ['finalized', 'near-head', 'latest'] as const

const cachePolicySchema = z.strictObject({
  'chain-id': optional(chainId).describe(
    'Chain that it is about, by the id or an alias of its spec. Unset: all.',
  ),
  'api-interface': optional(apiInterface).describe('Interface that it is about. Unset: all.'),
  method: methodPattern.describe(
    'Method, or path without its verb, as the chain spec names it; `*` stands for any text.',
  ),
  class: optional(oneOf(ageClasses)).describe('Class that it is about. Unset: all.'),
  ttl: durationOrNever('24h').describe(
    'How long such answers are kept at most. `never`: they are not kept.',
  ),
})

const cacheSchema = z.strictObject({
  shared: optional(boolean, 'true, but false where sessions are in the same Redis').describe(
    'Share the answers with other replicas through `cache-be` or a Redis.',
  ),
  'resp-cache': optional(storeSchema).describe(
    'A Redis for answers alone, which may evict them. Then `resp-cache` or `cache-be` keeps sessions alone.',
  ),
  policies: optional(list(cachePolicySchema)).describe(
    'Times other than the usual ones. Of several that fit a call, the first counts.',
  ),
})

/** Port of a listener that specifies none. */
export const defaultPort = 3360
export const defaultAddress = { host: '0.0.0.0', port: defaultPort } as const

type SettingShape<Names extends SettingName> = {
  [N in Names]: z.ZodOptional<
    N extends 'use-static-spec' | 'env-file' | 'allowed-origins' | 'trusted-proxies' | 'admin-hosts'
      ? z.ZodType<z.output<(typeof settings)[N]['field']>[]>
      : (typeof settings)[N]['field']
  >
}

/** Schema keys for settings. */
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
  'listen-address': optional(address(defaultPort)).describe('Another name of `network-address`.'),
  'chain-id': chainId.describe(
    'Chain that is served, by the id or an alias of its spec, such as `ETH1`.',
  ),
  'api-interface': apiInterface.describe('Interface that is served. The chain must have it.'),
  relay: optional(z.strictObject(settingShape(relaying, false))).describe(
    'What this listener does otherwise than the settings at the top and the flags say.',
  ),
})

/** The whole file: its sections, and one key per process-wide setting. */
export const configSchema = z.strictObject({
  endpoints: list(endpointSchema, 1).describe('Listeners: one per chain and interface.'),
  'direct-rpc': list(upstreamSchema).describe('Primary upstreams.'),
  'backup-direct-rpc': optional(list(upstreamSchema)).describe(
    'Upstreams that take over when no primary one is left.',
  ),
  'cross-validation': optional(crossValidationSchema).describe(
    'Which answers are compared between upstreams before one is given.',
  ),
  cache: optional(cacheSchema).describe('How long answers are kept.'),
  'resp-cache': optional(storeSchema).describe(
    'A Redis, or what speaks its protocol, that the replicas share.',
  ),
  ...settingShape(settingNames, true),
})

export type AgeClass = (typeof ageClasses)[number]
export type ConfigFile = z.output<typeof configSchema>
export type CachePolicyEntry = z.output<typeof cachePolicySchema>
export type UpstreamEntry = z.output<typeof upstreamSchema>
export type NodeUrlEntry = z.output<typeof nodeUrlSchema>
