// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockRef, ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { Strategy } from '../config/types.ts'
import type { Heads } from './heads.ts'
import { rankOf, type Fitness, type Standing } from './order.ts'
import { qualitiesOf } from './qualities.ts'
import { costClassOf } from './score.ts'
import { draw, weigh, type Qualities } from './selection.ts'
import type { Upstream } from './upstream.ts'
import { isAboutTip, isByHash, lastPointOf, type Wanted } from './wanted.ts'

/** A candidate as the draw saw it. */
export interface Candidate extends Qualities {
  readonly name: string
  readonly weight: number
}

/** Hears among whom lots were drawn; not when there was nothing to draw. */
export type Explain = (candidates: readonly Candidate[]) => void

export interface ChoiceOptions {
  readonly iface: Pick<ChainInterface, 'archiveAfterBlocks'>
  readonly maxSessions: number
  readonly clock: Clock
  readonly random: Random
}

/** Which of a pool's upstreams an attempt goes to: narrowed down by `places`, then drawn by weight. */
export class Choice {
  readonly #upstreams: readonly Upstream[]
  readonly #heads: Heads
  readonly #options: ChoiceOptions
  readonly #hasArchive: boolean
  /** When each was last chosen, counted in choices. */
  readonly #lastTurn = new Map<Upstream, number>()
  #turn = 0

