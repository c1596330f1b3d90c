// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Hears what becomes of the subscriptions of one chain and interface. Must not throw. */
export interface SubscriptionObserver {
  /** How many clients hear of topics of this name. */
  clientsChanged(topic: string, clients: number): void
  /** A subscription at an upstream was opened (1) or is gone (-1). */
  upstreamChanged(upstream: string, change: 1 | -1): void
  /** An upstream that told of a topic tells no more. */
  left(topic: string, upstream: string, why: string): void
  /** Something tells of a topic; null for polling. */
  joined(topic: string, upstream: string | null): void
  /** Blocks or slots that nobody told of, and that were fetched. */
  filled(topic: string, blocks: number): void
  duplicateDropped(topic: string): void
  /**
   * What it tells next could not be fetched, and will be asked for again. What comes later waits.
   * @param forMs how long it has been so, in milliseconds; 0 for the first time
   */
  fetchFailed(topic: string, forMs: number, why: string): void
  /** It could not go on without a hole: its clients are told to leave. */
  ended(topic: string, reason: string): void
  /** A defect of ours. */
  failed(topic: string, error: unknown): void
}
