// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import { MethodRule } from '../chain/method-rule.ts'
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import { exactText } from '../config/secret.ts'
import type { Live, NodeUrlConfig, RelayConfig, UpstreamConfig } from '../config/types.ts'
import type { ChainTracker } from '../tracker/chain-tracker.ts'
import { hasJumped } from '../tracker/tip.ts'
import type { ChosenUrl } from './candidates.ts'
import { verificationsOf } from './probe.ts'
import { Availability, Cooldown, rateLimited } from './health.ts'
import { type Members, Upstream } from './upstream.ts'
import {
  isServing,
  type PoolObserver,
  type PoolSnapshot,
  type UpstreamSnapshot,
} from './observer.ts'
import { Picker } from './pick.ts'
import { isExcluded, isPermitted, reaches, type Wanted } from './wanted.ts'
import type { SocketTransport, Transport } from './wire.ts'
import { readTls } from './wire/upstream-target.ts'
import { RateLimit } from './rate-limit.ts'
import { floorOf } from './weights.ts'
import { NodeUrl, type SocketUrl } from './node-url.ts'

export interface PoolOptions {
  readonly chain: Chain
  readonly iface: ChainInterface
  /** Shared by all interfaces of the chain. */
  readonly tracker: ChainTracker
  /** Contains the strategy for the scores of `snapshot`. */
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

/** The prepared upstreams of a new config. */
export interface Change {
  /** All of them, in the order of the config. */
  readonly upstreams: readonly Upstream[]
  /** Those that the pool does not have. */
  readonly added: readonly Upstream[]
}

/** An upstream is not expected to reach a floor that is further above its head soon. */
export const maxAheadBlocks = 1_000

const fluttering = 'its head jumped back # times: several nodes behind one URL?'
/** How often a head must fall beyond the allowed lag to be a fault, and within which pauses. */
const flutter = { falls: 3, forMs: 2 * 60_000 } as const

/** The upstreams of one chain and interface. */
export class Pool implements Members {
  upstreams: readonly Upstream[] = []
  /** Selects the upstream of an attempt. */
  readonly pick: Picker
  readonly tracker: ChainTracker
  readonly #options: PoolOptions
  readonly #fingerprints = new WeakMap<Upstream, string>()
  /** Upstreams that are not in the pool yet, and removed ones that still have calls. */
  readonly #apart = new Set<Upstream>()

  constructor(options: PoolOptions) {
    this.#options = options
    this.tracker = options.tracker
    this.tracker.join(this)
    this.pick = new Picker(this, this.tracker, options)
  }

  /**
   * Creates the upstreams of a new config and reuses unchanged ones with their state. Does not
   * change the pool. @throws TlsFileError
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

  /** Applies a change. Removed upstreams get no new calls and finish their running ones. */
  commit({ upstreams, added }: Change): void {
    const removed = this.upstreams.filter((each) => !upstreams.includes(each))
    this.upstreams = upstreams
    for (const each of upstreams) this.#apart.delete(each)
    resumeDays(added, removed)
    this.changed()
    this.#remove(removed)
  }

  /** Drops a change and closes its new upstreams. */
  discard({ added }: Change): void {
    this.#remove(added)
  }

  #remove(upstreams: readonly Upstream[]): void {
    for (const each of upstreams) {
      this.#apart.add(each)
      // Subscriptions end now, so that the sockets wait only for calls.
      each.removal.abort()
      const ended = each.allUrls.map(({ transport }) => transport.close(true))
      void Promise.all(ended).then(() => this.#apart.delete(each))
    }
  }

  /** The chain's latest block; null while no upstream in service has reported one recently. */
  get tip(): number | null {
    return this.tracker.tip
  }

  /** Begins a cooldown that another process has observed. @param printable the URL, without keys */
  adopt(name: string, printable: string, cooldown: Cooldown['last']): void {
    const upstream = this.upstreams.find((each) => each.name === name)
    const url = upstream?.allUrls.find((each) => each.printable === printable)
    if (!upstream || !url?.cooldown.adopt(cooldown)) return
    if (cooldown.cause === rateLimited) (url.limit ??= new RateLimit(url.cooldown.clock)).refused()
    upstream.updateState()
  }

  /** Whether any upstream is in service, regardless of the needs of a call. */
  get hasEligible(): boolean {
    return this.#anyServes(this.upstreams)
  }

  /** Whether this change would take the last serving upstream away. */
  wouldEnd({ upstreams }: Change): boolean {
    return this.hasEligible && !this.#anyServes(upstreams)
  }

  #anyServes(upstreams: readonly Upstream[]): boolean {
    return upstreams.some(({ state }) => isServing(state))
  }

  /** Whether any upstream may get calls of the method, regardless of its state. */
  permits(method: string): boolean {
    return this.upstreams.length === 0 || this.upstreams.some((each) => isPermitted(each, method))
  }

