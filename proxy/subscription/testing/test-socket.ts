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

interface Held {
  readonly method: string
  readonly params: unknown
  listener: SubscriptionListener | null
}

/** What a node says to a request to subscribe. */
export type SubscribeAnswer =
  'yes' | 'late' | 'refused' | 'limited' | 'full' | 'never' | { code: number; message: string }

const heads = ['eth_subscribe ["newHeads"]', 'slotSubscribe []']

/** A WebSocket URL without a connection, which pushes the events of the test. */
export class TestSocket implements SocketTransport {
  readonly held = new Set<Held>()
  /** Requests to subscribe and to unsubscribe, in words. */
  readonly requests: string[] = []
  answer: SubscribeAnswer = 'yes'
  /** To a request for the heads; null: the same. */
  headAnswer: SubscribeAnswer | null = null
  readonly #clock: Clock
  #nextId = 1

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What is subscribed to, without the heads by which the router sees that the socket is alive. */
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

  /** The connection ends. */
  cut(): void {
    const lost = [...this.held]
    this.held.clear()
    for (const { listener } of lost) listener?.lost(new TransportError('reset', 'cut'))
  }

  send(): Promise<Incoming> {
    return Promise.reject(new TransportError('protocol', 'only for subscriptions'))
  }

  /** As on the wire: what was asked is answered, also when the answer is no longer wanted. */
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
        const held: Held = { method, params, listener: null }
        this.held.add(held)
        resolve({
          reply: replyOf({ result: `0x${this.#nextId++}` }),
          listen(listener) {
            held.listener = listener
          },
          close: (unsubscribe) => {
            held.listener = null
            if (!this.held.delete(held) || unsubscribe === null) return
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
