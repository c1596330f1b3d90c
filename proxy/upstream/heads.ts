// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Verdict } from './block-dates.ts'
import { Disputes, type Dispute } from './disputes.ts'
import { lagOf } from './lag.ts'
import { Liars } from './liars.ts'
import { headInPace, isFarBelow, isInPace, isOutvoted, runsAhead } from './lone-head.ts'
import type { PoolObserver } from './observer.ts'
import { SeenPace, type BoundedPace } from './seen-pace.ts'
import { corroboratedTip, sightingLifeMs, TipMemory, type Sighting } from './tip.ts'
import type { Upstream } from './upstream.ts'

export interface HeadsOptions {
  readonly chain: Chain
  readonly clock: Clock
  readonly observer: PoolObserver
}

type Heard = Upstream & { readonly latest: Sighting }

/** What the upstreams of a pool tell of the chain's latest block, and where each stands by that. */
export class Heads {
  readonly #upstreams: readonly Upstream[]
  readonly #options: HeadsOptions
  readonly #memory = new TipMemory()
  readonly #seenPace: SeenPace<Upstream>
  /** The tip when it was last corroborated or settled, however long ago. */
  #agreed: Sighting | null = null
  readonly #disputes = new Disputes()
  readonly #lagging = new Set<Upstream>()
  readonly #liars: Liars
  /** Whose head is so high that nobody believes it. */
  readonly #ahead = new Set<Upstream>()

  constructor(upstreams: readonly Upstream[], options: HeadsOptions) {
    this.#upstreams = upstreams
    this.#options = options
    this.#seenPace = new SeenPace(options.chain)
    this.#liars = new Liars(options.clock)
  }

  get tip(): number | null {
    const heard = this.#heard()
    const tip = corroboratedTip(heard.map(latestOf), this.pace)
    return this.#memory.recall(
      tip === null ? null : (this.#loneHead(heard, tip) ?? tip),
      this.#options.clock.nowMs(),
    )
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
    const growth = Math.ceil(sightingLifeMs / this.pace.blockTimeMs)
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
    // Nobody believes a liar that it is only the first to see a block.
    if (this.#liars.has(upstream) && others.length > 0) return block - tip
    // Of two that disagree nobody knows who is right, until the blocks themselves have shown it; but no chain leaps.
    const isLeap = this.#agreed !== null && !isInPace(head, this.#agreed, this.pace)
    const isDoubted = this.#disputes.isRefuted(upstream) || isLeap
    return runsAhead(head, others, this.pace, isDoubted) ? block - tip : 0
  }

  /** How the chain grows, as far as that was seen. */
  get pace(): BoundedPace {
    return this.#seenPace.value
  }

  /** It is further behind the tip than the chain allows. */
  lags(upstream: Upstream): boolean {
    return this.#lagging.has(upstream)
  }

  /** It claims a head that no other is near to. */
  runsAhead(upstream: Upstream): boolean {
    return this.#ahead.has(upstream)
  }

  /**
   * Who disagrees on the tip now that this one has told its head, where nobody knows who is right: it is
   * far above all others itself, or another is, and was believed against others than these.
   */
  disputeOf(upstream: Upstream): Dispute | null {
    const { tip } = this
    const { believed } = this.#disputes
    const isAbove = upstream.latest !== null && upstream.latest.block > (tip ?? Infinity)
    const heard = this.#heard()
    const [highest] = heard.toSorted((a, b) => b.latest.block - a.latest.block)
    const higher = isAbove ? upstream : (believed ?? highest)
    const head = higher?.latest
    if (!higher || !head || head.block < (tip ?? Infinity)) return null
    const lower = heard.filter((each) => each !== higher)
    if (lower.length === heard.length) return null
    const isFar = ({ latest }: Heard) => isFarBelow(latest, head, this.pace)
    const told = heard.map(latestOf)
    if (lower.length === 0 || !lower.every(isFar)) return null
    const nowMs = this.#options.clock.nowMs()
    const outvoted = isOutvoted(head, told, this.pace)
    // Against two it is asked once a minute, so that whoever speaks may be the reason; else one below
    // is when nothing was said of the head above, which was told before anybody could disagree.
    const mayAsk = isAbove || believed || outvoted
    if (!mayAsk && this.#disputes.wasAskedSince(higher, head.atMs)) return null
    // Where none of them goes on, the chain may stand still.
    const mayGoOn = (each: Upstream) =>
      ['goes-on', 'new'].includes(this.#seenPace.progressOf(each, nowMs))
    if (outvoted && !lower.some(mayGoOn)) return null
    const dispute = { higher, block: head.block, lower, isOutvoted: outvoted }
    // Who was believed and has grown faster than was known may be right all the same.
    const hasLeft = believed === higher && this.#agreed && !isInPace(head, this.#agreed, this.pace)
    return !hasLeft && this.#disputes.isSettled(dispute, nowMs) ? null : dispute
  }

  /** @param verdicts what the times of the blocks tell, for each of the lower heads; null: somebody could not be asked */
  settled(dispute: Dispute, verdicts: readonly Verdict[] | null): void {
    const nowMs = this.#options.clock.nowMs()
    this.#disputes.asked(dispute, nowMs)
    if (verdicts === null) return
    const ruling = this.#disputes.rule(dispute, verdicts, nowMs)
    if (ruling === 'open') return
    if (ruling === 'believed') this.#agreed = { block: dispute.block, atMs: nowMs }
    if (ruling === 'withdrawn') this.#withdraw()
    else this.#judge()
  }

  /** Who was believed against all others is not believed any more. */
  #withdraw(): void {
    this.#disputes.withdraw()
    this.#agreed = null
    this.#remember()
    this.#judge()
  }

  /** Who was overruled before it could be known whether the chain goes on, and has stood still since: perhaps it does not. */
  #reconsider(nowMs: number): void {
    const { overruled } = this.#disputes
    const isStill = (each: Upstream) => this.#seenPace.progressOf(each, nowMs) === 'still'
    if (overruled.length > 0 && overruled.every(isStill)) this.#withdraw()
  }

  /**
   * An upstream told its latest block. What it tells moves the tip, so all are judged anew.
   * @param askedMs when it was asked
   */
  sighted(upstream: Upstream, block: number, askedMs: number): void {
    const { latest } = upstream
    // An answer that was overtaken by a newer one tells how things were.
    if (latest && block < latest.block && askedMs < latest.atMs) return
    const head = upstream.sighted(block)
    this.#seenPace.told(upstream, head, this.#heard())
    this.#reconsider(head.atMs)
    this.#remember()
    const { tip } = this
    upstream.tipThen = tip
    this.#judge(tip)
  }

  /** An upstream told what cannot be true. */
  caught(upstream: Upstream): void {
    const isNews = this.#liars.caught(upstream)
    if (isNews) this.#judge()
  }

  /** The head of one alone that is above what the others agree on, and in pace. */
  #loneHead(heard: readonly Heard[], tip: number): number | null {
    const told = this.#disputes.votersAmong(heard).map(latestOf)
    const lone = this.#agreed && headInPace(told, this.#agreed, this.pace)
    return lone && lone.block > tip ? lone.block : null
  }

