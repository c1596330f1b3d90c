// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockPoint, BlockRef, Chain, ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { Strategy } from '../config/types.ts'
import type { NodeUrl } from './node-url.ts'
import type { PoolObserver, UpstreamState } from './observer.ts'
import { Heads } from './heads.ts'
import { qualitiesOf } from './qualities.ts'
import { costClassOf } from './score.ts'
import { draw, weigh, type Qualities } from './selection.ts'
import { isServing, type PoolSnapshot } from './snapshot.ts'
import type { Upstream } from './upstream.ts'

/** What an attempt needs of an upstream. */
export interface Wanted {
  /** Add-ons and extensions that the upstream must declare. */
  readonly addons: readonly string[]
  readonly block: BlockRef
  /** About one thing named by its hash, which may be as new as the newest block. */
  readonly byHash: boolean
  readonly cost: number
  /** Asked for by name: taken whenever it can serve at all. */
  readonly prefer: string | null
  /** Never these. */
  readonly excluded: readonly string[]
  /** Already asked on behalf of this call: only again when no other is left. */
  tried(upstream: string): boolean
  /** Rather none than one that was asked already. */
  readonly untriedOnly: boolean
}

/** A candidate as the draw saw it. */
export interface Candidate extends Qualities {
  readonly name: string
  readonly weight: number
}

/** Hears among whom lots were drawn; not when there was nothing to draw. */
export type Explain = (candidates: readonly Candidate[]) => void

/** A URL that asked to be left alone, and still is. */
export interface HeldOff {
  readonly upstream: Upstream
  readonly url: NodeUrl
}

export interface PoolOptions {
  readonly chain: Chain
  readonly iface: ChainInterface
  /** By which `snapshot` tells scores. */
  readonly strategy: Strategy
  readonly maxSessions: number
  readonly clock: Clock
  readonly random: Random
  readonly observer: PoolObserver
}

/** The upstreams of one chain and interface, and the choice among them. */
export class Pool {
  readonly upstreams: readonly Upstream[]
  readonly #options: PoolOptions
  readonly #hasArchive: boolean
  readonly #heads: Heads
  /** When each was last chosen, counted in choices. */
  readonly #lastTurn = new Map<Upstream, number>()
  #turn = 0

