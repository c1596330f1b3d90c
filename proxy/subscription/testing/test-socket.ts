// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../../clock/clock.ts'
import { NoRoom, TransportError } from '../../upstream/wire.ts'
import type {
  Incoming,
  Outgoing,
  SocketTransport,
  SubscriptionListener,
  UpstreamSubscription,
} from '../../upstream/wire.ts'

interface Subscription {
  readonly method: string
  readonly params: unknown
  listener: SubscriptionListener | null
}

/** A node's reaction to a subscribe request. */
export type SubscribeAnswer =
  'yes' | 'late' | 'refused' | 'limited' | 'full' | 'never' | { code: number; message: string }

const heads = ['eth_subscribe ["newHeads"]', 'slotSubscribe []']

/** A WebSocket URL without a connection. The test pushes its events. */
export class TestSocket implements SocketTransport {
  readonly held = new Set<Subscription>()
  /** Subscribe and unsubscribe requests, as text. */
  readonly requests: string[] = []
  answer: SubscribeAnswer = 'yes'
  /** The reaction to a subscription for heads; null: as for other topics. */
  headAnswer: SubscribeAnswer | null = null
  readonly #clock: Clock
  #nextId = 1

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The subscriptions, without those to heads by which the router checks the socket. */
  get topics(): readonly string[] {
    return [...this.held]
      .map(({ method, params }) => `${method} ${JSON.stringify(params)}`)
      .filter((each) => !heads.includes(each))
  }

  /** Sends an event to all subscriptions, or to those of this method or topic. */
  push(event: unknown, to?: string): void {
    const result = Buffer.from(typeof event === 'string' ? event : JSON.stringify(event))
    for (const { listener, method, params } of this.held)
      if (to === undefined || `${method} ${JSON.stringify(params)}`.includes(to))
        listener?.event(result)
  }

  /** Ends the connection. */
  cut(): void {
    const lost = [...this.held]
    this.held.clear()
    for (const { listener } of lost) listener?.lost(new TransportError('reset', 'cut'))
  }

  send(): Promise<Incoming> {
    return Promise.reject(new TransportError('protocol', 'only for subscriptions'))
  }

  /** As on the wire, every request is answered, even if no caller is waiting any more. */
  subscribe(request: Outgoing): Promise<UpstreamSubscription> {
    const { method, params } = read(request)
    const words = `${method} ${JSON.stringify(params)}`
    this.requests.push(words)
    const answerNow = () => (heads.includes(words) && this.headAnswer) || this.answer
    return new Promise((resolve, reject) => {
      this.#clock.after(answerNow() === 'late' ? 1_500 : 5, () => {
        const answer = answerNow()
        if (answer === 'never') {
          this.#clock.after(30_000, () => {
            reject(new TransportError('timeout', 'no answer'))
          })
          return
        }
        if (answer === 'full') return reject(new NoRoom())
        if (answer === 'refused') return reject(new TransportError('refused', 'no', false))
        if (answer === 'limited')
          return reject(new TransportError('limited', 'no', false, { retryAfterMs: 90_000 }))
        if (typeof answer === 'object')
          return resolve({ reply: replyOf({ error: answer }), listen() {}, close() {} })
        const subscription: Subscription = { method, params, listener: null }
        this.held.add(subscription)
        resolve({
          reply: replyOf({ result: `0x${this.#nextId++}` }),
          listen(listener) {
            subscription.listener = listener
          },
          close: (unsubscribe) => {
            subscription.listener = null
            if (!this.held.delete(subscription) || unsubscribe === null) return
            const { method: verb, params: which } = read(unsubscribe)
            this.requests.push(`${verb} ${JSON.stringify(which)}`)
          },
        })
      })
    })
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

function read({ body }: Outgoing): { method: string; params: unknown } {
  return JSON.parse(Buffer.from(body as Uint8Array).toString()) as {
    method: string
    params: unknown
  }
}

function replyOf(outcome: object): Incoming {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, ...outcome }))
  return { status: 200, headers: [], body, trailers: () => [] }
}
