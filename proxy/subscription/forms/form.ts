// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Random } from '../../clock/random.ts'
import type { Topic } from '../subscriptions.ts'

/** A request of a client, as far as a form looks at it. */
export interface FormQuestion {
  readonly method: string
  readonly params: unknown
  /** The request's id, JSON; `null` where it has none. */
  readonly id: string
}

/** What a client wants with a request that is about subscriptions. */
export type Wish =
  | SubscribeWish
  /** Which of the connection's own subscriptions; null: all of them. */
  | { readonly kind: 'unsubscribe'; readonly handle: string | null }
  /** Nothing: it only shows that the connection is alive. As a call it is a method like any other. */
  | { readonly kind: 'keep-alive' }

export interface SubscribeWish {
  readonly kind: 'subscribe'
  readonly topic: Topic
  readonly question: FormQuestion
}

/** The name that one connection has for one subscription. */
export interface ClientId {
  /** As in the reply and in notifications: JSON. */
  readonly json: string
  /** By which a request to unsubscribe finds it. */
  readonly handle: string
}

/** How one family of interfaces speaks with a client about subscriptions. Pure. */
export interface SubscriptionForm {
  /** Whether clients subscribe by this method. */
  opens(method: string): boolean
  /**
   * @returns null when the method has nothing to do with subscriptions of this form
   * @throws RelayError when the params make no sense
   */
  read(question: FormQuestion): Wish | null
  /**
   * A name for a new subscription. When the connection has one of the same handle already, the
   * client is to be refused as a duplicate: only a form that does not draw its handles has that.
   */
  name(wish: SubscribeWish, random: Random): ClientId
  /** The `result` of the reply to a request to subscribe, JSON. */
  subscribed(id: ClientId): string
  /** The `result` of the reply to a request to unsubscribe from what there was, JSON. */
  readonly unsubscribed: string
  /** Bytes of a notification before and behind what all clients share of it. */
  envelope(
    wish: SubscribeWish,
    id: ClientId,
  ): { readonly head: Uint8Array; readonly tail: Uint8Array }
}

/** So many random bytes, the first of them never 0. */
export function drawBytes(random: Random, count: number): Buffer {
  const bytes = Buffer.alloc(count)
  for (let at = 0; at < count; at++) bytes[at] = Math.floor(random.next() * 256)
  bytes[0] ||= 1
  return bytes
}
