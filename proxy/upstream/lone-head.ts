// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mostBlocksBetween, type Pace, type Sighting } from './tip.ts'

/** How many others must be far below for a head to be too high. */
const leastDoubters = 2

/** What one told, and what the chain may have grown since at its usual pace, is not near to another's head. */
export function isFarBelow(
  { block, atMs }: Sighting,
  head: Sighting,
  { allowedLagBlocks, blockTimeMs }: Pace,
): boolean {
  const growth = mostBlocksBetween(atMs, head.atMs, blockTimeMs)
  return block + growth < head.block - allowedLagBlocks
}

/** The chain may have grown as high since the tip was agreed on, at its usual pace. */
export function isInPace(
  { block, atMs }: Sighting,
  agreed: Sighting,
  { allowedLagBlocks, blockTimeMs }: Pace,
): boolean {
  const growth = Math.floor(Math.max(0, atMs - agreed.atMs) / blockTimeMs)
  return block <= agreed.block + growth + allowedLagBlocks
}

/**
 * The highest head that only one upstream is at and that may well be the chain's: it is no higher
 * than the chain may have grown at its usual pace since the tip was last agreed on, and no two others
 * agree that it is lower. So the last one that keeps up is believed, rather than one that stands
 * still or has been behind all the time.
 * @param agreed the tip when it was last corroborated
 * @returns null when there is none
 */
export function headInPace(
  told: readonly Sighting[],
  agreed: Sighting,
  pace: Pace,
): Sighting | null {
  const inPace = told.filter((each) => isInPace(each, agreed, pace))
  const [highest] = inPace.toSorted((a, b) => b.block - a.block)
  return highest && !isOutvoted(highest, told, pace) ? highest : null
}

/** Two others agree on a lower head. */
export function isOutvoted(head: Sighting, told: readonly Sighting[], pace: Pace): boolean {
  const below = told.filter((each) => isFarBelow(each, head, pace))
  return below.some((one) =>
    below.some((two) => two !== one && Math.abs(two.block - one.block) <= pace.allowedLagBlocks),
  )
}

/**
 * Whether a head is one that nobody else is near to, though at least two could be, or one where the
 * blocks themselves refute it. A node that lies about its head, or is on another fork, looks like
 * that; and so does one that is right beside two that stand still, which is why it is only passed
 * over, and not taken out of service.
 */
export function runsAhead(
  latest: Sighting,
  others: readonly Sighting[],
  pace: Pace,
  isRefuted: boolean,
): boolean {
  const doubters = isRefuted ? 1 : leastDoubters
  return others.length >= doubters && others.every((each) => isFarBelow(each, latest, pace))
}
