// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { firstPoint } from '../chain/finality.ts'
import type { BlockPoint, BlockRef, ChainInterface, DataKind } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { Strategy } from '../config/types.ts'
import { toHash } from '../json/values.ts'
import type { ChainTracker } from '../tracker/chain-tracker.ts'
import type { Candidate, ExclusionReason } from './candidates.ts'
import type { Members, NodeUrl, Upstream } from './upstream.ts'
import { draw, weigh, type Weighed } from './weights.ts'

/** What an attempt needs of an upstream. */
export interface Wanted {
  /** Add-ons and extensions that the upstream must declare. */
  readonly addons: readonly string[]
  readonly block: BlockRef
  /** The kind of data that it reads from numbered blocks; absent or null if none. */
  readonly data?: DataKind | null
  /** Requests an object by its hash. It may be in the newest block. */
  readonly byHash: boolean
  /** The client selected it by name. It is used if it can serve. */
  readonly prefer: string | null
  readonly excluded: readonly string[]
  /** These alone; absent or null: any. */
  readonly only?: readonly string[] | null
  /** The upstream must have this block, whatever the call reads; absent or null: no floor. */
  readonly floor?: number | null
  /** Whether this call has asked that upstream. */
  tried(upstream: string): boolean
  /** An upstream whose empty answer needs confirmation. It ranks as tried; absent or null: none. */
  readonly unconfirmed?: string | null
  /** A hedge goes to no upstream that was tried, or that lags while another one does not. */
  readonly untriedOnly: boolean
  /** Its connection has other calls in flight, or it came in a batch. */
  readonly isOneOfMany?: boolean
}

export interface PickOptions {
  readonly iface: Pick<ChainInterface, 'archiveAfterBlocks'>
  readonly maxSessions: number
  readonly clock: Clock
  readonly random: Random
}

/** Weights expire after this time, or when an upstream changes its state. */
const weightLifeMs = 100

/** How long an upstream is reported as full after it turned a call away. */
const fullMs = 10_000

