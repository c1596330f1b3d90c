// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { WebSocket } from 'ws'
import { nodeLimits } from '../../../bytes/limits.ts'
import type { CancelSignal } from '../../../clock/cancellation.ts'
import type { Cancel, Clock } from '../../../clock/clock.ts'
import { closedFault, faultOf, lossOf, refusalOf, unsent } from '../wire-fault.ts'
import { aborted, TransportError } from '../../wire.ts'
import type { Incoming, Outgoing, UpstreamSubscription } from '../../wire.ts'
import { waitOf } from '../../wait-of.ts'
import type { UpstreamTarget } from '../upstream-target.ts'
import { spliced } from '../../../json/place.ts'
import { memberOf } from '../../../json/scanner.ts'
import { readSocketMessage } from './ws-message.ts'
import { SocketSubscription, SocketSubscriptions } from './ws-subscriptions.ts'

const connectTimeoutMs = 5_000
const subscribeTimeoutMs = 30_000
const pingMs = 10_000
/** A node that is silent for this long, even after a ping, is gone. */
const silenceMs = 25_000
/** Idle timeout of a connection. */
const idleMs = 60_000
/** Time for a node to answer a close frame. */
const closeGraceMs = 1_000

const headers = ['content-type', 'application/json']
const sentProgress = { progress: 'nothing came over the open WebSocket' }

/** A request without an answer yet. */
interface Pending {
  /** The id from the caller, which the answer must have. */
  readonly ownId: Uint8Array
  readonly subscribes: boolean
  readonly answered: (reply: Incoming, bytes: Uint8Array) => void
  readonly failed: (error: TransportError) => void
}

export interface WebSocketConnectionOptions {
  readonly target: UpstreamTarget
  readonly clock: Clock
  /** Called once, when the connection is open or has failed to open. */
  readonly opened: (error: TransportError | null) => void
  /** Called once at the end, even for a connection that never opened. */
  readonly closed: () => void
}

/**
 * One WebSocket to a node, shared by many requests. Each request goes out under an id of the
 * connection, and its answer returns with the original id.
 */
export class WebSocketConnection {
  readonly #options: WebSocketConnectionOptions
  readonly #socket: WebSocket
  readonly #pending = new Map<number, Pending>()
  readonly #subscriptions = new SocketSubscriptions()
  /**
   * Unsubscribe requests wait for the answers of subscribe requests. The node may reuse the id for
   * a new subscription, which must survive.
   */
  readonly #unsubscribes: { readonly key: string | number; readonly request: Outgoing }[] = []
  #nextId = 1
  #isOpen = false
  #isOver = false
  #fault: TransportError | null = null
  #receivedMs: number
  #usedMs: number
  #cancelTimer: Cancel

