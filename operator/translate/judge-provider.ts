// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import { apiVersion } from '../api/group.ts'
import { rpcRouterSchema } from '../api/rpc-router.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import { notesOfProvider } from './notes.ts'
import type { ReferenceData } from './reference-data.ts'
import { translate } from './translate.ts'
import { nothingRuns } from './translation.ts'
import { upstreamEntry } from './upstreams.ts'
import { ValueCollector } from './value-collector.ts'
import type { Dangling, ProviderRefusal } from './violation.ts'

/** What is wrong with a provider whatever the router. */
export interface ProviderJudgement {
  readonly refusals: readonly ProviderRefusal[]
  readonly dangling: readonly Dangling[]
  /** What it does, and its owner may not expect. */
  readonly notes: readonly string[]
}

/**
 * Judges a provider by itself.
 *
 * @param chains for one that no router selects, which is judged as one would that serves its chain; null for one
 *   that routers judge themselves
 */
export function judgeProvider(
  provider: UpstreamProvider,
  data: ReferenceData,
  chains: KnownChains | null,
): ProviderJudgement {
  const collector = new ValueCollector(data)
  const { refusals } = upstreamEntry(provider, provider.spec.chainId, collector)
  const { dangling } = collector
  const notes = notesOfProvider(provider)
  if (chains === null || refusals.length > 0) return { refusals, dangling, notes }
  const { chainId, apiInterface } = provider.spec
  const router = rpcRouterSchema.parse({
    apiVersion,
    kind: 'RpcRouter',
    metadata: { name: 'any', namespace: provider.metadata.namespace },
    spec: { endpoints: [{ name: 'any', chainId, apiInterface }], providerSelector: {} },
  })
  const primary = { ...provider, spec: { ...provider.spec, tier: 'primary' as const } }
  const { providers } = translate({
    router,
    providers: [primary],
    data,
    chains,
    running: nothingRuns,
  })
  return { refusals: providers[0]?.refusals ?? [], dangling, notes }
}
