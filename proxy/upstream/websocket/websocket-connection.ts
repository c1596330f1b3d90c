// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from '../../clock/cancellation.ts'
import { WebSocket } from 'ws'
import type { Cancel, Clock } from '../../clock/clock.ts'
import { Goodbyes } from './goodbyes.ts'
import { closedFault, socketFaultOf, unsent } from './socket-fault.ts'
import { readSocketMessage, requestIdSpan, spliced } from './socket-message.ts'
import { SocketSubscription, type SubscriptionHost } from './socket-subscription.ts'
import { SocketSubscriptions } from './socket-subscriptions.ts'
import type { Undo, UpstreamSubscription } from '../socket-transport.ts'
import { TransportError } from '../transport.ts'
import type { UpstreamTarget } from '../upstream-target.ts'
import type { Incoming, Outgoing } from '../wire.ts'

const mebibyte = 1024 * 1024
/** No message of a node is longer. */
const maxMessageBytes = 64 * mebibyte
/** What waits to be sent; beyond, the connection takes no more requests. */
const maxWaitingBytes = 16 * mebibyte
const connectTimeoutMs = 5_000
const pingMs = 10_000
/** A node that says nothing for so long, not even to a ping, is gone. */
const silenceMs = 25_000
/** What a node gets to answer a goodbye. */
const closeGraceMs = 1_000

/** What a request to subscribe that was taken back is still waited for. */
const lateAnswerMs = 30_000

const headers = ['content-type', 'application/json']

/** A request that waits for its answer. */
interface Pending {
  /** The id that whoever asked gave it, and will find in the answer. */
  readonly ownId: Uint8Array
  readonly subscribes: boolean
  readonly resolve: (reply: Incoming, subscription: SocketSubscription | null) => void
  readonly reject: (error: TransportError) => void
}

export interface WebSocketConnectionOptions {
  readonly target: UpstreamTarget
  readonly clock: Clock
  /** Hears once that it is open, or that it cannot be opened. */
  readonly opened: (error: TransportError | null) => void
  /** Hears once that it is over; also of one that was never open. */
  readonly closed: () => void
  /** A notification came: whether the connection is to be given up for it. */
  readonly givesUpFor: () => boolean
}

/**
 * One WebSocket to a node, shared by many requests: each is sent under an id of the connection's own,
 * and gets its answer with the id that it came with.
 */
export class WebSocketConnection implements SubscriptionHost {
  readonly #options: WebSocketConnectionOptions
  readonly #socket: WebSocket
  readonly #pending = new Map<number, Pending>()
  readonly #subscriptions = new SocketSubscriptions()
  readonly #goodbyes = new Goodbyes()
  #outstandingSubscribes = 0
  #nextId = 1
  #isOpen = false
  #fault: TransportError | null = null
  #isOver = false
  #heardMs: number
  #cancelTimer: Cancel
  /** When it was last needed, on the clock's monotonic scale. */
  usedMs: number
  #isSpoiled = false

