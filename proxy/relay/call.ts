// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Classification } from '../chain/types.ts'
import type { Outgoing } from '../upstream/wire.ts'
import type { AttemptFailed } from './attempt-failed.ts'
import type { Directives } from './directives.ts'
import type { AttemptKind, Journal } from './journal.ts'
import type { ReplyReader } from './reply.ts'

/**
 * One question of one client on its way through the relay, whatever wire it came by. A JSON-RPC
 * batch is as many calls as it has items.
 */
export interface Call {
  /** Unique; ties headers, logs and traces together. */
  readonly guid: string
  /** What the spec says about it. */
  readonly asked: Classification
  /** What goes to the upstream, the same for each attempt. */
  readonly request: Outgoing
  /** How to read an answer to it. */
  readonly reader: ReplyReader
  readonly directives: Directives
  /** Aborted when nobody waits for the reply any more. */
  readonly signal: AbortSignal
  /** What happened to it so far; written by the steps, read for headers, logs and metrics. */
  readonly journal: Journal
  /** What the next attempt is for; the listener says `first`, steps that ask again say why. */
  readonly attemptKind: AttemptKind
  /** Hears how attempts are taken back that run side by side, where another try is faster. */
  readonly began?: (takeBack: () => void) => void
  /** Hears when what was begun takes longer than usual, and goes on. Once. */
  readonly late?: Late
}

/** @param failed as what it counts for who asks elsewhere now */
export type Late = (failed: AttemptFailed) => void

/** It can be sent once more: most bodies that stream are gone with their first reading. */
export function isRepeatable({ request: { body } }: Pick<Call, 'request'>): boolean {
  return body === null || body instanceof Uint8Array || body.isRepeatable === true
}

/** It can be sent to several at once: all of its body is here. */
export function isWhole({ request: { body } }: Pick<Call, 'request'>): boolean {
  return body === null || body instanceof Uint8Array || body.isWhole === true
}
