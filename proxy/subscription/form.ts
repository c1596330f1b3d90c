// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Random } from '../clock/random.ts'
import type { Topic } from './subscriptions.ts'

/** The part of a client request that a form reads. */
export interface FormRequest {
  readonly method: string
  readonly params: unknown
  /** The request's id as JSON; `null` if it has none. */
  readonly id: string
}

/** What a client wants to do with subscriptions. */
export type Wish =
  | SubscribeWish
  /** One of the connection's subscriptions, or null for all of them. */
  | { readonly kind: 'unsubscribe'; readonly handle: string | null }
  /** A heartbeat for this connection. As a call over HTTP, it is an ordinary method. */
  | { readonly kind: 'keep-alive' }

export interface SubscribeWish {
  readonly kind: 'subscribe'
  readonly topic: Topic
  readonly question: FormRequest
}

/** The identifier of one subscription on one connection. */
export interface ClientId {
  /** JSON, as written in the reply and in notifications. */
  readonly json: string
  /** The key by which an unsubscribe request finds the subscription. */
  readonly handle: string
}

/** The subscription protocol of one family of interfaces. Pure. */
export interface SubscriptionForm {
  /** Whether this method subscribes. */
  opens(method: string): boolean
  /**
   * @returns null if the method does not concern subscriptions of this form
   * @throws RelayError if the params are invalid
   */
  read(question: FormRequest): Wish | null
  /**
   * Names a new subscription. If the connection already has the handle, the caller refuses a
   * duplicate; this happens only in forms without random handles.
   */
  name(wish: SubscribeWish, random: Random): ClientId
  /** The `result` of the reply to a subscribe request, as JSON. */
  subscribed(id: ClientId): string
  /** The `result` of the reply to a successful unsubscribe request, as JSON. */
  readonly unsubscribed: string
  /** Bytes of a notification before and after the part that all clients share. */
  envelope(
    wish: SubscribeWish,
    id: ClientId,
  ): { readonly head: Uint8Array; readonly tail: Uint8Array }
}

/** Returns `count` random bytes, the first of which is never 0. */
export function drawBytes(random: Random, count: number): Buffer {
  const bytes = Buffer.alloc(count)
  for (let at = 0; at < count; at++) bytes[at] = Math.floor(random.next() * 256)
  bytes[0] ||= 1
  return bytes
}
