// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Backoff } from '../clock/backoff.ts'
import { sleep, type Cancel, type Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { SocketUrl } from '../upstream/upstream.ts'
import type { Pool } from '../upstream/pool.ts'
import { TransportError } from '../upstream/wire.ts'
import type { ChainReader } from './family.ts'
import { urlBackoff, type Source } from './source.ts'
import { NodeRefused, type SubscriptionObserver } from './subscriptions.ts'

/** How often it is checked within the time after which a socket is left. */
const checksPerStall = 3

export interface HeadWatchOptions {
  readonly clock: Clock
  readonly random: Random
  readonly pool: Pick<Pool, 'tip'>
  readonly observer: Pick<SubscriptionObserver, 'failed'>
  readonly allowedLagBlocks: number
  /** A socket without events for so long, while the chain goes on, has stalled. */
  readonly stallMs: number
  readonly url: SocketUrl
  open(signal: AbortSignal): Promise<Source>
  /** All topics have to leave the socket. */
  leave(why: string): void
}

/**
 * Checks whether the socket that topics are on is alive. A topic may be quiet for a good reason, but the head
 * of the chain may not: when it moves on elsewhere and not on this socket, all topics leave it.
 */
export class HeadWatch {
  readonly #reader: ChainReader
  readonly #options: HeadWatchOptions
  readonly #closing = new AbortController()
  #source: Source | null = null
  #unread: Uint8Array | null = null
  /** A socket that never sends anything is behind this before long. */
  #number: number | null
  #checksWithoutNews = 0
  #checksBehind = 0
  #cancel: Cancel = () => {}

  constructor(reader: ChainReader, options: HeadWatchOptions) {
    this.#reader = reader
    this.#options = options
    this.#number = options.pool.tip
    void this.#listen()
    this.#checkLater()
  }

  close(): void {
    this.#closing.abort()
    this.#cancel()
    this.#source?.close()
  }

  /** Subscribes to the head, and again whenever that is lost or refused. Never rejects. */
  async #listen(): Promise<void> {
    const { clock, random, observer, open } = this.#options
    const { signal } = this.#closing
    const backoff = new Backoff(urlBackoff, random)
    while (!signal.aborted) {
      try {
        const source = await open(signal)
        if (signal.aborted) return source.close()
        this.#source = source
        backoff.reset()
        const { promise, resolve: lost } = Promise.withResolvers<void>()
        const event = (result: Uint8Array) => {
          this.#unread = result
        }
        source.listen({
          event,
          lost: () => {
            lost()
          },
        })
        await promise
      } catch (error) {
        const isExpected = error instanceof NodeRefused || error instanceof TransportError
        if (!isExpected && !signal.aborted) observer.failed('head', error)
      }
      this.#source = null
      await sleep(clock, backoff.next(), signal).catch(() => {})
    }
  }

  #checkLater(): void {
    const { clock, stallMs } = this.#options
    this.#cancel = clock.after(stallMs / checksPerStall, () => {
      this.#checkLater()
      const why = this.#whyLeave()
      if (why !== null) this.#options.leave(why)
    })
  }

  #whyLeave(): string | null {
    const { url, pool, allowedLagBlocks } = this.#options
    if (url.verified === false) return 'it serves another chain'
    const block = this.#unread && this.#reader.read(this.#unread)
    this.#unread = null
    this.#number = block?.number ?? this.#number ?? pool.tip
    const behind = this.#number === null ? 0 : (pool.tip ?? 0) - this.#number
    this.#checksWithoutNews = block || !this.#source ? 0 : this.#checksWithoutNews + 1
    this.#checksBehind = behind > allowedLagBlocks && this.#source ? this.#checksBehind + 1 : 0
    if (behind > 0 && this.#checksWithoutNews >= checksPerStall) return 'it has stalled'
    return this.#checksBehind > checksPerStall ? 'it lags behind the chain' : null
  }
}
