// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Backoff } from '../clock/backoff.ts'
import { sleep, type Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { SocketUrl } from '../upstream/node-url.ts'
import { NoRoom, TransportError } from '../upstream/transport.ts'
import { retryBackoff } from './ask.ts'
import type { SocketWatches } from './socket-watch.ts'
import type { SocketUrls } from './socket-urls.ts'
import type { Source, Sources } from './source.ts'
import { NodeRefused, type SubscriptionObserver, type TopicRequest } from './subscriptions.ts'

export interface FeedOptions {
  /** For the log and the metrics. */
  readonly name: string
  readonly request: TopicRequest
  readonly sources: Sources
  readonly urls: SocketUrls
  readonly watches: SocketWatches
  readonly clock: Clock
  readonly random: Random
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
  readonly #closing = new AbortController()
  #source: Source | null = null
  #unwatch = () => {}

  constructor(options: FeedOptions, listener: FeedListener) {
    this.#options = options
    this.#listener = listener
  }

  /** The upstream that events come from; null while there is none. */
  get upstream(): string | null {
    return this.#source?.endpoint.upstream.name ?? null
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

  /**
   * Subscribes at the first URL that accepts. URLs that fail cool down; a refusal says nothing of other topics.
   * @returns why there is no source, when there is none: a node's own error where one gave any
   */
  async #openSource(): Promise<NodeRefused | RelayError | null> {
    const { request, sources, urls } = this.#options
    const { signal } = this.#closing
    const tried = new Set<SocketUrl>()
    let refusal: NodeRefused | null = null
    while (!signal.aborted) {
      const endpoint = urls.next((url) => tried.has(url))
      if (endpoint === null) break
      tried.add(endpoint.url)
      try {
        const source = await sources.open(request, endpoint, signal)
        if (signal.aborted) source.close()
        else this.#begin(source)
        return null
      } catch (error) {
        if (error instanceof NodeRefused) {
          if (!error.isItsOwnTrouble) return error
          refusal = error
        } else if (!(error instanceof TransportError)) throw error
        else if (error.fault === 'limited') endpoint.url.cooldown.begin(error.retryAfterMs)
        else if (!(error instanceof NoRoom) && !signal.aborted) urls.failed(endpoint.url)
      }
    }
    return refusal ?? notFound(tried.size > 0, urls.hasAny)
  }

  #begin(source: Source): void {
    const { observer, name, urls, watches } = this.#options
    const { url, upstream } = source.endpoint
    this.#source = source
    observer.joined(name, upstream.name)
    this.#unwatch = watches.join(source.endpoint, (why) => {
      if (this.#source === source) this.leave(why)
    })
    let isProven = false
    source.listen({
      event: (result) => {
        if (this.#source !== source) return
        if (!isProven) urls.worked(url)
        isProven = true
        this.#listener.event(result)
      },
      lost: (why) => {
        if (this.#source !== source) return
        this.#lost(source, why)
      },
    })
  }

  #lost({ endpoint: { url, upstream } }: Source, why: string): void {
    const { observer, name, urls } = this.#options
    this.#source = null
    this.#unwatch()
    urls.failed(url)
    observer.left(name, upstream.name, why)
    void this.#reopen()
  }

  /** Asks the URLs until one accepts. Never rejects. */
  async #reopen(): Promise<void> {
    const { clock, random, observer, name } = this.#options
    const { signal } = this.#closing
    const backoff = new Backoff(retryBackoff, random)
    try {
      while ((await this.#openSource()) !== null) await sleep(clock, backoff.next(), signal)
      if (!signal.aborted) this.#listener.moved()
    } catch (error) {
      if (!signal.aborted) observer.failed(name, error)
    }
  }
}

function notFound(hasAsked: boolean, hasUrls: boolean): RelayError {
  if (hasAsked)
    return new RelayError(errorKinds.upstreamFailed, 'every upstream failed to subscribe')
  const why = hasUrls
    ? 'no upstream has a WebSocket URL that can be subscribed at now'
    : 'this subscription needs an upstream with a WebSocket URL, and none has one: the operator of the router has to add a ws:// or wss:// URL to node-urls of an upstream'
  return new RelayError(errorKinds.noUpstream, why)
}
