// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Backoff } from '../clock/backoff.ts'
import type { Cancel, Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { SocketUrl } from '../upstream/node-url.ts'
import type { Pool } from '../upstream/pool.ts'
import { isTemporary } from './ask.ts'
import type { ChainReader, Family } from './family.ts'
import { urlBackoff, type SocketEndpoint } from './socket-urls.ts'
import type { Source, Sources } from './source.ts'
import { NodeRefused, type SubscriptionObserver } from './subscriptions.ts'
import { TransportError } from '../upstream/transport.ts'

export interface SocketWatchesOptions {
  readonly clock: Clock
  readonly random: Random
  readonly pool: Pick<Pool, 'tip'>
  readonly family: Family
  readonly sources: Sources
  readonly observer: Pick<SubscriptionObserver, 'failed'>
  readonly allowedLagBlocks: number
  /** No news on a socket for so long, while there is some elsewhere: it has stalled. */
  readonly stallMs: number
}

type Leave = (why: string) => void

/**
 * Sees whether the sockets that topics are on are alive. A topic may be quiet for good reason, and the
 * head of the chain may not: when it moves on elsewhere and not on a socket, all topics leave that one.
 */
export class SocketWatches {
  readonly #options: SocketWatchesOptions
  readonly #watches = new Map<SocketUrl, SocketWatch>()

  constructor(options: SocketWatchesOptions) {
    this.#options = options
  }

  /** A topic is on this socket now. @returns to be called when it is not any more */
  join(endpoint: SocketEndpoint, leave: Leave): () => void {
    const { head, readers } = this.#options.family
    const reader = head === null ? undefined : readers[head]
    if (!reader) return () => {}
    const { url } = endpoint
    const watch = this.#watches.get(url) ?? new SocketWatch(reader, endpoint, this.#options)
    this.#watches.set(url, watch)
    watch.members.add(leave)
    return () => {
      if (!watch.members.delete(leave) || watch.members.size > 0) return
      watch.close()
      this.#watches.delete(url)
    }
  }
}

/** Watches the head on one socket, by a subscription that it shares with the sequence's own. */
class SocketWatch {
  readonly members = new Set<Leave>()
  readonly #reader: ChainReader
  readonly #endpoint: SocketEndpoint
  readonly #options: SocketWatchesOptions
  readonly #closing = new AbortController()
  #source: Source | null = null
  #isOpening = false
  /** When to ask for the head again; never where the node does not have such a subscription. */
  #openAtMs = -Infinity
  readonly #backoff: Backoff
  #unread: Uint8Array | null = null
  #number: number | null = null
  #newsMs: number
  #laggingSinceMs: number | null = null
  /** How often other upstreams were asked since the last news. */
  #stallChecks = 0
  #cancel: Cancel = () => {}

  constructor(reader: ChainReader, endpoint: SocketEndpoint, options: SocketWatchesOptions) {
    this.#reader = reader
    this.#endpoint = endpoint
    this.#options = options
    this.#backoff = new Backoff(urlBackoff, options.random)
    this.#newsMs = options.clock.nowMs()
    // A socket that never sends anything is behind this before long.
    this.#number = options.pool.tip
    void this.#open()
    this.#checkLater()
  }

  close(): void {
    this.#closing.abort()
    this.#cancel()
    this.#source?.close()
  }

  async #open(): Promise<void> {
    const { sources, observer, clock } = this.#options
    const { signal } = this.#closing
    if (this.#source || this.#isOpening || clock.nowMs() < this.#openAtMs) return
    this.#isOpening = true
    try {
      const source = await sources.open(this.#reader.request, this.#endpoint, signal)
      if (signal.aborted) return source.close()
      this.#source = source
      this.#backoff.reset()
      source.listen({
        event: (event) => {
          this.#unread = event
        },
        lost: () => {
          this.#source = null
        },
      })
    } catch (error) {
      const isRefusal = error instanceof NodeRefused
      const isForGood = isRefusal && error.isNotOffered
      this.#openAtMs = isForGood ? Infinity : clock.nowMs() + this.#backoff.next()
      if (!isRefusal && !(error instanceof TransportError) && !signal.aborted)
        observer.failed('head', error)
    } finally {
      this.#isOpening = false
    }
  }

  #checkLater(): void {
    const { clock, stallMs } = this.#options
    this.#cancel = clock.after(stallMs / 3, () => {
      this.#checkLater()
      void this.#open()
      if (this.#source) this.#check()
    })
  }

  #check(): void {
    const { clock, pool, stallMs, allowedLagBlocks } = this.#options
    if (this.#endpoint.url.verified === false) return this.#leave('it serves another chain')
    const nowMs = clock.nowMs()
    const block = this.#unread && this.#reader.read(this.#unread)
    this.#unread = null
    if (block) {
      this.#number = block.number
      this.#newsMs = nowMs
      this.#stallChecks = 0
    }
    const lag = this.#number === null ? 0 : (pool.tip ?? 0) - this.#number
    if (lag <= allowedLagBlocks) this.#laggingSinceMs = null
    else this.#laggingSinceMs ??= nowMs
    if (this.#laggingSinceMs !== null && nowMs - this.#laggingSinceMs >= stallMs)
      return this.#leave('it lags behind the chain')
    // Where the whole chain stands still, it is asked for less and less often.
    if (nowMs - this.#newsMs >= stallMs * 2 ** Math.min(this.#stallChecks, 3))
      void this.#checkStall()
  }

  /** Nothing has come for long: is there news elsewhere? */
  async #checkStall(): Promise<void> {
    const { clock, observer } = this.#options
    const { signal } = this.#closing
    this.#newsMs = clock.nowMs()
    try {
      const { number } = await this.#reader.latest(null, signal)
      if (signal.aborted || this.#unread !== null) return
      if (this.#number !== null && number > this.#number) return this.#leave('it has stalled')
      if (this.#number === null) this.#number = number
      else this.#stallChecks += 1
    } catch (error) {
      if (!signal.aborted && !isTemporary(error)) observer.failed('head', error)
    }
  }

  #leave(why: string): void {
    for (const leave of [...this.members]) leave(why)
  }
}
