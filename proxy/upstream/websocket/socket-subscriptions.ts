// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Span } from '../../json/span.ts'
import { bufferOf } from '../../json/text.ts'
import { resultSpan, type SocketMessage } from './socket-message.ts'
import type { SocketSubscription } from './socket-subscription.ts'
import type { Notification } from '../socket-transport.ts'
import { TransportError } from '../transport.ts'

/** What is kept of notifications that came before the answer which says whose they are. */
const maxUnclaimed = 256
const maxUnclaimedBytes = 8 * 1024 * 1024
/** What a notification may keep alive of its message beside itself. */
const maxSpareBytes = 1024

type NotificationMessage = Extract<SocketMessage, { kind: 'notification' }>

/**
 * Which subscriptions of one connection a message is for: by the id that the node gave in its answer,
 * or, where it gave none, by the id of the request. A node that takes two requests for the same may
 * give both one id, and ends both when it is told to end either.
 */
export class SocketSubscriptions {
  readonly #byKey = new Map<string, Set<SocketSubscription>>()
  readonly #byRequest = new Map<number, SocketSubscription>()
  #unclaimed: { readonly key: string; readonly notification: Notification | null }[] = []
  #unclaimedBytes = 0
  /** There was no room for some: whose, is not known. */
  #hasDropped = false

  get size(): number {
    return this.#byKey.size + this.#byRequest.size
  }

  /**
   * The node's answer to a subscribe request came. Where notifications were dropped that may have been
   * for it, it is lost at once: whoever hears it makes up for that, or goes on elsewhere, as after any
   * loss. Nobody is left with a hole that nobody knows of.
   * @returns false for one that was lost so: the node goes on to tell of it
   */
  opened(subscription: SocketSubscription, request: number, answer: Uint8Array): boolean {
    const result = resultSpan(answer)
    if (result === null) return true
    const text = bufferOf(answer).toString('utf8', result.start, result.end)
    if (text.startsWith('{') || text.startsWith('[')) {
      this.#byRequest.set(request, subscription)
      return true
    }
    if (this.#hasDropped) {
      const most = `${maxUnclaimed} notifications or ${maxUnclaimedBytes} bytes`
      subscription.fail(new TransportError('too-large', `over ${most} came before the answer`))
      return false
    }
    const twins = this.#byKey.get(text)
    if (twins) twins.add(subscription)
    else this.#byKey.set(text, new Set([subscription]))
    const unclaimed = this.#unclaimed
    this.forgetUnclaimed()
    for (const { key, notification } of unclaimed)
      if (key === text && this.#byKey.has(text)) this.#tell(text, notification)
      else this.#keep(key, notification)
    return true
  }

  /** A notification came. @param mayClaim answers are outstanding that may say whose it is */
  notified(bytes: Uint8Array, message: NotificationMessage, mayClaim: boolean): void {
    const { method, subscription: key, result } = message
    if (key === null) return
    const notification = result && { method, result: cut(bytes, result) }
    if (this.#byKey.has(key)) this.#tell(key, notification)
    else if (mayClaim) this.#keep(key, notification)
  }

  /** One more answer to a request came, which is how some nodes notify. */
  answered(request: number, answer: Uint8Array): void {
    const subscription = this.#byRequest.get(request)
    if (!subscription) return
    const result = resultSpan(answer)
    if (result) return subscription.push({ method: null, result: cut(answer, result) })
    this.#endedByNode(subscription)
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
    this.#unclaimedBytes = 0
    this.#hasDropped = false
  }

  fail(error: TransportError): void {
    const all = [...this.#byKey.values().flatMap((each) => each), ...this.#byRequest.values()]
    this.#byKey.clear()
    this.#byRequest.clear()
    this.forgetUnclaimed()
    for (const subscription of all) subscription.fail(error)
  }

  /** @param notification null: the node says nothing more */
  #tell(key: string, notification: Notification | null): void {
    for (const each of [...(this.#byKey.get(key) ?? [])])
      if (notification) each.push(notification)
      else this.#endedByNode(each)
  }

  /** What the node says of it is for nobody's eyes: it may repeat the URL with its keys. */
  #endedByNode(subscription: SocketSubscription): void {
    this.remove(subscription)
    subscription.fail(new TransportError('reset', 'the node ended the subscription'))
  }

  #keep(key: string, notification: Notification | null): void {
    const bytes = key.length + (notification?.result.length ?? 0)
    const hasRoom =
      this.#unclaimed.length < maxUnclaimed && this.#unclaimedBytes + bytes <= maxUnclaimedBytes
    if (!hasRoom) {
      this.#hasDropped = true
      return
    }
    this.#unclaimed.push({ key, notification })
    this.#unclaimedBytes += bytes
  }
}

/** Part of a message, which does not keep all of a much longer one alive. */
function cut(bytes: Uint8Array, { start, end }: Span): Uint8Array {
  const part = bytes.subarray(start, end)
  return bytes.length - part.length > maxSpareBytes ? Buffer.from(part) : part
}
