// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureTable } from '../chain/failure-table.ts'
import { Cancellation, unlessAborted } from '../clock/cancellation.ts'
import { jsonRpcDialect } from '../upstream/dialect.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { aborted, release, type Outgoing, type UpstreamSubscription } from '../upstream/wire.ts'
import { limitOf, settle } from '../upstream/outcome.ts'
import { memberBytes } from './ask.ts'
import { NodeRefused, type SubscriptionObserver, type TopicRequest } from './subscriptions.ts'
import type { SocketUrl } from '../upstream/node-url.ts'

/** Cooldown of a failed URL before new topics use it. */
export const urlBackoff = { firstMs: 1_000, maxMs: 60_000, jitter: 0.1 }

/** Connections on which a subscription is tried, if the node says that each has too many. */
const maxConnections = 4

export interface SourceListener {
  event(result: Uint8Array): void
  lost(why: string): void
}

/** One subscription at one upstream. */
export interface Source {
  /** Starts delivery; call it once. Events since the request come first. */
  listen(listener: SourceListener): void
  /** Also works for a lost source. Idempotent. */
  close(): void
}

export interface SourceOptions {
  readonly upstream: Pick<Upstream, 'name'>
  readonly url: SocketUrl
  readonly failures: FailureTable
  readonly observer: Pick<SubscriptionObserver, 'upstreamChanged'>
  /** Receives each event before any listener does. */
  observe(event: Uint8Array): void
  /** Called when the source ends. The next listener must subscribe again. */
  ended(): void
}

interface OpenSubscription {
  readonly subscription: UpstreamSubscription
  /** The unsubscribe request; null if the subscription ends by itself. */
  readonly unsubscribe: Outgoing | null
}

/** One upstream subscription with several listeners. It ends when the last one leaves. */
export class SharedSource {
  readonly #request: TopicRequest
  readonly #options: SourceOptions
  readonly #members = new Map<Source, SourceListener | null>()
  readonly #opening: Promise<void>
  /** Null until the upstream has accepted, and after the end. */
  #open: OpenSubscription | null = null
  #isListening = false

  constructor(request: TopicRequest, options: SourceOptions) {
    this.#request = request
    this.#options = options
    this.#opening = this.#subscribe()
  }

  /**
   * @param left called once, when the source is closed or could not be opened
   * @throws TransportError @throws NodeRefused
   */
  async join(signal: AbortSignal, left = () => {}): Promise<Source> {
    const member: Source = {
      listen: (listener) => {
        // The connection may have been lost before this listener.
        if (this.#open === null) return listener.lost('reset: it was lost at once')
        this.#members.set(member, listener)
        if (!this.#isListening) this.#listen(this.#open.subscription)
      },
      close: () => {
        if (!this.#members.delete(member)) return
        if (this.#members.size === 0) this.#close()
        left()
      },
    }
    this.#members.set(member, null)
    try {
      await unlessAborted(this.#opening, signal, () => aborted())
      return member
    } catch (error) {
      member.close()
      throw error
    }
  }

  /** Ends the source for all listeners. */
  leave(why: string): void {
    this.#close()
    this.#lost(why)
  }

  /** Even if no listener remains, an answer eventually arrives; then this unsubscribes. */
  async #subscribe(): Promise<void> {
    const { upstream, observer, ended } = this.#options
    try {
      for (let left = maxConnections; this.#open === null; left--)
        this.#open = await this.#ask(left > 1)
    } catch (error) {
      ended()
      throw error
    }
    observer.upstreamChanged(upstream.name, 1)
    if (this.#members.size === 0) this.#close()
  }

  /** @returns null if another connection may carry it @throws TransportError @throws NodeRefused */
  async #ask(mayRepeat: boolean): Promise<OpenSubscription | null> {
    const { url } = this.#options
    url.limit?.begin()
    try {
      const request = outgoingOf(this.#request)
      const subscription = await url.transport.subscribe(request, new Cancellation())
      return this.#readReply(subscription, mayRepeat)
    } finally {
      url.limit?.end()
    }
  }

  #readReply(subscription: UpstreamSubscription, mayRepeat: boolean): OpenSubscription | null {
    const { failures, url } = this.#options
    const { reply } = subscription
    const { body } = reply
    const isWhole = body instanceof Uint8Array
    const said = isWhole ? jsonRpcDialect.read({ ...reply, body }) : null
    if (said?.kind === 'answer') {
      const how = this.#request.unsubscribe(said.at({ path: [], encoding: 'text' }))
      return { subscription, unsubscribe: how && outgoingOf(how) }
    }
    if (!isWhole) release(body)
    subscription.close(null)
    if (!isWhole || said?.kind !== 'error') throw new NodeRefused(notAnAnswer, true)
    const failure = failures.ofNodeError(said.error)
    const { retry, cooldown, limit } = failure
    // A limit that the other subscriptions of the connection have reached is not the URL's.
    if (limit === 'connection' && subscription.limited?.() && mayRepeat) return null
    if (cooldown) settle('limited', null, url, limitOf(failure, null))
    const error = memberBytes(body, 'error') ?? notAnAnswer
    throw new NodeRefused(url.mask.bytes(error), retry || cooldown)
  }

  #listen(subscription: UpstreamSubscription): void {
    this.#isListening = true
    const { mask } = this.#options.url
    const { mayHoldKeys, isLast } = this.#request
    subscription.listen({
      event: (result) => {
        const event = mayHoldKeys ? mask.bytes(result) : result
        this.#options.observe(event)
        // The node itself ends the subscription.
        if (isLast?.(event)) this.#end()?.subscription.close(null)
        for (const listener of this.#members.values()) listener?.event(event)
      },
      lost: ({ fault, message }) => {
        if (this.#end()) this.#lost(`${fault}: ${message}`)
      },
    })
  }

  #lost(why: string): void {
    for (const listener of this.#members.values()) listener?.lost(why)
  }

  #close(): void {
    const open = this.#end()
    open?.subscription.close(open.unsubscribe)
  }

  /** @returns the subscription that was open, or null */
  #end(): OpenSubscription | null {
    const open = this.#open
    if (open === null) return null
    this.#open = null
    const { upstream, observer, ended } = this.#options
    ended()
    observer.upstreamChanged(upstream.name, -1)
    return open
  }
}

function outgoingOf({ method, params }: Pick<TopicRequest, 'method' | 'params'>): Outgoing {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  return { verb: 'POST', path: '', headers: [], body }
}

const notAnAnswer = Buffer.from('{"code":-32603,"message":"not an answer"}')
