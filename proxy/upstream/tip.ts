// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { PoolObserver } from './observer.ts'
import type { Head, Members, NodeUrl, Upstream } from './upstream.ts'

/** The part of a chain's spec that says how it grows. */
type Pace = Pick<Chain, 'allowedLagBlocks' | 'blockTimeMs'>

/** A head that was reported longer ago than this does not count for the tip. */
const headLifeMs = 60_000
/** A head that has not risen for so many block times stands still. */
const stillAfterBlocks = 3
/** A chain may run so many times faster than its spec says: one that extends ETH1 and names no block time. */
const fastest = 10

/** The most blocks that a chain can have grown by, within the allowed lag. */
function maxGrowth(elapsedMs: number, { allowedLagBlocks, blockTimeMs }: Pace): number {
  return allowedLagBlocks + fastest * (1 + Math.floor(elapsedMs / blockTimeMs))
}

/** Each time that a URL passes verification after a jump, twice as long a jump is its habit. */
const maxHabit = 64

/** Whether the head of a URL went further, forwards or backwards, than the chain can have grown: it may be of another chain. */
export function hasJumped(
  { head, jumpsPassed }: Pick<NodeUrl, 'head' | 'jumpsPassed'>,
  block: number,
  nowMs: number,
  pace: Pace,
): boolean {
  if (head === null) return false
  const habit = Math.min(2 ** jumpsPassed, maxHabit)
  return Math.abs(block - head.block) > habit * maxGrowth(nowMs - head.atMs, pace)
}

/**
 * The tip by the heads of upstreams in service: the highest one that two of them have reached or are within
 * the allowed lag of. Of one or two heads: the highest that still rises and is not above what the chain can
 * have grown to, as far as there is one.
 * @param before the tip and when it was known
 * @returns null without a head
 */
export function tipOf(
  heads: readonly Head[],
  before: Pick<Head, 'block' | 'atMs'> | null,
  pace: Pace,
  nowMs: number,
): number | null {
  const [highest, second] = heads.toSorted((a, b) => b.block - a.block)
  if (!highest) return null
  if (heads.length > 2 && second)
    return second.block >= highest.block - pace.allowedLagBlocks ? highest.block : second.block
  const rises = ({ roseMs }: Head) => nowMs - roseMs <= stillAfterBlocks * pace.blockTimeMs
  const maxBlock = before ? before.block + maxGrowth(nowMs - before.atMs, pace) : Infinity
  const rising = orAll(heads, rises)
  const plausible = orAll(rising, ({ block }) => block <= maxBlock)
  return Math.max(...plausible.map(({ block }) => block))
}

/**
 * How many blocks an upstream is behind the tip: as many as when it reported its head, and those that the tip
 * has grown by since, beyond the usual pace of the chain. So one that was asked a while ago does not lag.
 * @param tipThen the tip when the head was reported; null where it was unknown
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

export interface TipOptions {
  readonly chain: Chain
  readonly clock: Clock
  readonly observer: PoolObserver
}

/** The chain's latest block as the upstreams of one pool report it, and which of them lag behind it. */
export class Tip {
  readonly #pool: Members
  readonly #options: TipOptions
  #last: Head | null = null

  constructor(pool: Members, options: TipOptions) {
    this.#pool = pool
    this.#options = options
  }

  /** Null while no upstream in service has reported a head lately. */
  get block(): number | null {
    const { chain, clock } = this.#options
    const nowMs = clock.nowMs()
    return tipOf(this.#heads(nowMs), this.#last, chain, nowMs)
  }

  /** Since the tip last rose; null before it was known. */
  get ageMs(): number | null {
    return this.#last && this.#options.clock.nowMs() - this.#last.roseMs
  }

  /**
   * An upstream reported its latest block.
   * @param askedMs when it was asked: an answer that a newer one has overtaken lowers no head
   */
  observe(upstream: Upstream, block: number, askedMs: number): void {
    const before = upstream.latest
    if (before && block < before.block && askedMs < before.atMs) return
    const nowMs = this.#options.clock.nowMs()
    const isHigher = before === null || block > before.block
    upstream.latest = { block, atMs: nowMs, roseMs: isHigher ? nowMs : before.roseMs }
    const tip = this.block
    upstream.tipThen = tip
    this.update(tip)
  }

  /** An upstream reported its head, came into service or left it. */
  update(tip = this.block): void {
    const { chain, clock, observer } = this.#options
    const nowMs = clock.nowMs()
    if (tip !== null) {
      const last = this.#last
      this.#last = {
        block: tip,
        atMs: nowMs,
        roseMs: last && tip <= last.block ? last.roseMs : nowMs,
      }
    }
    for (const each of this.#pool.upstreams) {
      const { name, latest, tipThen, availability } = each
      each.lagBlocks = lagOf(latest, tipThen, tip, nowMs, chain.blockTimeMs)
      const lags = each.lagBlocks > chain.allowedLagBlocks
      if (lags === each.lags) continue
      each.lags = lags
      if (availability.standing !== 'eligible') continue
      const why = whyLagging(each)
      if (lags) observer.stateChanged(name, 'eligible', 'lagging', why)
      else observer.stateChanged(name, 'lagging', 'eligible', 'caught up')
    }
  }

  #heads(nowMs: number): readonly Head[] {
    const heads: Head[] = []
    for (const { latest, availability } of this.#pool.upstreams)
      if (latest && nowMs - latest.atMs <= headLifeMs && availability.standing === 'eligible')
        heads.push(latest)
    return heads
  }
}

/** A node that does not answer is behind as well. */
export function whyLagging({
  lagBlocks,
  trouble,
}: Pick<Upstream, 'lagBlocks' | 'trouble'>): string {
  return `${lagBlocks} blocks behind the tip${trouble === null ? '' : `; ${trouble}`}`
}

function orAll<T>(all: readonly T[], isWanted: (each: T) => boolean): readonly T[] {
  const wanted = all.filter(isWanted)
  return wanted.length > 0 ? wanted : all
}
