// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Key, textOf } from '../relay/call-key.ts'
import type { Call } from '../relay/call.ts'
import type { Reply } from '../relay/reply.ts'
import type { Moment } from './retention.ts'

/** A call in flight and its waiters. */
export interface InFlight extends Moment {
  readonly key: Key
  readonly branch: number
  /** Number of reorgs that the replicas had seen; null if unknown or not shared. */
  reorgs: number | null
  /** Params that waiters must match; null if none may join. */
  payload: Uint8Array | null
  waiters: Waiter[]
}

/** An identical call that waits for the answer. */
export interface Waiter {
  readonly call: Call
  readonly resolve: (reply: Reply | Promise<Reply>) => void
  readonly reject: (error: unknown) => void
}

/** Coalesces identical calls: only the first is sent, and the others wait for its answer. */
export class InFlightCalls {
  readonly #byHash = new Map<number, InFlight>()

  /** @returns the answer to an identical call in flight; null if this is now the one in flight */
  join(call: Call, flight: InFlight): Promise<Reply> | null {
    const { key, ageClass } = flight
    const payload = call.payload ?? key.bytes
    const first = this.#byHash.get(key.hash)
    if (!first || !mayJoin(payload, first, flight)) {
      this.begin(flight, payload)
      return null
    }
    call.journal.cache = { verdict: 'coalesced', ageClass, why: null }
    return new Promise((resolve, reject) => {
      first.waiters.push({ call, resolve, reject })
    })
  }

  has(key: Key): boolean {
    const first = this.#byHash.get(key.hash)
    return first !== undefined && textOf(first.key) === textOf(key)
  }

  begin(flight: InFlight, payload: Uint8Array): void {
    flight.payload = payload
    this.#byHash.set(flight.key.hash, flight)
  }

  /** Ends the call in flight, so that no other call joins it. @returns its waiters */
  end(flight: InFlight): readonly Waiter[] {
    const { waiters, key } = flight
    flight.payload = null
    flight.waiters = []
    if (this.#byHash.get(key.hash) === flight) this.#byHash.delete(key.hash)
    return waiters
  }
}

/**
 * Rejects the waiters of a failed call.
 * @param isOwn whether its own client alone caused the failure, so that waiters with time left may
 * retry
 * @returns the waiters that may retry
 */
export function rejectWaiters(
  waiters: readonly Waiter[],
  error: unknown,
  isOwn: boolean,
  nowMs: number,
): readonly Waiter[] {
  const retry = isOwn ? waiters.filter(({ call }) => !isOver(call, nowMs)) : []
  for (const each of waiters) if (!retry.includes(each)) each.reject(error)
  return retry
}

/** Whether the client has disconnected or its deadline has passed. */
export function isOver({ signal, journal }: Call, nowMs: number): boolean {
  return signal.aborted || nowMs >= journal.clientDeadlineMs
}

/** Whether the call can share the answer. Params must match exactly: spellings may matter. */
function mayJoin(payload: Uint8Array, first: InFlight, { key, head, branch }: InFlight): boolean {
  if (textOf(first.key) !== textOf(key) || first.payload === null) return false
  if (first.head < head || first.branch !== branch) return false
  return Buffer.compare(payload, first.payload) === 0
}