  /** What one of several says alone may be taken back, and is not remembered. */
  #remember(): void {
    const { chain, clock } = this.#options
    const heard = this.#heard()
    const told = heard.map(latestOf)
    const tip = corroboratedTip(told, this.pace)
    if (tip === null) return
    const witnesses = told.filter(({ block }) => block >= tip - chain.allowedLagBlocks)
    if (witnesses.length < Math.min(2, this.#upstreams.length)) return
    this.#memory.keep(tip, clock.nowMs())
    const { believed } = this.#disputes
    const isOverruled = heard.some((each) => each === believed && each.latest.block > tip)
    if (isOverruled || this.#loneHead(heard, tip) !== null) return
    this.#agreed = { block: tip, atMs: Math.max(...witnesses.map(({ atMs }) => atMs)) }
  }

  /** An upstream came into service: what it told before counts from now on. */
  joined(): void {
    this.#remember()
    this.#judge()
  }

  #judge(tip = this.tip): void {
    const told = this.#told()
    for (const each of this.#upstreams) {
      this.#judgeLag(each, tip)
      this.#judgeLead(each, told, tip)
    }
  }

  #judgeLag(upstream: Upstream, tip: number | null): void {
    const { chain, clock, observer } = this.#options
    upstream.lagBlocks = lagOf(upstream, tip, clock.nowMs(), this.pace.blockTimeMs)
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
    const isRefuted = this.#disputes.isRefuted(upstream)
    if (isAbove && runsAhead(latest, others, this.pace, isRefuted)) this.#ahead.add(upstream)
    else this.#ahead.delete(upstream)
    if (!isAbove) this.#disputes.forgive(upstream)
  }

  /** Eligible upstreams that told their latest block lately; those that lied lately only where nobody else did. */
  #heard(): readonly Heard[] {
    const sinceMs = this.#options.clock.nowMs() - sightingLifeMs
    const heard = this.#upstreams.filter(
      (each): each is Heard =>
        each.latest !== null &&
        each.latest.atMs >= sinceMs &&
        each.availability.standing === 'eligible',
    )
    return this.#liars.without(heard)
  }

  #told(): readonly Sighting[] {
    return this.#heard().map(latestOf)
  }
}

function latestOf({ latest }: Heard): Sighting {
  return latest
}
