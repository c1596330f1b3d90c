// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from './clock.ts'

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