  constructor(options: WebSocketConnectionOptions) {
    const { target, clock } = options
    this.#options = options
    this.#receivedMs = this.#usedMs = clock.nowMs()
    const auth: Record<string, string> = {}
    for (let at = 0; at < target.authHeaders.length; at += 2)
      auth[target.authHeaders[at] as string] = target.authHeaders[at + 1] as string
    this.#socket = new WebSocket(target.origin + target.pathOf(''), {
      ...target.tls,
      headers: auth,
      perMessageDeflate: false,
      maxPayload: nodeLimits.messageBytes,
    })
    this.#cancelTimer = clock.after(connectTimeoutMs, () => {
      this.#end(new TransportError('refused', `no WebSocket in ${connectTimeoutMs} ms`, false))
    })
    const alive = () => {
      this.#receivedMs = clock.nowMs()
    }
    this.#socket
      .on('open', () => {
        this.#isOpen = true
        alive()
        this.#cancelTimer()
        this.#watch()
        options.opened(null)
      })
      .on('message', (data: Buffer) => {
        alive()
        this.#received(data)
      })
      .on('ping', alive)
      .on('pong', alive)
      .on('unexpected-response', (request, response) => {
        request.destroy()
        const { statusCode = 0, rawHeaders } = response
        this.#end(refusalOf(statusCode, waitOf(rawHeaders, clock.wallMs())))
      })
      .on('error', (cause) => {
        this.#fault ??= faultOf(cause)
      })
      .on('close', (code) => this.#end(this.#fault ?? closedFault(code)))
  }

  get isUsable(): boolean {
    return this.#takesRequests && this.#socket.bufferedAmount < nodeLimits.unsentBytes
  }

  /** Requests in flight, plus subscriptions. */
  get load(): number {
    return this.#pending.size + this.#subscriptions.size
  }

  get subscriptions(): number {
    return this.#subscriptions.size
  }

  send(request: Outgoing, signal: CancelSignal): Promise<Incoming> {
    return this.#ask(request, signal, false, (reply) => reply)
  }

  subscribe(request: Outgoing, signal: CancelSignal): Promise<UpstreamSubscription> {
    return this.#ask(request, signal, true, (reply, id, bytes) => {
      const subscription = new SocketSubscription(reply, (closed, unsubscribe) => {
        const key = this.#subscriptions.remove(closed)
        if (key !== null && unsubscribe) this.#unsubscribes.push({ key, request: unsubscribe })
        this.#unsubscribe()
      })
      this.#subscriptions.opened(subscription, id, bytes)
      return subscription
    })
  }

  /** Sends a close frame, and fails the requests in flight. */
  close(): void {
    if (this.#isOver) return
    this.#socket.close(1000)
    this.#end(new TransportError('aborted', 'the connection was closed'), closeGraceMs)
  }

  /** False as soon as either side has sent a close frame. */
  get #takesRequests(): boolean {
    return !this.#isOver && this.#socket.readyState === WebSocket.OPEN
  }

  get #isSubscribing(): boolean {
    return [...this.#pending.values()].some(({ subscribes }) => subscribes)
  }

  #watch(): void {
    const { clock } = this.#options
    this.#cancelTimer = clock.after(pingMs, () => {
      const nowMs = clock.nowMs()
      if (nowMs - this.#receivedMs >= silenceMs)
        return this.#end(new TransportError('reset', `no sign of life in ${silenceMs} ms`))
      if (this.load === 0 && nowMs - this.#usedMs >= idleMs) return this.close()
      this.#socket.ping()
      this.#watch()
    })
  }

  #ask<T>(
    request: Outgoing,
    signal: CancelSignal,
    subscribes: boolean,
    read: (reply: Incoming, id: number, bytes: Uint8Array) => T,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(aborted(false))
      if (!this.#takesRequests) return reject(unsent(this.#fault ?? closedFault(1006)))
      const { id, ownId } = this.#write(request)
      const settle = () => {
        cancelLimit()
        signal.removeEventListener('abort', takeBack)
        this.#pending.delete(id)
        this.#usedMs = this.#options.clock.nowMs()
        if (subscribes) this.#unsubscribe()
      }
      const failed = (error: TransportError) => {
        settle()
        reject(error)
      }
      const takeBack = () => failed(aborted())
      const answered = (reply: Incoming, bytes: Uint8Array) => {
        const value = read(reply, id, bytes)
        settle()
        resolve(value)
      }
      let cancelLimit: Cancel = () => {}
      if (subscribes)
        cancelLimit = this.#options.clock.after(subscribeTimeoutMs, () => {
          failed(new TransportError('timeout', `no answer in ${subscribeTimeoutMs} ms`))
        })
      else signal.addEventListener('abort', takeBack, { once: true })
      signal.underWay = sentProgress
      this.#pending.set(id, { ownId, subscribes, answered, failed })
    })
  }

  /** Unsubscribes abandoned subscriptions, once no pending answer can share their ids. */
  #unsubscribe(): void {
    this.#usedMs = this.#options.clock.nowMs()
    if (!this.#takesRequests || this.#isSubscribing) return
    this.#subscriptions.forgetEarly()
    for (const { key, request } of this.#unsubscribes.splice(0))
      if (!this.#subscriptions.has(key)) this.#write(request)
  }

  /** Sends a request under an id of the connection. */
  #write({ body }: Outgoing): { id: number; ownId: Uint8Array } {
    const span = body instanceof Uint8Array ? memberOf(body, 'id') : null
    if (!(body instanceof Uint8Array) || span === null)
      throw new TransportError('protocol', 'a request that a WebSocket cannot carry', false)
    const id = this.#nextId++
    this.#socket.send(spliced(body, span, Buffer.from(String(id))), { binary: false })
    return { id, ownId: body.subarray(span.start, span.end) }
  }

  #received(bytes: Uint8Array): void {
    const message = readSocketMessage(bytes)
    switch (message.kind) {
      case 'answer': {
        const pending = this.#pending.get(message.id)
        if (!pending) return this.#subscriptions.answered(message.id, bytes)
        return pending.answered(incomingOf(spliced(bytes, message.idSpan, pending.ownId)), bytes)
      }
      case 'unaddressed': {
        // An error without an id belongs to the only request in flight; with several, to none.
        const [only, ...others] = this.#pending.values()
        if (only && others.length === 0) only.answered(incomingOf(bytes), bytes)
        return
      }
      case 'notification':
        return this.#subscriptions.notified(bytes, message, this.#isSubscribing)
      case 'malformed':
        return this.#end(new TransportError('protocol', 'a message that is not JSON-RPC'))
    }
  }

  /** Idempotent. Reports losses at once; the socket itself may take a moment longer. */
  #end(error: TransportError, graceMs = 0): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#fault ??= error
    this.#cancelTimer()
    if (graceMs === 0) this.#socket.terminate()
    else this.#options.clock.after(graceMs, () => this.#socket.terminate())
    if (!this.#isOpen) this.#options.opened(unsent(error))
    this.#options.closed()
    const lost = lossOf(error, this.#pending.size)
    for (const { failed } of [...this.#pending.values()]) failed(lost)
    this.#subscriptions.fail(error.fault === 'aborted' ? error : lost)
  }
}

function incomingOf(body: Uint8Array): Incoming {
  return { status: 200, headers, body, trailers: () => [] }
}
