// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Arena, type Exchange, isFresh, isSound, type Seat } from './arena.ts'
import { slowestMs } from './check-ending.ts'
import { maxGrowth } from './floor-watch.ts'

/** A head that was reported this long before the newest report does not count for the tip. */
const memoryMs = 60_000

/** The head of one upstream in its last report. */
interface Reported {
  readonly head: number
  readonly sentMs: number
  readonly endedMs: number
  readonly printable: string
}

/** Compares the engine's heads and tip with the heads that went over the wire. */
export class TipWatch {
  readonly #arena: Arena
  readonly #reported = new Map<string, Reported>()
  /** Time since which the tip is behind; null if it is not. */
  #behindMs: number | null = null

  constructor(arena: Arena) {
    this.#arena = arena
  }

  ended({ target, callId, method, fate, isError, isAborted, ...exchange }: Exchange): void {
    const { head, sentMs, endedMs, isSyncing } = exchange
    if (callId !== null || fate.kind !== 'honest' || isError || isAborted || endedMs === null)
      return
    const { upstream, printable } = target
    const seat = this.#arena.seats.get(printable) as Seat
    if (method === 'eth_syncing' && isSyncing)
      seat.syncingSinceMs = Math.min(seat.syncingSinceMs, endedMs)
    // The head of a spare URL is not that of its upstream.
    const owner = this.#arena.pool.upstreams.find(({ name }) => name === upstream)
    const isSpare = owner?.urlsFor([])[0]?.printable !== printable
    if (method !== 'eth_blockNumber' || isSpare) return
    this.#reported.set(upstream, { head, sentMs, endedMs, printable })
  }

  check(): void {
    const { pool, clock } = this.#arena
    const nowMs = clock.nowMs()
    for (const { name, latest, urls } of pool.upstreams) {
      // After a jump, a head does not count until its URL is verified again.
      if (urls.some(({ head }) => head === null)) continue
      const reported = this.#reported.get(name)
      // The engine may not have read an answer that ends right now.
      if (!reported || reported.endedMs >= nowMs) continue
      const isKnown = latest !== null && latest.atMs >= reported.endedMs
      // A later report of the upstream or of the URL replaces it.
      const own = urls.find(({ printable }) => printable === reported.printable)
      const isReplaced = [latest, own?.head].some(
        (later) => later && reported.head <= later.block && reported.sentMs < later.atMs,
      )
      // A report from before a jump does not count.
      const isFromBefore = own && reported.sentMs < own.jumpedMs
      const lags = own && own.lagBlocks > 0
      if (!isKnown && !isReplaced && !isFromBefore && !lags)
        this.#arena.report('head-is-known', `${name} reported ${reported.head}`)
    }
    this.#arena.floors.followTip()
    this.#compareTip()
    this.#compareTruth()
  }

  /**
   * Within two block times the tip reaches the head of upstreams without faults, unless a single
   * upstream reports that head and is stale or outvoted. Without calls the router polls less often.
   */
  #compareTruth(): void {
    const { pool, clock, schedule, seats, headAt, calls, allowedLagBlocks } = this.#arena
    const nowMs = clock.nowMs()
    const waitMs = 2 * schedule.chain.blockTimeMs
    const heads = pool.upstreams.flatMap((upstream) => {
      const plans = upstream.urls.map(({ printable }) => seats.get(printable)!.plan)
      const atMs = nowMs - 5 * Math.max(...plans.map(slowestMs))
      const isPolled = calls
        .values()
        .some(({ startedMs }) => startedMs > atMs - waitMs && startedMs <= atMs)
      if (!isPolled || !upstream.isInService || !isSound(this.#arena, upstream)) return []
      return headAt(atMs - waitMs) - Math.max(...plans.map(({ lagBlocks }) => lagBlocks))
    })
    const [highest = 0, second = 0] = heads.toSorted((a, b) => b - a)
    const isConfirmed = second >= highest - allowedLagBlocks
    const counts = isConfirmed || (isFresh(this.#arena, highest) && !this.#isOutvoted())
    const isBehind = counts && (pool.tip ?? 0) < highest
    this.#behindMs = isBehind ? (this.#behindMs ?? nowMs) : null
    // The tip may be behind briefly when an upstream enters or leaves service.
    if (this.#behindMs !== null && nowMs - this.#behindMs > waitMs)
      this.#arena.report('tip-keeps-up', `the tip is ${pool.tip}, a node has ${highest}`)
  }

  /** Whether the highest head is implausibly far ahead of two that agree and are fresh. */
  #isOutvoted(): boolean {
    const { pool, allowedLagBlocks } = this.#arena
    const known = pool.upstreams.flatMap(({ latest, isInService }) =>
      latest && isInService ? [latest.block] : [],
    )
    const [highest = 0, second = 0, third = 0] = known.toSorted((a, b) => b - a)
    const areTwo = third >= second - allowedLagBlocks && isFresh(this.#arena, second)
    return areTwo && highest - second > allowedLagBlocks + maxGrowth
  }

  /**
   * The tip is one of the heads. With three or more, it is at least the highest head that two nodes
   * have reached within the allowed lag. Heads with an old timestamp do not count, and a fresh head
   * wins until all nodes have reported their status.
   */
  #compareTip(): void {
    const { pool, allowedLagBlocks } = this.#arena
    const known = pool.upstreams.flatMap(({ latest, isInService, status }) =>
      latest && isInService ? [{ ...latest, isSyncing: status?.isSyncing }] : [],
    )
    const newestMs = Math.max(...known.map(({ atMs }) => atMs))
    const recent = known.filter(({ atMs }) => atMs >= newestMs - memoryMs)
    const heads = recent.map(({ block }) => block)
    // A node that has just caught up may still be known as syncing.
    const counting = recent.filter(({ isSyncing }) => !isSyncing).map(({ block }) => block)
    const isBacked = (block: number) =>
      counting.filter((other) => other >= block - allowedLagBlocks).length > 1
    const isSettled = pool.upstreams.every(({ latest, status }) => !latest || status !== null)
    const least = isSettled && counting.length > 2 ? Math.max(...counting.filter(isBacked)) : 0
    const expected = heads.filter((block) => block >= least)
    const { tip } = pool
    const isTrue = tip === null ? heads.length === 0 : expected.includes(tip)
    if (!isTrue)
      this.#arena.report('tip-is-true', `the tip is ${tip}, not ${expected.join(' or ')}`)
  }
}
