// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { sleep, type Clock } from '../../clock/clock.ts'
import { askFor, BackfillError, GapTooLarge, isWhole, jsonOf, parseJson, type Ask } from '../ask.ts'
import type { Backfill, Block, ChainReader, Family, Found, Path } from '../family.ts'

/** How many slot times are waited for a slot to be as sure as it has to be. */
const mostWaits = 64
/** No event of a slot is longer, whatever a node adds to it. */
const mostEventBytes = 4 * 1024

type Commitment = 'processed' | 'confirmed' | 'finalized'

/** How one topic of Solana is read. */
interface SlotTopic {
  readonly name: 'slot' | 'root'
  readonly followsTip: boolean
  /** Slots that are missed are fetched once they are as sure as this. */
  readonly commitment: 'confirmed' | 'finalized'
  /** How sure the newest slot that nodes send is. */
  readonly newest: Commitment
  read(event: Uint8Array): Block | null
  write(slot: number, parent: number, root: number): Uint8Array
}

/** Slots as a node processes them. They rise; many numbers are left out, and forks may follow an older one. */
const slots: SlotTopic = {
  name: 'slot',
  followsTip: true,
  commitment: 'confirmed',
  newest: 'processed',
  read(event) {
    const { slot, parent, root } = readSlot(event)
    if (!isWhole(slot) || !isWhole(parent) || !isWhole(root)) return null
    if (parent >= slot || root > slot) return null
    return { number: slot, id: String(slot), parent: String(parent), event }
  },
  /** The root of that time is not known; the one of now is sent, as long as it is before the slot. */
  write: (slot, parent, root) =>
    Buffer.from(JSON.stringify({ parent, root: Math.min(root, parent), slot })),
}

/** Slots that became roots: none is ever replaced. */
const roots: SlotTopic = {
  name: 'root',
  followsTip: false,
  commitment: 'finalized',
  newest: 'finalized',
  read(event) {
    const root = parseJson(event)
    return isWhole(root) ? blockOf(root, event) : null
  },
  write: (slot) => Buffer.from(String(slot)),
}

export interface SolanaAsking {
  readonly ask: Ask
  readonly clock: Clock
  readonly blockTimeMs: number
}

/** Slots and roots. */
export function solanaFamily(asking: SolanaAsking): Family {
  const readers = { slot: new SlotReader(slots, asking), root: new SlotReader(roots, asking) }
  return { readers, head: 'slot', fetchLogs: null }
}

class SlotReader implements ChainReader {
  readonly request: ChainReader['request']
  readonly followsTip: boolean
  readonly forks = false
  readonly #topic: SlotTopic
  readonly #asking: SolanaAsking

  constructor(topic: SlotTopic, asking: SolanaAsking) {
    this.#topic = topic
    this.#asking = asking
    this.followsTip = topic.followsTip
    this.request = {
      isNamed: true,
      method: `${topic.name}Subscribe`,
      params: [],
      unsubscribe: (id) => ({ method: `${topic.name}Unsubscribe`, params: [id] }),
    }
  }

  read(event: Uint8Array): Block | null {
    return this.#topic.read(event)
  }

  latest(prefer: string | null, signal: AbortSignal): Promise<Found> {
    return this.#newest(this.#topic.commitment, prefer, signal)
  }

  newest(prefer: string | null, signal: AbortSignal): Promise<Found> {
    return this.#newest(this.#topic.newest, prefer, signal)
  }

  async pathTo(block: Block, { sent, mostBlocks, signal }: Backfill): Promise<Path> {
    const { tip } = sent
    const hasEvent = block.event.length > 0
    if (tip === null || (hasEvent && block.number === tip.number + 1))
      return { fork: tip, blocks: [block] }
    if (block.number - tip.number - 1 > mostBlocks)
      throw new GapTooLarge(mostBlocks, `${this.#topic.name}s`)
    // Of a block that came from a node all is known but what lies before its parent.
    const last = block.parent === null ? block.number : Number(block.parent)
    if (last <= tip.number) return { fork: tip, blocks: [block] }
    const missed = await this.#slotsBetween(tip.number + 1, last, signal)
    const root = await this.#rootFor(block, signal)
    const { write } = this.#topic
    const blocks = missed.map((slot, at) =>
      blockOf(slot, write(slot, missed[at - 1] ?? tip.number, root)),
    )
    if (block.parent !== null) return { fork: tip, blocks: [...blocks, block] }
    const own = blocks.at(-1)
    if (own === undefined || (hasEvent && own.number !== block.number))
      throw new BackfillError(`no block in slot ${block.number}`)
    return { fork: tip, blocks }
  }

  async #newest(
    commitment: Commitment,
    prefer: string | null,
    signal: AbortSignal,
  ): Promise<Found> {
    const question = { method: 'getSlot', params: [{ commitment }], prefer, signal }
    const { value, upstream } = await askFor(this.#asking.ask, question, jsonOf(isWhole))
    return { block: blockOf(value, Buffer.alloc(0)), upstream }
  }

  /** The slots from `first` to `last` that have a block, once the chain is sure of all of them. */
  async #slotsBetween(
    first: number,
    last: number,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const { ask, clock, blockTimeMs } = this.#asking
    const { commitment } = this.#topic
    const areSlots = (value: unknown): value is readonly number[] => areRising(value, first, last)
    for (let waits = 0; waits < mostWaits; waits++) {
      const { block, upstream: prefer } = await this.#newest(commitment, null, signal)
      if (block.number >= last) {
        // Asked of the one that has them all.
        const question = {
          method: 'getBlocks',
          params: [first, last, { commitment }],
          prefer,
          signal,
        }
        const { value, upstream } = await askFor(ask, question, jsonOf(areSlots))
        if (upstream === prefer || value.includes(last)) return value
      }
      await sleep(clock, blockTimeMs, signal)
    }
    throw new BackfillError(`slot ${last} is not ${commitment}`)
  }

  async #rootFor({ event }: Block, signal: AbortSignal): Promise<number> {
    const { root } = readSlot(event)
    if (isWhole(root)) return root
    return this.#topic === roots ? 0 : (await this.#newest('finalized', null, signal)).block.number
  }
}

function readSlot(event: Uint8Array): { slot?: unknown; parent?: unknown; root?: unknown } {
  return event.length > mostEventBytes ? {} : (parseJson(event) ?? {})
}

/** Its parent is not told, so that what lies before it is looked up. */
function blockOf(slot: number, event: Uint8Array): Block {
  return { number: slot, id: String(slot), parent: null, event }
}

/** Each between these two, both included, and above the one before it. */
function areRising(value: unknown, first: number, last: number): value is readonly number[] {
  const all = Array.isArray(value) ? (value as readonly unknown[]) : [null]
  return all.every((each, at) => {
    const least = at === 0 ? first : Number(all[at - 1]) + 1
    return isWhole(each) && each >= least && each <= last
  })
}
