// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Endpoint } from '../api/endpoints.ts'
import type { UpstreamPlan } from './router-document.ts'

/** Which upstreams serve which endpoints. */
export class Serving {
  readonly #endpoints: readonly Endpoint[]
  readonly #chainIdOf: (chainId: string) => string

  constructor(endpoints: readonly Endpoint[], chainIdOf: (chainId: string) => string) {
    this.#endpoints = endpoints
    this.#chainIdOf = chainIdOf
  }

  /** `ETH1 jsonrpc`. */
  wants({ chainId, apiInterface }: Endpoint): string {
    return `${this.#chainIdOf(chainId)} ${apiInterface}`
  }

  /** What the endpoints are for, each once: `ETH1 jsonrpc`. */
  get wanted(): readonly string[] {
    return [...new Set(this.#endpoints.map((endpoint) => this.wants(endpoint)))]
  }

  /** Whether any endpoint has use for an upstream that serves this. */
  isWanted(serves: string): boolean {
    return this.wanted.includes(serves)
  }

  of(endpoint: Endpoint, upstreams: readonly UpstreamPlan[]): readonly UpstreamPlan[] {
    return upstreams.filter(({ serves }) => serves === this.wants(endpoint))
  }

  /** The endpoints that can be opened: the router starts none without a primary upstream. */
  served(upstreams: readonly UpstreamPlan[]): readonly Endpoint[] {
    const primaries = upstreams.filter(({ tier }) => tier === 'primary')
    return this.#endpoints.filter((endpoint) => this.of(endpoint, primaries).length > 0)
  }

  /** Without those that no opened endpoint has use for. */
  used(upstreams: readonly UpstreamPlan[]): readonly UpstreamPlan[] {
    const wanted = new Set(this.served(upstreams).map((endpoint) => this.wants(endpoint)))
    return upstreams.filter(({ serves }) => wanted.has(serves))
  }
}