  constructor(options: WebSocketConnectionOptions) {
    const { target, clock } = options
    this.#options = options
    this.#heardMs = this.usedMs = clock.nowMs()
    const auth: Record<string, string> = {}
    for (let at = 0; at < target.authHeaders.length; at += 2)
      auth[target.authHeaders[at] as string] = target.authHeaders[at + 1] as string
    this.#socket = new WebSocket(target.origin + target.pathOf(''), {
      ...target.tls,
      headers: auth,
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
    })
    this.#cancelTimer = clock.after(connectTimeoutMs, () => {
      this.#end(new TransportError('refused', `no WebSocket in ${connectTimeoutMs} ms`, false))
    })
    this.#socket
      .on('open', () => {
        this.#opened()
      })
      .on('message', (data: Buffer) => {
        this.#heard()
        this.#received(data)
      })
      .on('ping', () => {
        this.#heard()
      })
      .on('pong', () => {
        this.#heard()
      })
      .on('unexpected-response', (request, response) => {
        request.destroy()
        const status = `HTTP ${response.statusCode} instead of a WebSocket`
        this.#end(new TransportError('protocol', status, false))
      })
      .on('error', (cause) => {
        this.#fault ??= socketFaultOf(cause)
      })
      .on('close', (code) => {
        this.#end(this.#fault ?? closedFault(code))
      })
  }

  get isUsable(): boolean {
    return this.#takesRequests && this.#socket.bufferedAmount < maxWaitingBytes
  }

  /** The node may tell of what cannot be taken back any more: it ends once nobody needs it. */
  get isSpoiled(): boolean {
    return this.#isSpoiled
  }

  /** Requests that wait for their answer. */
  get inFlight(): number {
    return this.#pending.size
  }

  /** Subscriptions, those included that were asked for. */
  get subscriptions(): number {
    return this.#subscriptions.size + this.#outstandingSubscribes
  }

  async send(request: Outgoing, signal: CancelSignal): Promise<Incoming> {
    const { reply } = await this.#ask(request, signal, null)
    return reply
  }

  async subscribe(
    request: Outgoing,
    signal: CancelSignal,
    undo: Undo,
  ): Promise<UpstreamSubscription> {
    const { subscription } = await this.#ask(request, signal, undo)
    if (!subscription) throw new Error('a subscribe request was answered as another one')
    return subscription
  }

  /** Says goodbye; what is still asked for fails. */
  close(): void {
    if (this.#isOver) return
    this.#socket.close(1000)
    this.#end(new TransportError('aborted', 'the connection was closed'), closeGraceMs)
  }

  ended(subscription: SocketSubscription, unsubscribe: Outgoing | null): void {
    const key = this.#subscriptions.keyOf(subscription)
    this.#subscriptions.remove(subscription)
    this.usedMs = this.#options.clock.nowMs()
    if (unsubscribe) this.#goodbyes.add({ key, request: unsubscribe, before: this.#nextId })
    this.#sayGoodbyes()
  }

  /** False as soon as either side has said goodbye. */
  get #takesRequests(): boolean {
    return !this.#isOver && this.#socket.readyState === WebSocket.OPEN
  }

  #opened(): void {
    this.#isOpen = true
    this.#heard()
    this.#cancelTimer()
    this.#watch()
    this.#options.opened(null)
  }

  #heard(): void {
    this.#heardMs = this.#options.clock.nowMs()
  }

  #watch(): void {
    const { clock } = this.#options
    this.#cancelTimer = clock.after(pingMs, () => {
      const silentMs = clock.nowMs() - this.#heardMs
      if (silentMs >= silenceMs)
        return this.#end(new TransportError('reset', `no sign of life in ${silenceMs} ms`))
      this.#socket.ping()
      this.#watch()
    })
  }

  #ask(
    request: Outgoing,
    signal: CancelSignal,
    undo: Undo | null,
  ): Promise<{ reply: Incoming; subscription: SocketSubscription | null }> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new TransportError('aborted', 'taken back', false))
      if (!this.#takesRequests) return reject(unsent(this.#fault ?? closedFault(1006)))
      const { id, ownId } = this.#write(request)
      const subscribes = undo !== null
      const settle = () => {
        signal.removeEventListener('abort', takeBack)
        this.#settled(id, subscribes)
      }
      const takeBack = () => {
        signal.removeEventListener('abort', takeBack)
        if (undo) this.#awaitLate(id, ownId, undo)
        else settle()
        reject(new TransportError('aborted', 'taken back'))
      }
      signal.addEventListener('abort', takeBack, { once: true })
      this.#outstandingSubscribes += subscribes ? 1 : 0
      this.#pending.set(id, {
        ownId,
        subscribes,
        resolve: (reply, subscription) => {
          settle()
          resolve({ reply, subscription })
        },
        reject: (error) => {
          settle()
          reject(error)
        },
      })
    })
  }

  /** The node may open what nobody wants any more: its answer says what is to be ended. */
  #awaitLate(id: number, ownId: Uint8Array, undo: Undo): void {
    const cancel = this.#options.clock.after(lateAnswerMs, () => {
      this.#isSpoiled = true
      this.#settled(id, true)
    })
    const settle = () => {
      cancel()
      this.#settled(id, true)
    }
    this.#pending.set(id, {
      ownId,
      subscribes: true,
      resolve: (reply, subscription) => {
        settle()
        subscription?.close(undo(reply))
      },
      reject: settle,
    })
  }

  /** Ends at the node what nobody hears, once no answer can be a claim to the same. */
  #sayGoodbyes(): void {
    if (!this.#takesRequests) return
    let oldest = Infinity
    for (const [id, { subscribes }] of this.#pending) if (subscribes) oldest = Math.min(oldest, id)
    for (const { key, request } of this.#goodbyes.due(oldest))
      if (key === null || !this.#subscriptions.isHeard(key)) this.#write(request)
    this.#closeIfSpoiled()
  }

  /** Whatever is left on it belongs to nobody, and ends with it. */
  #closeIfSpoiled(): void {
    if (this.#isSpoiled && this.subscriptions + this.inFlight === 0) this.close()
  }

  /** Sends a request under an id of the connection's own. */
  #write({ body }: Outgoing): { id: number; ownId: Uint8Array } {
    const span = body instanceof Uint8Array ? requestIdSpan(body) : null
    if (!(body instanceof Uint8Array) || span === null)
      throw new TransportError('protocol', 'no request that a WebSocket can carry', false)
    const id = this.#nextId++
    this.usedMs = this.#options.clock.nowMs()
    this.#socket.send(spliced(body, span, Buffer.from(String(id))), { binary: false })
    return { id, ownId: body.subarray(span.start, span.end) }
  }

  #settled(id: number, subscribes: boolean): void {
    if (!this.#pending.delete(id)) return
    this.usedMs = this.#options.clock.nowMs()
    if (!subscribes) return this.#closeIfSpoiled()
    this.#outstandingSubscribes -= 1
    if (this.#outstandingSubscribes === 0) this.#subscriptions.forgetUnclaimed()
    this.#sayGoodbyes()
  }

  #received(bytes: Uint8Array): void {
    const message = readSocketMessage(bytes)
    switch (message.kind) {
      case 'answer': {
        const pending = this.#pending.get(message.id)
        if (!pending) return this.#subscriptions.answered(message.id, bytes)
        const reply = incomingOf(spliced(bytes, message.idSpan, pending.ownId))
        return this.#answered(message.id, pending, reply, bytes)
      }
      case 'unaddressed': {
        // An error without an id is to the only request there is, or it cannot be told to which.
        const [only, ...others] = this.#pending
        if (!only || others.length > 0) return
        const [id, pending] = only
        return this.#answered(id, pending, incomingOf(bytes), bytes)
      }
      case 'notification': {
        this.#subscriptions.notified(bytes, message, this.#outstandingSubscribes > 0)
        this.#isSpoiled ||= this.#options.givesUpFor()
        return this.#closeIfSpoiled()
      }
      case 'malformed':
        return this.#end(new TransportError('protocol', 'a message that is not JSON-RPC'))
    }
  }

  #answered(id: number, pending: Pending, reply: Incoming, bytes: Uint8Array): void {
    if (!pending.subscribes) return pending.resolve(reply, null)
    const subscription = new SocketSubscription(reply, this)
    if (!this.#subscriptions.opened(subscription, id, bytes)) this.#isSpoiled = true
    pending.resolve(reply, subscription)
  }

  /** Idempotent. What is lost hears of it at once; the socket itself may take a moment longer. */
  #end(error: TransportError, graceMs = 0): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#fault ??= error
    this.#cancelTimer()
    if (graceMs === 0) this.#socket.terminate()
    else
      this.#options.clock.after(graceMs, () => {
        this.#socket.terminate()
      })
    if (!this.#isOpen) this.#options.opened(unsent(error))
    this.#options.closed()
    const lost = lossOf(error, this.#pending.size)
    for (const pending of [...this.#pending.values()]) pending.reject(lost)
    this.#subscriptions.fail(error.fault === 'aborted' ? error : lost)
  }
}

/** Whose answer was too long cannot be told when there are several: the others are merely lost. */
function lossOf(error: TransportError, inFlight: number): TransportError {
  if (error.fault !== 'too-large' || inFlight === 1) return error
  return new TransportError('reset', error.message, true, { cause: error })
}

function incomingOf(body: Uint8Array): Incoming {
  return { status: 200, headers, body, trailers: () => [] }
}
