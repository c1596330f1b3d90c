// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { closeSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import type { Clock } from '../clock/clock.ts'

/** Number of keys whose owner is remembered, a power of 2. */
const slots = 2 ** 18
/** A slot holds the hash of its key, its owner, and the time of the claim, which may overflow. */
const [hashed, owned, claimedMs] = [0, 1, 2] as const
const slotBytes = 16

/** Creates the file of a table. */
export function createOwnerTable(path: string): void {
  const file = openSync(path, 'w', 0o600)
  ftruncateSync(file, slots * slotBytes)
  closeSync(file)
}

/**
 * Tells all workers which of them last fetched a key, in a file that is kept in memory. A read and
 * a write take 2 us, a message to another worker takes 80. A hash collision, or a slot that two
 * workers write at once, costs one needless pull.
 */
export class OwnerTable {
  readonly #file: number
  readonly #worker: number
  readonly #clock: Clock
  readonly #slot = new Uint32Array(slotBytes / 4)

  /** @param worker number of this worker */
  constructor(path: string, worker: number, clock: Clock) {
    this.#file = openSync(path, 'r+')
    this.#worker = worker
    this.#clock = clock
  }

  /** The other worker that claimed the key within `maxAgeMs`; null if there is none. */
  find(hash: number, maxAgeMs: number): number | null {
    const slot = this.#slot
    readSync(this.#file, slot, 0, slotBytes, positionOf(hash))
    const owner = slot[owned] as number
    const ageMs = (this.#clock.wallMs() - (slot[claimedMs] as number)) >>> 0
    const isOther = owner !== 0 && owner !== this.#worker
    return isOther && slot[hashed] === hash >>> 0 && ageMs <= maxAgeMs ? owner : null
  }

  /** Records that this worker fetches the key. */
  claim(hash: number): void {
    const slot = this.#slot
    slot[hashed] = hash
    slot[owned] = this.#worker
    slot[claimedMs] = this.#clock.wallMs()
    writeSync(this.#file, slot, 0, slotBytes, positionOf(hash))
  }
}

function positionOf(hash: number): number {
  return (hash & (slots - 1)) * slotBytes
}
