// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Hears what becomes of the subscriptions of one chain and interface. Must not throw. */
export interface SubscriptionObserver {
  /** How many clients hear of topics of this name. */
  clientsChanged(topic: string, clients: number): void
  /** A subscription at an upstream was opened (1) or is gone (-1). */
  upstreamChanged(upstream: string, change: 1 | -1): void
  /** What told of a topic tells no more; `null` for polling. */
  left(topic: string, source: string | null, why: string): void
  /** Something tells of a topic; `null` for polling. */
  joined(topic: string, source: string | null): void
  /** Events that were missed and made up for. */
  filled(topic: string, events: number): void
  duplicateDropped(topic: string): void
  /** It could not go on without a hole: its clients are told to leave. */
  ended(topic: string, reason: string): void
  /** A defect of ours. */
  failed(topic: string, error: unknown): void
}
