// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ExclusionReason } from './candidates.ts'
import type { Upstream } from './upstream.ts'
import { isPermitted, type Wanted } from './wanted.ts'

/** Bits of a rank. The lowest rank goes first. */
export const ranks = {
  noMethod: 1 << 9,
  pruned: 1 << 8,
  tried: 1 << 7,
  onTrial: 1 << 6,
  backup: 1 << 5,
  lacksBlock: 1 << 4,
  lacksStart: 1 << 3,
  lags: 1 << 2,
  cannotConfirm: 1 << 1,
  noArchive: 1,
} as const
/** Bits for missing chain data. */
export const dataRanks = ranks.lacksBlock | ranks.lacksStart | ranks.lags
/** Negative ranks: why an upstream cannot serve the call. 0: it can. */
export const obstacles = {
  excluded: -1,
  belowFloor: -2,
  full: -3,
  notServing: -4,
  limitReached: -5,
} as const
/** The explain page shows the bits from `backup` on. */
export const shownRankShift = 5

/** Names the obstacle that the selection found. */
export function exclusionOf(each: Upstream, obstacle: number, wanted: Wanted): ExclusionReason {
  const { addons, method } = wanted
  if (obstacle === obstacles.excluded) {
    if (!isPermitted(each, method)) return 'method-denied'
    return wanted.tried(each.name) ? 'tried' : 'excluded'
  }
  if (obstacle === obstacles.full) return 'full'
  if (obstacle === obstacles.limitReached) return 'limit-reached'
  // Another URL of the upstream may have the block, but not the add-on.
  if (obstacle === obstacles.belowFloor || each.serves(addons)) return 'lacks-block'
  if (each.urls.some((url) => url.isFor(addons))) return 'cooldown'
  if (each.urls.some(({ verified }) => verified)) {
    const names = addons.join(' ')
    // Names come from clients and stay in the journal, so their length is bounded.
    return `no-addon ${names.length > 64 ? '(a long name)' : names}`
  }
  return each.availability.standing === 'rejected' ? 'rejected' : 'unverified'
}

/** Why an upstream that can serve ranks behind the candidates; null if it is one. */
export function reasonOf(
  { isInService }: Upstream,
  rank: number,
  lowest: number,
): ExclusionReason | null {
  const more = rank > lowest ? rank & ~Math.max(lowest, 0) : 0
  if (more & ranks.noMethod) return 'no-method'
  if (more & ranks.pruned) return 'pruned'
  if (more & ranks.tried) return 'tried'
  if (more & ranks.onTrial) return isInService ? 'on-trial' : 'disabled'
  if (more & ranks.backup) return 'backup'
  if (more & (ranks.lacksBlock | ranks.lacksStart)) return 'lacks-block'
  if (more & ranks.lags) return 'lagging'
  return more === 0 ? null : 'no-archive'
}

/** The words with which the upstream limits or lacks the method; null for other reasons. */
export function whyLast(
  { urls }: Upstream,
  exclusionReason: ExclusionReason | null,
  { method = '' }: Wanted,
): string | null {
  if (exclusionReason !== 'no-method') return null
  return urls.map(({ cooldown }) => cooldown.whyOf(method)).find((why) => why !== null) ?? null
}

/** Blocks behind the tip, milliseconds left, or oldest block, by the reason. */
export function amountOf(
  each: Upstream,
  exclusionReason: ExclusionReason | null,
  { data, method = '' }: Wanted,
): number | null {
  const { urls, lagBlocks } = each
  if (exclusionReason === 'no-method')
    return Math.round(Math.min(...urls.map(({ cooldown }) => cooldown.leftMsOf(method))))
  if (exclusionReason === 'limit-reached') {
    const waitMs = Math.min(...urls.map((url) => url.waitMs).filter((ms) => ms > 0))
    return Number.isFinite(waitMs) ? Math.round(waitMs) : null
  }
  if (exclusionReason === 'pruned') return (data && each.oldestBlocks[data]) ?? null
  if (exclusionReason === 'lagging' || exclusionReason === 'lacks-block') return lagBlocks
  if (exclusionReason !== 'cooldown') return null
  const left = urls.map(({ cooldown }) => cooldown.leftMs).filter((ms) => ms > 0)
  return Math.round(Math.min(...left))
}
