// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { sleep, type Clock } from '../../clock/clock.ts'
import type { Ask } from '../ask.ts'
import { Unconnected } from '../failures.ts'
import { askFor, jsonOf, type AnsweredValue } from './own-value.ts'
import { isWhole } from './shape.ts'

export type Commitment = 'processed' | 'confirmed' | 'finalized'

export interface SolanaAsking {
  readonly ask: Ask
  readonly clock: Clock
  readonly blockTimeMs: number
}

/** How many slot times are waited for a slot to be as sure as it has to be. */
const mostWaits = 64

/** The newest slot of a commitment. */
export function newestSlot(
  { ask }: SolanaAsking,
  commitment: Commitment,
  prefer: string | null,
  signal: AbortSignal,
): Promise<AnsweredValue<number>> {
  const question = { method: 'getSlot', params: [{ commitment }], prefer, signal }
  return askFor(ask, question, jsonOf(isWhole))
}

/**
 * The slots from `first` to `last` that have a block, once the chain is sure of all of them.
 * @throws Unconnected when it does not become so
 */
export async function slotsBetween(
  asking: SolanaAsking,
  { first, last }: { readonly first: number; readonly last: number },
  commitment: 'confirmed' | 'finalized',
  signal: AbortSignal,
): Promise<readonly number[]> {
  const { ask, clock, blockTimeMs } = asking
  if (last < first) return []
  const areSlots = (value: unknown): value is readonly number[] => areRising(value, first, last)
  for (let waits = 0; waits < mostWaits; waits++) {
    const newest = await newestSlot(asking, commitment, null, signal)
    if (newest.value >= last) {
      // Asked of the one that has them all.
      const params = [first, last, { commitment }]
      const question = { method: 'getBlocks', params, prefer: newest.upstream, signal }
      const { value, upstream } = await askFor(ask, question, jsonOf(areSlots))
      if (upstream === newest.upstream || value.includes(last)) return value
    }
    await sleep(clock, blockTimeMs, signal)
  }
  throw new Unconnected(`slot ${last} is not ${commitment}`)
}

/** Each between these two, both included, and above the one before it. */
function areRising(value: unknown, first: number, last: number): value is readonly number[] {
  if (!Array.isArray(value)) return false
  let least = first
  return value.every((each) => {
    if (!isWhole(each) || each < least || each > last) return false
    least = each + 1
    return true
  })
}
