// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { unsupportedMessage } from '../../proxy/config/capabilities.ts'
import type { Endpoint } from '../api/endpoints.ts'
import type { RpcRouter, RpcRouterSpec } from '../api/rpc-router.ts'
import { sentenceOf } from './judge-config.ts'
import type { UpstreamPlan } from './router-document.ts'
import { type Listener, isPrimary, upstreamsOf } from './serving.ts'
import type { ChainCheck } from './spec-sources.ts'
import type { Candidate } from './upstreams.ts'
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
 * Endpoints that nothing acceptable serves, each with what is known of the reason.
 *
 * @param accepted upstreams that were not refused
 */
export function unservedEndpoints(
  router: RpcRouter,
  closed: readonly Listener[],
  accepted: readonly UpstreamPlan[],
  candidates: readonly Candidate[],
  checkUses: ChainCheck,
): readonly RouterRefusal[] {
  const written = candidates.map(({ plan }) => plan)
  return closed
    .filter((listener) => !upstreamsOf(listener, accepted).some(isPrimary))
    .map((listener) => {
      const { endpoint, serves } = listener
      const impossible = impossibleEndpoint(endpoint, checkUses)
      if (impossible !== null) return impossible
      const asked = upstreamsOf(listener, written)
      const unread = written.filter((plan) => plan.serves === '')
      const message = whyUnserved(router, serves, asked, unread)
      return { reason: 'NoProviders', field: `spec.endpoints[${endpoint.name}]`, message }
    })
}

function whyUnserved(
  { spec, metadata }: RpcRouter,
  wanted: string,
  asked: readonly UpstreamPlan[],
  unread: readonly UpstreamPlan[],
): string {
  if (spec.providerSelector === undefined)
    return `nothing serves ${wanted}, since providerSelector is not set: it must match labels of UpstreamProviders, or be {} for all of them`
  const names = (upstreams: readonly UpstreamPlan[]) =>
    upstreams.map(({ provider }) => provider).join(', ')
  const main = asked.filter(isPrimary)
  if (main.length > 0)
    return `the UpstreamProviders that serve ${wanted} are not accepted: ${names(main)}`
  // What they serve is not known.
  if (asked.length === 0 && unread.length > 0)
    return `no UpstreamProvider that is accepted serves ${wanted}; these are selected and not accepted: ${names(unread)}`
  return asked.length > 0
    ? `the UpstreamProviders that serve ${wanted} are all of the tier backup, and one must be of the tier primary: ${names(asked)}`
    : `no UpstreamProvider of the namespace ${metadata.namespace} that providerSelector selects serves ${wanted}`
}

/** An endpoint that no provider could help: of a chain or an interface that the router does not have. */
function impossibleEndpoint(
  { name, chainId, apiInterface }: Endpoint,
  checkUses: ChainCheck,
): RouterRefusal | null {
  const field = `spec.endpoints[${name}]`
  const use = { path: '', chainId, apiInterface, addons: [], skippedVerifications: [] }
  const [problem] = checkUses([use])
  if (problem === undefined) return null
  const key = problem.path.endsWith('chain-id') ? 'chainId' : 'apiInterface'
  return { reason: 'UnknownChain', field: `${field}.${key}`, message: sentenceOf(problem) }
}
