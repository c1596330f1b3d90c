// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import type { Endpoint } from '../api/endpoints.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import type { ReferenceData } from './reference-data.ts'
import type { RenderedConfig } from './rendered-config.ts'
import type { StateChoice } from './state-store.ts'
import type { Dangling, ProviderRefusal, RouterRefusal } from './violation.ts'

/** What the pods of a router run with now. */
export interface Running {
  /** Ports of the endpoints that they serve. */
  readonly openPorts: readonly number[]
}

/** Before the first config. */
export const nothingRuns: Running = { openPorts: [] }

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
  /** Those that it selects and that cannot be read. */
  readonly unreadable?: readonly UnreadableProvider[]
  readonly data: ReferenceData
  /** The chains of the image's specs. */
  readonly chains: KnownChains
  readonly running: Running
}

/** What became of one provider. */
export interface ProviderVerdict {
  readonly provider: string
  readonly isUsed: boolean
  readonly refusals: readonly ProviderRefusal[]
  /** References that lead nowhere. */
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
  /** Null when the last good config must keep running; `refusals` or `dangling` then say why. */
  readonly config: RenderedConfig | null
  /** What is wrong with the router; with a config beside it, the part that it leaves out. */
  readonly refusals: readonly RouterRefusal[]
  /** References that the router waits for. */
  readonly dangling: readonly Dangling[]
  /** What a config that is good does, and its owner may not expect. */
  readonly notes: readonly string[]
  /** By name. */
  readonly providers: readonly ProviderVerdict[]
  readonly endpoints: readonly EndpointVerdict[]
  readonly state: StateChoice
}
