// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, MethodSpec } from '../chain/types.ts'
import type { RelayConfig } from '../config/types.ts'
import type { Call } from './call.ts'

/** The cost of a cheap read. */
const unitCost = 10
/** Smaller delays are jitter. */
const minDelayMs = 25

/** Time per compute unit. */
const msPerCost = 100
/** A call that waits for a block may have to wait for two. */
const blocksWaited = 2

/**
 * Default budget of an attempt: the method's timeout in the spec, or one derived from its cost, and
 * the time that the node waits.
 * @param urlMs the timeout in the config of the URL, which replaces all but the wait
 */
export function usualBudgetMs(
  method: MethodSpec,
  chain: Pick<Chain, 'blockTimeMs'>,
  { minRelayTimeoutMs }: Pick<RelayConfig, 'minRelayTimeoutMs'>,
  urlMs: number | null = null,
): number {
  const { timeoutMs, cost } = method
  const usualMs = urlMs ?? Math.max(timeoutMs ?? cost * msPerCost, minRelayTimeoutMs)
  return waitMsOf(method, chain) + usualMs
}

/** Longest wait that a request may add to the budget of its call. */
const maxNamedWaitMs = 10 * 60_000

/** Time that a call has in addition to the budget of the relay, since its request asks to wait. */
export function namedWaitMs({ method, directives }: Pick<Call, 'method' | 'directives'>): number {
  const { relayTimeoutMs } = directives
  return Math.min(method.waitMs ?? 0, relayTimeoutMs ?? Infinity, maxNamedWaitMs)
}

/** How long the node delays its answer until the event that the call is about. */
function waitMsOf(
  { waitsForBlock, waitMs }: MethodSpec,
  { blockTimeMs }: Pick<Chain, 'blockTimeMs'>,
): number {
  return waitsForBlock ? (waitMs ?? blocksWaited * blockTimeMs) : 0
}

/** When and how often a slow read is hedged. */
export class Hedging {
  readonly budget = new HedgeBudget()
  readonly #unitMs: number
  /** By method, only for methods in the spec, so that clients cannot exhaust memory. */
  readonly #latencies = new Map<string, Percentile95>()

  constructor(blockTimeMs: number) {
    this.#unitMs = Math.min(Math.max(blockTimeMs / 8, 100), 1_000)
  }

  /**
   * Delay before a hedge: an eighth of the block time for a cheap read, and more for an expensive
   * one; at most the method's p95 latency and half of the attempt's budget.
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

/** Hedges per read. */
const share = 0.1
/** Most hedges that can accumulate. A new listener starts with this many. */
const maxSaved = 10
/** An idle listener earns one hedge every ten seconds. */
const earnedPerMs = 1 / 10_000

/** Limits hedges to a tenth of the reads plus one every ten seconds. */
class HedgeBudget {
  #saved = maxSaved
  #earnedToMs = 0

  /** Adds the share of one read. */
  earn(): void {
    this.#saved = Math.min(this.#saved + share, maxSaved)
  }

  /** Whether the budget allows another hedge. */
  has(nowMs: number): boolean {
    const earned = (nowMs - this.#earnedToMs) * earnedPerMs
    this.#saved = Math.min(this.#saved + earned, maxSaved)
    this.#earnedToMs = nowMs
    // In floating point, ten times 0.1 is slightly less than one.
    return this.#saved >= 1 - 1e-9
  }

  /** Takes one hedge from the budget. */
  spend(): void {
    this.#saved -= 1
  }
}

/** Answers that an estimate needs. */
const minAnswers = 50
/** Step size of the estimate. */
const step = 0.1

/**
 * Running estimate of a method's p95 latency. A slower answer raises it 19 times as much as any
 * other answer lowers it, so it converges where one answer in 20 is slower.
 */
class Percentile95 {
  #answers = 0
  #estimateMs = minDelayMs

  add(latencyMs: number): void {
    this.#answers += 1
    this.#estimateMs *= latencyMs > this.#estimateMs ? 1 + 0.95 * step : 1 - 0.05 * step
  }

  /** Null until there are enough answers. */
  get ms(): number | null {
    return this.#answers < minAnswers ? null : this.#estimateMs
  }
}
