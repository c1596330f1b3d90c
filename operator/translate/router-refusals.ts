// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { unsupportedMessage } from '../../proxy/config/capabilities.ts'
import type { Endpoint } from '../api/endpoints.ts'
import type { RpcRouterSpec } from '../api/rpc-router.ts'
import type { RenderedConfig } from './rendered-config.ts'
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

/** An object of Kubernetes has at most 1 MiB; the rest is for its metadata. */
const mostConfigBytes = 1_000_000

/** A config that no ConfigMap can hold. */
export function tooLarge({ data }: RenderedConfig): readonly Refusal[] {
  const bytes = Object.entries(data)
    .flat()
    .reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes <= mostConfigBytes) return []
  const message = `the config has ${bytes} bytes, and a ConfigMap takes ${mostConfigBytes}: use fewer or shorter ConfigMaps in specSources, or two routers`
  return [{ reason: 'InvalidSpec', field: 'spec', message }]
}

/** Endpoints that nothing acceptable serves, each with what is known of the reason. */
export function noProviders(
  unserved: readonly Endpoint[],
  serving: Serving,
  chosen: readonly UpstreamPlan[],
  candidates: readonly Candidate[],
): readonly Refusal[] {
  const primaries = (upstreams: readonly UpstreamPlan[], endpoint: Endpoint) =>
    serving.of(endpoint, upstreams).filter(({ tier }) => tier === 'primary')
  return unserved
    .filter((endpoint) => primaries(chosen, endpoint).length === 0)
    .map((endpoint) => {
      const asked = primaries(
        candidates.map(({ plan }) => plan),
        endpoint,
      )
      const names = asked.map(({ provider }) => provider).join(', ')
      const why =
        names === ''
          ? `no UpstreamProvider of the tier primary that providerSelector selects serves ${serving.wants(endpoint)}`
          : `the UpstreamProviders that serve ${serving.wants(endpoint)} are not accepted: ${names}`
      return { reason: 'NoProviders', field: `spec.endpoints[${endpoint.name}]`, message: why }
    })
}
