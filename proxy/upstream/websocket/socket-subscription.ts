// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type {
  Notification,
  NotificationListener,
  UpstreamSubscription,
} from '../socket-transport.ts'
import { TransportError } from '../transport.ts'
import type { Incoming, Outgoing } from '../wire.ts'

/** What is kept for a listener that has not come yet. */
const maxWaitingBytes = 16 * 1024 * 1024

/** What a subscription needs of the connection that it is on. */
export interface SubscriptionHost {
  /** Nothing more is to be told; the request is to be sent when there is one. */
  ended(subscription: SocketSubscription, unsubscribe: Outgoing | null): void
}

/** One subscription on one connection. */
export class SocketSubscription implements UpstreamSubscription {
  readonly reply: Incoming
  readonly #host: SubscriptionHost
  #listener: NotificationListener | null = null
  #waiting: Notification[] = []
  #waitingBytes = 0
  #over: 'closed' | TransportError | null = null

  constructor(reply: Incoming, host: SubscriptionHost) {
    this.reply = reply
    this.#host = host
  }

  listen(listener: NotificationListener): void {
    if (this.#listener) throw new Error('a subscription is listened to once')
    this.#listener = listener
    for (const notification of this.#waiting.splice(0)) {
      if (this.#isClosed) return
      listener.notified(notification)
    }
    if (this.#over instanceof TransportError) listener.lost(this.#over)
  }

  close(unsubscribe: Outgoing | null): void {
    const wasOpen = this.#over === null
    this.#over = 'closed'
    this.#waiting = []
    if (wasOpen) this.#host.ended(this, unsubscribe)
  }

  // For the connection.

  push(notification: Notification): void {
    if (this.#over !== null) return
    if (this.#listener) return this.#listener.notified(notification)
    this.#waiting.push(notification)
    this.#waitingBytes += notification.result.length
    if (this.#waitingBytes <= maxWaitingBytes) return
    this.#host.ended(this, null)
    this.#waiting = []
    this.fail(new TransportError('too-large', `over ${maxWaitingBytes} bytes that nobody took`))
  }

  fail(error: TransportError): void {
    if (this.#over !== null) return
    this.#over = error
    this.#listener?.lost(error)
  }

  /** A listener may close it at any time. */
  get #isClosed(): boolean {
    return this.#over === 'closed'
  }
}
