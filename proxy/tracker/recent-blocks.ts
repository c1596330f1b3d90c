// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A block that an answer or an event shows. Hashes are in the form of `toHash`; null where they are not shown. */
export interface ShownBlock {
  readonly number: number
  readonly hash: string | null
  readonly parent: string | null
  /** The client named it by a hash, so it may be on an abandoned branch. */
  readonly isByHash: boolean
}

const rememberedBlocks = 256

/** The hashes of the last blocks, as far as clients have seen them. */
export class RecentBlocks {
  /** By number; the first hash is that of the current branch, the others were replaced. */
  readonly #hashes = new Map<number, readonly string[]>()
  readonly #numbers = new Map<string, number>()

  /** The number of a block that was shown; null if it is unknown. */
  numberOf(hash: string): number | null {
    return this.#numbers.get(hash) ?? null
  }

  /** @returns whether it replaces a block that was shown before */
  observe({ number, hash, parent, isByHash }: ShownBlock): boolean {
    if (hash === null) return false
    const known = this.#hashes.get(number)
    if (known?.[0] === hash || (isByHash && known?.includes(hash))) return false
    const isOther = known !== undefined
    const isOtherParent = this.#isOther(number - 1, parent)
    if (isOther || isOtherParent) this.#dropFrom(isOther ? number + 1 : number)
    this.#remember(number, [hash, ...(known ?? []).filter((each) => each !== hash)])
    if (isOtherParent && parent !== null)
      this.#remember(number - 1, [parent, ...(this.#hashes.get(number - 1) ?? [])])
    return isOther || isOtherParent
  }

  clear(): void {
    this.#hashes.clear()
    this.#numbers.clear()
  }

  #isOther(number: number, hash: string | null): boolean {
    const known = this.#hashes.get(number)
    return known !== undefined && hash !== null && known[0] !== hash
  }

  /** Blocks above a replaced one are of its branch. */
  #dropFrom(number: number): void {
    for (const each of this.#hashes.keys()) if (each >= number) this.#forget(each)
  }

  #remember(number: number, hashes: readonly string[]): void {
    this.#hashes.set(number, hashes)
    for (const hash of hashes) this.#numbers.set(hash, number)
    const [oldest] = this.#hashes.keys()
    if (this.#hashes.size > rememberedBlocks) this.#forget(oldest as number)
  }

  #forget(number: number): void {
    for (const hash of this.#hashes.get(number) ?? []) this.#numbers.delete(hash)
    this.#hashes.delete(number)
  }
}
