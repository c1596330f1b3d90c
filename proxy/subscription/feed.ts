// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Backoff } from '../clock/backoff.ts'
import { sleep, type Clock } from '../clock/clock.ts'
import type { RelayError } from '../relay/errors.ts'
import { findSource, type FindSourceOptions } from './find-source.ts'
import type { SocketWatches } from './socket-watch.ts'
import { Cooldowns } from './socket-urls.ts'
import type { Source } from './source.ts'
import type { NodeRefused, SubscriptionObserver } from './subscriptions.ts'

const reopenBackoff = { firstMs: 250, maxMs: 10_000 }

export interface FeedOptions extends Omit<FindSourceOptions, 'refusals'> {
  /** For the log and the metrics. */
  readonly name: string
  readonly watches: SocketWatches
  readonly clock: Clock
  readonly observer: SubscriptionObserver
}

export interface FeedListener {
  event(result: Uint8Array): void
  /** Events come from another source from now on; earlier ones may be missing. Not for the first source. */
  moved(): void
}

/** Keeps one source for a topic: a subscription at an upstream. When it is lost or left, it moves. */
export class Feed {
  readonly #options: FeedOptions
  readonly #listener: FeedListener
  readonly #refusals: Cooldowns
  readonly #closing = new AbortController()
  #source: Source | null = null
  #unwatch = () => {}

  constructor(options: FeedOptions, listener: FeedListener) {
    this.#options = options
    this.#listener = listener
    this.#refusals = new Cooldowns(options.clock)
  }

  /** The upstream that events come from; null while there is none. */
  get upstream(): string | null {
    return this.#source?.place.upstream.name ?? null
  }

  /** Finds the first source. @throws NodeRefused @throws RelayError */
  async open(): Promise<void> {
    const failure = await this.#openSource()
    if (failure) throw failure
  }

  /** The present source is not good enough: its URL cools down, and another one takes over. */
  leave(why: string): void {
    const source = this.#source
    if (source === null) return
    source.close()
    this.#lost(source, why)
  }

  /** @param isOver the upstream has ended the subscription itself */
  close(isOver = false): void {
    this.#closing.abort()
    this.#unwatch()
    this.#source?.close(isOver)
    this.#source = null
  }

  /** @returns why there is none, when there is none */
  async #openSource(): Promise<NodeRefused | RelayError | null> {
    const { signal } = this.#closing
    const found = await findSource({ ...this.#options, refusals: this.#refusals }, signal)
    if (found instanceof Error) return found
    if (signal.aborted) found.close()
    else this.#begin(found)
    return null
  }

  #begin(source: Source): void {
    const { observer, name, urls, watches } = this.#options
    const { url, upstream } = source.place
    this.#source = source
    this.#refusals.end(url)
    observer.joined(name, upstream.name)
    this.#unwatch = watches.join(source.place, (why) => {
      if (this.#source === source) this.leave(why)
    })
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
        this.#lost(source, why)
      },
    })
  }

  #lost({ place }: Source, why: string): void {
    const { observer, name, urls } = this.#options
    this.#source = null
    this.#unwatch()
    urls.cooldowns.begin(place.url)
    observer.left(name, place.upstream.name, why)
    void this.#reopen()
  }

  /** Asks the URLs until one accepts. Never rejects. */
  async #reopen(): Promise<void> {
    const { clock, observer, name } = this.#options
    const { signal } = this.#closing
    const backoff = new Backoff(reopenBackoff)
    try {
      while ((await this.#openSource()) !== null) await sleep(clock, backoff.next(), signal)
      if (!signal.aborted) this.#listener.moved()
    } catch (error) {
      if (!signal.aborted) observer.failed(name, error)
    }
  }
}
