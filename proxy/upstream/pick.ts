// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { firstPoint } from '../chain/finality.ts'
import type { BlockPoint, BlockRef, ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { Strategy } from '../config/types.ts'
import { toHash } from '../json/values.ts'
import type { ChainTracker } from '../tracker/chain-tracker.ts'
import type { Candidate, ChosenUrl } from './candidates.ts'
import {
  amountOf,
  dataRanks,
  exclusionOf,
  obstacles,
  ranks,
  reasonOf,
  shownRankShift,
  whyLast,
} from './ranks.ts'
import { isAt, isExcluded, reaches, type Wanted } from './wanted.ts'
import type { Members, Upstream } from './upstream.ts'
import { draw, weigh, type Weighed } from './weights.ts'
import type { NodeUrl } from './node-url.ts'

export interface PickOptions {
  readonly iface: Pick<ChainInterface, 'archiveAfterBlocks'>
  readonly maxSessions: number
  readonly clock: Clock
  readonly random: Random
}

/** Weights expire after this time, or when an upstream changes its state. */
const weightLifeMs = 100

/** How long an upstream is reported as full after it rejected a call. */
const fullMs = 10_000

/** Selects the upstream of an attempt: filter, rank, weighted draw. */
export class Picker {
  /** Limit of concurrent calls per upstream. */
  maxSessions: number
  readonly #pool: Members
  readonly #tracker: Pick<ChainTracker, 'tip' | 'numberOf'>
  readonly #options: PickOptions
  #hasArchive = false
  readonly #tables = new Map<
    Strategy,
    { readonly untilMs: number; readonly weights: ReadonlyMap<Upstream, Weighed> }
  >()
  /** Candidates and weights of the last selection, which the next one reuses if they are equal. */
  #lastCandidates: readonly Candidate[] = []
  #lastTable: ReadonlyMap<Upstream, Weighed> | null = null
  /** Ranks of the last selection, in the order of the pool. */
  readonly #ranks: number[] = []
  /** Sequence number of the last round-robin selection of each upstream. */
  readonly #lastSelected = new WeakMap<Upstream, number>()
  #selections = 0

  constructor(
    pool: Members,
    tracker: Pick<ChainTracker, 'tip' | 'numberOf'>,
    options: PickOptions,
  ) {
    this.maxSessions = options.maxSessions
    this.#pool = pool
    this.#tracker = tracker
    this.#options = options
    this.forget()
  }

  /**
   * The upstream of the next attempt; null if there is none.
   * @param journal receives one record per upstream, or null if the client selected one by name
   */
  next(
    wanted: Wanted,
    strategy: Strategy,
    journal?: { considered: readonly Candidate[] | null },
  ): Upstream | null {
    const preferred = this.preferred(wanted)
    if (journal) journal.considered = null
    if (preferred) return preferred
    const [candidates, lowest] = this.#candidates(wanted)
    const table = this.weights(strategy)
    if (journal) journal.considered = this.#journal(wanted, lowest, table)
    // A selection counts as a turn even with one candidate.
    if (strategy === 'round-robin') return this.#nextInRound(candidates)
    if (candidates.length < 2) return candidates[0] ?? null
    const weights = candidates.map((each) => table.get(each)?.weight ?? 0)
    return candidates[draw(weights, this.#options.random)] ?? null
  }

  /** The upstream that the client selected by name, if it can serve and was not tried. */
  preferred(wanted: Wanted): Upstream | null {
    const { prefer } = wanted
    if (prefer === null || wanted.tried(prefer)) return null
    return (
      this.#pool.upstreams.find((each) => each.name === prefer && this.#serves(each, wanted)) ??
      null
    )
  }

  /** Whether the next attempt would repeat an upstream. */
  repeats(wanted: Wanted): boolean {
    const [[next]] = this.#candidates(wanted)
    return next !== undefined && wanted.tried(next.name)
  }

  /** Upstreams for a broadcast: every eligible primary, otherwise every eligible backup. */
  all(wanted: Wanted): readonly Upstream[] {
    const eligible = this.#pool.upstreams.filter(
      (each) => each.availability.standing === 'eligible' && this.#serves(each, wanted),
    )
    const primaries = eligible.filter(({ tier }) => tier === 'primary')
    return primaries.length > 0 ? primaries : eligible
  }

  /** Whether nothing but a cooldown keeps the call away from this URL. */
  mayTry(upstream: Upstream, url: NodeUrl, wanted: Wanted): boolean {
    const obstacle = this.#obstacleOf(upstream, wanted)
    return (
      (obstacle === 0 ||
        obstacle === obstacles.notServing ||
        obstacle === obstacles.limitReached) &&
      isAt(wanted.floor ?? null, url) &&
      url.admits()
    )
  }

  /** Whether nothing but limits of its URLs keeps the call away from the upstream. */
  isAtLimit(upstream: Upstream, wanted: Wanted): boolean {
    return this.#obstacleOf(upstream, wanted) === obstacles.limitReached
  }

  /** The URL that its limits keep from the call for the shortest time; null if there is none. */
  nextAtLimit(wanted: Wanted): ChosenUrl | null {
    let next: ChosenUrl | null = null
    for (const upstream of this.#pool.upstreams) {
      if (!this.isAtLimit(upstream, wanted)) continue
      if (wanted.untriedOnly && wanted.tried(upstream.name)) continue
      for (const url of upstream.urls)
        if (canServe(url, wanted) && (!next || url.waitMs < next.url.waitMs))
          next = { upstream, url }
    }
    return next
  }

  /** Whether the upstream has the data of the call, or no upstream does. */
  suits(upstream: Upstream, wanted: Wanted): boolean {
    if (!upstream.lags) return true
    const number = this.#numberOf(lastPointOf(wanted.block))
    const own = this.#rankOf(upstream, wanted, number) & dataRanks
    return this.#pool.upstreams.every(
      (each) =>
        own <= (this.#rankOf(each, wanted, number) & dataRanks) || !this.#serves(each, wanted),
    )
  }

  /** Whether the call needs a block that only archive nodes have, if the pool has such nodes. */
  wantsArchive(block: BlockRef): boolean {
    return this.#hasArchive && this.#isOld(block)
  }

  /**
   * Whether the upstream is at its concurrency limit. A tenth of the slots is reserved for calls
   * that are alone on their connection, so that a few busy connections do not block all others.
   */
  isFull({ usedSlots }: Upstream, isOneOfMany = false): boolean {
    const { maxSessions } = this
    return usedSlots >= (isOneOfMany ? maxSessions - Math.floor(maxSessions / 10) : maxSessions)
  }

  /** Discards cached weights after upstreams or their states change. */
  forget(): void {
    this.#tables.clear()
    this.#hasArchive = this.#pool.upstreams.some(({ urls }) =>
      urls.some(({ declaredAddons }) => declaredAddons.includes('archive')),
    )
  }

  /** Weight of each upstream in the pool, at most 100 ms old. */
  weights(strategy: Strategy): ReadonlyMap<Upstream, Weighed> {
    const nowMs = this.#options.clock.nowMs()
    let table = this.#tables.get(strategy)
    if (!table || nowMs >= table.untilMs) {
      table = {
        untilMs: nowMs + weightLifeMs,
        weights: weigh(this.#pool.upstreams, strategy, nowMs),
      }
      this.#tables.set(strategy, table)
    }
    return table.weights
  }

  #serves(upstream: Upstream, wanted: Wanted): boolean {
    return this.#obstacleOf(upstream, wanted) === 0
  }

  #obstacleOf(upstream: Upstream, wanted: Wanted): number {
    if (isExcluded(upstream, wanted)) return obstacles.excluded
    if (!reaches(upstream, wanted.floor)) return obstacles.belowFloor
    if (!this.isFull(upstream, wanted.isOneOfMany)) return obstacleOfUrls(upstream, wanted)
    const all = `all ${this.maxSessions} sessions`
    const which = this.isFull(upstream) ? all : 'the sessions for connections with many calls'
    upstream.faulted(`${which} are taken (max-sessions-per-provider)`, fullMs)
    return obstacles.full
  }

  /** Upstreams with the lowest rank that can serve, and that rank; none if it is too high. */
  #candidates(wanted: Wanted): readonly [Upstream[], lowest: number] {
    const number = this.#numberOf(lastPointOf(wanted.block))
    let lowest = Infinity
    let leastData = Infinity
    let candidates: Upstream[] = []
    let at = -1
    for (const each of this.#pool.upstreams) {
      const obstacle = this.#obstacleOf(each, wanted)
      const rank = obstacle === 0 ? this.#rankOf(each, wanted, number) : obstacle
      this.#ranks[++at] = rank
      if (rank < 0) continue
      leastData = Math.min(leastData, rank & dataRanks)
      if (rank > lowest) continue
      if (rank < lowest) candidates = []
      lowest = rank
      candidates.push(each)
    }
    // A hedge must not repeat an upstream or get an older answer than the running attempt.
    const isNoHedge = lowest >= ranks.tried || (lowest & dataRanks) > leastData
    // A node without the block cannot confirm an empty answer.
    const cannotConfirm = lowest >= ranks.pruned || (lowest & ranks.noArchive) > 0
    const isTooHigh = (wanted.untriedOnly && isNoHedge) || (isConfirming(wanted) && cannotConfirm)
    return [isTooHigh ? [] : candidates, isTooHigh ? -1 : lowest]
  }

  /** @param number of the last block that the call needs; null if it is unknown */
  #rankOf(each: Upstream, wanted: Wanted, number: number | null): number {
    const { name, availability, tier, latest, lags } = each
    const { block, byHash, unconfirmed } = wanted
    let rank = 0
    if (lacksMethod(each, wanted)) rank |= ranks.noMethod
    if (each.lacks(wanted)) rank |= ranks.pruned
    if (wanted.tried(name) || unconfirmed === name) rank |= ranks.tried
    if (availability.isOnTrial) rank |= ranks.onTrial
    if (tier === 'backup') rank |= ranks.backup
    const point = lastPointOf(block)
    const isBelow = (end: number | null) => end !== null && latest !== null && latest.block < end
    const lacksEnd = isBelow(number)
    if (lacksEnd) rank |= ranks.lacksBlock
    // A node below a range returns an error, or nothing.
    if ((lacksEnd || number === null) && block.kind === 'range' && isBelow(firstPoint(block)))
      rank |= ranks.lacksStart
    if (lags && (point?.kind === 'number' ? lacksEnd : isAboutTip(point, byHash)))
      rank |= ranks.lags
    if (isConfirming(wanted) && !each.urls.some(({ history }) => history.trusts(wanted)))
      rank |= ranks.cannotConfirm
    if (this.wantsArchive(block) && !each.serves(['archive'])) rank |= ranks.noArchive
    return rank
  }

  /** Records for each upstream whether it is a candidate and why not. */
  #journal(
    wanted: Wanted,
    lowest: number,
    table: ReadonlyMap<Upstream, Weighed>,
  ): readonly Candidate[] {
    const known = table === this.#lastTable ? this.#lastCandidates : []
    let changed: Candidate[] | null = null
    let at = -1
    for (const each of this.#pool.upstreams) {
      const full = this.#ranks[++at] as number
      const rank = full < 0 ? null : full >> shownRankShift
      const exclusionReason =
        rank === null ? exclusionOf(each, full, wanted) : reasonOf(each, full, lowest)
      if (known[at]?.exclusionReason === exclusionReason && known[at]?.rank === rank) continue
      changed ??= [...known]
      const amount = amountOf(each, exclusionReason, wanted)
      const record = exclusionReason === null || each.state === 'eligible' ? null : each.record
      const why = whyLast(each, exclusionReason, wanted)
      changed[at] = { ...(table.get(each) as Weighed), rank, exclusionReason, amount, why, record }
    }
    this.#lastTable = table
    return (this.#lastCandidates = changed ?? known)
  }

  /** Number of a block, which may be given by the hash of a known block. */
  #numberOf(point: BlockPoint | null): number | null {
    if (point?.kind === 'hash') return this.#tracker.numberOf(toHash(point.hash))
    return point?.kind === 'number' ? point.number : null
  }

  #isOld(block: BlockRef): boolean {
    const after = this.#options.iface.archiveAfterBlocks
    if (after === null) return false
    const first = block.kind === 'range' ? block.from : block
    if (first.kind === 'tag') return first.tag === 'earliest'
    return first.kind === 'number' && first.number < (this.#tracker.tip ?? 0) - after
  }

  /** The least recently selected upstream. A temporary exclusion does not change the order. */
  #nextInRound(candidates: readonly Upstream[]): Upstream | null {
    const selectedAt = (each: Upstream) => this.#lastSelected.get(each) ?? 0
    let next: Upstream | null = null
    for (const each of candidates) if (!next || selectedAt(each) < selectedAt(next)) next = each
    if (next) this.#lastSelected.set(next, ++this.#selections)
    return next
  }
}

