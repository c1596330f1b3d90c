// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf } from '../../json/text.ts'
import { GapTooLarge, Unconnected } from '../failures.ts'
import type { Begin, ChainReader, Latest, Link, Path, Walk } from '../link.ts'
import { isWhole, objectOf } from './shape.ts'
import { newestSlot, slotsBetween, type SolanaAsking } from './solana-blocks.ts'

interface SlotEvent {
  readonly slot: number
  readonly parent: number
  readonly root: number
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
    const told = readSlot(event)
    if (told === null) return null
    const { slot, parent } = told
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
    if (own === undefined) throw new Unconnected(`no block up to slot ${link.number}`)
    return { fork: tip, between: links.slice(0, -1), link: own }
  }

  async #rootBy({ event }: Link, signal: AbortSignal): Promise<number> {
    const told = event.length > 0 ? readSlot(event) : null
    if (told !== null) return told.root
    return (await newestSlot(this.#asking, 'finalized', null, signal)).value
  }
}

/** No event of a slot is longer, whatever a node adds to it. */
const mostEventBytes = 4 * 1024

/** A slot follows an earlier one, and a root is not behind it. */
function readSlot(event: Uint8Array): SlotEvent | null {
  if (event.length > mostEventBytes) return null
  const told = JSON.parse(bufferOf(event).toString()) as unknown
  if (!isSlot(told)) return null
  return told.parent < told.slot && told.root <= told.slot ? told : null
}

const slotEvent = objectOf({ slot: isWhole, parent: isWhole, root: isWhole })

function isSlot(value: unknown): value is SlotEvent {
  return slotEvent(value)
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
