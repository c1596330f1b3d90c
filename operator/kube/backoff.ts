// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock, Random } from './clock.ts'

export interface BackoffOptions {
  readonly firstMs: number
  readonly mostMs: number
  /** After so long without a failure the next one counts as the first. */
  readonly forgiveMs: number
}

/** Delays between attempts at one thing: doubling, with jitter of up to the delay again. */
export class Backoff {
  readonly #options: BackoffOptions
  readonly #clock: Clock
  readonly #random: Random
  #nextMs: number
  #failedAtMs = -Infinity

  constructor(options: BackoffOptions, clock: Clock, random: Random) {
    this.#options = options
    this.#clock = clock
    this.#random = random
    this.#nextMs = options.firstMs
  }

  /**
   * How long to wait after the failure that is told by this call, in milliseconds.
   *
   * @param askedMs what a server asked for by `Retry-After`; the longer of the two holds
   */
  failed(askedMs = 0): number {
    const { firstMs, mostMs, forgiveMs } = this.#options
    const nowMs = this.#clock.nowMs()
    if (nowMs - this.#failedAtMs > forgiveMs + this.#nextMs) this.#nextMs = firstMs
    this.#failedAtMs = nowMs
    const delayMs = this.#nextMs
    this.#nextMs = Math.min(mostMs, delayMs * 2)
    return obeyed(askedMs, mostMs, delayMs * (1 + this.#random.next()))
  }
}

/** One page of a proxy must not stop work for a day: a server is given the longest of our own delays, and asked again. */
function obeyed(askedMs: number, mostMs: number, ownMs: number): number {
  return Math.max(Math.min(askedMs, mostMs), ownMs)
}

const itemFirstMs = 5
/** No watch tells that a quota or a webhook was mended: nobody should have to wait long for it. */
const itemMostMs = 120_000
const allPerSecond = 10
const allBurst = 100

/**
 * Delays of items that failed: each item's own doubles from 5 ms to two minutes, and all of them together
 * come back at 10 a second after a burst of 100. The longer of the two holds.
 */
export class ItemBackoff {
  readonly #failures = new Map<string, number>()
  readonly #all: TokenBucket

  constructor(clock: Clock) {
    this.#all = new TokenBucket({ perSecond: allPerSecond, burst: allBurst, clock })
  }

  /**
   * Counts a failure of the item: how long it must stay away, in milliseconds.
   *
   * @param askedMs what a server asked for by `Retry-After`
   */
  failed(key: string, askedMs = 0): number {
    const before = this.#failures.get(key) ?? 0
    this.#failures.set(key, before + 1)
    const ownMs = Math.max(Math.min(itemMostMs, itemFirstMs * 2 ** before), this.#all.reserve())
    return obeyed(askedMs, itemMostMs, ownMs)
  }

  forget(key: string): void {
    this.#failures.delete(key)
  }

  /** How often the item failed since it was last forgotten. */
  failuresOf(key: string): number {
    return this.#failures.get(key) ?? 0
  }
}

export interface TokenBucketOptions {
  readonly perSecond: number
  readonly burst: number
  readonly clock: Clock
}

/** A rate with a burst. Whoever reserves gets a turn; turns are given out in order. */
export class TokenBucket {
  readonly #options: TokenBucketOptions
  #tokens: number
  #atMs: number

  constructor(options: TokenBucketOptions) {
    this.#options = options
    this.#tokens = options.burst
    this.#atMs = options.clock.nowMs()
  }

  /** Takes a token, of the future if need be: how many milliseconds to wait for it. */
  reserve(): number {
    this.#refill()
    this.#tokens -= 1
    return this.#tokens >= 0 ? 0 : (-this.#tokens * 1000) / this.#options.perSecond
  }

  /** Takes a token only when one is there now. */
  tryTake(): boolean {
    this.#refill()
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }

  /** True when nothing has been taken for long enough: a new bucket would be the same. */
  get isFull(): boolean {
    this.#refill()
    return this.#tokens >= this.#options.burst
  }

  #refill(): void {
    const { clock, perSecond, burst } = this.#options
    const nowMs = clock.nowMs()
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#atMs) / 1000) * perSecond)
    this.#atMs = nowMs
  }
}
