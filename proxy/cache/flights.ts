// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from '../relay/call.ts'
import type { Reply } from '../relay/reply.ts'
import type { Moment } from './holding.ts'

/** A call on its way to an upstream, and the others that wait for its answer. */
export interface Flight extends Moment {
  readonly key: string
  readonly hash: number
  readonly branch: number
  /** How many reorgs the replicas had seen; null: not known, or not shared. */
  reorgs: number | null
  /** The params of those that may follow; null: none may. */
  payload: Uint8Array | null
  followers: Follower[] | null
  /** In the same slot. */
  next: Flight | null
}

export interface Follower {
  readonly call: Call
  readonly resolve: (reply: Reply | Promise<Reply>) => void
  readonly reject: (error: unknown) => void
}

/** A power of two. */
const slots = 1_024

/**
 * The calls on their way, by their keys. In slots, since each call comes and goes: a `Map` leaves tables behind that
 * keep what was in them alive until a full collection.
 */
export class Flights {
  readonly #slots: (Flight | null)[] = Array.from({ length: slots }, () => null)

  /** One of the same key. */
  get({ key, hash }: Flight): Flight | null {
    let flight = this.#slots[hash & (slots - 1)] ?? null
    while (flight !== null && flight.key !== key) flight = flight.next
    return flight
  }

  /** Before others of its key. */
  add(flight: Flight): void {
    const slot = flight.hash & (slots - 1)
    flight.next = this.#slots[slot] ?? null
    this.#slots[slot] = flight
  }

  delete(flight: Flight): void {
    const slot = flight.hash & (slots - 1)
    let before = this.#slots[slot] ?? null
    if (before === flight) this.#slots[slot] = flight.next
    else {
      while (before !== null && before.next !== flight) before = before.next
      if (before !== null) before.next = flight.next
    }
    flight.next = null
    flight.payload = null
  }
}

export function hashOf(key: string): number {
  let hash = 0
  for (let at = 0; at < key.length; at++) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0
  return hash
}
