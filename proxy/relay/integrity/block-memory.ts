// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { DigestMemory } from './digest-memory.ts'
import { OmissionMemory } from './omission-memory.ts'

/** So many blocks are remembered; those that were not heard of for the longest time go first. */
const capacity = 4_096
/** More versions of one block than this are not kept apart. */
const maxVersions = 6

/** One version of what a block's hash stands for, and who told it. */
interface Version {
  readonly number: number
  /** Null: only the height was told. */
  readonly parent: string | null
  readonly tellers: Set<string>
  /** It is the only one that can be: its hash is made from it. */
  readonly isProven?: true
}

export type Recollection =
  /** Nothing speaks against it. */
  | { readonly kind: 'fits' }
  /** The teller itself, or most of those who spoke of the block, told otherwise. */
  | { readonly kind: 'contradicted'; readonly number: number; readonly parent: string | null }
  /** As many told otherwise; nobody knows who is right. Told again, it fits. */
  | { readonly kind: 'disputed'; readonly number: number; readonly parent: string | null }

const fits: Recollection = { kind: 'fits' }

/**
 * What was heard of blocks by their hash. A block's hash is made from its height and its parent, so
 * it stands for the same ones for ever, on every fork: two hashes of one height are a
 * reorganisation and no concern of this memory, two parents of one hash are a lie. Since the first
 * to tell may be the liar, each version keeps its tellers: the one with the most of them stands, of
 * as many the one that was told last.
 */
export class BlockMemory {
  readonly #blocks = new Map<string, Version[]>()
  /** Of headers and of transactions, whose hashes tell what they were made from. */
  readonly headers = new DigestMemory()
  readonly transactions = new DigestMemory()
  /** Of how a transaction ended, which its receipt tells. */
  readonly outcomes = new OmissionMemory()

  get size(): number {
    return this.#blocks.size
  }

  knows(hash: string): boolean {
    return this.#blocks.has(hash)
  }

  /** The header of this hash was seen: whoever told otherwise, or will, is wrong. */
  prove(hash: string, number: number, parent: string): void {
    this.hear('', hash, number, parent)
    this.#blocks.set(hash, [{ number, parent, tellers: new Set(), isProven: true }])
  }

  /**
   * Hashes are in one form, such as `bareHash` gives.
   * @param parent null when only the height is told
   */
  hear(teller: string, hash: string, number: number, parent: string | null): Recollection {
    const versions = this.#blocks.get(hash) ?? []
    this.#blocks.delete(hash)
    this.#blocks.set(hash, versions)
    if (this.#blocks.size > capacity) {
      const [oldest] = this.#blocks.keys()
      this.#blocks.delete(oldest as string)
    }
    const [proven] = versions
    if (proven?.isProven) {
      if (!contradict(proven, number, parent)) return fits
      return { kind: 'contradicted', number: proven.number, parent: proven.parent }
    }
    const others = versions.filter((each) => contradict(each, number, parent))
    const own = others.find(({ tellers }) => tellers.has(teller))
    if (own) {
      // Who changes its story has no say about the block any more, nor had it before.
      for (const { tellers } of versions) tellers.delete(teller)
      const left = versions.filter(({ tellers }) => tellers.size > 0)
      versions.splice(0, versions.length, ...left)
      return { kind: 'contradicted', number: own.number, parent: own.parent }
    }

    const isThis = (each: Version) => each.number === number && each.parent === parent
    const version = versions.find(isThis) ?? { number, parent, tellers: new Set<string>() }
    version.tellers.add(teller)
    if (!versions.includes(version)) versions.push(version)
    if (versions.length > maxVersions) versions.splice(weakest(versions), 1)
    // What was said in passing makes nobody doubt who shows the block itself.
    const rivals = parent === null ? others : others.filter((each) => each.parent !== null)
    let rival: Version | null = null
    let lead = -Infinity
    for (const each of rivals) {
      const isOfHeight = each.number !== number
      const against = isOfHeight ? tellersOf(versions, each.number) : each.tellers.size
      const ahead = against - (isOfHeight ? tellersOf(versions, number) : version.tellers.size)
      if (ahead > lead) [rival, lead] = [each, ahead]
    }
    // A height that is told in passing is no reason to doubt as many who told another.
    if (!rival || lead < (parent === null ? 1 : 0)) return fits
    const { number: wasNumber, parent: wasParent } = rival
    if (lead > 0) return { kind: 'contradicted', number: wasNumber, parent: wasParent }
    // The standing version is the first in the list.
    const at = versions.indexOf(version)
    if (at < versions.indexOf(rival)) return fits
    // Of as many witnesses the newest have the say: whoever told the older may be gone, and a liar.
    versions.splice(at, 1)
    versions.unshift(version)
    return { kind: 'disputed', number: wasNumber, parent: wasParent }
  }
}

function contradict(version: Version, number: number, parent: string | null): boolean {
  if (version.number !== number) return true
  return version.parent !== null && parent !== null && version.parent !== parent
}

/** Where the version with the fewest tellers stands, the newest aside; of equals the last. */
function weakest(versions: readonly Version[]): number {
  const older = versions.slice(0, -1)
  const fewest = Math.min(...older.map(({ tellers }) => tellers.size))
  return older.findLastIndex(({ tellers }) => tellers.size === fewest)
}

/** How many say that the block has this height, whatever they say of its parent. */
function tellersOf(versions: readonly Version[], number: number): number {
  const told = versions.filter((each) => each.number === number)
  if (told.length === 1) return (told[0] as Version).tellers.size
  return told.reduce((all, { tellers }) => all.union(tellers), new Set<string>()).size
}
