// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** So many blocks are remembered; those that were not heard of for the longest time go first. */
const capacity = 2_048
/** More versions of one block than this are not kept apart. */
const maxVersions = 4

/** One version of what a block's hash stands for, and who told it. */
interface Version {
  readonly number: number
  readonly parent: string
  readonly tellers: Set<string>
}

export type Recollection =
  /** Nothing speaks against it. */
  | { readonly kind: 'fits' }
  /** The teller itself, or most of those who spoke of the block, told otherwise. */
  | { readonly kind: 'contradicted'; readonly number: number; readonly parent: string }
  /** One other told otherwise; nobody knows who of the two is right. */
  | { readonly kind: 'disputed'; readonly number: number; readonly parent: string }

const fits: Recollection = { kind: 'fits' }

/**
 * What was heard of blocks by their hash. A block's hash is made from its height and its parent, so
 * it stands for the same ones for ever, on every fork: two hashes of one height are a
 * reorganisation and no concern of this memory, two parents of one hash are a lie. Since the first
 * to tell may be the liar, each version keeps its tellers.
 */
export class BlockMemory {
  readonly #blocks = new Map<string, Version[]>()

  get size(): number {
    return this.#blocks.size
  }

  /** Hashes are in one form, such as `bareHash` gives. */
  hear(teller: string, hash: string, number: number, parent: string): Recollection {
    const versions = this.#blocks.get(hash) ?? []
    this.#blocks.delete(hash)
    this.#blocks.set(hash, versions)
    if (this.#blocks.size > capacity) {
      const [oldest] = this.#blocks.keys()
      this.#blocks.delete(oldest as string)
    }
    const isThis = (each: Version) => each.number === number && each.parent === parent
    const others = versions.filter((each) => !isThis(each))
    const own = others.find(({ tellers }) => tellers.has(teller))
    // Who changes its story has no say about the block any more.
    if (own) return { kind: 'contradicted', number: own.number, parent: own.parent }

    const version = versions.find(isThis) ?? { number, parent, tellers: new Set<string>() }
    version.tellers.add(teller)
    if (!versions.includes(version) && versions.length < maxVersions) versions.push(version)
    const other = others.reduce<Version | null>(
      (most, each) => (most && most.tellers.size >= each.tellers.size ? most : each),
      null,
    )
    if (!other || version.tellers.size > other.tellers.size) return fits
    const kind = other.tellers.size > version.tellers.size ? 'contradicted' : 'disputed'
    // Of two that contradict each other, the later one has to find a witness.
    const isFirst = kind === 'disputed' && versions.indexOf(version) < versions.indexOf(other)
    return isFirst ? fits : { kind, number: other.number, parent: other.parent }
  }
}
