// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BoundedPace } from './seen-pace.ts'

/** A block near to an upstream's head, and when it was made. Times are by the clock of the world. */
export interface DatedHead {
  /** As many blocks below the head as heads may differ by. */
  readonly block: number
  /** Null: it could not say. */
  readonly madeMs: number | null
}

/** The same of one that is below another. */
export interface LowerHead extends DatedHead {
  /** When it told its head. */
  readonly toldMs: number
  /** How long the blocks below took, by their own times; null: unknown. */
  readonly blockTimeMs: number | null
}

/**
 * What the times of two heads tell of the lower one, or of the higher:
 * `behind`: the lower one is older than that of an upstream may be, both by the clock and by the other;
 * `keeps-up`: the lower one is as new as a head is, so that it is not known which of them is right;
 * `refuted`: the higher one is not there: it cannot be shown, is in the future, or so many blocks were
 * never made in the time between;
 * `apart`: the lower one is on a chain of its own: by a hash, and not by times;
 * `unknown`: nothing.
 */
export type Verdict = 'behind' | 'keeps-up' | 'refuted' | 'apart' | 'unknown'

/** Clocks differ, and some nodes take blocks that are a little in the future. */
const futureMs = 60_000
/** How wrong the clock of the router, or of who makes blocks, commonly is. */
const clockErrorMs = 5_000
/** A chain that goes on makes no break that is as long as so many of its blocks take. */
const longBreak = 8
/** Blocks may come so many times as fast as usual for a while: on a chain of proof of work they do. */
const burst = 4
/** No more than so is believed against two that agree. */
const steadyBurst = 1.5

/**
 * When a block was made, by the clock of the world in milliseconds, from what a node says: seconds,
 * milliseconds or microseconds, in decimal or hexadecimal, or a date. Null for anything else.
 */
export function madeMsOf(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return null
  if (/^(0x[0-9a-f]+|[0-9]+)$/i.test(text)) {
    const count = Number(text)
    if (count >= 1e14) return count / 1_000
    return count >= 1e11 ? count : count * 1_000
  }
  const dateMs = /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(dateMs) ? null : dateMs
}

/**
 * @param wallMs now, by the clock of the world
 * @param isOutvoted the lower one is one of two that agree: then it takes more to show that it is behind
 */
export function compareDates(
  higher: DatedHead,
  lower: LowerHead,
  wallMs: number,
  pace: BoundedPace,
  isOutvoted = false,
): Verdict {
  const { allowedLagBlocks, blockTimeMs, leastBlockTimeMs } = pace
  if (higher.madeMs === null || higher.madeMs > wallMs + futureMs) return 'refuted'
  // Who cannot show its own head is no witness.
  if (lower.madeMs === null) return 'behind'
  // The lower one's own blocks can make the chain faster than it is known to be, and only itself older.
  const shownMs = Math.max(lower.blockTimeMs ?? leastBlockTimeMs, leastBlockTimeMs)
  const betweenMs = Math.max(0, higher.madeMs - lower.madeMs)
  const fastest = isOutvoted ? steadyBurst : burst
  const most = (fastest * betweenMs) / Math.min(shownMs, blockTimeMs) + 2 * (allowedLagBlocks + 1)
  if (higher.block - lower.block > most) return 'refuted'
  const usualMs = lower.blockTimeMs === null ? blockTimeMs : Math.min(shownMs, blockTimeMs)
  const ageMs = lower.toldMs - lower.madeMs - clockErrorMs
  // It is the block that is as far below the head as heads may differ.
  if (ageMs <= (allowedLagBlocks + 2) * usualMs) return 'keeps-up'
  const mostBlocks = allowedLagBlocks + (isOutvoted ? longBreak : allowedLagBlocks + 1)
  const isOld = ageMs > mostBlocks * usualMs
  return isOld && betweenMs > (allowedLagBlocks + 1) * usualMs ? 'behind' : 'unknown'
}
