// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { Strategy } from '../config/types.ts'
import type { SocketUrl } from '../upstream/node-url.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { Rests } from './rests.ts'

/** Where an upstream subscription can be. */
export interface SocketPlace {
  readonly upstream: Upstream
  readonly url: SocketUrl
}

/**
 * Which WebSocket URLs can tell of topics, the pool's choice among their upstreams, and which of
 * them failed lately. Failing here costs an upstream nothing of its standing: that is for its calls.
 */
export class Places {
  readonly #pool: Pool
  readonly #strategy: Strategy
  readonly #rests: Rests

  constructor(pool: Pool, clock: Clock, strategy: Strategy) {
    this.#pool = pool
    this.#strategy = strategy
    this.#rests = new Rests(clock)
  }

  get hasAny(): boolean {
    return this.#pool.upstreams.some(({ sockets }) => sockets.length > 0)
  }

  /** The place to ask next, or null when none may be asked now. */
  next(tried: ReadonlySet<SocketUrl>): SocketPlace | null {
    const isOpen = (url: SocketUrl) => !tried.has(url) && !this.#rests.has(url) && isWell(url)
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

  /** Another place is fitter than this one. @param except URLs of which that is not to be had */
  isOutdone(place: SocketPlace, except: readonly SocketUrl[]): boolean {
    if (this.#isFit(place)) return false
    const other = this.next(new Set([place.url, ...except]))
    return other !== null && this.#isFit(other)
  }

  /** Nothing is asked there for a while: it failed, whatever the topic. */
  rest({ url }: SocketPlace): void {
    this.#rests.begin(url)
  }

  /** How long until one that failed may be asked again; null when none of them rests. */
  get restMs(): number | null {
    return this.#rests.leastMs
  }

  /** It does what it should. */
  proven({ url }: SocketPlace): void {
    this.#rests.forget(url)
  }

  #isFit({ upstream, url }: SocketPlace): boolean {
    return this.#pool.stateOf(upstream) === 'eligible' && isWell(url)
  }
}

function isWell({ holdOff, verified }: SocketUrl): boolean {
  return !holdOff.active && verified !== false
}
