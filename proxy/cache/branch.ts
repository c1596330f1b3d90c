// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Classification } from '../chain/types.ts'
import { valueAt } from '../json/value-at.ts'
import { toHash, toNumber } from '../integrity/values.ts'
import type { ChainTracker } from '../tracker/chain-tracker.ts'

const rememberedBlocks = 256

/**
 * The branch of the chain that clients see: its highest head, and the hashes of its last blocks, as far as
 * answers show them. What near the head is true of one branch is not of another.
 */
export class Branch {
  /** Another number for another branch. */
  id = 0
  #head = 0
  readonly #hashes = new Map<number, string>()
  readonly #tracker: ChainTracker
  readonly #onReorg: () => void

  /** @param onReorg called when one was seen here */
  constructor(tracker: ChainTracker, onReorg: () => void) {
    this.#tracker = tracker
    this.#onReorg = onReorg
  }

  /** The highest block that a client may have seen; 0 for none. A drop means another branch. */
  get head(): number {
    const head = this.#tracker.highestShown
    // Either a reorg, which the other replicas detect themselves, or a node that has left.
    if (head < this.#head) this.changed()
    return (this.#head = head)
  }

  /** What is near the head belongs to another branch now. */
  changed(): void {
    this.id += 1
    this.#hashes.clear()
  }

  /** Learns from a result that shows a block by its number which hash it has, and its parent. */
  observe(result: unknown, { block, checks }: Classification): void {
    // A block that was asked for by its hash may be one of another branch.
    if (block.kind !== 'number' && block.kind !== 'tag') return
    for (const { rule } of checks) {
      if (rule.check !== 'block' || rule.each || rule.older || !rule.number || !rule.hash) continue
      const parent = checks.find((each) => each.rule.check === 'parent')?.rule
      const number = toNumber(valueAt(result, rule.number))
      const hash = toHash(valueAt(result, rule.hash))
      if (number === null || !hash) return
      const parentHash = parent?.check === 'parent' ? toHash(valueAt(result, parent.parent)) : null
      const known = this.#hashes.get(number)
      const knownParent = this.#hashes.get(number - 1)
      const isOther = known !== undefined && known !== hash
      if (
        isOther ||
        (knownParent !== undefined && parentHash !== null && knownParent !== parentHash)
      ) {
        this.changed()
        this.#onReorg()
      }
      if (known === hash) return
      this.#hashes.set(number, hash)
      const [oldest] = this.#hashes.keys()
      if (this.#hashes.size > rememberedBlocks) this.#hashes.delete(oldest as number)
      return
    }
  }
}
