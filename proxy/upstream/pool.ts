// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import { exactText } from '../config/secret.ts'
import type { Live, NodeUrlConfig, RelayConfig, UpstreamConfig } from '../config/types.ts'
import type { ChainTracker } from '../tracker/chain-tracker.ts'
import { History } from '../tracker/history.ts'
import { hasJumped } from '../tracker/tip.ts'
import { Availability, Cooldown } from './health.ts'
import { type Members, NodeUrl, type SocketUrl, Upstream } from './upstream.ts'
import { isServing, type PoolObserver, type PoolSnapshot } from './observer.ts'
import { isExcluded, Picker, reaches, type Wanted } from './pick.ts'
import type { SocketTransport, Transport } from './wire.ts'
import { readTls } from './wire/upstream-target.ts'
import { floorOf } from './weights.ts'

export interface PoolOptions {
  readonly chain: Chain
  readonly iface: ChainInterface
  /** Shared by all interfaces of the chain. */
  readonly tracker: ChainTracker
  /** With the strategy by which `snapshot` computes scores. */
  readonly config: Live<Pick<RelayConfig, 'strategy'>>
  readonly maxSessions: number
  readonly failureThreshold: number
  /** At the end of an epoch disabled upstreams are retried. */
  readonly epochDurationMs?: number
  readonly createTransport: (url: NodeUrlConfig) => Transport
  /** For ws and wss URLs. */
  readonly createSocketTransport: (url: NodeUrlConfig) => SocketTransport
  readonly clock: Clock
  readonly random: Random
  readonly observer: PoolObserver
}

/** The upstreams of another config, made and not yet taken over. */
export interface Change {
  /** All of them, in the order of the config. */
  readonly upstreams: readonly Upstream[]
  /** Those that the pool does not have. */
  readonly added: readonly Upstream[]
}

/** An upstream will not soon reach a floor that is further than this above its head. */
const maxAheadBlocks = 1_000

/** The upstreams of one chain and interface. */
export class Pool implements Members {
  upstreams: readonly Upstream[] = []
  /** Which of them an attempt goes to. */
  readonly pick: Picker
  readonly tracker: ChainTracker
  readonly #options: PoolOptions
  readonly #fingerprints = new WeakMap<Upstream, string>()
  /** Those that are not in the pool yet, or no more and have calls to end. */
  readonly #apart = new Set<Upstream>()

  constructor(options: PoolOptions) {
    this.#options = options
    this.tracker = options.tracker
    this.tracker.join(this)
    this.pick = new Picker(this, this.tracker, options)
  }

