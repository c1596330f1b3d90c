// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import type { ReferenceData } from './reference-data.ts'
import type { UpstreamPlan } from './router-document.ts'
import type { Serving } from './serving.ts'
import type { UnreadableProvider } from './translation.ts'
import { upstreamEntry, upstreamNameOf } from './upstream-entry.ts'
import { ValueCollector } from './value-collector.ts'
import type { Dangling, ProviderRefusal } from './violation.ts'

/** A provider as it is written now, and what is wrong with it before the router was asked. */
export interface Candidate {
  readonly plan: UpstreamPlan
  readonly refusals: readonly ProviderRefusal[]
  readonly dangling: readonly Dangling[]
}

/** Calls a chain by its id where it is known, so that an alias of it means the same chain. */
export function chainNames(chains: KnownChains | null): (chainId: string) => string {
  return (chainId) => chains?.find(chainId)?.id ?? chainId
}

/**
 * Plans the providers of a router, in the order of their names.
 *
 * @param router its name
 * @param isRunning whether the pods run with a provider now
 * @param unreadable providers that are kept as they run: their names are taken
 */
export function planUpstreams(
  router: string,
  providers: readonly UpstreamProvider[],
  isRunning: (provider: string) => boolean,
  serving: Serving,
  chainIdOf: (chainId: string) => string,
  data: ReferenceData,
  unreadable: readonly Candidate[],
): readonly Candidate[] {
  const seniority = ({ metadata: { name, creationTimestamp = '' } }: UpstreamProvider) =>
    `${isRunning(name) ? 0 : 1} ${creationTimestamp} ${name}`
  const holders = new Map(
    unreadable.map(({ plan }) => [`${plan.serves} ${plan.entry['name'] as string}`, plan.provider]),
  )
  const candidates = providers
    .toSorted((a, b) => (seniority(a) < seniority(b) ? -1 : 1))
    .map((provider) => {
      const { plan, refusals, dangling } = planUpstream(provider, chainIdOf, data)
      const name = upstreamNameOf(provider)
      const identity = `${plan.serves} ${name}`
      const holder = holders.get(identity)
      if (!serving.isWanted(plan.serves))
        return { plan, refusals: [notServed(plan, router, serving)], dangling: [] }
      if (holder !== undefined)
        return { plan, refusals: [duplicate(plan, name, holder)], dangling: [] }
      holders.set(identity, plan.provider)
      return { plan, refusals, dangling }
    })
  return [...candidates, ...unreadable].toSorted((a, b) =>
    a.plan.provider < b.plan.provider ? -1 : 1,
  )
}

/** One that cannot be read, in the form in which the pods run it. */
export function unreadableCandidate(
  { name, faults }: UnreadableProvider,
  ran: UpstreamPlan | undefined,
): Candidate {
  const nothing = { serves: '', entry: {}, variables: [], files: [], copies: [] }
  const plan = { tier: 'primary' as const, ...nothing, ...ran, provider: name }
  const refusal: ProviderRefusal = { reason: 'InvalidSpec', field: '', message: faults }
  return { plan, refusals: [refusal], dangling: [] }
}

function planUpstream(
  provider: UpstreamProvider,
  chainIdOf: (chainId: string) => string,
  data: ReferenceData,
): Candidate {
  const { spec, metadata } = provider
  const collector = new ValueCollector(data)
  const chainId = chainIdOf(spec.chainId)
  const { entry, refusals } = upstreamEntry(provider, chainId, collector)
  const { variables, files, copies, dangling } = collector
  const serves = `${chainId} ${spec.apiInterface}`
  const plan = { provider: metadata.name, tier: spec.tier, serves, entry, variables, files, copies }
  return { plan, refusals, dangling }
}

function notServed({ serves }: UpstreamPlan, router: string, { wanted }: Serving): ProviderRefusal {
  const message = `the RpcRouter ${router} has no endpoint for ${serves}, only for ${wanted.join(', ')}`
  return { reason: 'ChainNotServed', field: 'spec.chainId', message }
}

function duplicate({ serves }: UpstreamPlan, name: string, holder: string): ProviderRefusal {
  const message = `the UpstreamProvider ${holder} has the name ${name} for ${serves} already`
  return { reason: 'DuplicateName', field: 'spec.upstreamName', message }
}
