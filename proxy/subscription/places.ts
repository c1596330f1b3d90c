// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { Strategy } from '../config/types.ts'
import type { SocketUrl } from '../upstream/node-url.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'

/** Where an upstream subscription can be. */
export interface SocketPlace {
  readonly upstream: Upstream
  readonly url: SocketUrl
}

const restsMs = { least: 1_000, most: 60_000 }

/**
 * Which WebSocket URLs can tell of topics, the pool's choice among their upstreams, and which of
 * them failed lately. Failing here costs an upstream nothing of its standing: that is for its calls.
 */
export class Places {
  readonly #pool: Pool
  readonly #clock: Clock
  readonly #strategy: Strategy
  readonly #rests = new Map<SocketUrl, { untilMs: number; failures: number }>()

  constructor(pool: Pool, clock: Clock, strategy: Strategy) {
    this.#pool = pool
    this.#clock = clock
    this.#strategy = strategy
  }

  get hasAny(): boolean {
    return this.#pool.upstreams.some(({ sockets }) => sockets.length > 0)
  }

  /** The place to ask next, or null when none may be asked now. */
  next(tried: ReadonlySet<SocketUrl>): SocketPlace | null {
    const isOpen = (url: SocketUrl) => !tried.has(url) && this.#isRested(url) && isWell(url)
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

  /** Another place is fitter than this one. */
  isOutdone(place: SocketPlace): boolean {
    if (this.#isFit(place)) return false
    const other = this.next(new Set([place.url]))
    return other !== null && this.#isFit(other)
  }

  /** It is left alone for a while, longer each time: 1 s doubling to a minute. */
  rest({ url }: SocketPlace): void {
    const failures = (this.#rests.get(url)?.failures ?? 0) + 1
    const ms = Math.min(restsMs.least * 2 ** (failures - 1), restsMs.most)
    this.#rests.set(url, { untilMs: this.#clock.nowMs() + ms, failures })
  }

  /** How long until one that failed may be asked again; null when none of them rests. */
  get restMs(): number | null {
    const nowMs = this.#clock.nowMs()
    const left = [...this.#rests.values()].map(({ untilMs }) => untilMs - nowMs)
    const resting = left.filter((ms) => ms > 0)
    return resting.length > 0 ? Math.min(...resting) : null
  }

  /** It does what it should. */
  proven({ url }: SocketPlace): void {
    this.#rests.delete(url)
  }

  #isFit({ upstream, url }: SocketPlace): boolean {
    return this.#pool.stateOf(upstream) === 'eligible' && isWell(url)
  }

  #isRested(url: SocketUrl): boolean {
    return (this.#rests.get(url)?.untilMs ?? 0) <= this.#clock.nowMs()
  }
}

function isWell({ holdOff, verified }: SocketUrl): boolean {
  return !holdOff.active && verified !== false
}
