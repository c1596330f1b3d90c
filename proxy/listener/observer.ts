// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from '../relay/call.ts'
import type { RelayError } from '../relay/errors.ts'
import type { Reply } from '../relay/reply.ts'

/** How a call ended for its client. */
export type CallEnd =
  | { readonly kind: 'reply'; readonly reply: Reply }
  /** A subscription was opened or ended, or the node refused it. */
  | { readonly kind: 'subscription'; readonly isRefused: boolean }
  | { readonly kind: 'error'; readonly error: RelayError }
  /** The client left before it was answered. */
  | { readonly kind: 'abandoned' }

/** Hears what the clients of one listener experience; metrics and logs are made from it. */
export interface ListenerObserver {
  callEnded(call: Call, end: CallEnd, durationMs: number): void
  /** Refused before it became a call: not JSON, too large, ... */
  requestRefused(error: RelayError, guid: string): void
  /** Of all kinds. */
  connectionsChanged(open: number): void
  /** Those that are WebSockets. */
  socketsChanged(open: number): void
}
