// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BundledSpecs } from '../../proxy/chain/load-catalog.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import type { ReferenceData } from './reference-data.ts'

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
  /** Default image. It is part of the hash, because a config is for one image. */
  readonly image?: string
}
