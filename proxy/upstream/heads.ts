// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import { lagOf, runsAhead } from './lag.ts'
import type { PoolObserver } from './observer.ts'
import {
  corroboratedTip,
  headInPace,
  isFarBelow,
  isOutvoted,
  sightingLifeMs,
  TipMemory,
  type Sighting,
} from './tip.ts'
import type { Upstream } from './upstream.ts'

export interface HeadsOptions {
  readonly chain: Chain
  readonly clock: Clock
  readonly observer: PoolObserver
}

/** What the upstreams of a pool tell of the chain's latest block, and where each stands by that. */
export class Heads {
  readonly #upstreams: readonly Upstream[]
  readonly #options: HeadsOptions
  readonly #memory = new TipMemory()
  /** The tip when it was last corroborated or shown, however long ago. */
  #agreed: Sighting | null = null
  /** Who could not show the block that it claimed to be its head. */
  readonly #boasting = new Set<Upstream>()
  readonly #lagging = new Set<Upstream>()
  /** Whose head is so high that nobody believes it. */
  readonly #ahead = new Set<Upstream>()

  constructor(upstreams: readonly Upstream[], options: HeadsOptions) {
    this.#upstreams = upstreams
    this.#options = options
  }

  get tip(): number | null {
    const { chain, clock } = this.#options
    const nowMs = clock.nowMs()
    const told = this.#told()
    const blocks = told.map(({ block }) => block)
    const tip = corroboratedTip(blocks, chain.allowedLagBlocks)
    if (tip === null) return this.#memory.recall(null, nowMs)
    const lone = this.#agreed && headInPace(told, this.#agreed, chain)
    // What one of several says alone may be taken back, and is not remembered.
    if (lone && lone.block > tip) return this.#memory.recall(lone.block, nowMs)
    const witnesses = blocks.filter((block) => block >= tip - chain.allowedLagBlocks)
    if (witnesses.length >= Math.min(2, this.#upstreams.length)) {
      this.#memory.keep(tip, nowMs)
      this.#agreed = { block: tip, atMs: nowMs }
    }
    return this.#memory.recall(tip, nowMs)
  }

  /**
   * The upstream has no block above this one yet, by the head that it told lately and the tip, as the
   * chain usually grows. Null where nothing is known.
   */
  horizonOf({ latest }: Upstream): number | null {
    const { chain, clock } = this.#options
    const { tip } = this
    const isKnown = latest !== null && clock.nowMs() - latest.atMs <= sightingLifeMs
    if (tip === null || !isKnown) return null
    // Both are from within the life of a sighting.
    const growth = Math.ceil(sightingLifeMs / chain.blockTimeMs)
    return Math.max(tip, latest.block) + chain.allowedLagBlocks + growth
  }

  /**
   * By how many blocks an answer about the newest state is off the tip, where that is more than an
   * upstream may be; else 0. One that is above counts where no other is near to it.
   * @param tipThen the tip when it was asked
   */
  blocksOff(upstream: Upstream, block: number, tipThen: number | null): number {
    const { chain, clock } = this.#options
    if (tipThen !== null && block < tipThen - chain.allowedLagBlocks) return tipThen - block
    const { tip } = this
    if (tip === null || block <= tip) return 0
    const head = { block, atMs: clock.nowMs() }
    const others = this.#told().filter((each) => each !== upstream.latest)
    return others.every((each) => isFarBelow(each, head, chain)) ? block - tip : 0
  }

  /** It is further behind the tip than the chain allows. */
  lags(upstream: Upstream): boolean {
    return this.#lagging.has(upstream)
  }

  /** It claims a head that no other is near to. */
  runsAhead(upstream: Upstream): boolean {
    return this.#ahead.has(upstream)
  }

  /** Its head is above the tip, and nobody knows whether there is such a block: it should show it. */
  isToShow({ latest }: Upstream): boolean {
    if (latest === null || latest.block <= (this.tip ?? Infinity)) return false
    const told = this.#told()
    const { chain } = this.#options
    const others = told.filter((each) => each !== latest)
    return (
      others.every((each) => isFarBelow(each, latest, chain)) && !isOutvoted(latest, told, chain)
    )
  }

  /** It was asked for the block of a height that it had told, and had it or not. */
  shown(upstream: Upstream, block: number, hasIt: boolean): void {
    if (hasIt) {
      this.#boasting.delete(upstream)
      const nowMs = this.#options.clock.nowMs()
      this.#agreed = { block, atMs: nowMs }
      this.#memory.keep(block, nowMs)
    } else this.#boasting.add(upstream)
    this.#judge()
  }

  /**
   * An upstream told its latest block. What it tells moves the tip, so all are judged anew.
   * @param askedMs when it was asked
   */
  sighted(upstream: Upstream, block: number, askedMs: number): void {
    const { latest } = upstream
    // An answer that was overtaken by a newer one tells how things were.
    if (latest && block < latest.block && askedMs < latest.atMs) return
    upstream.sighted(block)
    upstream.tipThen = this.tip
    this.#judge()
  }

  #judge(): void {
    const { tip } = this
    const told = this.#told()
    for (const each of this.#upstreams) {
      this.#judgeLag(each, tip)
      this.#judgeLead(each, told, tip)
    }
  }

  #judgeLag(upstream: Upstream, tip: number | null): void {
    const { chain, clock, observer } = this.#options
    upstream.lagBlocks = lagOf(upstream, tip, clock.nowMs(), chain.blockTimeMs)
    const lags = upstream.lagBlocks > chain.allowedLagBlocks
    if (lags === this.#lagging.has(upstream)) return
    if (lags) this.#lagging.add(upstream)
    else this.#lagging.delete(upstream)
    if (upstream.availability.standing !== 'eligible') return
    const why = lags ? `${upstream.lagBlocks} blocks behind the tip` : 'caught up'
    const [from, to] = lags
      ? (['eligible', 'lagging'] as const)
      : (['lagging', 'eligible'] as const)
    observer.stateChanged(upstream.name, from, to, why)
  }

  #judgeLead(upstream: Upstream, told: readonly Sighting[], tip: number | null): void {
    const { latest } = upstream
    const others = told.filter((each) => each !== latest)
    const isAbove = latest !== null && latest.block > (tip ?? 0)
    const boasts = this.#boasting.has(upstream)
    if (isAbove && runsAhead(latest, others, this.#options.chain, boasts)) this.#ahead.add(upstream)
    else this.#ahead.delete(upstream)
    if (!isAbove) this.#boasting.delete(upstream)
  }

  /** What eligible upstreams told lately of their latest blocks. */
  #told(): readonly Sighting[] {
    const sinceMs = this.#options.clock.nowMs() - sightingLifeMs
    const told: Sighting[] = []
    for (const { latest, availability } of this.#upstreams)
      if (latest && latest.atMs >= sinceMs && availability.standing === 'eligible')
        told.push(latest)
    return told
  }
}
