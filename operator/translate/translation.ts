// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BundledSpecs } from '../../proxy/chain/load-catalog.ts'
import type { RpcRouterReason, UpstreamProviderReason } from '../api/conditions.ts'
import type { Endpoint, RpcRouter } from '../api/rpc-router.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import type { ReferenceData } from './reference-data.ts'
import type { RenderedConfig } from './rendered-config.ts'

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
  readonly bundled: BundledSpecs
  /** Ports of the endpoints that the pods serve now. */
  readonly openPorts?: readonly number[]
  /** Whether upstreams may be at link-local addresses. */
  readonly allowLinkLocal?: boolean
  /** Of pods whose spec names none: a config is read by the image that it was made for. */
  readonly image?: string
}

/** What is wrong with a provider. */
export interface ProviderFaults {
  readonly refusals: readonly ProviderRefusal[]
  /** References to objects or keys that do not exist. */
  readonly unresolvedRefs: readonly UnresolvedRef[]
}

/** What became of one provider. */
export interface ProviderOutcome extends ProviderFaults {
  readonly provider: string
  readonly isUsed: boolean
}

/** What became of one endpoint. */
export interface EndpointOutcome {
  readonly endpoint: Endpoint
  /** Upstreams of both tiers that serve it. */
  readonly upstreams: number
  readonly served: boolean
}

/** The result of translating a router. */
export interface Translation {
  /** Null when the last good config must keep running; `refusals` or `unresolvedRefs` then say why. */
  readonly config: RenderedConfig | null
  /** What is wrong with the router; with a config beside it, the part that it leaves out. */
  readonly refusals: readonly RouterRefusal[]
  /** References that the router waits for. */
  readonly unresolvedRefs: readonly UnresolvedRef[]
  /** Effects of a good config that its owner may not expect. */
  readonly notes: readonly string[]
  /** By name. */
  readonly providers: readonly ProviderOutcome[]
  readonly endpoints: readonly EndpointOutcome[]
}

/** Why a router cannot be accepted; the reason of its condition `Accepted` that is False. */
export type RouterRefusalReason = Exclude<
  RpcRouterReason<'Accepted'>,
  'Accepted' | 'PartiallyAccepted'
>

/** Why a provider cannot be accepted; the reason of its condition `Accepted` that is False. */
export type ProviderRefusalReason = Exclude<UpstreamProviderReason<'Accepted'>, 'Accepted'>

/** Why a reference cannot be resolved; the reason of a condition `ResolvedRefs` that is False. */
export type DanglingReason = Exclude<UpstreamProviderReason<'ResolvedRefs'>, 'ResolvedRefs'>

/** Something that keeps a router or a provider from being served as it is written. */
export interface Violation<
  Reason extends string = RouterRefusalReason | ProviderRefusalReason | DanglingReason,
> {
  readonly reason: Reason
  /** Where it is in the object, e.g. `spec.nodeUrls[0].url`; empty for the object as a whole. */
  readonly field: string
  /** What is wrong and what would be right. Never holds the value of a Secret. */
  readonly message: string
}

export type RouterRefusal = Violation<RouterRefusalReason>
export type ProviderRefusal = Violation<ProviderRefusalReason>
/** A refusal of the router or of a provider, by the part of the config that it names. */
export type ConfigRefusal = Violation<RouterRefusalReason & ProviderRefusalReason>
export type UnresolvedRef = Violation<DanglingReason>

/** `spec.nodeUrls[0].url: is not a URL.` */
export function violationText({ field, message }: Violation): string {
  return field === '' ? message : `${field}: ${message}`
}
