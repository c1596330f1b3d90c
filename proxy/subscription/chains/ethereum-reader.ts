// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Ask } from '../ask.ts'
import { forEachAtOnce } from '../for-each-at-once.ts'
import { GapTooLarge, Unconnected } from '../failures.ts'
import type { Begin, ChainReader, Latest, Link, Path, Place, Walk } from '../link.ts'
import { readHead, readPushedHead } from './ethereum-head.ts'
import { askFor, mostAsked } from './own-value.ts'

/** Blocks that are asked for at the same time. */
const atOnce = 8

/** Heads of Ethereum's kind: linked by the hash of the parent, and replaced by reorganisations. */
export class EthereumReader implements ChainReader {
  readonly forks = true
  readonly #ask: Ask

  constructor(ask: Ask) {
    this.#ask = ask
  }

  read(event: Uint8Array): Link | null {
    return readPushedHead(event)
  }

  async latest(prefer: string | null, signal: AbortSignal): Promise<Latest> {
    const question = { method: 'eth_getBlockByNumber', params: ['latest', false] }
    const { value, upstream } = await askFor(this.#ask, { ...question, prefer, signal }, readHead)
    return { link: value, upstream }
  }

  async begin(prefer: string | null, signal: AbortSignal): Promise<Begin> {
    const { link, upstream } = await this.latest(prefer, signal)
    return { place: link, upstream }
  }

  async pathTo(link: Link, walk: Walk): Promise<Path> {
    const { told, most } = walk
    const { tip } = told
    if (tip && link.number - tip.number - 1 > most) throw tooLarge(most)
    const back: Link[] = []
    const fetched = new Map<string, Link>()
    let lowest: Place = link
    for (;;) {
      const fork = told.find(lowest.parent as string)
      if (fork) return { fork, between: back.toReversed(), link }
      if (told.lowest && lowest.number <= told.lowest.number) break
      if (back.length >= most) throw tooLarge(most)
      const parent: Link =
        fetched.get(lowest.parent as string) ?? (await this.#parentOf(lowest, walk))
      back.push(parent)
      lowest = parent
      if (back.length === 1) await this.#fetchBelow(parent, fetched, walk)
    }
    await this.#walkBelow(lowest, back, walk)
    return { fork: null, between: back.toReversed(), link }
  }

  /** What lies between the tip and a block, by number: correct where no branch was left since. */
  async #fetchBelow(block: Link, fetched: Map<string, Link>, walk: Walk): Promise<void> {
    const { tip } = walk.told
    if (tip === null) return
    const numbers = range(tip.number + 1, block.number)
    await forEachAtOnce(numbers, atOnce, async (number) => {
      const { prefer, signal } = walk
      const params = [`0x${number.toString(16)}`, false]
      const question = { method: 'eth_getBlockByNumber', params, prefer, avoid: [], signal }
      const found = readHead((await this.#ask(question)).result)
      if (found) fetched.set(found.id, found)
    })
  }

  /**
   * The branch was left below all that is remembered: before the first client came. Goes back along
   * both branches to where they part, as long as the old one is still to be had.
   */
  async #walkBelow(lowest: Place, back: Link[], walk: Walk): Promise<void> {
    let newer: Place = lowest
    let older: Place | null = walk.told.lowest
    while (older && newer.number > 0 && newer.parent !== older.parent) {
      if (back.length >= walk.most) throw tooLarge(walk.most)
      older = await this.#byHash(older.parent as string, walk)
      if (older === null) return
      const parent = await this.#parentOf(newer, walk)
      back.push(parent)
      newer = parent
    }
  }

  async #parentOf(place: Place, walk: Walk): Promise<Link> {
    const hash = place.parent as string
    const parent = walk.seen(hash) ?? (await this.#byHash(hash, walk))
    if (parent?.number !== place.number - 1)
      throw new Unconnected(`nobody has block ${place.number - 1}, the parent of one that was told`)
    return parent
  }

  /** An upstream that is behind does not have it, or tells of another; then others are asked. */
  async #byHash(hash: string, { prefer, signal }: Walk): Promise<Link | null> {
    const avoid: string[] = []
    for (let asked = 0; asked < mostAsked; asked++) {
      const params = [hash, false]
      const question = { method: 'eth_getBlockByHash', params, prefer, avoid, signal }
      const { result, upstream } = await this.#ask(question)
      const found = readHead(result)
      if (found?.id === hash) return found
      if (avoid.includes(upstream)) break
      avoid.push(upstream)
    }
    return null
  }
}

/** From `first` up to and without `end`. */
function range(first: number, end: number): readonly number[] {
  return Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index)
}

function tooLarge(most: number): GapTooLarge {
  return new GapTooLarge(`more than ${most} blocks were missed`)
}
