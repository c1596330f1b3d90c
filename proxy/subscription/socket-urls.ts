// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Backoff } from '../clock/backoff.ts'
import type { Clock } from '../clock/clock.ts'
import type { Strategy } from '../config/types.ts'
import type { SocketUrl } from '../upstream/node-url.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'

const cooldown = { firstMs: 1_000, maxMs: 60_000 }

/** URLs that failed lately and are not asked for a while: 1 s, doubling to a minute. */
export class Cooldowns {
  readonly #clock: Clock
  readonly #byUrl = new Map<SocketUrl, { readonly untilMs: number; readonly backoff: Backoff }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A failure while it cools down is the same trouble: one cut connection is one failure. */
  begin(url: SocketUrl): void {
    if (this.has(url)) return
    const nowMs = this.#clock.nowMs()
    const last = this.#byUrl.get(url)
    const isRecent = last !== undefined && nowMs - last.untilMs < cooldown.maxMs
    const backoff = isRecent ? last.backoff : new Backoff(cooldown)
    this.#byUrl.set(url, { untilMs: nowMs + backoff.next(), backoff })
  }

  has(url: SocketUrl): boolean {
    return (this.#byUrl.get(url)?.untilMs ?? 0) > this.#clock.nowMs()
  }

  /** It does what it should. */
  end(url: SocketUrl): void {
    this.#byUrl.delete(url)
  }

  /** How long until the first of them may be asked again; null when none cools down. */
  get leastMs(): number | null {
    const nowMs = this.#clock.nowMs()
    const left = [...this.#byUrl.values()].map(({ untilMs }) => untilMs - nowMs)
    return left.reduce<number | null>(
      (least, ms) => (ms > 0 && ms < (least ?? Infinity) ? ms : least),
      null,
    )
  }
}

/** A WebSocket URL that may carry a subscription, and its upstream. */
export interface SocketPlace {
  readonly upstream: Upstream
  readonly url: SocketUrl
}

/** The WebSocket URLs of a pool. A failure here costs an upstream nothing of its standing for calls. */
export class SocketUrls {
  readonly cooldowns: Cooldowns
  readonly #pool: Pool
  readonly #strategy: Strategy

  constructor(pool: Pool, clock: Clock, strategy: Strategy) {
    this.cooldowns = new Cooldowns(clock)
    this.#pool = pool
    this.#strategy = strategy
  }

  get hasAny(): boolean {
    return this.#pool.upstreams.some(({ sockets }) => sockets.length > 0)
  }

  /** The next one to ask, by the pool's choice among the upstreams; null when none may be asked now. */
  next(isExcluded: (url: SocketUrl) => boolean): SocketPlace | null {
    const isOpen = (url: SocketUrl) => !isExcluded(url) && !this.cooldowns.has(url) && isUsable(url)
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
    const upstream = this.#pool.choose(wanted, this.#strategy)
    const url = upstream?.sockets.find(isOpen)
    return upstream && url ? { upstream, url } : null
  }
}

function isUsable({ cooldown, verified }: SocketUrl): boolean {
  return !cooldown.active && verified !== false
}
