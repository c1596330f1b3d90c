// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Classification } from '../chain/types.ts'

/** The cost of a cheap read, which waits one tick. */
const unitCost = 10
/** Below this a slow answer is jitter, not trouble. */
const leastTickMs = 25

/** Says when a slow read gets company at another upstream, and how often that may be. */
export class Hedging {
  readonly budget = new HedgeBudget()
  readonly #unitMs: number
  /** By method; only of methods that the spec names, so that clients cannot fill the memory. */
  readonly #latencies = new Map<string, LatencyHistogram>()

  constructor(blockTimeMs: number) {
    this.#unitMs = Math.min(Math.max(blockTimeMs / 8, 100), 1_000)
  }

  /**
   * How long an attempt is waited for alone: an eighth of the block time for a cheap read, more for
   * one that costs more, or the time in which 95 % of the method's answers came, but never longer
   * than half of what the attempt has.
   */
  tickMs({ method, cost }: Classification, budgetMs: number): number {
    const usualMs = this.#unitMs * Math.max(1, cost / unitCost)
    const p95Ms = this.#latencies.get(method)?.p95Ms ?? Infinity
    return Math.max(Math.min(usualMs, p95Ms, budgetMs / 2), leastTickMs)
  }

  answered({ method, known }: Classification, latencyMs: number): void {
    if (!known) return
    let latency = this.#latencies.get(method)
    if (!latency) this.#latencies.set(method, (latency = new LatencyHistogram()))
    latency.add(latencyMs)
  }
}

/** Extra calls per read. */
const share = 0.1
/** Extra calls that may be saved up, and that a fresh listener begins with. */
const mostSaved = 10
/** A quiet listener earns one every ten seconds. */
const earnedPerMs = 1 / 10_000

/** Keeps the extra calls of hedging within a tenth of the reads and one every ten seconds. */
class HedgeBudget {
  #saved = mostSaved
  #lookedMs = 0

  /** A read came in. */
  earn(): void {
    this.#saved = Math.min(this.#saved + share, mostSaved)
  }

  /** @returns whether one more extra call may be made */
  spend(nowMs: number): boolean {
    const earned = (nowMs - this.#lookedMs) * earnedPerMs
    this.#saved = Math.min(this.#saved + earned, mostSaved)
    this.#lookedMs = nowMs
    // Ten times a tenth is a little less than one in binary.
    if (this.#saved < 1 - 1e-9) return false
    this.#saved -= 1
    return true
  }

  /** The extra call was not made after all. */
  refund(): void {
    this.#saved = Math.min(this.#saved + 1, mostSaved)
  }
}

/** Fewer answers than this say too little. */
const leastAnswers = 50
/** When so many are known, each of them counts half: old answers fade. */
const mostAnswers = 400
const quantile = 0.95
/** Each bucket ends a fifth above the one before: from 1 ms to a minute. */
const growth = 1.2
const buckets = Math.ceil(Math.log(60_000) / Math.log(growth)) + 1

/** The latencies of one method's answers, in buckets: adding one costs no sorting and no memory. */
export class LatencyHistogram {
  readonly #counts = new Uint16Array(buckets)
  #answers = 0
  #p95Ms: number | null = null

  add(latencyMs: number): void {
    const bucket = Math.ceil(Math.log(Math.max(latencyMs, 1)) / Math.log(growth))
    const at = Math.min(bucket, buckets - 1)
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#answers += 1
    if (this.#answers < leastAnswers || this.#answers % 10 > 0) return
    if (this.#answers >= mostAnswers) this.#halve()
    this.#p95Ms = this.#quantile()
  }

  /** 95 of 100 answers took no longer, or a fifth less; null until enough are known. */
  get p95Ms(): number | null {
    return this.#p95Ms
  }

  #halve(): void {
    this.#answers = 0
    for (const [at, count] of this.#counts.entries()) {
      this.#counts[at] = count >> 1
      this.#answers += count >> 1
    }
  }

  #quantile(): number {
    let left = this.#answers * (1 - quantile)
    let at = buckets - 1
    while (at > 0 && (left -= this.#counts[at] ?? 0) >= 0) at -= 1
    return growth ** at
  }
}
