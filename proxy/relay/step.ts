// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from './call.ts'
import type { Reply } from './reply.ts'

/**
 * Takes a call to its reply.
 * @throws RelayError when no upstream could serve it
 */
export type Relay = (call: Call) => Promise<Reply>

/** A part of the relay that wraps what comes after it: it may ask it never, once or often. */
export type Step = (next: Relay) => Relay

/** The first step is the outermost. */
export function compose(steps: readonly Step[], last: Relay): Relay {
  return steps.reduceRight((next, step) => step(next), last)
}
