// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Backoff } from '../clock/backoff.ts'
import { sleep } from '../clock/clock.ts'
import type { RelayError } from '../relay/errors.ts'
import { findSource, type FindSourceOptions } from './find-source.ts'
import type { SocketWatches } from './socket-watch.ts'
import { Cooldowns } from './socket-urls.ts'
import type { Source } from './source.ts'
import type { NodeRefused, SubscriptionObserver } from './subscriptions.ts'

const reopenBackoff = { firstMs: 250, maxMs: 10_000 }
/** While polling stands in, sockets are tried again at least this often. */
const socketRetryMs = 15_000
/** When no socket has been opened after so long, polling stands in. */
const pollingAfterMs = 5_000
/** How often it is checked whether a better upstream is there. */
const checkMs = 5_000

export interface FeedOptions extends Omit<FindSourceOptions, 'refusals'> {
  /** For the log and the metrics. */
  readonly name: string
  /** The sequence that this is; null for a live topic. */
  readonly sequence: string | null
  readonly watches: SocketWatches
  readonly observer: SubscriptionObserver
}

export interface Polling {
  readonly intervalMs: number
  poll(): Promise<void>
}

export interface FeedListener {
  event(result: Uint8Array): void
  /** Events come from another source from now on; earlier ones may be missing. Not for the first source. */
  moved(): void
}

/**
 * Keeps one source for a topic: a subscription at the best upstream there is, or else polling. When
 * the source is lost, or another upstream is better, it moves.
 */
export class Feed {
  readonly #options: FeedOptions
  readonly #polling: Polling | null
  readonly #listener: FeedListener
  readonly #refusals: Cooldowns
  readonly #closing = new AbortController()
  #source: Source | null = null
  /** Ends what belongs to the present source: its watch and its check. */
  #letGo = () => {}
  #stopPolling: (() => void) | null = null

  /** @param polling what is done where no upstream can be subscribed to; null: nothing can be */
  constructor(options: FeedOptions, polling: Polling | null, listener: FeedListener) {
    this.#options = options
    this.#polling = polling
    this.#listener = listener
    this.#refusals = new Cooldowns(options.clock)
  }

  /** The upstream that events come from; null while there is none. */
  get upstream(): string | null {
    return this.#source?.place.upstream.name ?? null
  }

  get isPolling(): boolean {
    return this.#stopPolling !== null
  }

  /** Finds the first source. @throws NodeRefused @throws RelayError */
  async open(): Promise<void> {
    const failure = await this.#openSource()
    if (failure === null) return
    if (this.#closing.signal.aborted || this.#polling === null) throw failure
    this.#startPolling(this.#polling)
    if (this.#options.urls.hasAny) this.#guard(this.#reopen(this.#socketRetryMs))
  }

  /** The present source is not good enough: its URL cools down, and another one takes over. */
  leave(why: string): void {
    const source = this.#source
    if (source === null) return
    this.#letGo()
    source.close()
    this.#lost(source, why)
  }

  /** @param isOver the upstream has ended the subscription itself */
  close(isOver = false): void {
    this.#closing.abort()
    this.#letGo()
    this.#source?.close(isOver)
    this.#source = null
    this.#stopPolling?.()
    this.#stopPolling = null
  }

  /** @returns why there is none, when there is none */
  async #openSource(): Promise<NodeRefused | RelayError | null> {
    const { signal } = this.#closing
    const budgetMs = this.#polling && !this.isPolling ? pollingAfterMs : null
    const options = { ...this.#options, refusals: this.#refusals }
    const found = await findSource(options, signal, budgetMs)
    if (found instanceof Error) return found
    if (signal.aborted) found.close()
    else this.#begin(found)
    return null
  }

  #begin(source: Source): void {
    const { observer, name, sequence, urls, watches } = this.#options
    const { url, upstream } = source.place
    this.#source = source
    this.#refusals.end(url)
    observer.joined(name, upstream.name)
    const unwatch = watches.join(source.place, sequence, (why) => {
      if (this.#source === source) this.leave(why)
    })
    const stopChecks = this.#checkLater(source)
    this.#letGo = () => {
      unwatch()
      stopChecks()
    }
    let isProven = false
    source.listen({
      event: (result) => {
        if (this.#source !== source) return
        if (!isProven) urls.cooldowns.end(url)
        isProven = true
        this.#listener.event(result)
      },
      lost: (why) => {
        if (this.#source !== source) return
        this.#letGo()
        this.#lost(source, why)
      },
    })
  }

  /** Leaves a source that is out of service while another one is in service. */
  #checkLater(source: Source): () => void {
    const { clock, urls } = this.#options
    let cancel = () => {}
    const check = () => {
      if (urls.hasBetterThan(source.place, this.#refusals.failed))
        return this.leave('another upstream is in service, and this one is not')
      cancel = clock.after(checkMs, check)
    }
    cancel = clock.after(checkMs, check)
    return () => {
      cancel()
    }
  }

  #lost({ place }: Source, why: string): void {
    const { observer, name, urls } = this.#options
    this.#source = null
    this.#letGo = () => {}
    urls.cooldowns.begin(place.url)
    observer.left(name, place.upstream.name, why)
    this.#guard(this.#reopen())
  }

  /** Asks the URLs until one accepts; polls meanwhile where that can be done. */
  async #reopen(firstWaitMs = 0): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#closing
    if (firstWaitMs > 0) await sleep(clock, firstWaitMs, signal)
    const backoff = new Backoff(reopenBackoff)
    for (;;) {
      const isOpen = (await this.#openSource()) === null
      if (signal.aborted) return
      if (isOpen) break
      if (this.#polling && !this.isPolling) {
        this.#startPolling(this.#polling)
        this.#listener.moved()
      }
      await sleep(clock, Math.max(backoff.next(), this.isPolling ? this.#socketRetryMs : 0), signal)
    }
    this.#stopPolling?.()
    this.#stopPolling = null
    this.#listener.moved()
  }

  get #socketRetryMs(): number {
    return Math.min(this.#options.urls.cooldowns.leastMs ?? socketRetryMs, socketRetryMs)
  }

  #startPolling({ intervalMs, poll }: Polling): void {
    const { clock, observer, name } = this.#options
    const stop = new AbortController()
    const run = async () => {
      for (;;) {
        await sleep(clock, intervalMs, stop.signal)
        await poll()
      }
    }
    this.#stopPolling = () => {
      stop.abort()
    }
    observer.joined(name, null)
    this.#guard(run(), stop.signal)
  }

  /** What runs by itself ends with the feed; a failure of another kind is a defect. */
  #guard(run: Promise<void>, signal: AbortSignal = this.#closing.signal): void {
    run.catch((error: unknown) => {
      if (!signal.aborted) this.#options.observer.failed(this.#options.name, error)
    })
  }
}
