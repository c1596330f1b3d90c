// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { objectCosts } from '../../bytes/limits.ts'
import { bufferOf, parseJson } from '../../json/scanner.ts'
import { CallAborted, RelayError, errorKinds, overloaded } from '../../relay/errors.ts'
import type { SubscribeWish, Wish } from '../../subscription/form.ts'
import { NodeRefused, type Subscription } from '../../subscription/subscriptions.ts'
import { errorOf } from '../calls.ts'
import type { SubscriptionServing } from '../listener.ts'
import type { JsonRpcCall } from '../jsonrpc/jsonrpc-call.ts'
import type { ItemAnswer, JsonRpcServing } from '../jsonrpc/jsonrpc-items.ts'
import { answerBytes, errorBytes, type JsonRpcRequest } from '../jsonrpc/jsonrpc-request.ts'
import { closeCodes, type ClientSocket } from './client-socket.ts'

/** Memory per byte of a subscription's params, which are stored as text and parsed. */
const copies = 4

/** Subscriptions of one client connection. */
export class ConnectionSubscriptions {
  readonly #offer: SubscriptionServing
  readonly #serving: JsonRpcServing
  readonly #socket: ClientSocket
  readonly #client: string
  /** Open and opening subscriptions, by handle. */
  readonly #open = new Map<string, { opening: Promise<Subscription>; heldBytes: number }>()

  /** @param client the client whose topic limit applies */
  constructor(
    offer: SubscriptionServing,
    serving: JsonRpcServing,
    socket: ClientSocket,
    client: string,
  ) {
    this.#offer = offer
    this.#serving = serving
    this.#socket = socket
    this.#client = client
  }

  get size(): number {
    return this.#open.size
  }

  /**
   * Answers a request about subscriptions; null for all other requests.
   * @param afterAnswer collects callbacks to run after the answer is sent
   */
  answer(
    request: JsonRpcRequest,
    call: JsonRpcCall,
    afterAnswer: (() => void)[],
  ): Promise<ItemAnswer> | null {
    const { form } = this.#offer
    const question = {
      method: request.method,
      id: bufferOf(request.ownId).toString(),
      get params() {
        return parseJson(request.paramsBytes)
      },
    }
    let wish: Wish | null
    try {
      wish = form.read(question)
    } catch (cause) {
      return Promise.resolve(this.#failed(request, call, cause))
    }
    if (wish?.kind === 'keep-alive') return request.isNotification ? Promise.resolve(null) : null
    return wish && this.#grant(wish, request, call, afterAnswer)
  }

  /** Runs when the connection has ended. */
  close(): void {
    for (const handle of this.#open.keys()) void this.#leave(handle)
  }

  async #grant(
    wish: Exclude<Wish, { kind: 'keep-alive' }>,
    request: JsonRpcRequest,
    call: JsonRpcCall,
    afterAnswer: (() => void)[],
  ): Promise<ItemAnswer> {
    const { form } = this.#offer
    const { calls } = this.#serving
    let result = form.unsubscribed
    try {
      if (wish.kind === 'subscribe') result = await this.#subscribe(wish, call, afterAnswer)
      else await this.#unsubscribe(wish.handle)
    } catch (cause) {
      return this.#failed(request, call, cause)
    }
    calls.subscriptionAnswered(call, false)
    if (request.isNotification) return null
    return answerBytes(request.ownId, 'result', Buffer.from(result))
  }

  async #subscribe(
    wish: SubscribeWish,
    call: JsonRpcCall,
    afterAnswer: (() => void)[],
  ): Promise<string> {
    const { form, hub, random } = this.#offer
    const { maxSubscriptions } = this.#serving.socketLimits
    const socket = this.#socket
    const { topic } = wish
    if (this.#open.size >= maxSubscriptions) {
      const message = `this connection has ${maxSubscriptions} subscriptions already`
      throw new RelayError(errorKinds.tooManySubscriptions, message)
    }
    // Subscriptions are long-lived. Like long bodies, they must leave room for short requests.
    if (!this.#serving.budget.allows(0, Infinity)) throw overloaded()
    const id = form.name(wish, random)
    if (this.#open.has(id.handle)) {
      const message = 'this connection already has this subscription'
      throw new RelayError(errorKinds.alreadySubscribed, message)
    }
    const { head, tail } = form.envelope(wish, id)
    const subscriber = {
      event: (result: Uint8Array) => {
        socket.notify([head, result, tail])
        if (topic.isLast?.(result)) void this.#leave(id.handle)
      },
      ended: (reason: string) => socket.close(closeCodes.tryAgain, reason),
    }
    const opening = hub.subscribe(call, topic, subscriber, this.#client)
    const heldBytes = objectCosts.subscriptionBytes + topic.key.length * copies
    this.#open.set(id.handle, { opening, heldBytes })
    this.#serving.budget.hold(heldBytes)
    try {
      const subscription = await opening
      if (call.signal.aborted) {
        subscription.unsubscribe()
        throw new CallAborted()
      }
      afterAnswer.push(() => subscription.begin())
      return form.subscribed(id)
    } catch (cause) {
      this.#forget(id.handle)
      throw cause
    }
  }

  /** @param handle may still be opening; null: all */
  async #unsubscribe(handle: string | null): Promise<void> {
    const handles = handle === null ? [...this.#open.keys()] : [handle]
    const left = await Promise.all(handles.map((each) => this.#leave(each)))
    if (left.includes(true)) return
    const what = handle === null ? 'subscription' : 'such subscription'
    throw new RelayError(errorKinds.noSuchSubscription, `this connection has no ${what}`)
  }

  /** Waits until the subscription is open. Never rejects. @returns whether it existed */
  async #leave(handle: string): Promise<boolean> {
    const open = this.#open.get(handle)
    const subscription = await open?.opening.catch(() => null)
    if (!subscription || this.#open.get(handle) !== open) return false
    this.#forget(handle)
    subscription.unsubscribe()
    return true
  }

  #forget(handle: string): void {
    this.#serving.budget.release(this.#open.get(handle)?.heldBytes ?? 0)
    this.#open.delete(handle)
  }

  #failed(request: JsonRpcRequest, call: JsonRpcCall, cause: unknown): ItemAnswer {
    const { calls } = this.#serving
    if (cause instanceof NodeRefused) {
      calls.subscriptionAnswered(call, true)
      return request.isNotification ? null : answerBytes(request.ownId, 'error', cause.error)
    }
    if (call.signal.aborted || cause instanceof CallAborted) {
      calls.ended(call, new CallAborted())
      return null
    }
    const error = errorOf(cause)
    calls.ended(call, error)
    return request.isNotification ? null : errorBytes(error, call.guid, request.ownId)
  }
}
