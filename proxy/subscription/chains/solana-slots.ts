// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf } from '../../json/text.ts'
import { GapTooLarge } from '../failures.ts'
import type { Begin, ChainReader, Latest, Link, Path, Walk } from '../link.ts'
import { isWhole } from './own-value.ts'
import { newestSlot, slotsBetween, type SolanaAsking } from './solana-blocks.ts'

interface SlotEvent {
  readonly slot?: unknown
  readonly parent?: unknown
  readonly root?: unknown
}

/**
 * Slots as a node processes them. They rise; one may follow another than the one before it, and
 * many numbers are left out. What was missed is made up for by the slots that were confirmed.
 */
export class SolanaSlots implements ChainReader {
  readonly forks = false
  readonly #asking: SolanaAsking

  constructor(asking: SolanaAsking) {
    this.#asking = asking
  }

  read(event: Uint8Array): Link | null {
    const { slot, parent } = (JSON.parse(bufferOf(event).toString()) as SlotEvent | null) ?? {}
    if (!isWhole(slot) || !isWhole(parent)) return null
    return { number: slot, id: String(slot), parent: String(parent), event }
  }

  async latest(prefer: string | null, signal: AbortSignal): Promise<Latest> {
    const { value, upstream } = await newestSlot(this.#asking, 'confirmed', prefer, signal)
    const link = { number: value, id: String(value), parent: null, event: Buffer.alloc(0) }
    return { link, upstream }
  }

  async begin(prefer: string | null, signal: AbortSignal): Promise<Begin> {
    const { value, upstream } = await newestSlot(this.#asking, 'processed', prefer, signal)
    return { place: { number: value, id: String(value), parent: null }, upstream }
  }

  async pathTo(link: Link, { told, most, signal }: Walk): Promise<Path> {
    const { tip } = told
    if (tip === null) return { fork: null, between: [], link }
    if (link.number - tip.number - 1 > most)
      throw new GapTooLarge(`more than ${most} slots were missed`)
    const last = link.parent === null ? link.number : Number(link.parent)
    if (last <= tip.number) return { fork: tip, between: [], link }
    const range = { first: tip.number + 1, last }
    const slots = await slotsBetween(this.#asking, range, 'confirmed', signal)
    const root = await this.#rootBy(link, signal)
    const links = slots.map((slot, at) => linkOf(slot, slots[at - 1] ?? tip.number, root))
    const own = links.at(-1)
    if (link.parent !== null) return { fork: tip, between: links, link }
    if (own?.number !== link.number)
      return { fork: tip, between: links.slice(0, -1), link: own ?? link }
    return { fork: tip, between: links.slice(0, -1), link: own }
  }

  async #rootBy({ event }: Link, signal: AbortSignal): Promise<number> {
    const { root } = event.length > 0 ? (JSON.parse(bufferOf(event).toString()) as SlotEvent) : {}
    if (isWhole(root)) return root
    return (await newestSlot(this.#asking, 'finalized', null, signal)).value
  }
}

/** The root of that time is not to be had; the one of now is told, as long as it is before the slot. */
function linkOf(slot: number, parent: number, root: number): Link {
  const event = { parent, root: Math.min(root, parent), slot }
  return {
    number: slot,
    id: String(slot),
    parent: String(parent),
    event: Buffer.from(JSON.stringify(event)),
  }
}
