// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Endpoint } from '../api/rpc-router.ts'
import type { RenderedConfig } from './rendered-config.ts'
import type { Violation, UnresolvedRef, RouterRefusal, ProviderRefusal } from './violations.ts'

/** Faults of a provider. */
export interface ProviderFaults {
  readonly refusals: readonly ProviderRefusal[]
  /** References to objects or keys that do not exist. */
  readonly unresolvedRefs: readonly UnresolvedRef[]
}

/** Result for one provider. */
export interface ProviderOutcome extends ProviderFaults {
  readonly provider: string
  readonly isUsed: boolean
}

/** Result for one endpoint. */
export interface EndpointOutcome {
  readonly endpoint: Endpoint
  /** `ETH1 jsonrpc`, with the chain's name in the config. */
  readonly serves: string
  /** Upstreams of both tiers that serve it. */
  readonly upstreams: number
  readonly served: boolean
}

/** The result of translating a router. */
export interface Translation {
  /** Null if the last good config must stay in use; `refusals` or `unresolvedRefs` say why. */
  readonly config: RenderedConfig | null
  /** Faults of the router. If there is a config, they affect only the excluded part. */
  readonly refusals: readonly RouterRefusal[]
  /** References for which the router waits. */
  readonly unresolvedRefs: readonly UnresolvedRef[]
  /** Effects of a valid config that its owner may not expect. */
  readonly notes: readonly string[]
  /** Sorted by name. */
  readonly providers: readonly ProviderOutcome[]
  readonly endpoints: readonly EndpointOutcome[]
}

/** Formats `spec.nodeUrls[0].url: is not a URL`. */
export function violationText({ field, message }: Violation): string {
  return field === '' ? message : `${field}: ${message}`
}
