// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { explainLimits } from '../../bytes/limits.ts'
import type { Clock } from '../../clock/clock.ts'
import { type AttemptRecord, Journal, type SessionNote } from '../../relay/call.ts'
import type { Considered } from '../../upstream/pick.ts'
import { floorOf } from '../../upstream/weights.ts'
import { isFailure, methodOf, outcomeOf, resultOf } from '../call-counters.ts'
import { perListener, type PartialObservers } from '../observers.ts'
import type { Explained, ExplainedAttempt, ExplainedCall, ExplainedCandidate } from './explained.ts'

/** A call that has ended. Of its request and its answer nothing is kept alive. */
interface KeptCall extends Pick<
  ExplainedCall,
  'guid' | 'chain' | 'interface' | 'method' | 'outcome' | 'error' | 'answeredBy' | 'totalMs'
> {
  readonly journal: Journal
}

const keptKinds = ['recent', 'failed', 'slow'] as const
type KeptKind = (typeof keptKinds)[number]

/** The last calls of all listeners; those that failed or were slow apart, so that they stay longer. */
export class KeptCalls implements Pick<PartialObservers, 'listenerObserver'> {
  readonly #clock: Clock
  readonly #rings: Readonly<Record<KeptKind, Ring>>

  constructor(clock: Clock, sizes: Readonly<Record<KeptKind, number>> = explainLimits) {
    this.#clock = clock
    const { recent, failed, slow } = sizes
    this.#rings = { recent: new Ring(recent), failed: new Ring(failed), slow: new Ring(slow) }
  }

  readonly listenerObserver: PartialObservers['listenerObserver'] = perListener((listener) => ({
    callEnded: (call, end, totalMs) => {
      const { guid, journal, asked } = call
      const outcome = outcomeOf(call, end)
      const isSlow = totalMs >= explainLimits.slowMs && !journal.mayStream
      const kind = isFailure(outcome) ? 'failed' : isSlow ? 'slow' : 'recent'
      const method = asked.known ? asked.method : copied(methodOf(call))
      const error = end.kind === 'error' ? copied(end.error.message) : null
      const answeredBy = end.kind === 'reply' ? end.reply.upstream : null
      const kept = { guid, ...listener, method, outcome, error, answeredBy, totalMs, journal }
      this.#rings[kind].add(kept)
    },
    requestRefused: ({ kind, message }, guid) => {
      const journal = new Journal(this.#clock.nowMs())
      const about = { guid, ...listener, outcome: kind.reason, error: copied(message), journal }
      if (guid !== '')
        this.#rings.recent.add({ ...about, method: null, answeredBy: null, totalMs: 0 })
    },
  }))

  /** The call of a guid, or the items of its batch. */
  find(guid: string): Explained {
    const all = keptKinds.flatMap((kind) => this.#rings[kind].calls)
    const own = all.filter((each) => each.guid === guid || each.guid.startsWith(`${guid}-`))
    return this.#explained(own, explainLimits.listed)
  }

  /** The last ones of a kind. */
  list(kind: KeptKind, limit: number): Explained {
    return this.#explained(this.#rings[kind].calls, limit)
  }

  /** @returns `812 recent calls (the oldest of 40 s ago), 3 failed calls (...) and 0 slow calls` */
  get extent(): string {
    const parts = keptKinds.map((kind) => {
      const { calls } = this.#rings[kind]
      const ages = calls.map(({ journal }) => this.#clock.nowMs() - journal.startedMs)
      const oldest = Math.round(Math.max(...ages) / 1_000)
      const of =
        calls.length === 0 ? '' : ` (the oldest of ${oldest.toLocaleString('en-US')} s ago)`
      return `${calls.length} ${kind} calls${of}`
    })
    return parts.join(', ')
  }

  #explained(calls: readonly KeptCall[], limit: number): Explained {
    const newest = calls.toSorted((a, b) => b.journal.startedMs - a.journal.startedMs)
    const shown = newest.slice(0, limit).map((each) => this.#explain(each))
    return { calls: shown, more: calls.length - shown.length }
  }

  #explain({ journal, totalMs, ...call }: KeptCall): ExplainedCall {
    const { startedMs, attempts, retries, cache, session, crossValidation, considered } = journal
    const atMs = this.#clock.wallMs() - (this.#clock.nowMs() - startedMs)
    const isUnserved = considered?.every(({ leftOut }) => leftOut !== null)
    return {
      ...{ ...call, at: new Date(atMs).toISOString(), totalMs: rounded(totalMs), retries },
      hedges: attempts.filter(({ kind }) => kind === 'hedge').length,
      ...{ cache, crossValidation },
      session: session && explainSession(session),
      attempts: attempts
        .slice(0, explainLimits.listed)
        .map((each) => explainAttempt(each, startedMs)),
      unserved: isUnserved ? candidatesOf(considered) : null,
    }
  }
}

/** A new one takes the place of the oldest. */
class Ring {
  readonly calls: KeptCall[] = []
  readonly #size: number
  #next = 0

  constructor(size: number) {
    this.#size = size
  }

  add(call: KeptCall): void {
    this.calls[this.#next] = call
    this.#next = (this.#next + 1) % this.#size
  }
}

function explainSession({ considered, ...session }: SessionNote) {
  return { ...session, candidates: candidatesOf(considered) }
}

function explainAttempt(attempt: AttemptRecord, callMs: number): ExplainedAttempt {
  const { upstream, kind, startedMs, endedMs, budgetMs, detail, violation, considered } = attempt
  return {
    ...{ upstream, kind, startMs: rounded(startedMs - callMs) },
    tookMs: endedMs === null ? null : rounded(endedMs - startedMs),
    budgetMs: budgetMs !== null && Number.isFinite(budgetMs) ? rounded(budgetMs) : null,
    ...{ result: resultOf(attempt), detail },
    violation: violation && { check: violation.check, detail: violation.detail },
    candidates: candidatesOf(considered),
  }
}

function candidatesOf(seen: readonly Considered[] | null): readonly ExplainedCandidate[] | null {
  if (seen === null) return null
  const drawn = seen.filter(({ leftOut }) => leftOut === null)
  const floor = floorOf(drawn.map(({ weight }) => weight))
  const sum = drawn.reduce((total, { weight }) => total + Math.max(weight, floor), 0)
  return seen.map((each) => {
    const share = each.leftOut === null ? Math.max(each.weight, floor) / sum : 0
    return { ...each, share }
  })
}

/** The beginning of a text. A slice would keep all of it alive, and with it perhaps a whole request. */
function copied(text: string): string {
  return Buffer.from(text.slice(0, 300)).toString()
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10
}
