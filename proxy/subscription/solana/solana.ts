// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { sleep, type Clock } from '../../clock/clock.ts'
import { parseJson } from '../../json/scanner.ts'
import { askFor, BackfillError, jsonOf, type Ask } from '../ask.ts'
import { numberedBlock } from '../family.ts'
import type { Backfill, Block, ChainReader, Family, Path } from '../family.ts'
import { subscribeRequest } from './form.ts'

/** Maximum number of slot times to wait for a slot to be confirmed. */
const maxWaits = 64

export interface SolanaOptions {
  readonly ask: Ask
  readonly clock: Clock
  readonly blockTimeMs: number
}

export function solanaFamily(options: SolanaOptions): Family {
  return { readers: { slot: new Slots(options) }, head: 'slot' }
}

/**
 * Slots in the order in which a node processes them. They rise with gaps, and after a fork a slot
 * follows an older one. Missed slots are fetched once they are confirmed.
 */
class Slots implements ChainReader {
  readonly request: ChainReader['request'] = {
    ...subscribeRequest('slot', []),
    place: { path: ['root'], encoding: 'decimal' },
    tag: 'finalized',
  }
  readonly forks = false
  readonly unit = 'slots'
  readonly #options: SolanaOptions

  constructor(options: SolanaOptions) {
    this.#options = options
  }

  read(event: Uint8Array): Block | null {
    const { slot, parent, root } = readSlot(event)
    if (!isSlot(slot) || !isSlot(parent) || !isSlot(root)) return null
    if (parent >= slot || root > slot) return null
    return numberedBlock(slot, parent, event)
  }

  /** Nodes push processed slots, so a subscription begins at the latest processed slot. */
  async latest(prefer: string | null, signal: AbortSignal, isStart = false): Promise<Block> {
    const { value } = await this.#newestSlot(isStart ? 'processed' : 'confirmed', prefer, signal)
    return numberedBlock(value, null)
  }

  async pathTo(block: Block, { tip, signal }: Backfill): Promise<Path> {
    const last = block.parent === null ? block.number : Number(block.parent)
    if (last <= tip.number) return { fork: tip, blocks: [block] }
    const missed = await this.#slotsBetween(tip.number + 1, last, signal)
    const root =
      readSlot(block.event).root ?? (await this.#newestSlot('finalized', null, signal)).value
    const blocks = missed.map((slot, at) =>
      blockOf(slot, missed[at - 1] ?? tip.number, Number(root)),
    )
    if (block.parent !== null) return { fork: tip, blocks: [...blocks, block] }
    if (blocks.length === 0) throw new BackfillError(`no block up to slot ${block.number}`)
    return { fork: tip, blocks }
  }

  #newestSlot(commitment: string, prefer: string | null, signal: AbortSignal) {
    const question = { method: 'getSlot', params: [{ commitment }], prefer, signal }
    return askFor(this.#options.ask, question, jsonOf(isSlot))
  }

  /** The slots from `first` to `last` that have a block, once all of them are confirmed. */
  async #slotsBetween(
    first: number,
    last: number,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const { ask, clock, blockTimeMs } = this.#options
    const areSlots = (value: unknown): value is readonly number[] => areBetween(value, first, last)
    for (let waits = 0; waits < maxWaits; waits++) {
      const { value: slot, upstream: prefer } = await this.#newestSlot('confirmed', null, signal)
      if (slot >= last) {
        // Prefers the upstream that has confirmed the last slot.
        const params = [first, last, { commitment: 'confirmed' }]
        const question = { method: 'getBlocks', params, prefer, signal }
        const { value, upstream } = await askFor(ask, question, jsonOf(areSlots))
        if (upstream === prefer || value.includes(last)) return value
      }
      await sleep(clock, blockTimeMs, signal)
    }
    throw new BackfillError(`slot ${last} is not confirmed`)
  }
}

function readSlot(event: Uint8Array): { slot?: unknown; parent?: unknown; root?: unknown } {
  return parseJson(event) ?? {}
}

/** The root at that time is unknown, so this uses the current root, capped at the parent. */
function blockOf(slot: number, parent: number, root: number): Block {
  const event = Buffer.from(JSON.stringify({ parent, root: Math.min(root, parent), slot }))
  return numberedBlock(slot, parent, event)
}

function isSlot(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/** Whether every slot is between these two, inclusive. */
function areBetween(value: unknown, first: number, last: number): value is readonly number[] {
  return (
    Array.isArray(value) && value.every((each) => isSlot(each) && each >= first && each <= last)
  )
}
