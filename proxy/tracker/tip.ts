// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain } from '../chain/types.ts'

/** How fast a chain grows, from its spec. */
type Pace = Pick<Chain, 'allowedLagBlocks' | 'blockTimeMs'>

/** The latest block that a node reported. Times are on the clock's monotonic scale. */
export interface Head {
  readonly block: number
  readonly atMs: number
  /** When the head last rose, or was first reported. */
  readonly roseMs: number
}

/** Progress as a node reports it. */
export interface SyncStatus {
  /** Null if the node does not report it. */
  readonly isSyncing: boolean | null
  /** Age of its latest block by the block's timestamp; null if the node does not report it. */
  readonly ageMs: number | null
  /** When it was reported, on the clock's monotonic scale. */
  readonly atMs: number
}

/** Input of the tip: one node's head and status. */
export interface Reported {
  readonly head: Head
  readonly status: SyncStatus | null
}

/** A block is fresh for at least this long, to allow for clock skew and propagation delay. */
const minFreshMs = 30_000
/** Heads older than the newest by more than this do not count towards the tip. */
const headLifeMs = 60_000
/** Maximum speed of a chain relative to its spec: specs may inherit the block time of ETH1. */
const fastest = 10
/** Each verification that a URL passes after a jump doubles its allowed jump, up to this factor. */
const maxHabit = 64

/** Whether a head moved further than the chain can grow, in either direction. */
export function hasJumped(
  {
    head,
    jumpsPassed,
  }: { readonly head: Pick<Head, 'block' | 'atMs'> | null; jumpsPassed: number },
  block: number,
  nowMs: number,
  { allowedLagBlocks, blockTimeMs }: Pace,
): boolean {
  if (head === null) return false
  const habit = Math.min(2 ** jumpsPassed, maxHabit)
  const elapsedMs = Math.max(0, nowMs - head.atMs)
  const maxGrowth = allowedLagBlocks + fastest * (1 + Math.floor(elapsedMs / blockTimeMs))
  return Math.abs(block - head.block) > habit * maxGrowth
}

/**
 * The tip of the chain: the highest head that a second node has reached within the allowed lag.
 * Otherwise the highest fresh head, unless two fresh nodes agree on a block implausibly far below.
 * Otherwise the second of three or more, or the highest of two. Nodes that are stale by their own
 * status count only if all nodes are.
 * @returns null without a head
 */
export function tipOf(all: readonly Reported[], pace: Pace): number | null {
  const newestMs = Math.max(...all.map(({ head }) => head.atMs))
  const recent = all.filter(({ head }) => newestMs - head.atMs <= headLifeMs)
  const current = orAll(recent, (each) => whyOutdated(each, recent, pace) === null)
  const heads = current.map(({ head }) => head).toSorted((a, b) => b.block - a.block)
  const [highest, second = null, third = null] = heads
  if (highest === undefined) return null
  const { allowedLagBlocks } = pace
  if (second === null || second.block >= highest.block - allowedLagBlocks) return highest.block
  const fresh = current.filter((each) => isFresh(each, pace)).map(({ head }) => head)
  // Two nodes with fresh blocks outvote one that is implausibly far ahead.
  const areTwo = third !== null && third.block >= second.block - allowedLagBlocks
  const isFar = hasJumped({ head: second, jumpsPassed: 0 }, highest.block, highest.atMs, pace)
  if (areTwo && isFar && (fresh.includes(second) || fresh.includes(third))) return second.block
  // Polls are not simultaneous, so for a short time only one node may have new blocks.
  if (fresh.length > 0) return Math.max(second.block, ...fresh.map(({ block }) => block))
  return third !== null ? second.block : highest.block
}

/**
 * Why a node is outdated by its own status; null if it is not. A syncing node with a fresh block is
 * not outdated, because some nodes also report syncing while they index old blocks.
 */
export function whyOutdated(node: Reported, all: readonly Reported[], pace: Pace): string | null {
  const { head, status } = node
  if (status === null || isFresh(node, pace)) return null
  if (status.isSyncing) return 'says that it is syncing'
  const ageMs = ageOf(node)
  if (ageMs === null) return null
  const isAhead = (other: Reported) =>
    other.head.block > head.block + pace.allowedLagBlocks && isFresh(other, pace)
  return all.some(isAhead) ? `its latest block is ${ageText(ageMs)} old` : null
}

/** Blocks of development chains may be ahead of the clock; they count as fresh. */
function isFresh(node: Reported, { allowedLagBlocks, blockTimeMs }: Pace): boolean {
  const ageMs = ageOf(node)
  const freshMs = Math.max((allowedLagBlocks + 1) * blockTimeMs, minFreshMs)
  return ageMs !== null && ageMs <= freshMs
}

/** Age of a node's latest block: the reported age plus the time without a new head. */
function ageOf({ head, status }: Reported): number | null {
  if (!status || status.ageMs === null) return null
  return status.ageMs + Math.max(0, head.atMs - Math.max(head.roseMs, status.atMs))
}

/** Formats `90 s`, `5 h`, `3 d`. */
function ageText(ms: number): string {
  const hours = Math.round(ms / 3_600_000)
  if (hours >= 48) return `${Math.round(hours / 24)} d`
  return hours >= 2 ? `${hours} h` : `${Math.round(ms / 1_000)} s`
}

/**
 * How many blocks a node is behind the tip: its distance at its last report, plus the blocks by
 * which the tip has since outgrown the usual pace. An old report alone does not count as lag.
 * @param tipThen the tip when the head was reported; null if it was unknown
 */
export function lagOf(
  head: Pick<Head, 'block' | 'atMs'> | null,
  tipThen: number | null,
  tip: number | null,
  nowMs: number,
  blockTimeMs: number,
): number {
  if (head === null || tip === null) return 0
  const then = tipThen ?? head.block
  const growth = tip - then
  const usual = Math.ceil((nowMs - head.atMs) / blockTimeMs)
  return Math.max(0, then - head.block + Math.min(growth, Math.max(0, growth - usual)))
}

function orAll<T>(all: readonly T[], isWanted: (each: T) => boolean): readonly T[] {
  const wanted = all.filter(isWanted)
  return wanted.length > 0 ? wanted : all
}
