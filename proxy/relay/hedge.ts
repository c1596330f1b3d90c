// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import { AttemptFailed } from './attempt-failed.ts'
import { isRepeatable, isWhole, type Call } from './call.ts'
import { RelayError, errorKinds } from './errors.ts'
import { HedgeBudget } from './hedge-budget.ts'
import { RecentLatency } from './recent-latency.ts'
import type { Reply } from './reply.ts'
import type { RetryLimits } from './retry.ts'
import type { Relay, Step } from './step.ts'
import { moreTelling, type TrustIn } from './telling.ts'

/** The cost of a cheap read, which waits one tick. */
const unitCost = 10
/** Below this a late answer is jitter, not trouble. */
const leastTickMs = 10
/** One that found nobody to ask, or the budget spent, waits twice as long each time, up to this or its own tick. */
const longestIdleTickMs = 1_000

export interface HedgeOptions extends RetryLimits {
  readonly blockTimeMs: number
  readonly clock: Clock
  readonly trustIn: TrustIn
}

/**
 * Gives a slow attempt company: when a tick passes without an answer, another upstream is asked as
 * well, and the first answer wins. Reads only, within a budget of extra calls, and nothing that may
 * rest.
 */
export function hedge(options: HedgeOptions): Step {
  const budget = new HedgeBudget()
  const latencies = new Map<string, RecentLatency>()
  return (next) => async (call) => {
    if (call.asked.kind !== 'read' || options.retryLimit === 0 || !isRepeatable(call))
      return next(call)
    // A read that is tried again is still one read.
    if (call.attemptKind === 'first') budget.earn()
    const latency = latencyOf(latencies, call)
    const startedMs = options.clock.nowMs()
    const race = new Race(next, call, budget, tickMs(options.blockTimeMs, call, latency), options)
    const reply = await race.run()
    if (!call.journal.mayRest) latency?.add(options.clock.nowMs() - startedMs)
    return reply
  }
}

/** One per method that the spec names: a stranger's method names do not fill the memory. */
function latencyOf(latencies: Map<string, RecentLatency>, { asked }: Call): RecentLatency | null {
  if (!asked.known) return null
  let latency = latencies.get(asked.method)
  if (!latency) latencies.set(asked.method, (latency = new RecentLatency()))
  return latency
}

/** How long an attempt is waited for alone, unless its own time is shorter. */
function tickMs(blockTimeMs: number, { asked }: Call, latency: RecentLatency | null): number {
  const weight = Math.max(1, asked.cost / unitCost)
  const patienceMs = Math.min(Math.max(blockTimeMs / 8, 100), 1_000) * weight
  return Math.min(patienceMs, latency?.p95Ms ?? Infinity)
}

/** The attempts of one call that run side by side. */
class Race {
  readonly #next: Relay
  readonly #call: Call
  readonly #budget: HedgeBudget
  #tickMs: number
  readonly #options: HedgeOptions
  readonly #arms = new Set<AbortController>()
  readonly #lateArms = new Set<AbortController>()
  #failure: unknown = null

  constructor(next: Relay, call: Call, budget: HedgeBudget, tickMs: number, options: HedgeOptions) {
    this.#next = next
    this.#call = call
    this.#budget = budget
    this.#tickMs = tickMs
    this.#options = options
  }

  /** The first answer. Rejects when every arm failed, with the most telling failure. */
  run(): Promise<Reply> {
    return new Promise((resolve, reject) => {
      let cancelTick = () => {}
      let isOver = false
      let isLate = false
      let latest: AttemptFailed | null = null
      const { signal, journal } = this.#call
      const over = () => {
        isOver = true
        cancelTick()
        signal.removeEventListener('abort', over)
        for (const arm of this.#arms) arm.abort()
      }
      const start = (call: Call) => {
        const arm = new AbortController()
        this.#arms.add(arm)
        const late = (failed: AttemptFailed) => {
          this.#lateArms.add(arm)
          latest = failed
          tellLateness()
        }
        this.#next({ ...call, signal: arm.signal, late }).then(
          (reply) => {
            this.#arms.delete(arm)
            over()
            // The winner's stream still ends when the client leaves.
            if (!(reply.incoming.body instanceof Uint8Array)) follow(signal, arm)
            resolve(reply)
          },
          (error: unknown) => {
            this.#arms.delete(arm)
            this.#lateArms.delete(arm)
            this.#noteFailure(error, call)
            if (this.#arms.size > 0) return tellLateness()
            over()
            reject(this.#failure)
          },
        )
      }
      /** All that still runs is late: instead of getting company, the call is tried again. */
      const tellLateness = () => {
        if (isOver || isLate || latest === null || this.#lateArms.size < this.#arms.size) return
        isLate = true
        cancelTick()
        this.#call.late?.(this.#failure instanceof AttemptFailed ? this.#failure : latest)
      }
      const armTick = () => {
        cancelTick = this.#options.clock.after(this.#nextTickMs, () => {
          if (this.#mayHedge()) start({ ...this.#call, attemptKind: 'hedge' })
          else this.#waitLonger()
          armTick()
        })
      }
      signal.addEventListener('abort', over, { once: true })
      this.#call.began?.(over)
      start(this.#call)
      journal.whenBounded(() => {
        if (!isOver) armTick()
      })
    })
  }

  /** There is company before the time of the attempt that was begun last is over. */
  get #nextTickMs(): number {
    const budgetMs = this.#call.journal.attempts.at(-1)?.budgetMs ?? Infinity
    return Math.max(Math.min(this.#tickMs, budgetMs / 2), leastTickMs)
  }

  #mayHedge(): boolean {
    // Two may not read at once what still comes in.
    if (!isWhole(this.#call)) return false
    return !this.#call.journal.isSpent(this.#options.clock.nowMs()) && this.#budget.spend()
  }

  #waitLonger(): void {
    this.#tickMs = Math.max(this.#tickMs, Math.min(this.#tickMs * 2, longestIdleTickMs))
  }

  #noteFailure(error: unknown, { attemptKind }: Call): void {
    const nobodyLeft = error instanceof RelayError && error.kind === errorKinds.noUpstream
    // It says nothing of the attempts that are, or were, under way.
    if (attemptKind === 'hedge' && nobodyLeft) {
      this.#waitLonger()
      return this.#budget.refund()
    }
    const { trustIn } = this.#options
    const was = this.#failure
    if (was instanceof AttemptFailed && error instanceof AttemptFailed)
      this.#failure = error.reply ? moreTelling(was, error, trustIn) : was
    else if (was === null || (error instanceof AttemptFailed && error.reply)) this.#failure = error
  }
}

/** Aborts the arm with the call. */
function follow(signal: AbortSignal, arm: AbortController): void {
  if (signal.aborted) arm.abort()
  else {
    signal.addEventListener('abort', () => arm.abort(), { once: true })
  }
}
