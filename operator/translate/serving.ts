// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Endpoint } from '../api/endpoints.ts'
import type { UpstreamPlan } from './router-document.ts'

/** An endpoint and what its upstreams serve. */
export interface Listener {
  readonly endpoint: Endpoint
  /** `ETH1 jsonrpc`, with the chain as the config calls it. */
  readonly serves: string
}

export function listenersOf(
  endpoints: readonly Endpoint[],
  chainIdOf: (chainId: string) => string,
): readonly Listener[] {
  return endpoints.map((endpoint) => ({
    endpoint,
    serves: `${chainIdOf(endpoint.chainId)} ${endpoint.apiInterface}`,
  }))
}

/** The upstreams of a listener, of both tiers. */
export function upstreamsOf<U extends Pick<UpstreamPlan, 'serves'>>(
  { serves }: Listener,
  upstreams: readonly U[],
): readonly U[] {
  return upstreams.filter((upstream) => upstream.serves === serves)
}

export function isPrimary({ tier }: Pick<UpstreamPlan, 'tier'>): boolean {
  return tier === 'primary'
}

/** The listeners that can be opened: the router starts none without a primary upstream. */
export function openListeners(
  listeners: readonly Listener[],
  upstreams: readonly UpstreamPlan[],
): readonly Listener[] {
  return listeners.filter((listener) => upstreamsOf(listener, upstreams).some(isPrimary))
}
