// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BoundedPace } from './seen-pace.ts'

/** An upstream's head, and when that block was made; null: it could not say. */
export interface DatedHead {
  readonly block: number
  readonly madeMs: number | null
}

/** Clocks differ, and some nodes take blocks that are a little in the future. */
const futureMs = 60_000

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
 * What the times of two newest blocks tell of a head that is far above another. `true`: the lower one
 * is behind, for it is older by more than an upstream may lag. `false`: the higher one is not there: it
 * cannot be shown, is in the future, or so many blocks were never made in the time between. Null:
 * nobody knows.
 */
export function isAheadByDate(
  higher: DatedHead,
  lower: DatedHead,
  wallMs: number,
  { allowedLagBlocks, blockTimeMs, leastBlockTimeMs }: BoundedPace,
): boolean | null {
  if (higher.madeMs === null || higher.madeMs > wallMs + futureMs) return false
  // Who cannot show its own head is no witness.
  if (lower.madeMs === null) return true
  const betweenMs = higher.madeMs - lower.madeMs
  const leastMs = (higher.block - lower.block) * leastBlockTimeMs
  if (betweenMs + blockTimeMs < leastMs) return false
  return betweenMs > (allowedLagBlocks + 1) * blockTimeMs ? true : null
}