function canServe(url: NodeUrl, { floor = null, addons }: Wanted): boolean {
  return url.serves(addons) && isAt(floor, url)
}

function obstacleOfUrls({ urls }: Upstream, wanted: Wanted): number {
  let obstacle: number = obstacles.notServing
  for (const url of urls) {
    if (!canServe(url, wanted)) continue
    if (!wanted.isPaced || url.admits()) return 0
    obstacle = obstacles.limitReached
  }
  return obstacle
}

/** Whether all URLs of the upstream have said that they lack or limit the method. */
function lacksMethod({ urls }: Upstream, { method }: Wanted): boolean {
  if (method === undefined) return false
  for (const { cooldown } of urls) if (cooldown.leftMsOf(method) === 0) return false
  return true
}

/** The call has an empty answer that needs confirmation. */
function isConfirming(wanted: Wanted): boolean {
  return wanted.unconfirmed ? wanted.tried(wanted.unconfirmed) : false
}

/** The highest block that the call needs; null if it needs none. */
function lastPointOf(block: BlockRef): BlockPoint | null {
  if (block.kind === 'range') return block.to
  return block.kind === 'none' || block.kind === 'invalid' ? null : block
}

/** Whether the call concerns the latest state, or a hash that may be in the newest block. */
function isAboutTip(point: BlockPoint | null, byHash: boolean): boolean {
  if (point === null) return byHash
  return point.kind === 'hash' || (point.kind === 'tag' && point.tag !== 'earliest')
}
