// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Backoff } from '../clock/backoff.ts'
import { sleep, type Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { TransportError } from '../upstream/wire.ts'
import { retryBackoff } from './ask.ts'
import type { Socket, Sockets } from './socket.ts'
import type { Source } from './source.ts'
import { NodeRefused, type SubscriptionObserver, type TopicRequest } from './subscriptions.ts'

export interface FeedOptions {
  /** For the log and the metrics. */
  readonly name: string
  readonly request: TopicRequest
  readonly sockets: Sockets
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
  /** The URL that events come from. */
  #socket: Socket | null = null
  #source: Source | null = null

  constructor(options: FeedOptions, listener: FeedListener) {
    this.#options = options
    this.#listener = listener
  }

  /** The upstream that events come from; null while there is none. */
  get upstream(): string | null {
    return this.#socket?.upstream.name ?? null
  }

  /** Finds the first source. @throws NodeRefused @throws RelayError */
  async open(): Promise<void> {
    const failure = await this.#openSource()
    if (failure) throw failure
  }

  /** The present source is lost or not good enough: its URL cools down, and another one takes over. */
  leave(why: string): void {
    const { observer, name } = this.#options
    const socket = this.#socket
    if (socket === null) return
    this.#stop()
    socket.failed()
    observer.left(name, socket.upstream.name, why)
    void this.#reopen()
  }

  close(): void {
    this.#closing.abort()
    this.#stop()
  }

  #stop(): void {
    this.#socket = null
    this.#source?.close()
    this.#source = null
  }

  /**
   * Subscribes at the first URL that accepts. A refusal says nothing about other topics.
   * @returns why there is no source, when there is none: a node's own error where one gave any
   */
  async #openSource(): Promise<NodeRefused | RelayError | null> {
    const { request, sockets } = this.#options
    const { signal } = this.#closing
    const tried = new Set<Socket>()
    let refusal: NodeRefused | null = null
    for (let socket = sockets.next(tried); socket; socket = sockets.next(tried)) {
      tried.add(socket)
      try {
        const source = await socket.open(request, signal)
        if (signal.aborted) source.close()
        else this.#begin(socket, source)
        return null
      } catch (error) {
        if (signal.aborted) return null
        if (error instanceof NodeRefused) {
          if (!error.isItsOwnTrouble) return error
          refusal = error
        } else if (!(error instanceof TransportError)) throw error
      }
    }
    return refusal ?? notFound(tried.size > 0, sockets.hasAny)
  }

  #begin(socket: Socket, source: Source): void {
    const { observer, name } = this.#options
    this.#socket = socket
    this.#source = source
    observer.joined(name, socket.upstream.name)
    let isProven = false
    source.listen({
      event: (result) => {
        if (!isProven) socket.worked()
        isProven = true
        this.#listener.event(result)
      },
      lost: (why) => this.leave(why),
    })
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
