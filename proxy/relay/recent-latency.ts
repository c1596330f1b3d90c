// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** How many answers are remembered of each method. */
const remembered = 200
/** Fewer answers than this say too little. */
const least = 50
const quantile = 0.95
/** The quantile is worked out anew after so many answers. */
const refreshAfter = 20

/** The latencies of one method's last answers, in milliseconds. */
export class RecentLatency {
  readonly #values: number[] = []
  #seen = 0
  #p95: number | null = null

  add(latencyMs: number): void {
    this.#values[this.#seen++ % remembered] = latencyMs
    if (this.#seen < least || this.#seen % refreshAfter !== least % refreshAfter) return
    const ascending = this.#values.toSorted((a, b) => a - b)
    this.#p95 = ascending[Math.floor(ascending.length * quantile)] ?? null
  }

  /** 95 of 100 answers took no longer; null until enough are known. */
  get p95Ms(): number | null {
    return this.#p95
  }
}