/** Why an upstream ranks behind another: a rank is the sum of these bits, and the lowest rank goes first. */
const ranks = {
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
/** What an upstream has of the chain. */
const dataRanks = ranks.lacksBlock | ranks.lacksStart | ranks.lags
/** Rank of an upstream that cannot serve the call. */
const unable = -1
/** Explain shows the bits from `backup` on. */
const shownRankShift = 5

/** Which of a pool's upstreams an attempt goes to: filter, rank, draw. */
export class Picker {
  /** How many calls each upstream may answer at a time. */
  maxSessions: number
  readonly #pool: Members
  readonly #tracker: Pick<ChainTracker, 'tip' | 'numberOf'>
  readonly #options: PickOptions
  #hasArchive = false
  readonly #tables = new Map<
    Strategy,
    { readonly untilMs: number; readonly weights: ReadonlyMap<Upstream, Weighed> }
  >()
  /** Candidates of the last pick and their weights. Consecutive picks mostly see the same ones, so they share the record. */
  #seen: readonly Candidate[] = []
  #seenBy: ReadonlyMap<Upstream, Weighed> | null = null
  /** Ranks of the last pick, in the order of the pool. */
  readonly #ranks: number[] = []
  /** When each had its last turn, counted in turns. */
  readonly #lastTurn = new WeakMap<Upstream, number>()
  #turn = 0

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
   * @param story receives one record per upstream; null if the client selected one by name
   */
  next(
    wanted: Wanted,
    strategy: Strategy,
    story?: { considered: readonly Candidate[] | null },
  ): Upstream | null {
    const preferred = this.preferred(wanted)
    if (story) story.considered = null
    if (preferred) return preferred
    const [candidates, lowest] = this.#candidates(wanted)
    const table = this.weights(strategy)
    if (story) story.considered = this.#story(wanted, lowest, table)
    // Also where there is one candidate: that was its turn.
    if (strategy === 'round-robin') return this.#nextInRound(candidates)
    if (candidates.length < 2) return candidates[0] ?? null
    const weights = candidates.map((each) => table.get(each)?.weight ?? 0)
    return candidates[draw(weights, this.#options.random)] ?? null
  }

  /** The upstream that the client asks for by name, where it can serve and was not asked yet. */
  preferred(wanted: Wanted): Upstream | null {
    const { prefer } = wanted
    if (prefer === null || wanted.tried(prefer)) return null
    return (
      this.#pool.upstreams.find((each) => each.name === prefer && this.#serves(each, wanted)) ??
      null
    )
  }

  /** Whether the next upstream to ask was asked already. */
  repeats(wanted: Wanted): boolean {
    const [[next]] = this.#candidates(wanted)
    return next !== undefined && wanted.tried(next.name)
  }

  /** All that may be asked at once for a write: every eligible primary, or every eligible backup. */
  all(wanted: Wanted): readonly Upstream[] {
    const eligible = this.#pool.upstreams.filter(
      (each) => each.availability.standing === 'eligible' && this.#serves(each, wanted),
    )
    const primaries = eligible.filter(({ tier }) => tier === 'primary')
    return primaries.length > 0 ? primaries : eligible
  }

  /** Whether the upstream has the data of the call, or no upstream does. */
  suits(upstream: Upstream, wanted: Wanted): boolean {
    if (!upstream.lags) return true
    const own = this.#rankOf(upstream, wanted) & dataRanks
    return this.#pool.upstreams.every(
      (each) => own <= (this.#rankOf(each, wanted) & dataRanks) || !this.#serves(each, wanted),
    )
  }

  /** Whether the call is about a block that only archive nodes have, where there are any. */
  wantsArchive(block: BlockRef): boolean {
    return this.#hasArchive && this.#isOld(block)
  }

  /**
   * The upstream is at its limit of concurrent calls. A tenth of the slots is reserved for calls that are alone on their
   * connection, so that a few connections with many calls do not shut out everybody.
   */
  isFull({ usedSlots }: Upstream, isOneOfMany = false): boolean {
    const { maxSessions } = this
    return usedSlots >= (isOneOfMany ? maxSessions - Math.floor(maxSessions / 10) : maxSessions)
  }

  /** An upstream changed its state, or others are there: weights are worked out anew. */
  forget(): void {
    this.#tables.clear()
    this.#hasArchive = this.#pool.upstreams.some(({ urls }) =>
      urls.some(({ declaredAddons }) => declaredAddons.includes('archive')),
    )
  }

  /** What each upstream weighs among all of the pool, as of less than 100 ms ago. */
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
    if (isExcluded(upstream, wanted) || !reaches(upstream, wanted.floor)) return false
    if (!this.isFull(upstream, wanted.isOneOfMany)) return isServedAt(upstream, wanted)
    const all = `all ${this.maxSessions} sessions`
    const which = this.isFull(upstream) ? all : 'the sessions for connections with many calls'
    upstream.faulted(`${which} are taken (max-sessions-per-provider)`, fullMs)
    return false
  }

  /** The upstreams of the lowest rank among those that can serve, with that rank; none if it is too high. */
  #candidates(wanted: Wanted): readonly [Upstream[], lowest: number] {
    let lowest = Infinity
    let leastData = Infinity
    let candidates: Upstream[] = []
    let at = -1
    for (const each of this.#pool.upstreams) {
      const rank = this.#serves(each, wanted) ? this.#rankOf(each, wanted) : unable
      this.#ranks[++at] = rank
      if (rank === unable) continue
      leastData = Math.min(leastData, rank & dataRanks)
      if (rank > lowest) continue
      if (rank < lowest) candidates = []
      lowest = rank
      candidates.push(each)
    }
    // A hedge never repeats an upstream, and one with older data would answer before the upstream that is being asked.
    const isNoHedge = lowest >= ranks.tried || (lowest & dataRanks) > leastData
    // A node without the block cannot confirm an empty answer.
    const cannotConfirm = lowest >= ranks.pruned || (lowest & ranks.noArchive) > 0
    const isTooHigh = (wanted.untriedOnly && isNoHedge) || (isConfirming(wanted) && cannotConfirm)
    return [isTooHigh ? [] : candidates, isTooHigh ? -1 : lowest]
  }

  #rankOf(each: Upstream, wanted: Wanted): number {
    const { name, availability, tier, latest, lags } = each
    const { block, byHash, unconfirmed } = wanted
    let rank = 0
    if (each.lacks(wanted)) rank |= ranks.pruned
    if (wanted.tried(name) || unconfirmed === name) rank |= ranks.tried
    if (availability.isOnTrial) rank |= ranks.onTrial
    if (tier === 'backup') rank |= ranks.backup
    const point = lastPointOf(block)
    const number = this.#numberOf(point)
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

  /** Why each upstream is a candidate or not. */
  #story(
    wanted: Wanted,
    lowest: number,
    table: ReadonlyMap<Upstream, Weighed>,
  ): readonly Candidate[] {
    const known = table === this.#seenBy ? this.#seen : []
    let seen: Candidate[] | null = null
    let at = -1
    for (const each of this.#pool.upstreams) {
      const full = this.#ranks[++at] as number
      const rank = full === unable ? null : full >> shownRankShift
      const exclusionReason =
        rank === null ? this.#unableFor(each, wanted) : reasonOf(each, full, lowest)
      if (known[at]?.exclusionReason === exclusionReason && known[at]?.rank === rank) continue
      seen ??= [...known]
      const amount = amountOf(each, exclusionReason, wanted)
      const record = exclusionReason === null || each.state === 'eligible' ? null : each.record
      seen[at] = { ...(table.get(each) as Weighed), rank, exclusionReason, amount, record }
    }
    this.#seenBy = table
    return (this.#seen = seen ?? known)
  }

  /** Why an upstream cannot serve the call. */
  #unableFor(each: Upstream, wanted: Wanted): ExclusionReason {
    if (isExcluded(each, wanted)) return wanted.tried(each.name) ? 'asked' : 'kept-out'
    if (!reaches(each, wanted.floor)) return 'lacks-block'
    if (each.serves(wanted.addons) && this.isFull(each, wanted.isOneOfMany)) return 'full'
    if (each.serves(wanted.addons)) return 'lacks-block'
    if (each.urls.some((url) => url.isFor(wanted.addons))) return 'cooldown'
    if (each.urls.some(({ verified }) => verified)) {
      const names = wanted.addons.join(' ')
      // Names come from clients and stay in the journal, so their length is bounded.
      return `no-addon ${names.length > 64 ? '(a long name)' : names}`
    }
    return each.availability.standing === 'rejected' ? 'rejected' : 'unverified'
  }

  /** The number of a block that is named by its number, or by the hash of a block that was shown. */
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

  /** The upstream whose last turn is longest ago: one that is left out for a while does not change the order. */
  #nextInRound(candidates: readonly Upstream[]): Upstream | null {
    const turnOf = (each: Upstream) => this.#lastTurn.get(each) ?? 0
    let next: Upstream | null = null
    for (const each of candidates) if (!next || turnOf(each) < turnOf(next)) next = each
    if (next) this.#lastTurn.set(next, ++this.#turn)
    return next
  }
}

