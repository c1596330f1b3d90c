// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf } from '../../../json/scanner.ts'
import { TransportError } from '../../wire.ts'
import type { Incoming, Outgoing, SubscriptionListener, UpstreamSubscription } from '../../wire.ts'
import { resultSpan, type SocketMessage } from './ws-message.ts'

/** Limit on notifications stored before the answer that identifies them; the newest stay. */
const maxEarly = 64

type Closed = (subscription: SocketSubscription, unsubscribe: Outgoing | null) => void

/** One subscription on one connection. */
export class SocketSubscription implements UpstreamSubscription {
  readonly reply: Incoming
  readonly #closed: Closed
  #listener: SubscriptionListener | null = null
  /** Events before there is a listener. */
  #waiting: Uint8Array[] = []
  #isOpen = true
  #error: TransportError | null = null

  constructor(reply: Incoming, closed: Closed) {
    this.reply = reply
    this.#closed = closed
  }

  listen(listener: SubscriptionListener): void {
    this.#listener = listener
    // A listener may close the subscription at any time, which clears the queue.
    for (let event = this.#waiting.shift(); event; event = this.#waiting.shift())
      listener.event(event)
    if (this.#error) listener.lost(this.#error)
  }

  close(unsubscribe: Outgoing | null): void {
    this.#waiting = []
    this.#error = null
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#closed(this, unsubscribe)
  }

  push(event: Uint8Array): void {
    if (!this.#isOpen) return
    if (this.#listener) this.#listener.event(event)
    else this.#waiting.push(event)
  }

  fail(error: TransportError): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#error = error
    this.#listener?.lost(error)
  }
}

type Key = string | number
type NotificationMessage = Extract<SocketMessage, { kind: 'notification' }>

/**
 * Routes messages to the subscriptions of one connection: by the id in the node's answer or,
 * without one, by the request id. A node may give equal requests the same id, and then ends both
 * when either is unsubscribed.
 */
export class SocketSubscriptions {
  readonly #byKey = new Map<Key, Set<SocketSubscription>>()
  #early: { readonly key: string; readonly event: Uint8Array | null }[] = []

  get size(): number {
    return this.#byKey.size
  }

  /** The node has answered a subscribe request. */
  opened(subscription: SocketSubscription, request: number, answer: Uint8Array): void {
    const result = resultSpan(answer)
    if (result === null) return
    const text = bufferOf(answer).toString('utf8', result.start, result.end)
    const key = text.startsWith('{') || text.startsWith('[') ? request : text
    const twins = this.#byKey.get(key)
    if (twins) twins.add(subscription)
    else this.#byKey.set(key, new Set([subscription]))
    const early = this.#early
    this.#early = early.filter((each) => each.key !== key)
    for (const each of early) if (each.key === key) this.#report(key, each.event)
  }

  /** A notification has arrived. @param mayBeEarly a pending answer may be its subscription's */
  notified(
    bytes: Uint8Array,
    { subscription: key, result }: NotificationMessage,
    mayBeEarly: boolean,
  ): void {
    if (key === null) return
    const event = result && bytes.subarray(result.start, result.end)
    if (this.#byKey.has(key)) return this.#report(key, event)
    if (!mayBeEarly) return
    this.#early.push({ key, event })
    if (this.#early.length > maxEarly) this.#early.shift()
  }

  /** Another answer to the same request has arrived, which some nodes use as a notification. */
  answered(request: number, answer: Uint8Array): void {
    if (!this.#byKey.has(request)) return
    const result = resultSpan(answer)
    this.#report(request, result && answer.subarray(result.start, result.end))
  }

  /** @returns the key at the node if no other subscription shares it; else null */
  remove(subscription: SocketSubscription): Key | null {
    for (const [key, twins] of this.#byKey)
      if (twins.delete(subscription) && twins.size === 0) {
        this.#byKey.delete(key)
        return key
      }
    return null
  }

  has(key: Key): boolean {
    return this.#byKey.has(key)
  }

  /** No answer is pending any more, so stored notifications belong to no subscription. */
  forgetEarly(): void {
    this.#early = []
  }

  fail(error: TransportError): void {
    const all = [...this.#byKey.values()].flatMap((twins) => [...twins])
    this.#byKey.clear()
    this.#early = []
    for (const each of all) each.fail(error)
  }

  /** @param event null for the end, since the node's message about it may contain the keys */
  #report(key: Key, event: Uint8Array | null): void {
    const twins = [...(this.#byKey.get(key) ?? [])]
    if (event) for (const each of twins) each.push(event)
    else {
      this.#byKey.delete(key)
      const error = new TransportError('reset', 'the node ended the subscription')
      for (const each of twins) each.fail(error)
    }
  }
}
