// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { subscriptionLimits } from '../bytes/limits.ts'
import type { Subscriber, Subscription } from './subscriptions.ts'

/** One client of a topic. */
export class TopicClient implements Subscription {
  readonly #subscriber: Subscriber
  readonly #left: () => void
  /** Null once the client has its reply. */
  #waiting: Uint8Array[] | null = []
  #waitingBytes = 0
  #reason: string | null = null
  #isGone = false

  /** @param left is called once, when it gets no more events */
  constructor(subscriber: Subscriber, left: () => void) {
    this.#subscriber = subscriber
    this.#left = left
  }

  begin(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = null
    for (const event of waiting) this.event(event)
    if (this.#reason !== null) this.#subscriber.ended(this.#reason)
  }

  unsubscribe(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#left()
  }

  event(event: Uint8Array): void {
    if (this.#isGone) return
    if (this.#waiting === null) return this.#subscriber.event(event)
    this.#waiting.push(event)
    this.#waitingBytes += event.length
    if (this.#waitingBytes > subscriptionLimits.earlyBytes) this.end('events were not taken')
  }

  end(reason: string): void {
    if (this.#isGone) return
    this.unsubscribe()
    if (this.#waiting === null) this.#subscriber.ended(reason)
    else this.#reason = reason
  }
}
