// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockTag, ResultPath } from '../chain/types.ts'
import type { Position } from './family.ts'

/** How an upstream is asked for the events of a topic. */
export interface TopicRequest {
  readonly method: string
  readonly params: unknown
  /** The request to unsubscribe, given the result of the answer. */
  unsubscribe(result: unknown): { readonly method: string; readonly params: unknown } | null
  /** Its events are searched for keys, as answers to unknown methods are. */
  readonly mayHoldKeys?: boolean
  /** Reads the upstream's head from an event; absent if events report none. */
  readonly readHead?: (event: Uint8Array) => Position | null
  /** Where other events show a block; null: nowhere; absent: the router does not know. */
  readonly place?: ResultPath | null | undefined
  /** The tag of that block; absent or null: latest. */
  readonly tag?: BlockTag | null
  /** An event after which the node ends the subscription itself. */
  readonly isLast?: ((result: Uint8Array) => boolean) | undefined
}

/** What a client subscribes to, in one form for all clients that ask the same. */
export interface Topic extends TopicRequest {
  /** Equal for two requests that ask the same, and for no others. */
  readonly key: string
  /** For metrics, the log and the documentation: a name that the interface itself has for it. */
  readonly name: string
  /** The sequence of the chain that it is made from without a gap; null: events as they come. */
  readonly sequence: string | null
  /** Not the blocks of the sequence, but the logs in them that fit; absent: the blocks. */
  readonly logFilter?: object | undefined
  /** What of an event all clients share; absent: the whole of it. */
  readonly shared?: (result: Uint8Array) => Uint8Array
}

/** One client that gets the events of a topic. */
export interface Subscriber {
  /** The next event, without the form's envelope. All clients share the bytes, so they must not be changed. */
  event(result: Uint8Array): void
  /**
   * It cannot go on without a gap: the client's connection has to be closed with this reason (under
   * 123 bytes, as a close frame takes them). Nothing comes after it.
   */
  ended(reason: string): void
}

/** What one client has subscribed to. */
export interface Subscription {
  /** Lets the events come, first those since it was made. To be called once the client has its reply. */
  begin(): void
  /** No event comes any more. Harmless when repeated, or after `ended`. */
  unsubscribe(): void
}

/** The node's own error to a subscription, which is the client's answer. */
export class NodeRefused extends Error {
  override readonly name = 'NodeRefused'
  /** The `error` member of the node's answer, JSON. */
  readonly error: Uint8Array
  /** Another node may accept it. */
  readonly isItsOwnTrouble: boolean

  constructor(error: Uint8Array, isItsOwnTrouble: boolean) {
    super('the node refused the subscription')
    this.error = error
    this.isItsOwnTrouble = isItsOwnTrouble
  }
}

/** Why a topic leaves a WebSocket on which nothing comes while the chain goes on. */
export const hasStalled = 'it has stalled'

/** Observes the subscriptions of one chain and interface. Must not throw. */
export interface SubscriptionObserver {
  /** A client has subscribed to a topic of this name (1) or left it (-1). */
  clientsChanged(topic: string, change: 1 | -1): void
  /** A subscription at an upstream was opened (1) or is gone (-1). */
  upstreamChanged(upstream: string, change: 1 | -1): void
  /** A topic has left an upstream. */
  left(topic: string, upstream: string, why: string): void
  /** A topic's events come from this upstream now. */
  joined(topic: string, upstream: string): void
  /** Blocks or slots that came from no source were fetched. */
  filled(topic: string, blocks: number): void
  duplicateDropped(topic: string): void
  /**
   * The next event could not be fetched, and will be asked for again. Later ones wait.
   * @param forMs how long it has been so, in milliseconds; 0 for the first time
   */
  fetchFailed(topic: string, forMs: number, why: string): void
  /** It could not go on without a gap: the connections of its clients are closed. */
  ended(topic: string, reason: string): void
  /** A defect of ours. */
  failed(topic: string, error: unknown): void
}
