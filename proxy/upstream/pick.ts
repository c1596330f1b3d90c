// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockPoint, BlockRef, ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { Strategy } from '../config/types.ts'
import type { Tip } from './tip.ts'
import type { Members, Upstream } from './upstream.ts'
import { draw, floorOf, weigh, type Candidate } from './weights.ts'

/** What an attempt needs of an upstream. */
export interface Wanted {
  /** Add-ons and extensions that the upstream must declare. */
  readonly addons: readonly string[]
  readonly block: BlockRef
  /** About one thing named by its hash, which may be as new as the newest block. */
  readonly byHash: boolean
  /** Asked for by name: taken whenever it can serve at all. */
  readonly prefer: string | null
  readonly excluded: readonly string[]
  /** Whether this call has asked that upstream. */
  tried(upstream: string): boolean
  /** A hedge: none rather than one that was asked, or that lags while another one does not. */
  readonly untriedOnly: boolean
  /** Its connection has other calls in flight, or it came in a batch. */
  readonly isOneOfMany?: boolean
}

/** Reports among which upstreams the draw was made; not called when there was nothing to draw. */
export type Explain = (candidates: readonly Candidate[]) => void

export interface PickOptions {
  readonly iface: Pick<ChainInterface, 'archiveAfterBlocks'>
  readonly maxSessions: number
  readonly clock: Clock
  readonly random: Random
}

/** Weights are worked out anew after this, or when an upstream changes its state. */
const weightLifeMs = 100

// Of these an upstream's rank is the sum: the lowest rank is asked first.
const ranks = { tried: 4, onTrial: 2, backup: 1 } as const

/** Which of a pool's upstreams an attempt goes to: filter, rank, draw. */
export class Picker {
  /** How many calls each upstream may answer at a time. */
  maxSessions: number
  readonly #pool: Members
  readonly #tip: Tip
  readonly #options: PickOptions
  #hasArchive = false
  readonly #tables = new Map<
    Strategy,
    { readonly untilMs: number; readonly weights: ReadonlyMap<Upstream, Candidate> }
  >()
  /** When each had its last turn, counted in turns. */
  readonly #lastTurn = new WeakMap<Upstream, number>()
  #turn = 0

  constructor(pool: Members, tip: Tip, options: PickOptions) {
    this.maxSessions = options.maxSessions
    this.#pool = pool
    this.#tip = tip
    this.#options = options
    this.forget()
  }

  /** The upstream to ask next, or null when none may be asked. */
  next(wanted: Wanted, strategy: Strategy, explain?: Explain): Upstream | null {
    const preferred = this.preferred(wanted)
    if (preferred) return preferred
    const candidates = this.#lowestRank(wanted)
    this.#narrow(candidates, wanted)
    // Also where there is one candidate: that was its turn.
    if (strategy === 'round-robin') return this.#nextInRound(candidates)
    if (candidates.length < 2) return candidates[0] ?? null
    const table = this.weights(strategy)
    const weights = candidates.map((each) => table.get(each)?.weight ?? 0)
    if (explain) {
      const floor = floorOf(weights)
      explain(
        candidates.map((each) => {
          const candidate = table.get(each) as Candidate
          return { ...candidate, weight: Math.max(candidate.weight, floor) }
        }),
      )
    }
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
    const [next] = this.#lowestRank(wanted)
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

  /** Whether it has what the call is about, or no other one has it either. */
  suits(upstream: Upstream, wanted: Wanted): boolean {
    if (!upstream.lags) return true
    const candidates = this.#pool.upstreams.filter(
      (each) => each === upstream || this.#serves(each, wanted),
    )
    this.#narrow(candidates, wanted)
    return candidates.includes(upstream)
  }

  /** Whether the call is about a block that only archive nodes have, where there are any. */
  wantsArchive(block: BlockRef): boolean {
    return this.#hasArchive && this.#isOld(block)
  }

  /**
   * It answers as many calls as it may, and gets no other until one ends. A tenth is left to calls that are alone on
   * their connection, so that a few connections with many calls do not shut out everybody.
   */
  isFull({ sessions }: Upstream, isOneOfMany = false): boolean {
    const { maxSessions } = this
    return sessions >= (isOneOfMany ? maxSessions - Math.floor(maxSessions / 10) : maxSessions)
  }

  /** An upstream changed its state, or others are there: weights are worked out anew. */
  forget(): void {
    this.#tables.clear()
    this.#hasArchive = this.#pool.upstreams.some(({ urls }) =>
      urls.some(({ declaredAddons }) => declaredAddons.includes('archive')),
    )
  }

  /** What each upstream weighs among all of the pool, as of less than 100 ms ago. */
  weights(strategy: Strategy): ReadonlyMap<Upstream, Candidate> {
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

  #serves(upstream: Upstream, { excluded, addons, isOneOfMany }: Wanted): boolean {
    return (
      !(excluded.length > 0 && excluded.includes(upstream.name)) &&
      !this.isFull(upstream, isOneOfMany) &&
      upstream.serves(addons)
    )
  }

  /** Untried before tried, in service before on trial, primaries before backups: the first that there are. */
  #lowestRank(wanted: Wanted): Upstream[] {
    let lowest: Upstream[] = []
    let lowestRank = wanted.untriedOnly ? ranks.tried - 1 : Infinity
    for (const each of this.#pool.upstreams) {
      if (!this.#serves(each, wanted)) continue
      const rank =
        (wanted.tried(each.name) ? ranks.tried : 0) +
        (each.availability.isOnTrial ? ranks.onTrial : 0) +
        (each.tier === 'backup' ? ranks.backup : 0)
      if (rank > lowestRank) continue
      if (rank < lowestRank) lowest = []
      lowestRank = rank
      lowest.push(each)
    }
    return lowest
  }

  /** Leaves those that have what the call is about, as far as there are any. */
  #narrow(candidates: Upstream[], wanted: Wanted): void {
    const point = lastPointOf(wanted.block)
    if (point?.kind === 'number') {
      const { number } = point
      const hasIt = ({ latest }: Upstream) => latest === null || latest.block >= number
      if (!this.#keep(candidates, wanted, hasIt)) this.#keep(candidates, wanted, isFresh)
    } else if (isAboutTip(point, wanted.byHash)) this.#keep(candidates, wanted, isFresh)
    if (candidates.length > 1 && this.wantsArchive(wanted.block))
      keepAny(candidates, (each) => each.serves(['archive']))
  }

  /** @returns whether there were any */
  #keep(candidates: Upstream[], wanted: Wanted, isWanted: (each: Upstream) => boolean): boolean {
    if (keepAny(candidates, isWanted)) return true
    // A hedge that lags would be the first to answer, with less than the upstream that is being asked.
    const isElsewhere =
      wanted.untriedOnly &&
      this.#pool.upstreams.some((each) => isWanted(each) && this.#serves(each, wanted))
    if (isElsewhere) candidates.length = 0
    return isElsewhere
  }

  #isOld(block: BlockRef): boolean {
    const after = this.#options.iface.archiveAfterBlocks
    if (after === null) return false
    const first = block.kind === 'range' ? block.from : block
    if (first.kind === 'tag') return first.tag === 'earliest'
    return first.kind === 'number' && first.number < (this.#tip.block ?? 0) - after
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

function isFresh({ lags }: Upstream): boolean {
  return !lags
}

/** Leaves those that are wanted, or all where there are none. @returns whether there were any */
function keepAny(list: Upstream[], isWanted: (each: Upstream) => boolean): boolean {
  let kept = 0
  for (const each of list) if (isWanted(each)) list[kept++] = each
  if (kept > 0) list.length = kept
  return kept > 0
}
