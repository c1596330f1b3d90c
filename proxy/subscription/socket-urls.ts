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

/** URLs that failed lately and are not asked for a while. */
export class Cooldowns {
  readonly #clock: Clock
  readonly #random: Random
  readonly #byUrl = new Map<SocketUrl, Cooldown>()

  constructor(clock: Clock, random: Random) {
    this.#clock = clock
    this.#random = random
  }

  /** A failure while it cools down is the same trouble: one cut connection is one failure. */
  begin(url: SocketUrl): void {
    const cooldown =
      this.#byUrl.get(url) ?? new Cooldown(this.#clock, this.#random, () => {}, urlBackoff)
    this.#byUrl.set(url, cooldown)
    cooldown.begin(null)
  }

  has(url: SocketUrl): boolean {
    return this.#byUrl.get(url)?.active ?? false
  }

  /** It does what it should. */
  end(url: SocketUrl): void {
    this.#byUrl.delete(url)
  }
}

/** A WebSocket URL that may carry a subscription, and its upstream. */
export interface SocketEndpoint {
  readonly upstream: Upstream
  readonly url: SocketUrl
}

/** The WebSocket URLs of a pool. A failure here does not count against the upstream's calls. */
export class SocketUrls {
  readonly cooldowns: Cooldowns
  readonly #pool: Pool
  readonly #strategy: Strategy

  constructor(pool: Pool, clock: Clock, random: Random, strategy: Strategy) {
    this.cooldowns = new Cooldowns(clock, random)
    this.#pool = pool
    this.#strategy = strategy
  }

  get hasAny(): boolean {
    return this.#pool.upstreams.some(({ sockets }) => sockets.length > 0)
  }

  /** The next one to ask, by the pool's choice among the upstreams; null when none may be asked now. */
  next(isExcluded: (url: SocketUrl) => boolean): SocketEndpoint | null {
    const isOpen = (url: SocketUrl) =>
      !isExcluded(url) && !this.cooldowns.has(url) && !url.cooldown.active && url.verified !== false
    const wanted = {
      addons: [],
      block: { kind: 'tag', tag: 'latest' },
      byHash: false,
      cost: 10,
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
