// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouterReason, UpstreamProviderReason } from '../api/conditions.ts'

/** Why a router cannot be accepted; the reason of its condition `Accepted` that is False. */
export type RouterRefusalReason = Exclude<
  RpcRouterReason<'Accepted'>,
  'Accepted' | 'PartiallyAccepted'
>

/** Why a provider cannot be accepted; the reason of its condition `Accepted` that is False. */
export type ProviderRefusalReason = Exclude<
  UpstreamProviderReason<'Accepted'>,
  'Accepted' | 'Pending'
>

/** Why a reference leads nowhere; the reason of a condition `ResolvedRefs` that is False. */
export type DanglingReason = Exclude<UpstreamProviderReason<'ResolvedRefs'>, 'ResolvedRefs'>

/** Something that keeps a router or a provider from being served as it is written. */
export interface Violation<
  Reason extends string = RouterRefusalReason | ProviderRefusalReason | DanglingReason,
> {
  readonly reason: Reason
  /** Where it stands in the object, e.g. `spec.nodeUrls[0].url`; empty for the object as a whole. */
  readonly field: string
  /** What is wrong and what would be right. Never holds the value of a Secret. */
  readonly message: string
}

export type RouterRefusal = Violation<RouterRefusalReason>
export type ProviderRefusal = Violation<ProviderRefusalReason>
/** One that can be either's, by what the config has at its place. */
export type ConfigRefusal = Violation<RouterRefusalReason & ProviderRefusalReason>
export type Dangling = Violation<DanglingReason>

/** `spec.nodeUrls[0].url: is not a URL.` */
export function violationText({ field, message }: Violation): string {
  return field === '' ? message : `${field}: ${message}`
}
