// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import type { ReferenceData } from './reference-data.ts'
import type { UpstreamPlan } from './router-document.ts'
import type { Listener } from './serving.ts'
import type { TranslateInput, UnreadableProvider } from './translation.ts'
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
 * Plans the providers of a router, in the order of their names. Of two with one name for the same chain, the older one has it.
 *
 * @param router its name
 */
export function planUpstreams(
  router: string,
  listeners: readonly Listener[],
  chainIdOf: (chainId: string) => string,
  { providers, unreadable = [], data }: Pick<TranslateInput, 'providers' | 'unreadable' | 'data'>,
): readonly Candidate[] {
  const age = ({ metadata: { name, creationTimestamp = '' } }: UpstreamProvider) =>
    `${creationTimestamp} ${name}`
  const holders = new Map<string, string>()
  const candidates = providers
    .toSorted((a, b) => (age(a) < age(b) ? -1 : 1))
    .map((provider): Candidate => {
      const { plan, refusals, dangling } = planUpstream(provider, chainIdOf, data)
      const name = upstreamNameOf(provider)
      const identity = `${plan.serves} ${name}`
      const holder = holders.get(identity)
      if (listeners.every(({ serves }) => serves !== plan.serves))
        return { plan, refusals: [notServed(plan, router, listeners)], dangling: [] }
      if (holder !== undefined)
        return { plan, refusals: [duplicate(plan, name, holder)], dangling: [] }
      holders.set(identity, plan.provider)
      return { plan, refusals, dangling }
    })
  return [...candidates, ...unreadable.map(unreadableCandidate)].toSorted((a, b) =>
    a.plan.provider < b.plan.provider ? -1 : 1,
  )
}

function unreadableCandidate({ name, faults }: UnreadableProvider): Candidate {
  const nothing = { serves: '', entry: {}, variables: [], files: [], copies: [] }
  return {
    plan: { provider: name, tier: 'primary', ...nothing },
    refusals: [{ reason: 'InvalidSpec', field: '', message: faults }],
    dangling: [],
  }
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

function notServed(
  { serves }: UpstreamPlan,
  router: string,
  listeners: readonly Listener[],
): ProviderRefusal {
  const wanted = [...new Set(listeners.map((listener) => listener.serves))].join(', ')
  const message = `the RpcRouter ${router} has no endpoint for ${serves}, only for ${wanted}`
  return { reason: 'ChainNotServed', field: 'spec.chainId', message }
}

function duplicate({ serves }: UpstreamPlan, name: string, holder: string): ProviderRefusal {
  const message = `the UpstreamProvider ${holder} has the name ${name} for ${serves} already`
  return { reason: 'DuplicateName', field: 'spec.upstreamName', message }
}
