// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { unsupportedMessage, unsupportedName } from '../../proxy/config/capabilities.ts'
import { checkChains, type KnownChains } from '../../proxy/config/check-chains.ts'
import type { Endpoint } from '../api/endpoints.ts'
import type { RpcRouterSpec } from '../api/rpc-router.ts'
import { sentenceOf } from './judge-config.ts'
import type { UpstreamPlan } from './router-document.ts'
import type { Serving } from './serving.ts'
import type { Candidate } from './upstream-plan.ts'
import type { Refusal } from './violation.ts'

/** What the spec can say and the router's config has no key for yet, in the router's own sentence. */
export function refusalsOfSpec({ tracing, cache }: RpcRouterSpec): readonly Refusal[] {
  return [
    ...(tracing === undefined ? [] : [unsupported('spec.tracing', 'tracing')]),
    ...(cache?.type === 'Memory' ? [unsupported('spec.cache.type', 'a cache in memory')] : []),
  ]
}

function unsupported(field: string, name: string): Refusal {
  return { reason: 'Unsupported', field, message: unsupportedMessage(name) }
}

/** Endpoints that nothing acceptable serves, each with what is known of the reason. */
export function unservedEndpoints(
  unserved: readonly Endpoint[],
  serving: Serving,
  chosen: readonly UpstreamPlan[],
  candidates: readonly Candidate[],
  chains: KnownChains | null,
): readonly Refusal[] {
  const written = candidates.map(({ plan }) => plan)
  return unserved
    .filter((endpoint) => primaries(serving, endpoint, chosen).length === 0)
    .map((endpoint) => {
      const impossible = impossibleEndpoint(endpoint, chains)
      if (impossible !== null) return impossible
      const asked = primaries(serving, endpoint, written)
      return {
        reason: 'NoProviders',
        field: `spec.endpoints[${endpoint.name}]`,
        message:
          asked.length === 0
            ? `no UpstreamProvider of the tier primary that providerSelector selects serves ${serving.wants(endpoint)}`
            : `the UpstreamProviders that serve ${serving.wants(endpoint)} are not accepted: ${asked.map(({ provider }) => provider).join(', ')}`,
      }
    })
}

function primaries(
  serving: Serving,
  endpoint: Endpoint,
  upstreams: readonly UpstreamPlan[],
): readonly UpstreamPlan[] {
  return serving.of(endpoint, upstreams).filter(({ tier }) => tier === 'primary')
}

/** An endpoint that no provider could help: of a chain or an interface that the router does not have. */
function impossibleEndpoint(
  { name, chainId, apiInterface }: Endpoint,
  chains: KnownChains | null,
): Refusal | null {
  const field = `spec.endpoints[${name}]`
  const unbuilt = unsupportedName('api-interface', apiInterface)
  if (unbuilt !== null) return unsupported(`${field}.apiInterface`, unbuilt)
  const use = { path: '', chainId, apiInterface, addons: [], skippedVerifications: [] }
  const [problem] = chains === null ? [] : checkChains([use], chains, () => null)
  if (problem === undefined) return null
  const key = problem.path.endsWith('chain-id') ? 'chainId' : 'apiInterface'
  return { reason: 'UnknownChain', field: `${field}.${key}`, message: sentenceOf(problem) }
}
