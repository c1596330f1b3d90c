// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockTag, ResultPath } from '../chain/types.ts'

/** The request that subscribes to a topic at an upstream. */
export interface TopicRequest {
  readonly method: string
  readonly params: unknown
  /** The unsubscribe request for the result of the subscribe request; null if none is needed. */
  unsubscribe(result: unknown): { readonly method: string; readonly params: unknown } | null
  /** Whether events may contain API keys, which are masked as in answers to unknown methods. */
  readonly mayHoldKeys?: boolean
  /** Reads the upstream's head from an event; absent if events do not show it. */
  readonly readHead?: (event: Uint8Array) => Position | null
  /** Where other events show a block. Null if nowhere, absent if unknown. */
  readonly place?: ResultPath | null | undefined
  /** The tag of that block; `latest` if absent or null. */
  readonly tag?: BlockTag | null
  /** Whether the node ends the subscription after this event. */
  readonly isLast?: ((result: Uint8Array) => boolean) | undefined
}

/** A subscription in one form for all equivalent client requests. */
export interface Topic extends TopicRequest {
  /** Equal for equivalent requests only. */
  readonly key: string
  /** The interface's own name for it, for metrics, logs and documentation. */
  readonly name: string
  /** The gapless sequence of the chain that provides the events; null for live events. */
  readonly sequence: string | null
  /** Selects matching logs of the sequence's blocks; absent for the blocks themselves. */
  readonly logFilter?: object | undefined
  /** The part of an event that all clients share; absent: the whole event. */
  readonly shared?: (result: Uint8Array) => Uint8Array
}

/** A client that receives the events of a topic. */
export interface Subscriber {
  /** The next event, without the form's envelope. Clients share the bytes: do not change them. */
  event(result: Uint8Array): void
  /**
   * The topic cannot continue without a gap, and sends nothing more. The client's connection must
   * close with this reason, which fits a close frame (under 123 bytes).
   */
  ended(reason: string): void
}

/** One client's subscription to a topic. */
export interface Subscription {
  /** Starts delivery, including events since the subscription. Call this after the reply. */
  begin(): void
  /** Stops delivery. Idempotent, also after `ended`. */
  unsubscribe(): void
}

/** The node's own error for a subscription, which is the client's answer. */
export class NodeRefused extends Error {
  override readonly name = 'NodeRefused'
  /** The `error` member of the node's answer, as JSON. */
  readonly error: Uint8Array
  /** Whether another node may accept it. */
  readonly isNodeSpecific: boolean

  constructor(error: Uint8Array, isNodeSpecific: boolean) {
    super('the node refused the subscription')
    this.error = error
    this.isNodeSpecific = isNodeSpecific
  }
}

/** The reason why a topic leaves a WebSocket that is silent while the chain advances. */
export const hasStalled = 'it has stalled'

/** Observes the subscriptions of one chain and interface. Must not throw. */
export interface SubscriptionObserver {
  /** A client has subscribed to this topic (1) or left it (-1). */
  clientsChanged(topic: string, change: 1 | -1): void
  /** A subscription at an upstream has opened (1) or ended (-1). */
  upstreamChanged(upstream: string, change: 1 | -1): void
  /** A topic has left an upstream. */
  left(topic: string, upstream: string, why: string): void
  /** A topic's events now come from this upstream. */
  joined(topic: string, upstream: string): void
  /** The router fetched blocks or slots that no source delivered. */
  filled(topic: string, blocks: number): void
  duplicateDropped(topic: string): void
  /**
   * The next event could not be fetched. The router retries, and later events wait.
   * @param forMs how long this has lasted, in milliseconds; 0 for the first failure
   */
  fetchFailed(topic: string, forMs: number, why: string): void
  /** The topic could not continue without a gap, so its clients' connections close. */
  ended(topic: string, reason: string): void
  /** An internal error of the router. */
  failed(topic: string, error: unknown): void
}

/** Position of a block, height or slot on its chain. */
export interface Position {
  /** Height or slot, which increases along the chain. */
  readonly number: number
  /** The block hash; on a chain without forks, the height. */
  readonly id: string
  /** The id of the previous block; null if unknown. */
  readonly parent: string | null
}
