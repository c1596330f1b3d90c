// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, MethodSpec } from '../chain/types.ts'
import type { RelayConfig } from '../config/types.ts'

/** The cost of a cheap read. */
const unitCost = 10
/** Below this a slow answer is jitter, not trouble. */
const minDelayMs = 25

/** Time per compute unit. */
const msPerCost = 100
/** A call that waits for a block may have to wait for two. */
const blocksWaited = 2

/** How long an attempt may usually take: the timeout of the method in its spec, else one by its cost. */
export function usualBudgetMs(
  { waitsForBlock, timeoutMs, cost }: MethodSpec,
  { blockTimeMs }: Pick<Chain, 'blockTimeMs'>,
  { minRelayTimeoutMs }: Pick<RelayConfig, 'minRelayTimeoutMs'>,
): number {
  const waitMs = waitsForBlock ? blocksWaited * blockTimeMs : 0
  return waitMs + Math.max(timeoutMs ?? cost * msPerCost, minRelayTimeoutMs)
}

/** When and how often a slow read is hedged. */
export class Hedging {
  readonly budget = new HedgeBudget()
  readonly #unitMs: number
  /** By method; only of methods that the spec names, so that clients cannot fill the memory. */
  readonly #latencies = new Map<string, Percentile95>()

  constructor(blockTimeMs: number) {
    this.#unitMs = Math.min(Math.max(blockTimeMs / 8, 100), 1_000)
  }

  /**
   * The delay before a hedge: an eighth of the block time for a cheap read, and more for a heavier one.
   * At most the 95th percentile of the method's latency, and half of the attempt's budget.
   */
  delayMs({ name, cost }: MethodSpec, budgetMs: number): number {
    const usualMs = this.#unitMs * Math.max(1, cost / unitCost)
    const p95Ms = this.#latencies.get(name)?.ms ?? Infinity
    return Math.max(Math.min(usualMs, p95Ms, budgetMs / 2), minDelayMs)
  }

  answered({ name, known }: MethodSpec, latencyMs: number): void {
    if (!known) return
    let latency = this.#latencies.get(name)
    if (!latency) this.#latencies.set(name, (latency = new Percentile95()))
    latency.add(latencyMs)
  }
}

/** Extra calls per read. */
const share = 0.1
/** The most extra calls that may be saved up. A new listener begins with as many. */
const maxSaved = 10
/** A quiet listener earns one every ten seconds. */
const earnedPerMs = 1 / 10_000

/** Keeps the extra calls of hedging within a tenth of the reads and one every ten seconds. */
class HedgeBudget {
  #saved = maxSaved
  #lookedMs = 0

  /** A read came in. */
  earn(): void {
    this.#saved = Math.min(this.#saved + share, maxSaved)
  }

  /** Whether one more extra call may be made. */
  has(nowMs: number): boolean {
    const earned = (nowMs - this.#lookedMs) * earnedPerMs
    this.#saved = Math.min(this.#saved + earned, maxSaved)
    this.#lookedMs = nowMs
    // Ten times a tenth is a little less than one in binary.
    return this.#saved >= 1 - 1e-9
  }

  /** An extra call was made. */
  spend(): void {
    this.#saved -= 1
  }
}

/** With fewer answers there is no estimate. */
const minAnswers = 50
/** How fast the estimate follows the answers. */
const step = 0.1

/**
 * The 95th percentile of a method's latency, as a running estimate. A slower answer raises it by 19
 * parts, any other lowers it by one, so it settles where one answer of 20 is slower.
 */
class Percentile95 {
  #answers = 0
  #estimateMs = minDelayMs

  add(latencyMs: number): void {
    this.#answers += 1
    this.#estimateMs *= latencyMs > this.#estimateMs ? 1 + 0.95 * step : 1 - 0.05 * step
  }

  /** Null until enough answers are known. */
  get ms(): number | null {
    return this.#answers < minAnswers ? null : this.#estimateMs
  }
}
