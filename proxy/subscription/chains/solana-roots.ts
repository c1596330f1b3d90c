// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf } from '../../json/text.ts'
import { GapTooLarge, Unconnected } from '../failures.ts'
import type { Begin, ChainReader, Latest, Link, Path, Walk } from '../link.ts'
import { isWhole } from './shape.ts'
import { newestSlot, slotsBetween, type SolanaAsking } from './solana-blocks.ts'

/** Slots that became roots: they rise, and none is ever taken back. */
export class SolanaRoots implements ChainReader {
  readonly forks = false
  readonly #asking: SolanaAsking

  constructor(asking: SolanaAsking) {
    this.#asking = asking
  }

  read(event: Uint8Array): Link | null {
    const root = JSON.parse(bufferOf(event).toString()) as unknown
    return isWhole(root) ? linkOf(root) : null
  }

  async latest(prefer: string | null, signal: AbortSignal): Promise<Latest> {
    const { value, upstream } = await newestSlot(this.#asking, 'finalized', prefer, signal)
    return { link: linkOf(value), upstream }
  }

  async begin(prefer: string | null, signal: AbortSignal): Promise<Begin> {
    const { link, upstream } = await this.latest(prefer, signal)
    return { place: link, upstream }
  }

  async pathTo(link: Link, { told, most, signal }: Walk): Promise<Path> {
    const { tip } = told
    if (tip === null || link.number === tip.number + 1) return { fork: tip, between: [], link }
    if (link.number - tip.number - 1 > most)
      throw new GapTooLarge(`more than ${most} roots were missed`)
    const range = { first: tip.number + 1, last: link.number }
    const roots = await slotsBetween(this.#asking, range, 'finalized', signal)
    // What is a root is final, and has a block.
    if (roots.at(-1) !== link.number) throw new Unconnected(`${link.number} is no root`)
    const between = roots.slice(0, -1).map(linkOf)
    return { fork: tip, between, link }
  }
}

function linkOf(root: number): Link {
  return { number: root, id: String(root), parent: null, event: Buffer.from(String(root)) }
}
