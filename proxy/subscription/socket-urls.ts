// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { Strategy } from '../config/types.ts'
import { Cooldown } from '../upstream/cooldown.ts'
import type { SocketUrl } from '../upstream/node-url.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'

export const urlBackoff = { firstMs: 1_000, maxMs: 60_000, jitter: 0.1 }

/** A WebSocket URL that may carry a subscription, and its upstream. */
export interface SocketEndpoint {
  readonly upstream: Upstream
  readonly url: SocketUrl
}

/** The WebSocket URLs of a pool. A failure here does not count against the upstream's calls. */
export class SocketUrls {
  readonly #pool: Pool
  readonly #clock: Clock
  readonly #random: Random
  readonly #strategy: Strategy
  /** URLs that failed lately and are not asked for a while. */
  readonly #cooldowns = new Map<SocketUrl, Cooldown>()

  constructor(pool: Pool, clock: Clock, random: Random, strategy: Strategy) {
    this.#pool = pool
    this.#clock = clock
    this.#random = random
    this.#strategy = strategy
  }

  get hasAny(): boolean {
    return this.#pool.upstreams.some(({ sockets }) => sockets.length > 0)
  }

  /** A failure while it cools down is the same trouble: one cut connection is one failure. */
  failed(url: SocketUrl): void {
    const cooldown =
      this.#cooldowns.get(url) ?? new Cooldown(this.#clock, this.#random, () => {}, urlBackoff)
    this.#cooldowns.set(url, cooldown)
    cooldown.begin(null)
  }

  /** It does what it should. */
  worked(url: SocketUrl): void {
    this.#cooldowns.delete(url)
  }

  coolsDown(url: SocketUrl): boolean {
    return url.cooldown.active || (this.#cooldowns.get(url)?.active ?? false)
  }

  /** The next one to ask, by the pool's choice among the upstreams; null when none may be asked now. */
  next(isExcluded: (url: SocketUrl) => boolean): SocketEndpoint | null {
    const isOpen = (url: SocketUrl) =>
      !isExcluded(url) && !this.coolsDown(url) && url.verified !== false
    const wanted = {
      addons: [],
      block: { kind: 'tag', tag: 'latest' },
      byHash: false,
      prefer: null,
      excluded: this.#pool.upstreams
        .filter(({ sockets }) => !sockets.some(isOpen))
        .map(({ name }) => name),
      tried: () => false,
      untriedOnly: false,
    } as const
    const upstream = this.#pool.pick.next(wanted, this.#strategy)
    const url = upstream?.sockets.find(isOpen)
    return upstream && url ? { upstream, url } : null
  }
}
