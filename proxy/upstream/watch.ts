// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, ChainInterface } from '../chain/types.ts'
import { Backoff, type BackoffRow } from '../clock/backoff.ts'
import { sleep, type Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import { History } from '../tracker/history.ts'
import { toBlockNumber, type Dialect } from './dialect.ts'
import { epochLeftMs } from './health.ts'
import type { Upstream } from './upstream.ts'
import type { PoolObserver } from './observer.ts'
import type { Pool } from './pool.ts'
import { applyProbe, isTrouble, probe, verifyUrl, type ProbeOptions } from './probe.ts'
import type { SharedHeads } from './shared-heads.ts'
import { askStatus } from './status.ts'
import type { NodeUrl } from './node-url.ts'

const retryBackoff = { firstMs: 1_000, maxMs: 30_000, jitter: 0.1 }
/** Heads are polled once per block within these limits. */
const tipIntervalMs = { min: 1_000, max: 15_000 }
/** Polling intervals grow up to this factor without client requests. */
const maxRest = 20
/** The longest wait of a call for the heads of a pool at rest. */
const maxWakeMs = 1_000
/** Interval between probes of a URL that calls do not reach. */
const spareIntervalMs = 45_000
/** Shortest interval between polls of heads that calls wait for. */
const wantedHeadMs = 250
/** Maximum age of a head from another replica, as a share of the interval. Rises are announced. */
const sharedAge = 0.9
/** Interval with 10 % jitter, so that upstreams and replicas are not polled in step. */
const every = (ms: number): BackoffRow => ({ firstMs: ms, maxMs: ms, jitter: 0.1 })

export interface WatchOptions {
  readonly pool: Pool
  readonly chain: Chain
  readonly iface: ChainInterface
  readonly dialect: Dialect
  readonly healthCheckIntervalMs: number
  readonly livenessProbeIntervalMs: number | null
  readonly epochDurationMs: number
  readonly clock: Clock
  readonly random: Random
  readonly observer: PoolObserver
  /** Null or absent if replicas do not share heads. */
  readonly heads?: SharedHeads | null
}

/**
 * Watches the upstreams of a pool: verifies URLs at the start, at each health check and after a
 * head jump, probes disabled upstreams, polls heads, and starts epochs. It never gives up on an
 * upstream.
 */
export class Watch {
  readonly #options: WatchOptions
  readonly #stop = new AbortController()
  readonly #signals = new WeakMap<Upstream, AbortSignal>()
  readonly #tipMs: number
  #waking: Promise<unknown> | null = null
  #failed: (error: unknown) => void = () => {}
  /** Settles when every URL for calls has been verified once, whatever the result. */
  firstRound: Promise<unknown> = Promise.resolve()

  constructor(options: WatchOptions) {
    const { min, max } = tipIntervalMs
    this.#options = options
    this.#tipMs = Math.min(Math.max(options.chain.blockTimeMs, min), max)
    options.pool.tracker.lastRequestMs = options.clock.nowMs()
  }

  /**
   * Records a client request. The first one after a rest starts a poll of all heads.
   * @returns settles when they are reported, or after a second; null if they are recent
   */
  onRequest(nowMs: number): Promise<unknown> | null {
    const { pool } = this.#options
    const isResting = this.#isResting(nowMs)
    pool.tracker.lastRequestMs = nowMs
    if (!isResting) return this.#waking
    const limit = this.#sleep(maxWakeMs).catch(() => {})
    const woken = Promise.race([pool.pollHeads?.(), limit]).then(() => (this.#waking = null))
    return (this.#waking = woken)
  }

  /** Starts watching. @param failed called with unexpected exceptions */
  start(failed: (error: unknown) => void): void {
    const { pool } = this.#options
    this.#failed = failed
    pool.onJump = (upstream, url) => this.#run(this.#verifyAfterJump(upstream, url), upstream)
    pool.onVerificationTrial = (upstream, url) =>
      this.#run(this.#verify(upstream, url, true), upstream)
    const polling = new Set<Upstream>()
    pool.pollHeads = (maxAgeMs = 0) => {
      const probes: Promise<void>[] = []
      for (const upstream of pool.upstreams) {
        if (!upstream.isInService || polling.has(upstream)) continue
        polling.add(upstream)
        const probed = this.#probe(upstream, maxAgeMs)
        probes.push(probed)
        const pending = probed.then(() => this.#sleep(wantedHeadMs, upstream))
        this.#run(
          pending.finally(() => polling.delete(upstream)),
          upstream,
        )
      }
      return Promise.allSettled(probes)
    }
    this.#options.heads?.join(pool, this.#options.clock)
    this.firstRound = this.add(pool.upstreams, this.#verifiedMs)
    this.#run(this.#epochs())
    this.#run(this.#rest())
  }

  /**
   * Watches upstreams, even before they join the pool, until they are removed from it.
   * @param maxAgeMs maximum age of a verification by another worker; 0 to verify them here
   * @returns settles when each of their URLs for calls has been verified once, whatever the result
   */
  add(upstreams: readonly Upstream[], maxAgeMs = 0): Promise<unknown> {
    const { iface, livenessProbeIntervalMs } = this.#options
    const first: Promise<unknown>[] = []
    for (const upstream of upstreams) {
      const run = (task: Promise<unknown>) => this.#run(task, upstream)
      for (const url of upstream.allUrls) {
        const verified = this.#verify(upstream, url, false, maxAgeMs)
        if (upstream.urls.includes(url)) first.push(verified)
        run(this.#keepVerified(upstream, url, verified))
        if (upstream.allUrls.length > 1) run(this.#probeSpare(upstream, url))
      }
      upstream.onSuspect = (url) => run(this.#verifySuspect(upstream, url))
      // Without a probe, calls alone decide.
      if (iface.latestBlock) upstream.requestProbe = () => run(this.#probe(upstream))
      // Probes disabled upstreams after 1 s, doubling to 30 s.
      run(this.#probeWhere(upstream, retryBackoff, ({ availability }) => availability.isOnTrial))
      const needsHead = (each: Upstream) => this.#needsHead(each)
      run(this.#probeWhere(upstream, every(this.#tipMs), needsHead, this.#tipMs * sharedAge))
      if (livenessProbeIntervalMs !== null)
        run(this.#probeWhere(upstream, every(livenessProbeIntervalMs), () => true))
    }
    return Promise.allSettled(first)
  }

  stop(): void {
    this.#options.pool.onJump = null
    this.#options.pool.onVerificationTrial = null
    this.#options.pool.pollHeads = null
    this.#options.pool.onRise = null
    this.#stop.abort()
  }

  /** @param upstream removing it ends the task */
  #run(task: Promise<unknown>, upstream: Upstream | null = null): void {
    task.catch((error: unknown) => {
      if (!this.#signal(upstream).aborted) this.#failed(error)
    })
  }

  #signal(upstream: Upstream | null): AbortSignal {
    const { signal } = this.#stop
    if (!upstream) return signal
    const either = () => AbortSignal.any([signal, upstream.removal.signal])
    return this.#signals.getOrInsertComputed(upstream, either)
  }

  /** Verifies a URL at each health check, and retries soon while results are incomplete. */
  async #keepVerified(upstream: Upstream, url: NodeUrl, first: Promise<unknown>): Promise<void> {
    const { clock, random, healthCheckIntervalMs } = this.#options
    const interval = new Backoff(every(healthCheckIntervalMs), random)
    await first
    for (;;) {
      await this.#verifyAgain(upstream, url, ({ mayShowMore }) => mayShowMore)
      await this.#sleep(interval.next(), upstream)
      // Nodes may be pruned or resynced.
      url.history = new History()
      const isOwn = await this.#verify(upstream, url, false, this.#verifiedMs)
      const isResting = this.#isResting(clock.nowMs())
      if (isOwn && !isResting && url === upstream.urlsFor([])[0])
        await this.#askStatus(upstream, url)
    }
  }

  /** Verifies a suspect URL, at once or after the minimum interval. */
  async #verifySuspect(upstream: Upstream, url: NodeUrl): Promise<void> {
    const waitMs = url.suspected()
    if (waitMs === null) return
    if (waitMs > 0) await this.#sleep(waitMs, upstream)
    await this.#verify(upstream, url)
    await this.#verifyAgain(upstream, url, ({ verified }) => verified !== true)
  }

  async #verifyAfterJump(upstream: Upstream, url: NodeUrl): Promise<void> {
    await this.#verify(upstream, url)
    await this.#verifyAgain(upstream, url, ({ verified }) => verified !== true)
    url.jumpsPassed += 1
    await this.#probe(upstream)
  }

  /** Retries while due: after 1 s, doubling to 30 s, and at the end of a cooldown. */
  async #verifyAgain(
    upstream: Upstream,
    url: NodeUrl,
    isDue: (url: NodeUrl) => boolean,
  ): Promise<void> {
    const backoff = new Backoff(retryBackoff, this.#options.random)
    while (isDue(url)) {
      await this.#sleep(url.cooldown.leftMs || backoff.next(), upstream)
      if (isDue(url)) await this.#verify(upstream, url)
    }
  }

  /** Workers verify each URL once per health check, whichever of them comes first. */
  get #verifiedMs(): number {
    return this.#options.healthCheckIntervalMs / 2
  }

  /**
   * Verifies a URL. The first URL for calls that passes puts the upstream in service.
   * @returns false if another worker had just done so
   */
  async #verify(upstream: Upstream, url: NodeUrl, isTrial = false, maxAgeMs = 0): Promise<boolean> {
    const { iface, observer, heads } = this.#options
    const { urls, availability } = upstream
    const isShared = maxAgeMs > 0 && (await heads?.isVerified(upstream.name, url, maxAgeMs))
    if (isShared) url.pass()
    else {
      await verifyUrl(upstream, url, { iface, observer, isTrial, ...this.#probing(upstream) })
      if (url.hasPassed) heads?.verified(upstream.name, url)
    }
    const isOwn = !isShared
    if (!urls.includes(url)) {
      upstream.updateState()
      return isOwn
    }
    if (url.verified === true) availability.verified()
    else if (urls.every(({ verified }) => verified === false))
      availability.rejected('no URL of it passes verification')
    // A URL may have entered or left service without a change of the upstream's availability.
    upstream.updateState('verified')
    // An impossible probe would recurse into this method.
    const canProbe = iface.latestBlock !== null && url.verified === true && upstream.serves([])
    if (upstream.latest === null && canProbe)
      await this.#probe(upstream, maxAgeMs > 0 ? this.#tipMs / 2 : 0)
    return isOwn
  }

  /** Probes an upstream periodically while it is due. */
  async #probeWhere(
    upstream: Upstream,
    row: BackoffRow,
    isDue: (upstream: Upstream) => boolean,
    maxAgeMs = 0,
  ): Promise<void> {
    const backoff = new Backoff(row, this.#options.random)
    for (;;) {
      await this.#sleep(backoff.next(), upstream)
      if (isDue(upstream)) await this.#probe(upstream, maxAgeMs)
      else backoff.reset()
    }
  }

  /**
   * Probes a URL while calls prefer another: with backoff after a failure and while one of them
   * lags, otherwise every 45 s, so that the loss of redundancy shows before it matters.
   */
  async #probeSpare(upstream: Upstream, url: NodeUrl): Promise<void> {
    const { iface, clock, random } = this.#options
    const backoff = new Backoff(retryBackoff, random)
    const call = iface.latestBlock ?? iface.verifications.find(({ addon }) => addon === null)?.call
    if (!call) return
    for (;;) {
      await this.#sleep(backoff.next(), upstream)
      const sentMs = clock.nowMs()
      const isOld = sentMs - url.lastResultMs >= spareIntervalMs && !this.#isResting(sentMs)
      const isInTrouble = url.failures > 0 || url.lagBlocks > 0 || upstream.lags
      if (!isInTrouble) backoff.reset()
      const isSpare = url.serves([]) && url !== upstream.urlsFor([])[0]
      if (!isSpare || !(isOld || isInTrouble)) continue
      const answer = await probe(url, call, this.#probing(upstream))
      if (isTrouble(answer)) {
        applyProbe(upstream, url, answer, 'probe')
        continue
      }
      upstream.answered(url)
      const value = answer.kind === 'value' && call === iface.latestBlock ? answer.value : null
      const block = toBlockNumber(value, call.result.encoding)
      if (block !== null) await this.#observeSpare(upstream, url, block, sentMs)
      upstream.updateState()
    }
  }

  /** The head of a spare URL is not that of its upstream, unless the other URLs lag behind it. */
  async #observeSpare(upstream: Upstream, url: NodeUrl, block: number, sentMs: number) {
    const { pool, chain } = this.#options
    const isAhead = block > (upstream.latest?.block ?? block) + chain.allowedLagBlocks
    // It may show another chain.
    if (isAhead) await this.#verify(upstream, url)
    const isSpare = url !== upstream.urlsFor([])[0]
    if (isSpare && !isAhead) url.compareHead(upstream.urls, block, sentMs, chain)
    else if (url.verified) pool.observeHead(upstream, block, sentMs, url)
    if (isAhead) await this.#probe(upstream)
  }

  /** Whether no client has sent a request recently and none is subscribed. */
  #isResting(nowMs: number): boolean {
    const { lastRequestMs, subscriptions } = this.#options.pool.tracker
    return subscriptions === 0 && nowMs - lastRequestMs >= 2 * this.#tipMs
  }

  /** Polls all heads together at rest, since heads of different times are not comparable. */
  async #rest(): Promise<void> {
    const { clock, random, pool } = this.#options
    const backoff = new Backoff({ ...every(this.#tipMs), maxMs: maxRest * this.#tipMs }, random)
    for (;;) {
      const intervalMs = backoff.next()
      await this.#sleep(intervalMs)
      if (this.#isResting(clock.nowMs())) await pool.pollHeads?.(intervalMs * sharedAge)
      else backoff.reset()
    }
  }

  /** Whether a poll is due: calls or a WebSocket may have reported the head already. */
  #needsHead(upstream: Upstream): boolean {
    const { latest, isInService, urls, sockets } = upstream
    const { pool, clock } = this.#options
    const nowMs = clock.nowMs()
    const works = urls.some(({ failures }) => failures === 0)
    if (!isInService || (works && this.#isResting(nowMs))) return false
    const since = (at: { readonly atMs: number } | null) => nowMs - (at?.atMs ?? -Infinity)
    // A WebSocket that delivers heads reports each new block.
    const delivers = (url: NodeUrl) => !urls.includes(url) && since(url.head) < 2 * this.#tipMs
    const isOld = since(latest) >= this.#tipMs / 2 && !sockets.some(delivers)
    return isOld || pool.tracker.needsStatus(upstream)
  }

  async #epochs(): Promise<void> {
    const { clock, epochDurationMs, pool } = this.#options
    for (;;) {
      await this.#sleep(epochLeftMs(clock.wallMs(), epochDurationMs))
      for (const upstream of pool.upstreams) upstream.availability.epochBegan()
    }
  }

  /**
   * Queries the latest block, which also proves that the node is up.
   * @param maxAgeMs maximum age of a head from another replica; 0 to query the node itself
   */
  async #probe(upstream: Upstream, maxAgeMs = 0): Promise<void> {
    const { iface, pool, clock, heads } = this.#options
    const call = iface.latestBlock
    const [url] = upstream.urlsFor([])
    if (!call || !url) {
      await Promise.all(upstream.urls.map((each) => this.#verify(upstream, each)))
      return
    }
    const isShared = maxAgeMs > 0 && url.failures === 0 && !pool.tracker.needsStatus(upstream)
    const shared = isShared && (await heads?.recent(upstream.name, url, maxAgeMs))
    if (shared) {
      const { block, ageMs } = shared
      pool.observeHead(upstream, block, clock.nowMs() - ageMs, url, ageMs)
      return
    }
    const sentMs = clock.nowMs()
    const answer = await probe(url, call, this.#probing(upstream))
    if (isTrouble(answer)) {
      applyProbe(upstream, url, answer, 'probe')
      return
    }
    if (answer.kind === 'refused') return
    upstream.answered(url)
    // Otherwise only calls count: the node may serve its block number and nothing else.
    if (upstream.availability.isOnTrial) upstream.availability.succeeded()
    const block = toBlockNumber(answer.value, call.result.encoding)
    if (block !== null) {
      pool.observeHead(upstream, block, sentMs, url)
      heads?.polled(upstream.name, url, block)
    }
    if (pool.tracker.needsStatus(upstream)) await this.#askStatus(upstream, url)
  }

  /** Queries the sync status of a node. */
  async #askStatus(upstream: Upstream, url: NodeUrl): Promise<void> {
    const { pool, iface } = this.#options
    const status = await askStatus(url, iface, this.#probing(upstream))
    if (url.verified === true) pool.tracker.observeStatus(upstream, status)
  }

  #probing(upstream: Upstream): ProbeOptions {
    const { dialect, clock, chain, observer } = this.#options
    const sent = () => observer.probeSent?.(upstream.name)
    const ended = (position: number, isFailed: boolean) =>
      observer.probeEnded?.(upstream.name, position, isFailed)
    const exhausted = (code: string) => observer.exhausted?.(code)
    const { failures } = chain
    return { dialect, clock, failures, signal: this.#signal(upstream), sent, ended, exhausted }
  }

  #sleep(ms: number, upstream: Upstream | null = null): Promise<void> {
    return sleep(this.#options.clock, ms, this.#signal(upstream))
  }
}
