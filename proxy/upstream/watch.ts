// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureTable } from '../chain/failure-table.ts'
import type { ChainInterface } from '../chain/types.ts'
import { Backoff } from '../clock/backoff.ts'
import { sleep, type Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import { toBlockNumber, type Dialect } from './dialect.ts'
import type { NodeUrl } from './node-url.ts'
import type { PoolObserver } from './observer.ts'
import type { Pool } from './pool.ts'
import { applyProbe, isTrouble, probe, type Probe } from './probe.ts'
import type { Upstream } from './upstream.ts'
import { verifyUrl } from './verify.ts'

const retryBackoff = { firstMs: 1_000, maxMs: 30_000, jitter: 0.1 }
/** The tip is asked for once a block, but not more and not less often than this. */
const tipIntervalMs = { least: 1_000, most: 15_000 }

export interface WatchOptions {
  readonly pool: Pool
  readonly iface: ChainInterface
  readonly dialect: Dialect
  readonly failures: FailureTable
  readonly healthCheckIntervalMs: number
  readonly livenessProbeIntervalMs: number | null
  readonly epochDurationMs: number
  readonly clock: Clock
  readonly random: Random
  readonly observer: PoolObserver
}

/**
 * Watches the upstreams of a pool beside the traffic: verifies them at the start, at each health check and when a
 * head jumps, asks disabled ones whether they are back, follows the tip, and begins epochs. It never gives up on
 * an upstream.
 */
export class Watch {
  readonly #options: WatchOptions
  readonly #stop = new AbortController()
  readonly #probeUrl: Probe = (url, call) =>
    probe(url, call, { ...this.#options, signal: this.#stop.signal })
  #failed: (error: unknown) => void = () => {}
  #firstRound: Promise<unknown> = Promise.resolve()

  constructor(options: WatchOptions) {
    this.#options = options
  }

  /** Starts watching. @param failed is called with defects of the watch itself */
  start(failed: (error: unknown) => void): void {
    const { pool, healthCheckIntervalMs, livenessProbeIntervalMs } = this.#options
    this.#failed = failed
    pool.onJump = (upstream, url) => {
      this.#run(this.#verifyAfterJump(upstream, url))
    }
    const firstRound = pool.upstreams.map((upstream) => this.#verify(upstream))
    this.#firstRound = Promise.allSettled(firstRound)
    const retries = [
      [isDisabled, (each: Upstream) => this.#probe(each)],
      [needsVerification, (each: Upstream) => this.#verify(each, mayShowMore)],
      [hasSocketToVerify, (each: Upstream) => this.#verifySockets(each, isUnverified)],
    ] as const
    for (const [index, upstream] of pool.upstreams.entries()) {
      const isVerified = firstRound[index] as Promise<void>
      for (const [isDue, run] of retries) this.#run(this.#retry(isVerified, upstream, isDue, run))
      this.#run(this.#verifySockets(upstream))
      this.#run(this.#followTip(upstream))
      const check = () => Promise.all([this.#verify(upstream), this.#verifySockets(upstream)])
      this.#run(this.#every(healthCheckIntervalMs, check))
      if (livenessProbeIntervalMs !== null)
        this.#run(this.#every(livenessProbeIntervalMs, () => this.#probe(upstream)))
    }
    this.#run(this.#epochs())
  }

  /** Settles when every upstream has been verified once, whatever came of it. */
  get firstRound(): Promise<unknown> {
    return this.#firstRound
  }

  stop(): void {
    this.#options.pool.onJump = null
    this.#stop.abort()
  }

  #run(task: Promise<void>): void {
    task.catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#failed(error)
    })
  }

  /** Runs again and again as long as it is due: 1 s doubling to 30 s, and from 1 s on the next time. */
  async #retry(
    after: Promise<void>,
    upstream: Upstream,
    isDue: (upstream: Upstream) => boolean,
    run: (upstream: Upstream) => Promise<void>,
  ): Promise<void> {
    const { clock, random } = this.#options
    await after
    const backoff = new Backoff(retryBackoff, random)
    for (;;) {
      await sleep(clock, backoff.next(), this.#stop.signal)
      if (isDue(upstream)) await run(upstream)
      else backoff.reset()
    }
  }

  async #every(intervalMs: number, run: () => Promise<unknown>): Promise<void> {
    for (;;) {
      await this.#sleep(intervalMs)
      await run()
    }
  }

  /** Asks for the latest block where no traffic has shown it. */
  async #followTip(upstream: Upstream): Promise<void> {
    const { pool, clock } = this.#options
    const { least, most } = tipIntervalMs
    const intervalMs = Math.min(Math.max(pool.pace.blockTimeMs, least), most)
    for (;;) {
      await this.#sleep(intervalMs)
      const { latest } = upstream
      const isKnown = latest !== null && clock.nowMs() - latest.atMs < intervalMs / 2
      if (!isKnown && upstream.availability.standing === 'eligible') await this.#probe(upstream)
    }
  }

  async #epochs(): Promise<void> {
    const { clock, epochDurationMs, pool } = this.#options
    for (;;) {
      // All replicas share the beginning of an epoch.
      const restMs = epochDurationMs - (clock.wallMs() % epochDurationMs)
      await sleep(clock, restMs, this.#stop.signal)
      for (const upstream of pool.upstreams) upstream.availability.epochBegan()
    }
  }

  /** Asks for the latest block: a sign of life, and news of the tip. */
  async #probe(upstream: Upstream): Promise<void> {
    const { iface, pool, clock } = this.#options
    const call = iface.latestBlock
    const [url] = upstream.urlsFor([])
    if (!call || !url) return this.#verify(upstream)
    const askedMs = clock.nowMs()
    const answer = await this.#probeUrl(url, call)
    if (isTrouble(answer)) {
      applyProbe(upstream, url, answer, 'probe')
      return
    }
    if (answer.kind === 'refused') return
    url.failures = 0
    url.judgedMs = clock.nowMs()
    // One that serves is judged by its traffic: it may well know its block and nothing else.
    if (isDisabled(upstream)) upstream.availability.succeeded()
    const block = toBlockNumber(answer.value, call.result.encoding)
    if (block !== null) pool.observeHead(upstream, block, askedMs, url)
  }

  /**
   * Verifies the URLs of an upstream and settles what follows for the upstream as a whole. The first
   * URL that passes lets it serve: a URL that does not answer keeps nobody waiting.
   */
  async #verify(upstream: Upstream, which = (_url: NodeUrl) => true): Promise<void> {
    const verifyOne = async (url: NodeUrl) => {
      await this.#verifyUrl(upstream, url, true)
      if (url.verified === true) upstream.availability.verified()
    }
    await Promise.all(upstream.urls.filter(which).map(verifyOne))
    if (upstream.urls.some(({ verified }) => verified === true)) {
      // A probe that cannot be made would lead back here.
      const canProbe = this.#options.iface.latestBlock !== null && upstream.serves([])
      if (upstream.latest === null && canProbe) await this.#probe(upstream)
    } else if (upstream.urls.every(({ verified }) => verified === false))
      upstream.availability.rejected('no URL of it passes verification')
  }

  async #verifyAfterJump(upstream: Upstream, url: NodeUrl): Promise<void> {
    await this.#verify(upstream, (each) => each === url)
    if (url.verified !== true) return
    url.jumpsPassed += 1
    await this.#probe(upstream)
  }

  /** WebSocket URLs that serve no calls. What comes of it concerns subscriptions alone. */
  async #verifySockets(upstream: Upstream, which = (_url: NodeUrl) => true): Promise<void> {
    const sockets = socketsOf(upstream).filter(which)
    await Promise.all(sockets.map((socket) => this.#verifyUrl(upstream, socket, false)))
  }

  #verifyUrl(upstream: Upstream, url: NodeUrl, servesCalls: boolean): Promise<void> {
    const { iface, observer } = this.#options
    return verifyUrl(upstream, url, { iface, observer, probe: this.#probeUrl, servesCalls })
  }

  /** A tenth more or less, so that upstreams and replicas are not asked in step. */
  #sleep(ms: number): Promise<void> {
    const { clock, random } = this.#options
    return sleep(clock, ms * (0.9 + random.next() / 5), this.#stop.signal)
  }
}

function isDisabled({ availability }: Upstream): boolean {
  return availability.standing === 'disabled'
}

/** It may not serve for want of one, or some URL of it could not be asked for all yet. */
function needsVerification({ availability: { standing }, urls }: Upstream): boolean {
  if (standing === 'disabled') return false
  if (standing !== 'eligible') return true
  return urls.some(({ verified, openAddons }) => verified === null || openAddons.size > 0)
}

/** Another verification may show more of it than the last one did. */
function mayShowMore({ verified, openAddons }: NodeUrl): boolean {
  return verified !== true || openAddons.size > 0
}

function socketsOf({ urls, sockets }: Upstream): readonly NodeUrl[] {
  return sockets.filter((socket) => !(urls as readonly unknown[]).includes(socket))
}

function hasSocketToVerify(upstream: Upstream): boolean {
  return socketsOf(upstream).some(isUnverified)
}

function isUnverified({ verified }: NodeUrl): boolean {
  return verified !== true
}
