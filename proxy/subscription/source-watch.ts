// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from '../clock/clock.ts'
import type { Pool } from '../upstream/pool.ts'

export interface SourceWatchOptions {
  readonly clock: Clock
  readonly pool: Pick<Pool, 'tip'>
  readonly allowedLagBlocks: number
  /** Numbers of this sequence are those that the pool's tip is told in. */
  readonly followsTip: boolean
  /** No news for so long, and somebody has some: the source has stalled. */
  readonly stallMs: number
}

export interface SourceWatchListener {
  /** Three times in the time of a stall. */
  looked(): void
  /** There was no news for long: has anybody some? */
  stalled(): void
  /** For long, what the source tells of was too far behind the tip. */
  lags(): void
}

/** Looks from time to time whether what tells of a sequence still does so as it should. */
export class SourceWatch {
  readonly #options: SourceWatchOptions
  readonly #hears: SourceWatchListener
  #newsMs = 0
  /** How often it was asked since the last news. */
  #stallChecks = 0
  #sourceAt: number | null = null
  #lagsSinceMs: number | null = null
  #cancel: Cancel = () => {}

  constructor(options: SourceWatchOptions, hears: SourceWatchListener) {
    this.#options = options
    this.#hears = hears
  }

  start(): void {
    this.#newsMs = this.#options.clock.nowMs()
    this.#look()
  }

  stop(): void {
    this.#cancel()
  }

  /** The sequence has gone on. */
  news(): void {
    this.#newsMs = this.#options.clock.nowMs()
    this.#stallChecks = 0
  }

  /** The source told of this place. */
  sighted(number: number): void {
    this.#sourceAt = number
  }

  /** Another source tells from now on. */
  moved(): void {
    this.#sourceAt = null
    this.#lagsSinceMs = null
  }

  #look(): void {
    this.#cancel = this.#options.clock.after(this.#options.stallMs / 3, () => {
      this.#look()
      this.#checkLag()
      this.#checkStall()
      this.#hears.looked()
    })
  }

  #checkStall(): void {
    const { clock, stallMs } = this.#options
    // Where the whole chain stands still, it is asked after less and less often.
    const patienceMs = stallMs * 2 ** Math.min(this.#stallChecks, 3)
    if (clock.nowMs() - this.#newsMs < patienceMs) return
    this.#newsMs = clock.nowMs()
    this.#stallChecks += 1
    this.#hears.stalled()
  }

  #checkLag(): void {
    const { clock, stallMs } = this.#options
    if (!this.#lags) this.#lagsSinceMs = null
    else this.#lagsSinceMs ??= clock.nowMs()
    if (this.#lagsSinceMs === null || clock.nowMs() - this.#lagsSinceMs < stallMs) return
    this.#lagsSinceMs = null
    this.#hears.lags()
  }

  get #lags(): boolean {
    const { pool, followsTip, allowedLagBlocks } = this.#options
    if (!followsTip || this.#sourceAt === null) return false
    return (pool.tip ?? 0) - this.#sourceAt > allowedLagBlocks
  }
}
