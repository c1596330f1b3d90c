// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Classification } from '../chain/types.ts'
import { valueAt } from '../json/value-at.ts'
import { toHash, toNumber } from '../integrity/values.ts'
import type { Members } from '../upstream/upstream.ts'

/** A head that was reported longer ago is not looked at: its upstream may be on another chain by now. */
const headLifeMs = 60_000
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
  readonly #pool: Members
  readonly #onReorg: () => void

  /** @param onReorg called when one was seen here */
  constructor(pool: Members, onReorg: () => void) {
    this.#pool = pool
    this.#onReorg = onReorg
  }

  /** The highest head of any upstream: a client may have seen it. 0 without one. A lower one than before is another branch. */
  headAt(nowMs: number): number {
    let head = 0
    for (const { latest } of this.#pool.upstreams)
      if (latest !== null && latest.block > head && nowMs - latest.atMs <= headLifeMs)
        head = latest.block
    // Perhaps a reorg, perhaps a node that has left: the others see the former for themselves.
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
