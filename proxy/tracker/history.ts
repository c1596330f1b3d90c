// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { firstPoint } from '../chain/finality.ts'
import type { MethodSpec, DataKind } from '../chain/types.ts'

/** A read of numbered blocks, if it has a kind of data and a first block. */
export type Read = Pick<MethodSpec, 'data' | 'block'> & { readonly name?: string }

/** Oldest block of a node per kind of data, as learned since the last health check. */
export class History {
  /** The node lacks blocks before `oldest`. From `trusted` on, its empty answers are reliable. */
  readonly #bounds = new Map<DataKind, { oldest: number; trusted: number; gap: number }>()
  /** Whether the router has asked the node for its oldest block. */
  isQueried = false

  /** The oldest block with this data; 0 if unknown. A node has no data of a block it lacks. */
  oldest(kind: DataKind): number {
    const bounds = this.#bounds
    if (bounds.size === 0) return 0
    return Math.max(bounds.get(kind)?.oldest ?? 0, bounds.get('blocks')?.oldest ?? 0)
  }

  lacks({ data, block }: Read): boolean {
    return Boolean(data) && (firstPoint(block) ?? Infinity) < this.oldest(data as DataKind)
  }

  /** Whether an empty answer needs no confirmation. */
  trusts({ data, block }: Read): boolean {
    const first = firstPoint(block) ?? -1
    const { trusted = Infinity } = (data && this.#bounds.get(data)) || {}
    return first >= trusted && first >= this.oldest(data as DataKind)
  }

  /** Records that the node returned data about a block, which disproves higher bounds. */
  returned(kind: DataKind, block: number): void {
    for (const each of [kind, 'blocks'] as const)
      if (block < (this.#bounds.get(each)?.oldest ?? 0)) this.#bounds.delete(each)
    const bound = this.#bound(kind)
    bound.trusted = Math.min(bound.trusted, block)
  }

  /**
   * The node lacks data about a block. The assumed gap doubles each time, because backfills ascend.
   * @param young the oldest block that the node is assumed to have
   */
  lacked(kind: DataKind, block: number, young = Infinity): void {
    const bound = this.#bound(kind)
    if (bound.trusted <= block) bound.trusted = Infinity
    if (block < bound.oldest) return
    bound.oldest = Math.max(block + 1, Math.min(block + bound.gap, young, bound.trusted))
    bound.gap *= 2
  }

  /**
   * Records the oldest block as reported. Logs and state may have gaps, so they are not trusted.
   */
  reported(kind: DataKind, block: number): void {
    const trusted = kind === 'blocks' ? block : Infinity
    this.#bounds.set(kind, { oldest: block, trusted, gap: 1 })
  }

  #bound(kind: DataKind) {
    return this.#bounds.getOrInsertComputed(kind, () => ({ oldest: 0, trusted: Infinity, gap: 1 }))
  }
}
