// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { sleep } from '../clock/clock.ts'
import type { RelayError } from '../relay/errors.ts'
import { Backoff } from './backoff.ts'
import type { SubscriptionObserver } from './observer.ts'
import { Rests } from './rests.ts'
import { searchSource, type SourceSearchOptions } from './source-search.ts'
import type { SocketSource } from './source-socket.ts'
import type { NodeRefused } from './subscriptions.ts'

/** While polling stands in, sockets are tried again when one has rested, or after so long. */
const socketRetryMs = 15_000
/** When nobody has said yes after so long, polling stands in. */
const pollingAfterMs = 5_000

export interface FeedOptions extends Omit<SourceSearchOptions, 'refusals'> {
  /** For the log and the metrics. */
  readonly name: string
  readonly observer: SubscriptionObserver
  /** What is asked where no socket tells of the topic, each time after so long; null: nothing can be. */
  readonly polling: { readonly intervalMs: number; poll(): Promise<void> } | null
}

export interface FeedListener {
  event(result: Uint8Array): void
  /** Another source tells from now on; what was said before it began is not known. Not for the first. */
  moved(): void
}

/**
 * Keeps one source telling of a topic: an upstream's subscription at the best place there is, or
 * else polling. When the source is lost, or another place is fitter, it moves.
 */
export class Feed {
  readonly #options: FeedOptions
  readonly #hears: FeedListener
  /** Who said no to this topic. Of others that says nothing. */
  readonly #refusals: Rests
  readonly #closing = new AbortController()
  #source: SocketSource | null = null
  #stopPolling: (() => void) | null = null

  constructor(options: FeedOptions, hears: FeedListener) {
    this.#options = options
    this.#hears = hears
    this.#refusals = new Rests(options.clock)
  }

  /** The upstream that tells; null while it is none. */
  get upstream(): string | null {
    return this.#source?.place.upstream.name ?? null
  }

  get isPolling(): boolean {
    return this.#stopPolling !== null
  }

  /** Finds the first source. @throws NodeRefused @throws RelayError */
  async open(): Promise<void> {
    const trouble = await this.#openSocket()
    if (trouble === null) return
    const { polling, places } = this.#options
    if (this.#closing.signal.aborted || polling === null) throw trouble
    this.#startPolling()
    if (places.hasAny) this.#guard(this.#reopen(this.#restMs))
  }

  /** The present source is not good enough: another one takes over. */
  leave(why: string): void {
    const source = this.#source
    if (source === null) return
    source.close()
    this.#lost(source, why)
  }

  /** Leaves a source that is not fit while another one is. */
  check(): void {
    const source = this.#source
    if (source && this.#options.places.isOutdone(source.place, this.#refusals.unproven))
      this.leave('a fitter one is there')
  }

  /** @param isOver the upstream has ended the subscription itself */
  close(isOver = false): void {
    this.#closing.abort()
    const source = this.#source
    this.#source = null
    this.#stopPolling?.()
    this.#stopPolling = null
    if (source === null) return
    source.close(isOver)
    this.#options.observer.upstreamChanged(source.place.upstream.name, -1)
  }

  /** @returns why there is none, when there is none */
  async #openSocket(): Promise<NodeRefused | RelayError | null> {
    const { polling } = this.#options
    const { signal } = this.#closing
    const budgetMs = polling && !this.isPolling ? pollingAfterMs : null
    const options = { ...this.#options, refusals: this.#refusals }
    const found = await searchSource(options, signal, budgetMs)
    if (found instanceof Error) return found
    if (signal.aborted) found.close()
    else this.#begin(found)
    return null
  }

  #begin(source: SocketSource): void {
    const { observer, name, places } = this.#options
    const upstream = source.place.upstream.name
    this.#source = source
    this.#refusals.forget(source.place.url)
    observer.upstreamChanged(upstream, 1)
    observer.joined(name, upstream)
    let isProven = false
    source.listen({
      event: (result) => {
        if (this.#source !== source) return
        if (!isProven) places.proven(source.place)
        isProven = true
        this.#hears.event(result)
      },
      lost: (why) => {
        if (this.#source === source) this.#lost(source, why)
      },
    })
  }

  #lost({ place }: SocketSource, why: string): void {
    const { observer, name, places } = this.#options
    this.#source = null
    places.rest(place)
    observer.upstreamChanged(place.upstream.name, -1)
    observer.left(name, place.upstream.name, why)
    this.#guard(this.#reopen())
  }

  /** Goes through the places until one tells, or polls and tries them again from time to time. */
  async #reopen(firstWaitMs = 0): Promise<void> {
    const { clock, polling } = this.#options
    const { signal } = this.#closing
    if (firstWaitMs > 0) await sleep(clock, firstWaitMs, signal)
    const backoff = new Backoff()
    for (;;) {
      const isOpen = (await this.#openSocket()) === null
      if (signal.aborted) return
      if (isOpen) break
      if (polling && !this.isPolling) {
        this.#startPolling()
        this.#hears.moved()
      }
      await sleep(clock, Math.max(backoff.next(), this.isPolling ? this.#restMs : 0), signal)
    }
    this.#stopPolling?.()
    this.#stopPolling = null
    this.#hears.moved()
  }

  get #restMs(): number {
    return Math.min(this.#options.places.restMs ?? socketRetryMs, socketRetryMs)
  }

  #startPolling(): void {
    const { polling, clock, observer, name } = this.#options
    if (polling === null) return
    const stop = new AbortController()
    const run = async () => {
      for (;;) {
        await sleep(clock, polling.intervalMs, stop.signal)
        await polling.poll()
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
