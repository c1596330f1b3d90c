// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Reservation } from '../../bytes/byte-budget.ts'
import { budgetLimits, clientLimits, objectCosts } from '../../bytes/limits.ts'
import type { Client } from '../../relay/call.ts'
import { brokenOff, errorOf } from '../calls.ts'
import type { CallOrigin } from '../jsonrpc/jsonrpc-call.ts'
import { answerBody, type ItemContext, type JsonRpcServing } from '../jsonrpc/jsonrpc-items.ts'
import {
  JsonRpcRequest,
  errorBytes,
  noSuchSubscription,
  readBody,
  type RequestBody,
} from '../jsonrpc/jsonrpc-request.ts'
import { closeCodes, fullReason, type ClientSocket } from './client-socket.ts'
import { ConnectionSubscriptions } from './connection-subscriptions.ts'

/** Settings from the upgrade request, which apply to every call. */
interface ConnectionOrigin extends Omit<CallOrigin, 'signal'> {
  /** Id of the connection; the guid of a message appends a number. */
  readonly guid: string
  readonly client: Client
  /** Identifies the client, for its share of topics. */
  readonly subscriber: string
}

/**
 * JSON-RPC on one WebSocket: each message is a request or a batch, over the same relay as HTTP.
 * Answers are sent in order of completion.
 */
export class JsonRpcConnection extends Reservation {
  readonly #socket: ClientSocket
  readonly #serving: JsonRpcServing
  readonly #origin: ConnectionOrigin
  readonly #subscriptions: ConnectionSubscriptions | null
  /** Aborts the calls in flight when the client disconnects; null if there are none. */
  #gone: AbortController | null = null
  /** Messages that arrived during a call; they take turns with other clients' messages. */
  readonly #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #isTurnQueued = false
  #inFlight = 0
  #count = 0
  #isLeaving = false
  #isSettling = false

  constructor(socket: ClientSocket, serving: JsonRpcServing, origin: ConnectionOrigin) {
    super(serving.budget)
    this.#socket = socket
    this.#serving = serving
    this.#origin = origin
    this.#subscriptions =
      serving.subscriptions &&
      new ConnectionSubscriptions(serving.subscriptions, serving, socket, origin.subscriber)
  }

  /** Whether calls are in flight or queued. */
  get isServing(): boolean {
    return this.#inFlight + this.#waiting.length > 0
  }

  /** Whether it has neither calls nor subscriptions. */
  get isIdle(): boolean {
    return !this.isServing && (this.#subscriptions?.size ?? 0) === 0
  }

  received(message: Uint8Array): void {
    if (this.#isSettling) return
    if (!this.budget.allows(0, message.length))
      return this.#socket.close(closeCodes.tryAgain, fullReason)
    this.hold(costOf(message))
    if (!this.isServing) return this.#serve(message)
    // Messages that the library has already read still arrive.
    this.#waiting.push(message)
    this.#waitingBytes += costOf(message)
    this.#socket.ws.pause()
    this.waits()
    this.#serveWaiting()
  }

  /** One call is always admitted; with none in flight, hardly any answer is unread. */
  get #hasRoom(): boolean {
    const inFlight = this.#inFlight
    if (inFlight === 0) return true
    if (this.#serving.budget.isTight) return false
    return inFlight < this.#serving.socketLimits.maxCalls && this.#socket.hasRoomBeside(inFlight)
  }

  /** Runs when either side has ended the connection. */
  closed(): void {
    this.#dropWaiting()
    this.finish()
    this.#subscriptions?.close()
    this.#gone?.abort()
  }

  /** Closes as soon as every call is answered. */
  leave(): void {
    this.#isLeaving = true
    this.#leaveWhenDone()
  }

  /** Ignores messages that arrive from now on. */
  settle(): void {
    this.#isSettling = true
    this.#dropWaiting()
    this.leave()
  }

  override waits(): void {
    super.waits(this.#waitingBytes)
  }

  override cutOff(): void {
    this.#dropWaiting()
    this.#socket.cutOff()
  }

  #dropWaiting(): void {
    this.hold(-this.#waitingBytes)
    this.#waiting.length = this.#waitingBytes = 0
    this.waits()
  }

  #leaveWhenDone(): void {
    if (this.#isLeaving && !this.isServing)
      this.#socket.close(closeCodes.goingAway, 'the router is shutting down')
  }

  #serve(message: Uint8Array): void {
    const guid = `${this.#origin.guid}-${++this.#count}`
    try {
      const body = readBody(message)
      // Number of batch items in flight at once.
      const weight = body.kind === 'batch' ? Math.min(body.items.length, clientLimits.waveItems) : 1
      this.#await(weight, message, this.#answer(message, body, guid))
    } catch (cause) {
      const error = errorOf(cause)
      this.#serving.observer.requestRefused(error, guid, this.#origin.client)
      this.#await(1, message, this.#socket.answer(errorBytes(error, guid)))
    }
  }

  #await(weight: number, message: Uint8Array, answered: Promise<void>): void {
    this.#inFlight += weight
    void answered.then(() => {
      this.hold(-costOf(message))
      this.#inFlight -= weight
      if (this.#inFlight === 0) this.#gone = null
      this.#serveWaiting()
      this.#leaveWhenDone()
    })
  }

  #serveWaiting(): void {
    if (this.#isTurnQueued || !this.#hasRoom) return
    if (this.#waiting.length === 0) {
      if (this.#socket.ws.isPaused) this.#socket.ws.resume()
      return
    }
    this.#isTurnQueued = true
    this.budget.turns.run(budgetLimits.itemBytes, () => {
      this.#isTurnQueued = false
      const message = this.#hasRoom ? this.#waiting.shift() : null
      if (message) {
        this.#waitingBytes -= costOf(message)
        this.acted()
        this.#serve(message)
      }
      this.#serveWaiting()
      this.#leaveWhenDone()
    })
  }

  /** Never rejects. */
  async #answer(message: Uint8Array, body: RequestBody, guid: string): Promise<void> {
    this.#gone ??= new AbortController()
    const afterAnswer: (() => void)[] = []
    const context: ItemContext = {
      ...this.#origin,
      signal: this.#gone.signal,
      isOneOfMany: this.#inFlight > 0,
      relayed: () => undefined,
      subscribe: (request, call) => {
        const answer = this.#subscriptions?.answer(request, call, afterAnswer) ?? null
        if (answer !== null || call.method.kind !== 'subscribe') return answer
        throw noSuchSubscription(request, call.method)
      },
    }
    try {
      const answer = await answerBody(message, body, guid, context, this.#serving)
      if (answer !== null) await this.#socket.answer(answer)
    } catch (cause) {
      // If part of the answer was sent, the connection is closed and this is dropped.
      const ownId =
        body.kind === 'single' ? new JsonRpcRequest(message, body.span).ownId : undefined
      await this.#socket.answer(errorBytes(brokenOff(cause), guid, ownId))
    }
    // Also runs after a failed batch: a subscription that never begins would only fill its buffer.
    for (const run of afterAnswer) run()
  }
}

function costOf(message: Uint8Array): number {
  return message.length + objectCosts.pieceBytes
}
