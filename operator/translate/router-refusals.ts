// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { unsupportedMessage } from '../../proxy/config/capabilities.ts'
import type { RpcRouter, RpcRouterSpec } from '../api/rpc-router.ts'
import { sentenceOf } from './judge-config.ts'
import type { Listener, UpstreamPlan } from './router-document.ts'
import type { ChainCheck } from './spec-sources.ts'
import type { RouterRefusal } from './violation.ts'

/** What the spec can say and the router's config has no key for yet, in the router's own sentence. */
export function refusalsOfSpec({ tracing, cache }: RpcRouterSpec): readonly RouterRefusal[] {
  return [
    ...(tracing === undefined ? [] : [unsupported('spec.tracing', 'tracing')]),
    ...(cache?.type === 'Memory' ? [unsupported('spec.cache.type', 'a cache in memory')] : []),
  ]
}

function unsupported(field: string, name: string): RouterRefusal {
  return { reason: 'Unsupported', field, message: unsupportedMessage(name) }
}

/**
 * Why nothing acceptable serves an endpoint, as far as it is known.
 *
 * @param written every provider that the router selects, as it is written
 */
export function unservedEndpoint(
  router: RpcRouter,
  { endpoint, serves }: Listener,
  written: readonly UpstreamPlan[],
  checkUses: ChainCheck,
): RouterRefusal {
  const { name, chainId, apiInterface } = endpoint
  const field = `spec.endpoints[${name}]`
  const use = { path: '', chainId, apiInterface, addons: [], skippedVerifications: [] }
  const [problem] = checkUses([use])
  if (problem === undefined)
    return { reason: 'NoProviders', field, message: whyUnserved(router, serves, written) }
  // No provider could help: of a chain or an interface that the router does not have.
  const key = problem.path.endsWith('chain-id') ? 'chainId' : 'apiInterface'
  return { reason: 'UnknownChain', field: `${field}.${key}`, message: sentenceOf(problem) }
}

function whyUnserved(
  { spec, metadata }: RpcRouter,
  wanted: string,
  written: readonly UpstreamPlan[],
): string {
  if (spec.providerSelector === undefined)
    return `nothing serves ${wanted}, since providerSelector is not set: it must match labels of UpstreamProviders, or be {} for all of them`
  const names = (upstreams: readonly UpstreamPlan[]) =>
    upstreams.map(({ provider }) => provider).join(', ')
  const asked = written.filter(({ serves }) => serves === wanted)
  const main = asked.filter(({ tier }) => tier === 'primary')
  if (main.length > 0)
    return `the UpstreamProviders that serve ${wanted} are not accepted: ${names(main)}`
  // What they serve is not known.
  const unread = written.filter(({ serves }) => serves === '')
  if (asked.length === 0 && unread.length > 0)
    return `no UpstreamProvider that is accepted serves ${wanted}; these are selected and not accepted: ${names(unread)}`
  return asked.length > 0
    ? `the UpstreamProviders that serve ${wanted} are all of the tier backup, and one must be of the tier primary: ${names(asked)}`
    : `no UpstreamProvider of the namespace ${metadata.namespace} that providerSelector selects serves ${wanted}`
}