/** The call may not go to it, be it up or not. */
export function isExcluded({ name }: Upstream, { only, excluded }: Wanted): boolean {
  return only?.includes(name) === false || (excluded.length > 0 && excluded.includes(name))
}

/** Whether the upstream is known to have this block. Every upstream has block 0. */
export function reaches({ latest }: Pick<Upstream, 'latest'>, floor: number | null = 0): boolean {
  return (latest?.block ?? 0) >= (floor ?? 0)
}

/** Whether a URL has reached the floor, as far as known. The URLs of an upstream may be at different heads. */
export function isAt(floor: number | null, { head }: NodeUrl): boolean {
  return floor === null || head === null || head.block >= floor
}

function isServedAt({ urls }: Upstream, { floor = null, addons }: Wanted): boolean {
  return urls.some((url) => url.serves(addons) && isAt(floor, url))
}

/** Why an upstream that can serve is no candidate: what it has less of than the candidates. Null: it is one. */
function reasonOf({ isInService }: Upstream, rank: number, lowest: number): ExclusionReason | null {
  const more = rank > lowest ? rank & ~Math.max(lowest, 0) : 0
  if (more & ranks.pruned) return 'pruned'
  if (more & ranks.tried) return 'asked'
  if (more & ranks.onTrial) return isInService ? 'on-trial' : 'disabled'
  if (more & ranks.backup) return 'backup'
  if (more & (ranks.lacksBlock | ranks.lacksStart)) return 'lacks-block'
  if (more & ranks.lags) return 'lagging'
  return more === 0 ? null : 'no-archive'
}

/** The call has an empty answer that needs confirmation. */
function isConfirming(wanted: Wanted): boolean {
  return wanted.unconfirmed ? wanted.tried(wanted.unconfirmed) : false
}

function amountOf(
  each: Upstream,
  exclusionReason: ExclusionReason | null,
  { data }: Wanted,
): number | null {
  const { urls, lagBlocks } = each
  if (exclusionReason === 'pruned') return (data && each.oldestBlocks[data]) ?? null
  if (exclusionReason === 'lagging' || exclusionReason === 'lacks-block') return lagBlocks
  if (exclusionReason !== 'cooldown') return null
  const left = urls.map(({ cooldown }) => cooldown.leftMs).filter((ms) => ms > 0)
  return Math.round(Math.min(...left))
}

/** The highest block that the call needs; null when it needs none. */
function lastPointOf(block: BlockRef): BlockPoint | null {
  if (block.kind === 'range') return block.to
  return block.kind === 'none' || block.kind === 'invalid' ? null : block
}

/** About the latest state, or about what a hash names and may be as new. */
function isAboutTip(point: BlockPoint | null, byHash: boolean): boolean {
  if (point === null) return byHash
  return point.kind === 'hash' || (point.kind === 'tag' && point.tag !== 'earliest')
}
