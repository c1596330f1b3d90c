// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouterReason, UpstreamProviderReason } from '../api/conditions.ts'

/** Reasons of a router's condition `Accepted` if it is False. */
export type RouterRefusalReason = Exclude<
  RpcRouterReason<'Accepted'>,
  'Accepted' | 'PartiallyAccepted'
>

/** Reasons of a provider's condition `Accepted` if it is False. */
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
  /** The fault and its remedy, without the value of any Secret. */
  readonly message: string
}

export type RouterRefusal = Violation<RouterRefusalReason>

export type ProviderRefusal = Violation<ProviderRefusalReason>

/** A refusal of the router or of a provider, depending on the part of the config. */
export type ConfigRefusal = Violation<RouterRefusalReason & ProviderRefusalReason>

export type UnresolvedRef = Violation<DanglingReason>
