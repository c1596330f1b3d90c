// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { explainLimits } from '../../bytes/limits.ts'
import type { Clock } from '../../clock/clock.ts'
import type { ListenerObserver } from '../../listener/listener.ts'
import { type AttemptRecord, Journal } from '../../relay/call.ts'
import { isFailure, methodOf, outcomeOf, resultOf } from '../call-counters.ts'
import { perListener } from '../observers.ts'

export const keptKinds = ['recent', 'failed', 'slow'] as const
type RecordedKind = (typeof keptKinds)[number]

/** A call that has ended. Of its request and its answer nothing is kept alive. */
export interface RecordedCall {
  readonly guid: string
  readonly chain: string
  readonly interface: string
  /** Null: it was refused before it became a call. */
  readonly method: string | null
  /** As the label of `router_requests_total`. */
  readonly outcome: string
  readonly totalMs: number
  /** The router's own error; null where the upstream's answer was passed on. */
  readonly error: string | null
  /** Whose answer the client got; null for none. */
  readonly answeredBy: string | null
  readonly journal: Journal
}

type Observed = Pick<ListenerObserver, 'callEnded' | 'requestRefused'>

/** The last calls of all listeners; those that failed or were slow apart, so that they stay longer. */
export class CallHistory {
  readonly #clock: Clock
  readonly #calls: Readonly<Record<RecordedKind, RecordedCall[]>> = {
    recent: [],
    failed: [],
    slow: [],
  }
  readonly #added: Record<RecordedKind, number> = { recent: 0, failed: 0, slow: 0 }

  constructor(clock: Clock) {
    this.#clock = clock
  }

  readonly listenerObserver = perListener<Observed>((listener) => ({
    callEnded: (call, end, totalMs) => {
      const { guid, journal, method: spec } = call
      const outcome = outcomeOf(call, end)
      const isSlow = totalMs >= explainLimits.slowMs && !journal.mayStream
      const kind = isFailure(outcome) ? 'failed' : isSlow ? 'slow' : 'recent'
      const method = spec.known ? spec.name : copied(methodOf(call))
      const error = end.kind === 'error' ? copied(end.error.message) : null
      const answeredBy = end.kind === 'reply' ? end.reply.upstream : null
      this.#keep(kind, { guid, ...listener, method, outcome, error, answeredBy, totalMs, journal })
    },
    requestRefused: ({ kind, message }, guid) => {
      if (guid === '') return
      const journal = new Journal(this.#clock.nowMs())
      const about = { guid, ...listener, outcome: kind.reason, error: copied(message), journal }
      this.#keep('recent', { ...about, method: null, answeredBy: null, totalMs: 0 })
    },
  }))

  /** In the place of the oldest of its kind, where there are enough. */
  #keep(kind: RecordedKind, call: RecordedCall): void {
    this.#calls[kind][this.#added[kind]++ % explainLimits[kind]] = call
  }

  /** The call of a guid, or the items of its batch. */
  find(guid: string) {
    const all = keptKinds.flatMap((kind) => this.#calls[kind])
    const own = all.filter((each) => each.guid === guid || each.guid.startsWith(`${guid}-`))
    return this.#explained(own, explainLimits.listed)
  }

  /** The last ones of a kind. */
  list(kind: RecordedKind, limit = 20) {
    return this.#explained(this.#calls[kind], limit)
  }

  /** The newest first; and how many there are beyond the limit. */
  #explained(calls: readonly RecordedCall[], limit: number) {
    const epochMs = this.#clock.wallMs() - this.#clock.nowMs()
    const newest = calls.toSorted((a, b) => b.journal.startedMs - a.journal.startedMs)
    const shown = newest.slice(0, limit).map((each) => explain(each, epochMs))
    return { calls: shown, more: calls.length - shown.length }
  }

  /** @returns `812 recent, 3 failed, 0 slow` */
  get extent(): string {
    return keptKinds.map((kind) => `${this.#calls[kind].length} ${kind}`).join(', ')
  }
}

/** The beginning of a text. A slice would keep all of it alive, and with it perhaps a whole request. */
function copied(text: string): string {
  return Buffer.from(text.slice(0, 300)).toString()
}

export type Explained = ReturnType<CallHistory['list']>

/**
 * What happened to one call, as `/explain` answers it in JSON. Holds no parameter, no URL and no key. Upstreams are named as
 * in the config; times without a date are milliseconds.
 *
 * @param epochMs the beginning of the clock's monotonic scale
 */
function explain({ journal, ...call }: RecordedCall, epochMs: number) {
  const { startedMs, attempts, cache, session, crossValidation, considered } = journal
  return {
    ...{ ...call, at: new Date(epochMs + startedMs).toISOString() },
    // Null where there is no cache, no sticky session, or no vote.
    ...{ cache, session, crossValidation },
    attempts: attempts.map((each) => explainAttempt(each, startedMs)),
    /** What the last pick saw that found no upstream; null where each found one. */
    unserved: considered?.every(({ exclusionReason }) => exclusionReason !== null)
      ? considered
      : null,
  }
}

function explainAttempt(attempt: AttemptRecord, callMs: number) {
  const { upstream, kind, startedMs, endedMs, budgetMs, detail, violation, considered } = attempt
  return {
    ...{ upstream, kind },
    /** After the beginning of the call. */
    startMs: startedMs - callMs,
    /** Null while it runs. Of an answer that streams, until its head was there. */
    tookMs: endedMs === null ? null : endedMs - startedMs,
    /** After how long it is late, or fails; null for never. */
    budgetMs: budgetMs === Infinity ? null : budgetMs,
    /** As the label of `router_attempts_total`. */
    result: resultOf(attempt),
    /** Of an answer that did not pass a check, which one, and by what. */
    detail: violation ? `${violation.check}: ${violation.detail}` : detail,
    /** All upstreams as the pick saw them; null where none was drawn: asked for by name, or a write to all. */
    considered,
  }
}