  constructor(upstreams: readonly Upstream[], heads: Heads, options: ChoiceOptions) {
    this.#upstreams = upstreams
    this.#heads = heads
    this.#options = options
    this.#hasArchive = upstreams.some((each) =>
      each.urls.some((url) => url.declaredAddons.includes('archive')),
    )
  }

  /** Whether the next one to ask would be one that was asked already. */
  repeats(wanted: Wanted): boolean {
    const next = this.#nextOf(this.#able(wanted), wanted)
    return next.length > 0 && next.every((each) => wanted.tried(each.name))
  }

  /** The one that is asked for by name, where it can serve and was not asked yet. */
  preferred(wanted: Wanted): Upstream | null {
    const isPreferred = ({ name }: Upstream) => name === wanted.prefer && !wanted.tried(name)
    return (wanted.prefer !== null && this.#able(wanted).find(isPreferred)) || null
  }

  /** The upstream to ask next, or null when none may be asked. */
  next(wanted: Wanted, strategy: Strategy, explain?: Explain): Upstream | null {
    const preferred = this.preferred(wanted)
    if (preferred) return preferred
    return this.#pick(this.#nextOf(this.#able(wanted), wanted), wanted, strategy, explain)
  }

  /** All that may be asked at once for a write: every eligible primary, or every eligible backup. */
  all(wanted: Wanted): readonly Upstream[] {
    const eligible = this.#serving(wanted).filter(
      ({ availability }) => availability.standing === 'eligible',
    )
    const primaries = eligible.filter((each) => each.tier === 'primary')
    return primaries.length > 0 ? primaries : eligible
  }

  /** It answers as many calls as it may, and gets no other until one ends. */
  isFull(upstream: Upstream): boolean {
    return upstream.sessions >= this.#options.maxSessions
  }

  /**
   * Whether its word that there is nothing of such a hash settles the matter: it does not when it
   * lags, and one in service that does not lag may still be asked.
   */
  mayLack(upstream: Upstream, wanted: Wanted): boolean {
    if (!isByHash(wanted) || !this.#heads.lags(upstream)) return false
    return this.#others(upstream, wanted).some((each) => !this.#heads.lags(each))
  }

  /** Whether one in service that is at the tip, by all that is known, may be asked instead. */
  mayBeNearer(upstream: Upstream, wanted: Wanted): boolean {
    return this.#others(upstream, wanted).some(
      (each) => !this.#heads.lags(each) && !this.#heads.runsAhead(each),
    )
  }

  /** Others in service that may be asked, be it again. */
  #others(upstream: Upstream, wanted: Wanted): readonly Upstream[] {
    return this.#able({ ...wanted, untriedOnly: false }).filter(
      (each) => each !== upstream && !isOnTrial(each),
    )
  }

  #serving({ excluded, addons }: Wanted): readonly Upstream[] {
    return this.#upstreams.filter(
      (each) => !excluded.includes(each.name) && !this.isFull(each) && each.serves(addons),
    )
  }

  #able(wanted: Wanted): readonly Upstream[] {
    const { untriedOnly, tried } = wanted
    const serving = this.#serving(wanted)
    if (!untriedOnly) return serving
    const untried = serving.filter(({ name }) => !tried(name))
    const first = Math.min(...untried.map(ownRankOf))
    const alike = serving.filter((each) => ownRankOf(each) === first)
    // Company that is behind would be the first to answer, with less than the one that has the block.
    return this.#withBlock(alike, wanted).filter(
      (each) => !tried(each.name) && this.#fitnessOf(each, serving, wanted) === 'fit',
    )
  }

  /** Among whom the next one is chosen: those in the earliest place. */
  #nextOf(able: readonly Upstream[], wanted: Wanted): readonly Upstream[] {
    return inEarliestPlace(able, (each) => ({
      tier: each.tier,
      isOnTrial: isOnTrial(each),
      isTried: wanted.tried(each.name),
      fitness: this.#fitnessOf(each, able, wanted),
    }))
  }

  #fitnessOf(upstream: Upstream, able: readonly Upstream[], wanted: Wanted): Fitness {
    if (!this.#heads.lags(upstream)) return 'fit'
    const point = lastPointOf(wanted.block)
    if (point?.kind === 'number') {
      const hasIt = (upstream.latest?.block ?? Infinity) >= point.number
      return hasIt || this.#isBelied(able, wanted) ? 'fit' : 'lacks'
    }
    const isFresh = (each: Upstream) =>
      !this.#heads.lags(each) &&
      !wanted.gaveUpOn(each.name) &&
      ownRankOf(each) <= ownRankOf(upstream)
    if (!isAboutTip(wanted) || !able.some(isFresh)) return 'fit'
    return isByHash(wanted) ? 'may-lack' : 'behind'
  }

  /** All that do not lag have lied to the call: where the tip is was their word. */
  #isBelied(able: readonly Upstream[], wanted: Wanted): boolean {
    const fresh = able.filter((each) => !this.#heads.lags(each))
    return fresh.length > 0 && fresh.every(({ name }) => wanted.lied(name))
  }

  #pick(
    candidates: readonly Upstream[],
    wanted: Wanted,
    strategy: Strategy,
    explain?: Explain,
  ): Upstream | null {
    const fit = this.#preferArchive(this.#withBlock(candidates, wanted), wanted.block)
    // Who is the only one that fits has had a turn as well.
    if (strategy === 'round-robin') return this.#nextInRound(fit)
    if (fit.length < 2) return fit[0] ?? null
    const { random, clock } = this.#options
    const qualities = qualitiesOf(fit, costClassOf(wanted.cost), clock.nowMs())
    const weights = weigh(strategy, qualities)
    explain?.(describe(fit, weights, qualities))
    return fit[draw(weights, random)] ?? null
  }

  /** The one whose last turn is longest ago; so that who is left out for a while upsets no order. */
  #nextInRound(candidates: readonly Upstream[]): Upstream | null {
    const turnOf = (each: Upstream) => this.#lastTurn.get(each) ?? 0
    const oldest = Math.min(...candidates.map(turnOf))
    const next = candidates.find((each) => turnOf(each) === oldest) ?? null
    if (next) this.#lastTurn.set(next, ++this.#turn)
    return next
  }

  /** Those that have the block; when none is known to, those that are nearest to the tip. */
  #withBlock(
    candidates: readonly Upstream[],
    wanted: Pick<Wanted, 'block' | 'byHash'>,
  ): readonly Upstream[] {
    const point = lastPointOf(wanted.block)
    if (candidates.length < 2) return candidates
    if (point?.kind === 'number') {
      const isBelieved = (each: Upstream) =>
        !this.#heads.runsAhead(each) || point.number <= (this.#heads.tip ?? 0)
      const having = candidates.filter(
        (each) => !each.latest || (each.latest.block >= point.number && isBelieved(each)),
      )
      if (having.length > 0) return having
    } else if (!isAboutTip(wanted)) return candidates
    // What has a hash may be of the newest block: one that lags would say that there is no such thing.
    const fresh = candidates.filter((each) => !this.#heads.lags(each))
    return fresh.length > 0
      ? orAll(fresh, (each) => !this.#heads.runsAhead(each))
      : leastLagging(candidates)
  }

  /** For a block far behind the tip, those that declare `archive`, where the pool has any. */
  #preferArchive(candidates: readonly Upstream[], block: BlockRef): readonly Upstream[] {
    const after = this.#options.iface.archiveAfterBlocks
    if (!this.#hasArchive || after === null || candidates.length < 2) return candidates
    const point = block.kind === 'range' ? block.from : block
    const old =
      (point.kind === 'tag' && point.tag === 'earliest') ||
      (point.kind === 'number' && point.number < (this.#heads.tip ?? 0) - after)
    return old ? orAll(candidates, (each) => each.serves(['archive'])) : candidates
  }
}

/** Those of whom none stands in an earlier place. */
function inEarliestPlace(
  upstreams: readonly Upstream[],
  standingOf: (each: Upstream) => Standing,
): readonly Upstream[] {
  const ranks = upstreams.map((each) => rankOf(standingOf(each)))
  const best = Math.min(...ranks)
  return upstreams.filter((_, index) => ranks[index] === best)
}

function describe(
  upstreams: readonly Upstream[],
  weights: readonly number[],
  qualities: readonly Qualities[],
): readonly Candidate[] {
  return qualities.map((each, index) => ({
    name: upstreams[index]?.name ?? '',
    weight: weights[index] ?? 0,
    ...each,
  }))
}

/** The place that it has by itself, whatever is asked for. */
function ownRankOf(upstream: Upstream): number {
  const { tier } = upstream
  return rankOf({ tier, isOnTrial: isOnTrial(upstream), isTried: false, fitness: 'fit' })
}

function isOnTrial({ availability }: Upstream): boolean {
  return availability.standing === 'disabled'
}

function orAll<T>(all: readonly T[], fits: (each: T) => boolean): readonly T[] {
  const fitting = all.filter(fits)
  return fitting.length > 0 ? fitting : all
}

function leastLagging(candidates: readonly Upstream[]): readonly Upstream[] {
  const least = Math.min(...candidates.map((each) => each.lagBlocks))
  return candidates.filter((each) => each.lagBlocks === least)
}
