// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { Strategy } from '../config/types.ts'
import type { NodeUrl } from './node-url.ts'
import type { PoolObserver, UpstreamState } from './observer.ts'
import { Picker, type Explain, type Wanted } from './pick.ts'
import { isServing, type PoolSnapshot } from './snapshot.ts'
import { hasJumped, Tip, type Pace } from './tip.ts'
import type { Upstream } from './upstream.ts'
import { floorOf, qualitiesOf, weightOf } from './weights.ts'

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
  readonly #tip: Tip
  readonly #picker: Picker

  constructor(upstreams: readonly Upstream[], options: PoolOptions) {
    this.upstreams = upstreams
    this.#options = options
    this.#tip = new Tip(upstreams, options)
    this.#picker = new Picker(upstreams, this.#tip, options)
  }

  /** The chain's latest block; null while no upstream in service has reported one lately. */
  get tip(): number | null {
    return this.#tip.block
  }

  /** How the chain grows, as its spec says. */
  get pace(): Pace {
    return this.#options.chain
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
    return this.#picker.repeats(wanted)
  }

  /** The one that is asked for by name, where it can serve and was not asked yet. */
  preferred(wanted: Wanted): Upstream | null {
    return this.#picker.preferred(wanted)
  }

  /** The upstream to ask next, or null when none may be asked. */
  choose(wanted: Wanted, strategy: Strategy, explain?: Explain): Upstream | null {
    return this.#picker.next(wanted, strategy, explain)
  }

  /** The URL that could be asked but for its cooldown: the one whose cooldown ends first. */
  nextInCooldown({
    excluded,
    addons,
  }: Pick<Wanted, 'excluded' | 'addons'>): { upstream: Upstream; url: NodeUrl } | null {
    const found = this.upstreams.flatMap((upstream) =>
      upstream.urls
        .filter(({ cooldown }) => cooldown.active && !excluded.includes(upstream.name))
        .filter((url) => url.isFor(addons))
        .map((url) => ({ upstream, url })),
    )
    return found.toSorted((a, b) => a.url.cooldown.leftMs - b.url.cooldown.leftMs)[0] ?? null
  }

  /** All that may be asked at once for a write: every eligible primary, or every eligible backup. */
  chooseAll(wanted: Wanted): readonly Upstream[] {
    return this.#picker.all(wanted)
  }

  /** Is called with a URL whose head has jumped: it is out of service until it is verified again. */
  onJump: ((upstream: Upstream, url: NodeUrl) => void) | null = null

  /**
   * An upstream reported its latest block: to a probe, or in an answer to a client.
   * @param askedMs when it was asked
   */
  observeHead(upstream: Upstream, block: number, askedMs: number, url = soleUrlOf(upstream)): void {
    const { chain, clock } = this.#options
    const nowMs = clock.nowMs()
    if (url && hasJumped(url, block, nowMs, chain)) {
      url.head = null
      url.verified = null
      this.onJump?.(upstream, url)
      return
    }
    if (url) url.head = { block, atMs: nowMs }
    this.#tip.observe(upstream, block, askedMs)
  }

  /** An upstream changed its state. */
  changed(): void {
    this.#picker.forget()
    this.#tip.update()
  }

  /** How many calls each upstream may answer at a time. */
  get maxSessions(): number {
    return this.#options.maxSessions
  }

  /** It answers as many calls as it may, and gets no other until one ends. */
  isFull(upstream: Upstream): boolean {
    return this.#picker.isFull(upstream)
  }

  stateOf(upstream: Upstream): UpstreamState {
    const { standing } = upstream.availability
    if (standing !== 'eligible') return standing
    if (!upstream.serves([]))
      return upstream.urls.some(({ verified }) => verified) ? 'held-off' : 'unverified'
    return upstream.lags ? 'lagging' : 'eligible'
  }

  snapshot(): PoolSnapshot {
    const scores = this.#scores()
    return {
      tip: this.tip,
      upstreams: this.upstreams.map((each) => ({
        name: each.name,
        tier: each.tier,
        state: this.stateOf(each),
        sessions: each.sessions,
        latestBlock: each.latest?.block ?? null,
        lagBlocks: each.latest && each.lagBlocks,
        lagSeconds: each.latest && (each.lagBlocks * this.#options.chain.blockTimeMs) / 1000,
        urlsInCooldown: each.allUrls.filter(({ cooldown }) => cooldown.active).length,
        score: scores.get(each) ?? null,
      })),
    }
  }

  async close(): Promise<void> {
    const urls = this.upstreams.flatMap((each) => each.allUrls)
    await Promise.all(urls.map((url) => url.transport.close()))
  }

  /** By what share of the best one's weight each is preferred; of those that may serve. */
  #scores(): ReadonlyMap<Upstream, number> {
    const { clock, strategy } = this.#options
    const known = this.upstreams.filter(({ availability: { standing } }) =>
      ['eligible', 'disabled'].includes(standing),
    )
    const qualities = qualitiesOf(known, 0, clock.nowMs())
    const raw = qualities.map((each) => weightOf(strategy, each))
    const floor = floorOf(raw)
    const weights = raw.map((weight) => Math.max(weight, floor))
    const best = Math.max(...weights)
    return new Map(known.map((each, index) => [each, (weights[index] ?? 0) / best]))
  }
}

/** Null where an upstream has several: which one an answer came from is not known. */
function soleUrlOf({ urls }: Upstream): NodeUrl | null {
  return urls.length === 1 ? (urls[0] ?? null) : null
}
