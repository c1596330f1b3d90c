// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureTable } from '../chain/failure-table.ts'
import type { ChainInterface } from '../chain/types.ts'
import { sleep, type Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import { applyProbe, isTrouble } from './apply-probe.ts'
import type { AskUrl } from './ask.ts'
import { askWhereServed } from './ask-where-served.ts'
import type { Dialect } from './dialect.ts'
import type { NodeUrl } from './node-url.ts'
import type { PoolObserver } from './observer.ts'
import type { Pool } from './pool.ts'
import { toBlockNumber } from './block-number.ts'
import type { Upstream } from './upstream.ts'
import { ownSockets, tendSockets } from './tend-sockets.ts'
import { verifyUrl, type VerifyUrlOptions } from './verify-url.ts'

const firstRetryMs = 1_000
const longestRetryMs = 30_000
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
 * Keeps an eye on the upstreams of a pool beside the traffic: verifies them at the start and at each
 * health check, asks those that are disabled whether they are back, follows the tip, and begins
 * epochs. It never gives up on an upstream.
 */
export class Watch {
  readonly #options: WatchOptions
  readonly #ask: AskUrl = (url, call) =>
    askWhereServed(url, call, { ...this.#options, signal: this.#stop.signal })
  readonly #stop = new AbortController()
  #firstRound: Promise<unknown> = Promise.resolve()

  constructor(options: WatchOptions) {
    this.#options = options
  }

  /** Starts watching. @param failed hears of defects of the watch itself */
  start(failed: (error: unknown) => void): void {
    const { pool, healthCheckIntervalMs, livenessProbeIntervalMs, epochDurationMs, clock } =
      this.#options
    const loop = (run: Promise<void>) => {
      run.catch((error: unknown) => {
        if (!this.#stop.signal.aborted) failed(error)
      })
    }
    const firstRound = pool.upstreams.map((upstream) => this.#verify(upstream))
    this.#firstRound = Promise.allSettled(firstRound)
    for (const [index, upstream] of pool.upstreams.entries()) {
      const retry = (isDue: (each: Upstream) => boolean, run: () => Promise<void>) => {
        loop(this.#retry(() => isDue(upstream), run, firstRound[index]))
      }
      retry(isDisabled, () => this.#probe(upstream))
      retry(needsVerification, () => this.#verify(upstream, mayShowMore))
      loop(this.#every(healthCheckIntervalMs, () => this.#verify(upstream)))
      loop(this.#followTip(upstream))
      if (ownSockets(upstream).length > 0) loop(this.#tendSockets(upstream))
      if (livenessProbeIntervalMs !== null)
        loop(this.#every(livenessProbeIntervalMs, () => this.#probe(upstream)))
    }
    const toNextEpochMs = () => epochDurationMs - (clock.wallMs() % epochDurationMs)
    loop(this.#epochs(toNextEpochMs))
  }

  /** Settles when every upstream has been verified once, whatever came of it. */
  get firstRound(): Promise<unknown> {
    return this.#firstRound
  }

  stop(): void {
    this.#stop.abort()
  }

  /** Asks again and again as long as it is due: 1 s doubling to 30 s, and from 1 s on the next time. */
  async #retry(
    isDue: () => boolean,
    run: () => Promise<void>,
    firstRound: Promise<void> | undefined,
  ): Promise<void> {
    await firstRound
    for (let waitMs = firstRetryMs; ;) {
      await sleep(this.#options.clock, this.#jittered(waitMs), this.#stop.signal)
      if (isDue()) {
        await run()
        waitMs = Math.min(waitMs * 2, longestRetryMs)
      } else waitMs = firstRetryMs
    }
  }

  async #every(intervalMs: number, run: () => Promise<void>): Promise<void> {
    for (;;) {
      await sleep(this.#options.clock, this.#jittered(intervalMs), this.#stop.signal)
      await run()
    }
  }

  #tendSockets(upstream: Upstream): Promise<void> {
    return tendSockets(upstream, {
      ...this.#options,
      ...this.#verifying,
      signal: this.#stop.signal,
      jittered: (ms) => this.#jittered(ms),
    })
  }

  get #verifying(): VerifyUrlOptions {
    return { ...this.#options, ask: this.#ask }
  }

  /** Asks for the latest block where no traffic has told it. */
  async #followTip(upstream: Upstream): Promise<void> {
    const { pool, clock } = this.#options
    const { blockTimeMs } = pool.pace
    const intervalMs = Math.min(Math.max(blockTimeMs, tipIntervalMs.least), tipIntervalMs.most)
    for (;;) {
      await sleep(clock, this.#jittered(intervalMs), this.#stop.signal)
      const { latest } = upstream
      const isKnown = latest !== null && clock.nowMs() - latest.atMs < intervalMs / 2
      if (!isKnown && upstream.availability.standing === 'eligible') await this.#probe(upstream)
    }
  }

  async #epochs(toNextMs: () => number): Promise<void> {
    for (;;) {
      await sleep(this.#options.clock, toNextMs(), this.#stop.signal)
      for (const upstream of this.#options.pool.upstreams) upstream.availability.epochBegan()
    }
  }

  /** Asks for the latest block: a sign of life, and news of the tip. */
  async #probe(upstream: Upstream): Promise<void> {
    const { iface, pool } = this.#options
    const probe = iface.latestBlock
    const [url] = upstream.urlsFor([])
    if (!probe || !url) return this.#verify(upstream)
    const askedMs = this.#options.clock.nowMs()
    const answer = await this.#ask(url, probe)
    if (isTrouble(answer)) {
      applyProbe(upstream, url, answer, 'probe')
      return
    }
    if (answer.kind === 'refused') return
    url.failures = 0
    url.judgedMs = this.#options.clock.nowMs()
    // One that serves is judged by its traffic: it may well know its block and nothing else.
    if (upstream.availability.standing === 'disabled') upstream.availability.succeeded()
    const block = toBlockNumber(answer.value, probe.result.encoding)
    if (block === null) return
    pool.sighted(upstream, block, askedMs)
  }

  /**
   * Verifies the URLs of an upstream and settles what follows for the upstream as a whole. The first
   * URL that passes lets it serve: a URL that does not answer keeps nobody waiting.
   */
  async #verify(upstream: Upstream, which = (_url: NodeUrl) => true): Promise<void> {
    const verifyOne = async (url: NodeUrl) => {
      await verifyUrl(upstream, url, this.#verifying)
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

  /** A tenth more or less, so that upstreams and replicas are not asked in step. */
  #jittered(ms: number): number {
    return ms * (0.9 + this.#options.random.next() / 5)
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