  /**
   * Makes the upstreams of another config. One that it has unchanged is the same as before, with all that is known of it.
   * The pool itself stays as it is. @throws TlsFileError
   */
  prepare(configs: readonly UpstreamConfig[]): Change {
    const known = new Map(this.upstreams.map((each) => [this.#fingerprints.get(each), each]))
    const upstreams = configs.map((config) => {
      const fingerprint = fingerprintOf(config)
      const upstream = known.get(fingerprint) ?? this.#make(config)
      this.#fingerprints.set(upstream, fingerprint)
      return upstream
    })
    const added = upstreams.filter((each) => !this.upstreams.includes(each))
    for (const each of added) this.#apart.add(each)
    return { upstreams, added }
  }

  /** Takes a change over at once. An upstream that is removed gets no more calls, and ends those that it has. */
  commit({ upstreams }: Change): void {
    const removed = this.upstreams.filter((each) => !upstreams.includes(each))
    this.upstreams = upstreams
    for (const each of upstreams) this.#apart.delete(each)
    this.changed()
    this.#remove(removed)
  }

  /** Leaves a change alone: what is new of it is let go. */
  discard({ added }: Change): void {
    this.#remove(added)
  }

  #remove(upstreams: readonly Upstream[]): void {
    for (const each of upstreams) {
      this.#apart.add(each)
      // Its subscriptions leave now, so that its sockets have nothing more to wait for than calls.
      each.removal.abort()
      const ended = each.allUrls.map(({ transport }) => transport.close(true))
      void Promise.all(ended).then(() => this.#apart.delete(each))
    }
  }

  /** The chain's latest block; null while no upstream in service has reported one lately. */
  get tip(): number | null {
    return this.tracker.tip
  }

  /** Some upstream is in service, whatever a single call needs. */
  get hasEligible(): boolean {
    return this.#anyServes(this.upstreams)
  }

  /** With this change nobody would serve, and somebody does now. */
  wouldEnd({ upstreams }: Change): boolean {
    return this.hasEligible && !this.#anyServes(upstreams)
  }

  #anyServes(upstreams: readonly Upstream[]): boolean {
    return upstreams.some(({ state }) => isServing(state))
  }

  /** Some upstream could be asked now, be it on trial, whatever a single call needs. */
  get hasAny(): boolean {
    return this.upstreams.some((each) => each.serves([]))
  }

  /**
   * A URL that the call could use is still in its first verification, or in the one after a jump of its head. A URL that
   * did not answer is waited for only while no upstream is in service.
   */
  isVerifying(wanted: Wanted): boolean {
    const { hasEligible } = this
    return this.upstreams.some(
      (each) =>
        !isExcluded(each, wanted) &&
        each.unverified(wanted.addons).some(({ isUnreached }) => !isUnreached || !hasEligible),
    )
  }

  /** An upstream that the call may use lacks the block of its floor, but may soon have it. */
  mayReach(wanted: Wanted): boolean {
    const { floor = null } = wanted
    return (
      floor !== null &&
      this.upstreams.some(
        (each) =>
          !isExcluded(each, wanted) &&
          !reaches(each, floor) &&
          (each.latest === null || reaches(each, floor - maxAheadBlocks)),
      )
    )
  }

  /** The URL that could be asked but for its cooldown: the one whose cooldown ends first. */
  nextInCooldown(wanted: Wanted): { upstream: Upstream; url: NodeUrl } | null {
    const found = this.upstreams.flatMap((upstream) =>
      upstream.urls
        .filter(({ cooldown }) => cooldown.active && !isExcluded(upstream, wanted))
        .filter((url) => url.isFor(wanted.addons))
        .map((url) => ({ upstream, url })),
    )
    return found.toSorted((a, b) => a.url.cooldown.leftMs - b.url.cooldown.leftMs)[0] ?? null
  }

  /** Is called with a URL whose head has jumped: it is out of service until it is verified again. */
  onJump: ((upstream: Upstream, url: NodeUrl) => void) | null = null

  /** Asks upstreams for their heads: they are wanted sooner than they are usually followed. */
  pollHeads: ((maxAgeMs?: number) => unknown) | null = null

  /** Called when a URL reports a higher block than before to this replica. */
  onRise: ((upstream: Upstream, url: NodeUrl, block: number) => void) | null = null

  /**
   * An upstream reported its latest block: to a probe, or in an answer to a client.
   * @param askedMs when it was asked
   * @param ageMs the time since it reported the block to another replica; null if it reported to this one
   */
  observeHead(
    upstream: Upstream,
    block: number,
    askedMs: number,
    url: NodeUrl,
    ageMs: number | null = null,
  ): void {
    const { chain, clock, observer } = this.#options
    const nowMs = clock.nowMs()
    // An answer that a newer one has overtaken is no jump backwards, and one from before a jump is not the head.
    if (url.head && block < url.head.block && askedMs < url.head.atMs) return
    if (askedMs < url.jumpedMs) return
    if (hasJumped(url, block, nowMs, chain)) {
      const why = `went from ${url.head?.block} to ${block}: verified again before it serves`
      observer.verificationFailed(upstream.name, url.printable, 'head', why)
      url.head = null
      url.jumpedMs = nowMs
      url.history = new History()
      url.verified = null
      url.isUnreached = false
      upstream.status = null
      url.refusal = `head: ${why}`
      upstream.updateState()
      this.onJump?.(upstream, url)
      return
    }
    const isRise = ageMs === null && block > (url.head?.block ?? 0)
    url.head = { block, atMs: nowMs - (ageMs ?? 0) }
    this.tracker.observeHead(upstream, block, askedMs, ageMs ?? 0)
    if (isRise) this.onRise?.(upstream, url, block)
  }

  /** An upstream changed its state. */
  changed(): void {
    this.pick.forget()
    this.tracker.update()
  }

  snapshot(): PoolSnapshot {
    const scores = this.#scores()
    const { chain, clock } = this.#options
    return {
      tip: this.tip,
      tipAgeMs: this.tracker.tipAgeMs,
      blockTimeMs: chain.blockTimeMs,
      upstreams: this.upstreams.map((each) => ({
        name: each.name,
        tier: each.tier,
        ...each.record,
        fault: each.fault,
        sessions: each.usedSlots,
        latestBlock: each.latest?.block ?? null,
        lagBlocks: each.latest && each.lagBlocks,
        oldestBlocks: each.oldestBlocks,
        lagSeconds: each.latest && (each.lagBlocks * chain.blockTimeMs) / 1000,
        ...cooldownsOf(each),
        latencyMs: each.score.latencyMs(clock.nowMs()),
        score: scores.get(each) ?? null,
      })),
    }
  }

  async close(): Promise<void> {
    const urls = [...this.upstreams, ...this.#apart].flatMap((each) => each.allUrls)
    await Promise.all(urls.map((url) => url.transport.close()))
  }

  #make(config: UpstreamConfig): Upstream {
    const { clock, random, observer, failureThreshold, epochDurationMs } = this.#options
    const availability = new Availability(failureThreshold, (from, to, why) => {
      if (to === 'eligible' && from !== 'unverified') upstream.rejoined()
      upstream.updateState(why)
      this.changed()
    })
    const sockets: SocketUrl[] = []
    const others: NodeUrl[] = []
    for (const url of config.nodeUrls) {
      const cooldown = new Cooldown(clock, random, (forMs, why) => {
        observer.cooldownBegan(config.name, url.url.toString(), forMs, why)
        upstream.updateState()
      })
      if (url.scheme === 'ws' || url.scheme === 'wss')
        sockets.push(new NodeUrl(url, this.#options.createSocketTransport(url), cooldown))
      else others.push(new NodeUrl(url, this.#options.createTransport(url), cooldown))
    }
    const urls = others.length > 0 ? others : sockets
    const upstream = new Upstream(config, { urls, sockets }, availability, clock, epochDurationMs)
    upstream.onState = (from, to) => observer.stateChanged(config.name, from, to)
    return upstream
  }

  /** By what share of the best one's weight each is preferred; of those that may serve. */
  #scores(): ReadonlyMap<Upstream, number> {
    const weights = this.pick.weights(this.#options.config.now.strategy)
    const known = this.upstreams.filter(({ availability: { standing } }) =>
      ['eligible', 'disabled'].includes(standing),
    )
    const raw = known.map((each) => weights.get(each)?.weight ?? 0)
    const floor = floorOf(raw)
    const best = Math.max(floor, ...raw)
    return new Map(known.map((each, at) => [each, Math.max(raw[at] ?? 0, floor) / best]))
  }
}

function cooldownsOf({ allUrls }: Upstream) {
  const left = allUrls.map(({ cooldown }) => cooldown.leftMs).filter((ms) => ms > 0)
  return {
    urlsInCooldown: left.length,
    cooldownLeftMs: left.length === 0 ? null : Math.min(...left),
  }
}

/** Makes the upstreams of one chain and interface from its part of the config. Nothing is sent yet. @throws TlsFileError */
export function createPool(configs: readonly UpstreamConfig[], options: PoolOptions): Pool {
  const pool = new Pool(options)
  pool.commit(pool.prepare(configs))
  return pool
}

/** Equal for configs that make the same upstream, also by what is in their files. @throws TlsFileError */
function fingerprintOf(config: UpstreamConfig): string {
  const files = config.nodeUrls.map(({ tls }) => readTls(tls))
  return hash('sha256', exactText([config, files]))
}
