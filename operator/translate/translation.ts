// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import type { Endpoint } from '../api/endpoints.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import type { ReferenceData } from './reference-data.ts'
import type { RenderedConfig } from './rendered-config.ts'
import type { UpstreamPlan } from './router-document.ts'
import type { SecretHashes } from './secret-hashes.ts'
import type { StateChoice } from './state-store.ts'
import type { Dangling, ProviderRefusal, RouterRefusal, Unmet } from './violation.ts'

/** What the pods run with now. */
export interface Running {
  readonly upstreams: readonly UpstreamPlan[]
  readonly secretHashes: SecretHashes
}

/** Before the first config. */
export const nothingRuns: Running = { upstreams: [], secretHashes: new Map() }

/** A provider that the API server took and that does not fit the types of this operator. */
export interface UnreadableProvider {
  readonly name: string
  /** What does not fit. */
  readonly faults: string
}

/** All that a router's config depends on. */
export interface TranslateInput {
  readonly router: RpcRouter
  /** Those that the router selects, in any order. */
  readonly providers: readonly UpstreamProvider[]
  /** Those that it selects and that cannot be read: what pods run of them goes on. */
  readonly unreadable?: readonly UnreadableProvider[]
  readonly data: ReferenceData
  /** The chains of the image's specs. */
  readonly chains: KnownChains
  readonly running: Running
  /** Pods have to start with the config, so all that it refers to must be there. */
  readonly newPods: boolean
}

/**
 * What becomes of a provider: used as it is written, kept in its last good form, kept by the pods that run and for as long
 * as none has to start, or not used.
 */
export type Fate = 'used' | 'kept' | 'kept-by-pods' | 'left-out'

/**
 * What pods that stay as they are make of a provider; `outdated` when they have it as it is written, with an earlier value
 * of a Secret.
 */
export type FateInPods = Fate | 'outdated'

/** What became of one provider. */
export interface ProviderVerdict {
  readonly provider: string
  readonly fate: Fate
  /** The provider as it is written now. */
  readonly plan: UpstreamPlan
  /** Of the keys that it uses as it is written, with their present values; empty for one that is gone. */
  readonly secretHashes: SecretHashes
  /** Of the provider as it is written now. */
  readonly refusals: readonly ProviderRefusal[]
  readonly dangling: readonly Dangling[]
}

/** What became of one endpoint. */
export interface EndpointVerdict {
  readonly endpoint: Endpoint
  /** Upstreams of both tiers that serve it. */
  readonly upstreams: number
  readonly served: boolean
}

/** What a router comes to. */
export interface Translation {
  /** Null when what runs must stay as it is; `refusals` or `dangling` then say why. */
  readonly config: RenderedConfig | null
  /** False for a config that pods which run can go on with, and with which new ones could not start. */
  readonly startable: boolean
  /** Of such a config: whether a startable one would have to close an endpoint. */
  readonly closing: boolean
  /** What is wrong with the router; with a config beside it, the part that it leaves out. */
  readonly refusals: readonly RouterRefusal[]
  /** References that the router waits for. */
  readonly dangling: readonly Unmet[]
  /** By name. */
  readonly providers: readonly ProviderVerdict[]
  readonly endpoints: readonly EndpointVerdict[]
  readonly state: StateChoice
}

/**
 * Whether all is used as it is written now and nothing is missing. Then it does not matter what pods ran before: that is
 * for what is refused, gone or cannot be read.
 */
export function isAsWritten({ refusals, dangling, startable, providers }: Translation): boolean {
  const isUsed = (verdict: ProviderVerdict) =>
    verdict.fate === 'used' && verdict.refusals.length === 0 && verdict.dangling.length === 0
  return startable && refusals.length === 0 && dangling.length === 0 && providers.every(isUsed)
}
