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
  /** The topic's name in the log and the metrics. */
  readonly name: string
  readonly request: TopicRequest
  readonly sockets: Sockets
  readonly clock: Clock
  readonly random: Random
  readonly observer: SubscriptionObserver
}

export interface FeedListener {
  event(result: Uint8Array): void
  /** Events now come from a different source; some may be missing. Not for the first source. */
  moved(): void
}

/** Keeps one upstream subscription open for a topic, and fails over when the upstream is lost. */
export class Feed {
  readonly #options: FeedOptions
  readonly #listener: FeedListener
  readonly #closing = new AbortController()
  /** The URL that delivers events. */
  #socket: Socket | null = null
  #source: Source | null = null

  constructor(options: FeedOptions, listener: FeedListener) {
    this.#options = options
    this.#listener = listener
  }

  /** The upstream that delivers events; null while there is none. */
  get upstream(): string | null {
    return this.#socket?.upstream.name ?? null
  }

  /** The URL that delivers events, as the config has it. */
  get origin(): string {
    return this.#socket?.url.printable ?? ''
  }

  /** Opens the first source. @throws NodeRefused @throws RelayError */
  async open(): Promise<void> {
    const failure = await this.#openSource()
    if (failure) throw failure
  }

  /** Leaves a lost or unusable source: its URL enters cooldown, and another one takes over. */
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
   * Subscribes on the first URL that accepts. A refusal says nothing about other topics.
   * @returns the failure if no URL accepts, preferably an error from a node
   */
  async #openSource(): Promise<NodeRefused | RelayError | null> {
    const { request, sockets } = this.#options
    const { signal } = this.#closing
    const tried = new Set<Socket>()
    let refusal: NodeRefused | null = null
    const next = () => sockets.next(tried, request.method)
    for (let socket = next(); socket; socket = next()) {
      tried.add(socket)
      try {
        const source = await socket.open(request, signal)
        if (signal.aborted) source.close()
        else this.#begin(socket, source)
        return null
      } catch (error) {
        if (signal.aborted) return null
        if (error instanceof NodeRefused) {
          if (!error.isNodeSpecific) return error
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

  /** Tries the URLs until one accepts. Never rejects. */
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

function notFound(hasTried: boolean, hasUrls: boolean): RelayError {
  if (hasTried)
    return new RelayError(errorKinds.upstreamFailed, 'every upstream failed to subscribe')
  const why = hasUrls
    ? 'no upstream has an available WebSocket URL now'
    : 'this subscription needs an upstream with a WebSocket URL, and none has one: the operator of the router has to add a ws:// or wss:// URL to node-urls of an upstream'
  return new RelayError(errorKinds.noUpstream, why)
}