  /** Whether any upstream can be tried now, even a disabled one. */
  get hasAny(): boolean {
    return this.upstreams.some((each) => each.serves([]))
  }

  /**
   * Whether a URL for the call is still in its first verification, or in the one after a head jump.
   * A URL that did not answer counts only while no upstream is in service.
   */
  isVerifying(wanted: Wanted): boolean {
    const { hasEligible } = this
    return this.upstreams.some(
      (each) =>
        !isExcluded(each, wanted) &&
        each.unverified(wanted.addons).some(({ isUnreached }) => !isUnreached || !hasEligible),
    )
  }

  /** Whether an upstream for the call may soon reach the floor that it has not reached yet. */
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

  /** The otherwise usable URL whose cooldown ends first. */
  nextInCooldown(wanted: Wanted): ChosenUrl | null {
    return this.#firstInCooldown(wanted, (url) => url.isFor(wanted.addons))
  }

  /** The URL whose first verification was limited and is retried first. */
  nextToVerify(wanted: Wanted): ChosenUrl | null {
    return this.#firstInCooldown(wanted, (url, each) =>
      each.unverified(wanted.addons).includes(url),
    )
  }

  /** Verifies such a URL before its cooldown ends, so that calls are not refused for all of it. */
  tryToVerify(wanted: Wanted): void {
    const next = this.nextToVerify(wanted)
    if (next?.url.cooldown.beginTrial()) this.onVerificationTrial?.(next.upstream, next.url)
  }

  #firstInCooldown(wanted: Wanted, isAble: (url: NodeUrl, upstream: Upstream) => boolean) {
    const found = this.upstreams.flatMap((upstream) =>
      upstream.urls
        .filter(({ cooldown }) => cooldown.active && !isExcluded(upstream, wanted))
        .filter((url) => isAble(url, upstream))
        .map((url) => ({ upstream, url })),
    )
    return found.toSorted((a, b) => a.url.cooldown.leftMs - b.url.cooldown.leftMs)[0] ?? null
  }

  /** Called when the head of a URL jumps, which disables the URL until it is verified again. */
  onJump: ((upstream: Upstream, url: NodeUrl) => void) | null = null

  /** Called to verify a URL in cooldown. */
  onVerificationTrial: ((upstream: Upstream, url: NodeUrl) => void) | null = null

  /** Polls the heads of upstreams ahead of the usual schedule. */
  pollHeads: ((maxAgeMs?: number) => unknown) | null = null

  /** Called when a URL reports a higher block than before to this replica. */
  onRise: ((upstream: Upstream, url: NodeUrl, block: number) => void) | null = null
  /** Called when the cooldown of a URL begins, unless another process reported it. */
  onCooldown: ((upstream: string, printable: string, cooldown: Cooldown['last']) => void) | null =
    null

  /**
   * Records a latest block that an upstream reported to a probe or a client.
   * @param sentMs when the request was sent
   * @param ageMs the time since it reported the block to another replica; null if it reported to
   * this one
   */
  observeHead(
    upstream: Upstream,
    block: number,
    sentMs: number,
    url: NodeUrl,
    ageMs: number | null = null,
  ): void {
    const { chain, clock, observer } = this.#options
    const nowMs = clock.nowMs()
    // A reordered answer is not a jump back, and an answer from before a jump is not the head.
    if (url.head && block < url.head.block && sentMs < url.head.atMs) return
    if (sentMs < url.jumpedMs) return
    const fallBlocks = (url.head?.block ?? 0) - block
    if (fallBlocks > chain.allowedLagBlocks)
      upstream.faulted(fluttering, flutter.forMs, flutter.falls)
    if (hasJumped(url, block, nowMs, chain)) {
      const why = `went from ${url.head?.block} to ${block}: verified again before it serves`
      observer.verificationFailed(upstream.name, url.printable, 'head', why)
      url.jumped(nowMs, why)
      upstream.status = null
      upstream.updateState()
      this.onJump?.(upstream, url)
      return
    }
    const isRise = ageMs === null && block > (url.head?.block ?? 0)
    url.head = { block, atMs: nowMs - (ageMs ?? 0) }
    url.compareHead(upstream.urls, block, sentMs, chain)
    // Calls prefer a URL that is ahead, so its head is that of the upstream.
    if (url.lagBlocks > 0) return void upstream.updateState()
    this.tracker.observeHead(upstream, block, sentMs, ageMs ?? 0)
    if (isRise) this.onRise?.(upstream, url, block)
  }

  /** Updates weights and the tip after an upstream changed its state. */
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
      reorgs: this.tracker.reorgNotice,
      upstreams: this.upstreams.map((each) => ({
        name: each.name,
        tier: each.tier,
        ...each.record,
        fault: each.fault,
        isDayUsed: each.isDayUsed,
        methodLimits: each.allUrls.flatMap(({ cooldown }) => cooldown.methodLimits),
        learnedPerSecond: each.learnedPerSecond,
        learnedLogBlocks: each.learnedLogBlocks,
        sessions: each.usedSlots,
        latestBlock: each.latest?.block ?? null,
        lagBlocks: each.latest && each.lagBlocks,
        oldestBlocks: each.oldestBlocks,
        lagSeconds: each.latest && (each.lagBlocks * chain.blockTimeMs) / 1000,
        verifications: verificationsOf(each.allUrls, this.#options.iface),
        urls: each.allUrls.map(({ record }) => record),
        ...cooldownsOf(each),
        latencyMs: each.score.latencyMs(clock.nowMs()),
        ...(scores.get(each) ?? { score: null, qualities: null }),
      })),
    }
  }

  async close(): Promise<void> {
    const urls = [...this.upstreams, ...this.#apart].flatMap((each) => each.allUrls)
    await Promise.all(urls.map((url) => url.transport.close()))
  }

  #make(config: UpstreamConfig): Upstream {
    const { clock, random, observer, failureThreshold, epochDurationMs, iface } = this.#options
    const availability = new Availability(failureThreshold, (from, to, why) => {
      if (to === 'eligible' && from !== 'unverified') upstream.rejoined()
      upstream.updateState(why)
      this.changed()
    })
    const sockets: SocketUrl[] = []
    const others: NodeUrl[] = []
    for (const [at, url] of config.nodeUrls.entries()) {
      const cooldown = new Cooldown(clock, random, (forMs, why) => {
        const printable = url.url.toString()
        observer.cooldownBegan(config.name, printable, forMs, why)
        this.onCooldown?.(config.name, printable, cooldown.last)
        upstream.updateState()
      })
      const make = <Wire extends Transport>(transport: Wire) => {
        const made = new NodeUrl(url, transport, cooldown)
        made.position = at + 1
        const { limit, printable } = made
        if (limit !== null)
          limit.dayUsed = () => observer.dayUsed?.(config.name, printable, limit.notice ?? '')
        return made
      }
      if (url.scheme === 'ws' || url.scheme === 'wss')
        sockets.push(make(this.#options.createSocketTransport(url)))
      else others.push(make(this.#options.createTransport(url)))
    }
    const urls = others.length > 0 ? others : sockets
    const upstream = new Upstream(config, { urls, sockets }, availability, clock, epochDurationMs)
    if (config.methods) upstream.methods = new MethodRule(config.methods, iface)
    upstream.onState = (from, to) => observer.stateChanged(config.name, from, to)
    upstream.onUrl = (url) => observer.urlChanged?.(config.name, url, upstream.servingUrls)
    return upstream
  }

  /** Weights relative to the best upstream, of all that may serve. */
  #scores(): ReadonlyMap<Upstream, Pick<UpstreamSnapshot, 'score' | 'qualities'>> {
    const weights = this.pick.weights(this.#options.config.now.strategy)
    const known = this.upstreams.filter(({ availability: { standing } }) =>
      ['eligible', 'disabled'].includes(standing),
    )
    const raw = known.map((each) => weights.get(each)?.weight ?? 0)
    const floor = floorOf(raw)
    const best = Math.max(floor, ...raw)
    return new Map(
      known.map((each, at) => {
        const { availability = 1, latency = 1, sync = 1, earned = 1 } = weights.get(each) ?? {}
        const qualities = { availability, latency, sync, earned }
        return [each, { score: Math.max(raw[at] ?? 0, floor) / best, qualities }]
      }),
    )
  }
}

function cooldownsOf({ allUrls }: Upstream) {
  const left = allUrls.map(({ cooldown }) => cooldown.leftMs).filter((ms) => ms > 0)
  return {
    urlsInCooldown: left.length,
    cooldownLeftMs: left.length === 0 ? null : Math.min(...left),
  }
}

/** URLs that a new config retains, as printed, do not get the requests of their day again. */
function resumeDays(added: readonly Upstream[], removed: readonly Upstream[]): void {
  for (const { name, allUrls } of added) {
    const former = [...(removed.find((each) => each.name === name)?.allUrls ?? [])]
    for (const { limit, printable } of allUrls) {
      const at = former.findIndex((each) => each.printable === printable)
      const [url] = at < 0 ? [] : former.splice(at, 1)
      if (url?.limit) limit?.resume(url.limit)
    }
  }
}

/** Creates the pool of one chain and interface. Sends nothing yet. @throws TlsFileError */
export function createPool(configs: readonly UpstreamConfig[], options: PoolOptions): Pool {
  const pool = new Pool(options)
  pool.commit(pool.prepare(configs))
  return pool
}

/** Equal for configs of the same upstream, including TLS file contents. @throws TlsFileError */
function fingerprintOf(config: UpstreamConfig): string {
  const files = config.nodeUrls.map(({ tls }) => readTls(tls))
  return hash('sha256', exactText([config, files]))
}
