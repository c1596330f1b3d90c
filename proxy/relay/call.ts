// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Classification } from '../chain/types.ts'
import type { Outgoing } from '../upstream/wire.ts'
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
}

/** It can be sent more than once: a body that streams is gone with its first reading. */
export function isRepeatable({ request }: Pick<Call, 'request'>): boolean {
  return request.body === null || request.body instanceof Uint8Array
}
