// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { DataKind } from '../chain/types.ts'

/** What is known about one kind of data. */
interface Bound {
  /** The node lacks earlier blocks. */
  oldest: number
  /** Empty answers about this block and later ones are believed. */
  trusted: number
  /** It was learned before the last health check. */
  isOld: boolean
}

/**
 * The oldest block that a node still has, per kind of data. Nodes are pruned and resynced, so a bound does not outlive
 * an older block that the node returns, nor the second health check after it was learned.
 */
export class History {
  readonly #bounds = new Map<DataKind, Bound>()

  /** The oldest block for which the node may have this data; 0 if no bound is known. A node that lacks a block lacks all about it. */
  oldest(kind: DataKind): number {
    const bounds = this.#bounds
    if (bounds.size === 0) return 0
    return Math.max(bounds.get(kind)?.oldest ?? 0, bounds.get('blocks')?.oldest ?? 0)
  }

  /** Whether an empty answer about this block needs no confirmation. */
  trusts(kind: DataKind, block: number): boolean {
    return block >= (this.#bounds.get(kind)?.trusted ?? Infinity) && block >= this.oldest(kind)
  }

  /** The node returned data about this block. */
  returned(kind: DataKind, block: number): void {
    for (const each of [kind, 'blocks'] as const)
      if (block < (this.#bounds.get(each)?.oldest ?? 0)) this.#bounds.delete(each)
    this.agreed(kind, block)
  }

  /** Another node returned nothing about this block either. */
  agreed(kind: DataKind, block: number): void {
    if (block < this.oldest(kind)) return
    const bound = this.#learn(kind)
    bound.trusted = Math.min(bound.trusted, block)
  }

  /** The node lacks this block. */
  lacked(kind: DataKind, block: number): void {
    const bound = this.#learn(kind)
    bound.oldest = Math.max(bound.oldest, block + 1)
    if (bound.trusted <= block) bound.trusted = Infinity
  }

  /** The node reports its oldest block. */
  reported(block: number): void {
    Object.assign(this.#learn('blocks'), { oldest: block, trusted: block })
  }

  /** A health check begins. */
  age(): void {
    for (const [kind, bound] of this.#bounds) {
      if (bound.isOld) this.#bounds.delete(kind)
      bound.isOld = true
    }
  }

  #learn(kind: DataKind): Bound {
    const unknown = () => ({ oldest: 0, trusted: Infinity, isOld: false })
    const bound = this.#bounds.getOrInsertComputed(kind, unknown)
    bound.isOld = false
    return bound
  }
}
