// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf } from '../../json/text.ts'
import { resultSpan, type SocketMessage } from './socket-message.ts'
import type { SocketSubscription } from './socket-subscription.ts'
import type { Notification } from '../socket-transport.ts'
import { TransportError } from '../transport.ts'

/** What is kept of notifications that came before the answer which says whose they are. */
const maxUnclaimed = 256

type NotificationMessage = Extract<SocketMessage, { kind: 'notification' }>

/**
 * Which subscriptions of one connection a message is for: by the id that the node gave in its answer,
 * or, where it gave none, by the id of the request. A node that takes two requests for the same may
 * give both one id, and ends both when it is told to end either.
 */
export class SocketSubscriptions {
  readonly #byKey = new Map<string, Set<SocketSubscription>>()
  readonly #byRequest = new Map<number, SocketSubscription>()
  #unclaimed: { readonly key: string; readonly notification: Notification }[] = []

  get size(): number {
    return this.#byKey.size + this.#byRequest.size
  }

  /** The node's answer to a subscribe request came. */
  opened(subscription: SocketSubscription, request: number, answer: Uint8Array): void {
    const result = resultSpan(answer)
    if (result === null) return
    const text = bufferOf(answer).toString('utf8', result.start, result.end)
    if (text.startsWith('{') || text.startsWith('[')) {
      this.#byRequest.set(request, subscription)
      return
    }
    const twins = this.#byKey.get(text)
    if (twins) twins.add(subscription)
    else this.#byKey.set(text, new Set([subscription]))
    for (const { key, notification } of this.#unclaimed)
      if (key === text) subscription.push(notification)
    this.#unclaimed = this.#unclaimed.filter(({ key }) => key !== text)
  }

  /** A notification came. @param mayClaim answers are outstanding that may say whose it is */
  notified(bytes: Uint8Array, message: NotificationMessage, mayClaim: boolean): void {
    const { method, subscription: key, result } = message
    if (key === null) return
    const notification = { method, result: bytes.subarray(result.start, result.end) }
    const subscriptions = this.#byKey.get(key)
    if (subscriptions) for (const each of [...subscriptions]) each.push(notification)
    else if (mayClaim && this.#unclaimed.length < maxUnclaimed)
      this.#unclaimed.push({ key, notification })
  }

  /** One more answer to a request came, which is how some nodes notify. */
  answered(request: number, answer: Uint8Array): void {
    const subscription = this.#byRequest.get(request)
    if (!subscription) return
    const result = resultSpan(answer)
    if (result)
      return subscription.push({ method: null, result: answer.subarray(result.start, result.end) })
    this.remove(subscription)
    subscription.fail(new TransportError('reset', 'the node ended the subscription'))
  }

  /** @returns the id by which the node has it; null where it has none */
  keyOf(subscription: SocketSubscription): string | null {
    for (const [key, each] of this.#byKey) if (each.has(subscription)) return key
    return null
  }

  isHeard(key: string): boolean {
    return this.#byKey.has(key)
  }

  remove(subscription: SocketSubscription): void {
    for (const [key, each] of this.#byKey)
      if (each.delete(subscription) && each.size === 0) this.#byKey.delete(key)
    for (const [key, each] of this.#byRequest)
      if (each === subscription) this.#byRequest.delete(key)
  }

  /** No answer is outstanding any more: what nobody claimed is nobody's. */
  forgetUnclaimed(): void {
    this.#unclaimed = []
  }

  fail(error: TransportError): void {
    const all = [...this.#byKey.values().flatMap((each) => each), ...this.#byRequest.values()]
    this.#byKey.clear()
    this.#byRequest.clear()
    this.#unclaimed = []
    for (const subscription of all) subscription.fail(error)
  }
}
