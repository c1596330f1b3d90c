// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Random } from './random.ts'

/** Wait between attempts: starts at `first`, and doubles up to the longest. */
export interface BackoffRow {
  readonly firstMs: number
  readonly maxMs: number
  /** Varies each wait by up to this share in both directions, so that many do not retry at once. */
  readonly jitter?: number
}

export class Backoff {
  readonly #row: BackoffRow
  readonly #random: Random | null
  #nextMs: number

  constructor(row: BackoffRow, random: Random | null = null) {
    this.#row = row
    this.#random = random
    this.#nextMs = row.firstMs
  }

  /** How long to wait before the next attempt, in milliseconds. */
  next(): number {
    const { maxMs, jitter = 0 } = this.#row
    const ms = this.#nextMs
    this.#nextMs = Math.min(ms * 2, maxMs)
    return this.#random ? ms * (1 + jitter * (2 * this.#random.next() - 1)) : ms
  }

  /** Resets the wait after a successful attempt. */
  reset(): void {
    this.#nextMs = this.#row.firstMs
  }
}
