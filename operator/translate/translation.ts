// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BundledSpecs } from '../../proxy/chain/load-catalog.ts'
import type { RpcRouterReason, UpstreamProviderReason } from '../api/conditions.ts'
import type { Endpoint, RpcRouter } from '../api/rpc-router.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import type { ReferenceData } from './reference-data.ts'
import type { RenderedConfig } from './rendered-config.ts'

/** A stored provider that does not match this operator's schema. */
export interface UnreadableProvider {
  readonly name: string
  /** The validation errors. */
  readonly faults: string
}

/** All inputs of a router's config. */
export interface TranslateInput {
  readonly router: RpcRouter
  /** Providers that the router selects, in any order. */
  readonly providers: readonly UpstreamProvider[]
  /** Unreadable providers that the router selects. */
  readonly unreadable?: readonly UnreadableProvider[]
  readonly data: ReferenceData
  readonly bundled: BundledSpecs
  /** Ports of the endpoints that the pods currently serve. */
  readonly openPorts?: readonly number[]
  /** Whether upstreams may have link-local addresses. */
  readonly allowLinkLocal?: boolean
  /** Default image; part of the hash, since a config is for one image. */
  readonly image?: string
}

/** Faults of a provider. */
export interface ProviderFaults {
  readonly refusals: readonly ProviderRefusal[]
  /** RequiredRefs to objects or keys that do not exist. */
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
  /** Upstreams of both tiers that serve it. */
  readonly upstreams: number
  readonly served: boolean
}

/** The result of translating a router. */
export interface Translation {
  /** Null if the last good config must keep running; `refusals` or `unresolvedRefs` say why. */
  readonly config: RenderedConfig | null
  /** Faults of the router; with a config, these affect only the excluded part. */
  readonly refusals: readonly RouterRefusal[]
  /** RequiredRefs that the router waits for. */
  readonly unresolvedRefs: readonly UnresolvedRef[]
  /** Effects of a valid config that its owner may not expect. */
  readonly notes: readonly string[]
  /** Sorted by name. */
  readonly providers: readonly ProviderOutcome[]
  readonly endpoints: readonly EndpointOutcome[]
}

/** Reasons of a router's condition `Accepted` that is False. */
export type RouterRefusalReason = Exclude<
  RpcRouterReason<'Accepted'>,
  'Accepted' | 'PartiallyAccepted'
>

/** Reasons of a provider's condition `Accepted` that is False. */
export type ProviderRefusalReason = Exclude<UpstreamProviderReason<'Accepted'>, 'Accepted'>

/** Reasons of a condition `ResolvedRefs` that is False. */
export type DanglingReason = Exclude<UpstreamProviderReason<'ResolvedRefs'>, 'ResolvedRefs'>

/** A fault of a router or a provider. */
export interface Violation<
  Reason extends string = RouterRefusalReason | ProviderRefusalReason | DanglingReason,
> {
  readonly reason: Reason
  /** Path of the field, such as `spec.nodeUrls[0].url`; empty for the whole object. */
  readonly field: string
  /** The fault and its remedy. It never contains the value of a Secret. */
  readonly message: string
}

export type RouterRefusal = Violation<RouterRefusalReason>
export type ProviderRefusal = Violation<ProviderRefusalReason>
/** A refusal of the router or of a provider, depending on the part of the config. */
export type ConfigRefusal = Violation<RouterRefusalReason & ProviderRefusalReason>
export type UnresolvedRef = Violation<DanglingReason>

/** Returns `spec.nodeUrls[0].url: is not a URL`. */
export function violationText({ field, message }: Violation): string {
  return field === '' ? message : `${field}: ${message}`
}
