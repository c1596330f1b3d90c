// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { NodeUrlConfig, Strategy, UpstreamConfig } from '../config/types.ts'
import { Availability, Cooldown } from './health.ts'
import { NodeUrl, type SocketUrl, Upstream } from './upstream.ts'
import { isServing, type PoolObserver, type PoolSnapshot, type UpstreamState } from './observer.ts'
import { Picker, type Wanted } from './pick.ts'
import { hasJumped, Tip } from './tip.ts'
import type { SocketTransport, Transport } from './wire.ts'
import { floorOf } from './weights.ts'

export interface PoolOptions {
  readonly chain: Chain
  readonly iface: ChainInterface
  /** By which `snapshot` computes scores. */
  readonly strategy: Strategy
  readonly maxSessions: number
  readonly failureThreshold: number
  readonly createTransport: (url: NodeUrlConfig) => Transport
  /** For ws and wss URLs. */
  readonly createSocketTransport: (url: NodeUrlConfig) => SocketTransport
  readonly clock: Clock
  readonly random: Random
  readonly observer: PoolObserver
}

/** The upstreams of one chain and interface. */
export class Pool {
  readonly upstreams: readonly Upstream[]
  /** Which of them an attempt goes to. */
  readonly pick: Picker
  readonly #options: PoolOptions
  readonly #tip: Tip

  constructor(upstreams: readonly Upstream[], options: PoolOptions) {
    this.upstreams = upstreams
    this.#options = options
    this.#tip = new Tip(upstreams, options)
    this.pick = new Picker(upstreams, this.#tip, options)
  }

  /** The chain's latest block; null while no upstream in service has reported one lately. */
  get tip(): number | null {
    return this.#tip.block
  }

  /** Some upstream is in service, whatever a single call needs. */
  get hasEligible(): boolean {
    return this.upstreams.some((each) => isServing(this.stateOf(each)))
  }

  /** Some upstream could be asked now, be it on trial, whatever a single call needs. */
  get hasAny(): boolean {
    return this.upstreams.some((each) => each.serves([]))
  }

  /** No upstream is in service, and some URL has not been verified yet, or not again since its head jumped. */
  isVerifying({ excluded, addons }: Pick<Wanted, 'excluded' | 'addons'>): boolean {
    if (this.hasEligible) return false
    return this.upstreams.some(
      ({ name, urls }) =>
        !excluded.includes(name) &&
        urls.some(
          ({ verified, declaredAddons }) =>
            verified === null && addons.every((addon) => declaredAddons.includes(addon)),
        ),
    )
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

  /** Is called with a URL whose head has jumped: it is out of service until it is verified again. */
  onJump: ((upstream: Upstream, url: NodeUrl) => void) | null = null

  /** Asks upstreams for their heads: they are wanted sooner than they are usually followed. */
  askHeads: (() => void) | null = null

  /**
   * An upstream reported its latest block: to a probe, or in an answer to a client.
   * @param askedMs when it was asked
   */
  observeHead(upstream: Upstream, block: number, askedMs: number, url: NodeUrl): void {
    const { chain, clock } = this.#options
    const nowMs = clock.nowMs()
    // An answer that a newer one has overtaken is no jump backwards.
    if (url.head && block < url.head.block && askedMs < url.head.atMs) return
    if (hasJumped(url, block, nowMs, chain)) {
      url.head = null
      url.verified = null
      this.onJump?.(upstream, url)
      return
    }
    url.head = { block, atMs: nowMs }
    this.#tip.observe(upstream, block, askedMs)
  }

  /** An upstream changed its state. */
  changed(): void {
    this.pick.forget()
    this.#tip.update()
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
    const weights = this.pick.weights(this.#options.strategy)
    const known = this.upstreams.filter(({ availability: { standing } }) =>
      ['eligible', 'disabled'].includes(standing),
    )
    const raw = known.map((each) => weights.get(each)?.weight ?? 0)
    const floor = floorOf(raw)
    const best = Math.max(floor, ...raw)
    return new Map(known.map((each, at) => [each, Math.max(raw[at] ?? 0, floor) / best]))
  }
}

/** Makes the upstreams of one chain and interface from its part of the config. Nothing is sent yet. */
export function createPool(configs: readonly UpstreamConfig[], options: PoolOptions): Pool {
  const { clock, random, observer, failureThreshold } = options
  const upstreams = configs.map((config) => {
    const availability = new Availability(failureThreshold, (from, to, why) => {
      if (to === 'eligible' && from !== 'unverified') upstream.rejoined()
      observer.stateChanged(config.name, from, to, why)
      pool.changed()
    })
    const sockets: SocketUrl[] = []
    const others: NodeUrl[] = []
    for (const url of config.nodeUrls) {
      const cooldown = new Cooldown(clock, random, (forMs) =>
        observer.cooldownBegan(config.name, url.url.toString(), forMs),
      )
      if (url.scheme === 'ws' || url.scheme === 'wss')
        sockets.push(new NodeUrl(url, options.createSocketTransport(url), cooldown))
      else others.push(new NodeUrl(url, options.createTransport(url), cooldown))
    }
    const urls = others.length > 0 ? others : sockets
    const upstream = new Upstream(config, { urls, sockets }, availability, clock)
    return upstream
  })
  const pool = new Pool(upstreams, options)
  return pool
}