  constructor(upstreams: readonly Upstream[], options: PoolOptions) {
    this.upstreams = upstreams
    this.#options = options
    this.#heads = new Heads(upstreams, options)
    this.#hasArchive = upstreams.some((each) =>
      each.urls.some((url) => url.declaredAddons.includes('archive')),
    )
  }

  /** The chain's latest block, corroborated. Null while no eligible upstream has told one lately. */
  get tip(): number | null {
    return this.#heads.tip
  }

  /** Some upstream is in service, whatever a single call needs. */
  get hasEligible(): boolean {
    return this.upstreams.some((each) => isServing(this.stateOf(each)))
  }

  /** Some upstream could be asked now, be it on trial, whatever a single call needs. */
  get hasAny(): boolean {
    return this.upstreams.some((each) => each.serves([]))
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
  choose(wanted: Wanted, strategy: Strategy, explain?: Explain): Upstream | null {
    const preferred = this.preferred(wanted)
    if (preferred) return preferred
    return this.#pick(this.#nextOf(this.#able(wanted), wanted), wanted, strategy, explain)
  }

  /** Who could be asked next, were it not held off; the one that is so for the least time. */
  nextHeldOff({ excluded, addons }: Pick<Wanted, 'excluded' | 'addons'>): HeldOff | null {
    const heldOff = this.upstreams
      .filter((each) => !excluded.includes(each.name))
      .flatMap((upstream) =>
        upstream.urls
          .filter((url) => url.holdOff.active && url.isFor(addons))
          .map((url) => ({ upstream, url })),
      )
    return heldOff.toSorted((a, b) => a.url.holdOff.leftMs - b.url.holdOff.leftMs)[0] ?? null
  }

  /** All that may be asked at once for a write: every eligible primary, or every eligible backup. */
  chooseAll(wanted: Wanted): readonly Upstream[] {
    const eligible = this.upstreams.filter(
      (each) =>
        each.availability.standing === 'eligible' &&
        !wanted.excluded.includes(each.name) &&
        each.sessions < this.#options.maxSessions &&
        each.serves(wanted.addons),
    )
    const primaries = eligible.filter((each) => each.tier === 'primary')
    return primaries.length > 0 ? primaries : eligible
  }

  /**
   * An upstream told its latest block: by a probe, or in an answer to a client.
   * @param askedMs when it was asked
   */
  sighted(upstream: Upstream, block: number, askedMs: number): void {
    this.#heads.sighted(upstream, block, askedMs)
  }

  stateOf(upstream: Upstream): UpstreamState {
    const { standing } = upstream.availability
    if (standing !== 'eligible') return standing
    if (!upstream.serves([])) return 'held-off'
    return this.#heads.lags(upstream) ? 'lagging' : 'eligible'
  }

  snapshot(): PoolSnapshot {
    const { chain, clock, strategy } = this.#options
    const qualities = qualitiesOf(this.upstreams, 0, clock.nowMs())
    const weights = strategy === 'round-robin' ? qualities.map(() => 1) : weigh(strategy, qualities)
    const best = Math.max(...weights)
    return {
      tip: this.tip,
      upstreams: this.upstreams.map((each, index) => ({
        name: each.name,
        tier: each.tier,
        state: this.stateOf(each),
        sessions: each.sessions,
        latestBlock: each.latest?.block ?? null,
        lagBlocks: each.latest && each.lagBlocks,
        lagSeconds: each.latest && (each.lagBlocks * chain.blockTimeMs) / 1000,
        score: (weights[index] ?? 0) / best,
      })),
    }
  }

  async close(): Promise<void> {
    const urls = this.upstreams.flatMap((each) => [...each.urls, ...each.sockets])
    await Promise.all([...new Set(urls)].map((url) => url.transport.close()))
  }

  #able(wanted: Wanted): readonly Upstream[] {
    const { excluded, untriedOnly, tried, addons } = wanted
    const serving = this.upstreams.filter(
      (each) =>
        !excluded.includes(each.name) &&
        each.sessions < this.#options.maxSessions &&
        each.serves(addons),
    )
    if (!untriedOnly) return serving
    const untried = serving.filter(({ name }) => !tried(name))
    const least = Math.min(...untried.map(rankOf))
    const alike = serving.filter((each) => rankOf(each) === least)
    // Company that is behind would be the first to answer, with less than the one that has the block.
    return this.#withBlock(alike, wanted).filter(
      (each) => !tried(each.name) && this.#handicap(each, serving, wanted) === 0,
    )
  }

  /** Among whom the next one is chosen: of the best rank, and tried ones only when there are no others. */
  #nextOf(able: readonly Upstream[], wanted: Wanted): readonly Upstream[] {
    const ranks = able.map(
      (each) =>
        rankOf(each) + (wanted.tried(each.name) ? 4 : 0) + this.#handicap(each, able, wanted),
    )
    const best = Math.min(...ranks)
    return able.filter((_, index) => ranks[index] === best)
  }

  /** What being behind costs in rank: more than having failed the call, as long as that has not disabled. */
  #handicap(upstream: Upstream, able: readonly Upstream[], wanted: Wanted): number {
    if (!this.#heads.lags(upstream)) return 0
    const point = lastPointOf(wanted.block)
    // It would say that there is no such block, which is worse than no answer.
    if (point?.kind === 'number')
      return (upstream.latest?.block ?? Infinity) < point.number ? 16 : 0
    const isFresh = (each: Upstream) => !this.#heads.lags(each) && rankOf(each) <= rankOf(upstream)
    return isAboutTip(wanted) && able.some(isFresh) ? 5.5 : 0
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
        !this.#heads.runsAhead(each) || point.number <= (this.tip ?? 0)
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
      (point.kind === 'number' && point.number < (this.tip ?? 0) - after)
    return old ? orAll(candidates, (each) => each.serves(['archive'])) : candidates
  }
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

/** Primaries, then backups, then disabled ones on trial. */
function rankOf(upstream: Upstream): number {
  const tier = upstream.tier === 'primary' ? 0 : 1
  return upstream.availability.standing === 'disabled' ? 2 + tier : tier
}

function orAll<T>(all: readonly T[], fits: (each: T) => boolean): readonly T[] {
  const fitting = all.filter(fits)
  return fitting.length > 0 ? fitting : all
}

function leastLagging(candidates: readonly Upstream[]): readonly Upstream[] {
  const least = Math.min(...candidates.map((each) => each.lagBlocks))
  return candidates.filter((each) => each.lagBlocks === least)
}

/** About the latest state, or about what its hash names and may be as new. */
function isAboutTip({ block, byHash }: Pick<Wanted, 'block' | 'byHash'>): boolean {
  const point = lastPointOf(block)
  if (point?.kind === 'tag') return point.tag !== 'earliest'
  return point?.kind === 'hash' || (point === null && byHash)
}

/** The highest block that the call needs; null when it needs none. */
function lastPointOf(block: BlockRef): BlockPoint | null {
  if (block.kind === 'range') return block.to
  return block.kind === 'none' || block.kind === 'invalid' ? null : block
}
