// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** What makes the events of a topic. */
export interface TopicRun {
  /** @throws NodeRefused @throws RelayError */
  open(): Promise<void>
  close(): void
}

/** How a run tells the clients of its topic. */
export interface TopicAudience {
  event(event: Uint8Array): void
  ended(reason: string): void
  /** The node has told the last event. */
  over(): void
}
