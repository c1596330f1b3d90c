// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A block in an answer or an event. Hashes have the form of `toHash`; null if absent. */
export interface ShownBlock {
  readonly number: number
  readonly hash: string | null
  readonly parent: string | null
  /** Whether the client named it by its hash, so that it may be on an abandoned branch. */
  readonly isByHash: boolean
}

/** Number of blocks to remember. */
export const rememberedBlocks = 256
/** Maximum number of hashes to remember per block number. */
const maxBranches = 8

/** Hashes and parents of the latest blocks that clients have seen. */
export class RecentBlocks {
  /** Hashes by number: first the current one (empty if unknown), then replaced ones. */
  readonly #hashes = new Map<number, readonly string[]>()
  /** By hash. The parent is null if unknown. */
  readonly #blocks = new Map<string, { readonly number: number; parent: string | null }>()

  /** The number of a block that was shown; null if unknown. */
  numberOf(hash: string | null): number | null {
    return hash === null ? null : (this.#blocks.get(hash)?.number ?? null)
  }

  /** Returns a conflicting parent of a block, if any, and forgets it: either may be wrong. */
  otherParent(hash: string, parent: string): string | null {
    const block = this.#blocks.get(hash)
    if (!block?.parent || block.parent === parent) return null
    const { parent: known } = block
    block.parent = null
    return known
  }

  /**
   * @param highest the newest block; blocks far below it are ignored
   * @returns `replaced` if a shown block has left the chain; `doubtful` if the client named the
   * other block by its hash, so either may be on the chain
   */
  observe(
    { number, hash, parent, isByHash }: ShownBlock,
    highest: number,
  ): 'replaced' | 'doubtful' | null {
    if (hash === null || number <= highest - rememberedBlocks) return null
    const known = this.#hashes.get(number)
    const block = this.#blocks.get(hash)
    if (block) block.parent ||= parent
    if (known?.[0] === hash || (isByHash && known?.includes(hash))) return null
    const isOther = this.#isOther(number, hash)
    const isOtherParent = this.#isOther(number - 1, parent)
    const isChange = isOther || isOtherParent
    const current = isByHash && isChange ? (known?.[0] ?? '') : hash
    if (isChange && current === hash) this.#leaveFrom(number)
    this.#remember(number, hash, parent, current)
    if (current !== hash) return 'doubtful'
    if (isOtherParent && parent !== null) this.#remember(number - 1, parent, null)
    return isChange ? 'replaced' : null
  }

  #isOther(number: number, hash: string | null): boolean {
    const known = this.#hashes.get(number)
    return hash !== null && Boolean(known?.[0]) && known?.[0] !== hash
  }

  /** Clears the current blocks above a replaced block, because they belong to its branch. */
  #leaveFrom(number: number): void {
    for (const [each, hashes] of this.#hashes)
      if (each > number && hashes[0] !== '') this.#hashes.set(each, ['', ...hashes])
  }

  #remember(number: number, hash: string, parent: string | null, current = hash): void {
    const known = [hash, ...(this.#hashes.get(number) ?? [])]
    const others = [...new Set(known)].filter((each) => each !== '' && each !== current)
    for (const each of others.splice(maxBranches - 1)) this.#blocks.delete(each)
    this.#hashes.set(number, [current, ...others])
    if (!this.#blocks.has(hash)) this.#blocks.set(hash, { number, parent })
    if (this.#hashes.size > rememberedBlocks) this.#forget(Math.min(...this.#hashes.keys()))
  }

  #forget(number: number): void {
    for (const hash of this.#hashes.get(number) ?? []) this.#blocks.delete(hash)
    this.#hashes.delete(number)
  }
}
