// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { explainLimits } from '../../bytes/limits.ts'
import { evidenceOf } from '../../chain/failure-words.ts'
import type { Clock } from '../../clock/clock.ts'
import type { ListenerObserver } from '../../listener/listener.ts'
import { type AttemptRecord, type Client, Journal } from '../../relay/call.ts'
import {
  countedResultOf,
  isFailure,
  methodOf,
  outcomeOf,
  resultOf,
  urlResultOf,
} from '../call-counters.ts'
import { clean } from '../format.ts'
import { perListener } from '../observers.ts'
import { boundedClient, copied } from '../shown-client.ts'

export const recordedKinds = ['recent', 'failed', 'slow', 'retried'] as const
export type RecordedKind = (typeof recordedKinds)[number]

/** A finished call, without references to its request and answer. */
export interface RecordedCall {
  readonly guid: string
  readonly chain: string
  readonly interface: string
  /** Null if the request was refused before it became a call. */
  readonly method: string | null
  /** As in the label of `router_requests_total`. */
  readonly outcome: string
  readonly totalMs: number
  /** The router's own error; null if the client got the upstream's answer. */
  readonly error: string | null
  /** The upstream that answered the client; null if none did. */
  readonly answeredBy: string | null
  /** Null if it is unknown who sent it. */
  readonly client: Client | null
  readonly journal: Journal
}

/** A method explains the trouble of an upstream with this share of the bad attempts, this long. */
const trouble = { ms: 5 * 60_000, share: 0.9 } as const
/** Longest text of an error. */
const maxText = 300

type Observed = Pick<ListenerObserver, 'callEnded' | 'requestRefused'>

/** The last calls of all listeners. Notable ones have separate lists, and stay longer. */
export class CallHistory {
  readonly #clock: Clock
  readonly #calls: Readonly<Record<RecordedKind, RecordedCall[]>> = {
    recent: [],
    failed: [],
    slow: [],
    retried: [],
  }
  readonly #added: Record<RecordedKind, number> = { recent: 0, failed: 0, slow: 0, retried: 0 }

  constructor(clock: Clock) {
    this.#clock = clock
  }

  readonly listenerObserver = perListener<Observed>((listener) => ({
    callEnded: (call, end, totalMs) => {
      const { guid, journal, method: spec } = call
      const outcome = outcomeOf(call, end)
      const isSlow = totalMs >= explainLimits.slowMs && !journal.mayStream
      const fine = isRescued(journal) ? 'retried' : 'recent'
      const kind = isFailure(outcome) ? 'failed' : isSlow ? 'slow' : fine
      const method = spec.known ? spec.name : copied(methodOf(call), maxText)
      const error = end.kind === 'error' ? copied(end.error.message, maxText) : null
      const answeredBy = end.kind === 'reply' ? end.reply.upstream : null
      const client = call.client ? boundedClient(call.client, call) : null
      const about = { guid, ...listener, method, outcome, error, answeredBy, client }
      this.#store(kind, { ...about, totalMs, journal })
    },
    requestRefused: ({ kind, message }, guid, from) => {
      if (guid === '') return
      const journal = new Journal(this.#clock.nowMs())
      const about = {
        guid,
        ...listener,
        outcome: kind.reason,
        error: copied(message, maxText),
        journal,
      }
      const client = from && boundedClient(from)
      this.#store('recent', { ...about, method: null, answeredBy: null, client, totalMs: 0 })
    },
  }))

  /** Replaces the oldest call of its kind once the list is full. */
  #store(kind: RecordedKind, call: RecordedCall): void {
    this.#calls[kind][this.#added[kind]++ % explainLimits[kind]] = call
  }

  /** Finds a call by its guid, or all items of a batch. */
  find(guid: string) {
    const all = recordedKinds.flatMap((kind) => this.#calls[kind])
    const own = all.filter((each) => each.guid === guid || each.guid.startsWith(`${guid}-`))
    return this.#explained(own, explainLimits.listed)
  }

  /**
   * The last calls of one kind, or with an attempt at one upstream.
   * @param kind null: all but the recent ones, of which nothing is notable
   */
  list(kind: RecordedKind | null, limit = 20, upstream: string | null = null) {
    const { failed, slow, retried } = this.#calls
    const others = slow.filter(({ journal }) => isRescued(journal))
    const all = kind === null ? [...failed, ...slow, ...retried] : this.#calls[kind]
    const own = kind === 'retried' ? [...all, ...others] : all
    const isAt = ({ journal }: RecordedCall) => upstream === null || journal.tried(upstream)
    return this.#explained(own.filter(isAt), limit)
  }

  /**
   * The method of nearly all recent attempts at an upstream that failed or hung; null if there is
   * none, or if nearly all of the others were of that method, too.
   */
  methodOfTrouble(chain: string, iface: string, upstream: string): string | null {
    const sinceMs = this.#clock.nowMs() - trouble.ms
    const counts = { answered: new Map<string, number>(), bad: new Map<string, number>() }
    for (const { method, journal, ...call } of recordedKinds.flatMap((kind) => this.#calls[kind])) {
      if (method === null || call.chain !== chain || call.interface !== iface) continue
      if (journal.startedMs < sinceMs) continue
      for (const attempt of journal.attempts) {
        const result = urlResultOf(countedResultOf(attempt))
        if (attempt.upstream !== upstream || result === null) continue
        const of = counts[result === 'answered' ? result : 'bad']
        of.set(method, (of.get(method) ?? 0) + 1)
      }
    }
    const [most] = [...counts.bad].toSorted(([, a], [, b]) => b - a)
    const isNearlyAll = (of: ReadonlyMap<string, number>) =>
      (of.get(most?.[0] ?? '') ?? 0) >= trouble.share * of.values().reduce((a, b) => a + b, 0)
    const isTelling = most && isNearlyAll(counts.bad) && !isNearlyAll(counts.answered)
    return isTelling ? clean(most[0]) : null
  }

  /** Lists the newest first, with the number of calls beyond the limit. */
  #explained(calls: readonly RecordedCall[], limit: number) {
    const epochMs = this.#clock.wallMs() - this.#clock.nowMs()
    const newest = calls.toSorted((a, b) => b.journal.startedMs - a.journal.startedMs)
    const shown = newest.slice(0, limit).map((each) => explain(each, epochMs))
    return { calls: shown, more: calls.length - shown.length }
  }

  /** @returns `812 recent, 3 failed, 0 slow` */
  get extent(): string {
    return recordedKinds.map((kind) => `${this.#calls[kind].length} ${kind}`).join(', ')
  }
}

/** Whether another attempt answered after the first had failed, or was overtaken. */
function isRescued({ attempts }: Journal): boolean {
  const [first, second] = attempts
  if (first === undefined || second === undefined) return false
  const hasFailed = typeof first.result === 'object' && first.result !== null
  if (!hasFailed && first.result !== 'overtaken') return false
  return attempts.some(({ kind }) => kind !== 'first' && kind !== 'broadcast')
}

export type Explained = ReturnType<CallHistory['list']>

/**
 * What happened to one call, as `/explain` returns it in JSON, without parameters, URLs and keys.
 * Upstreams have their names from the config; times without a date are in milliseconds.
 *
 * @param epochMs start of the clock's monotonic scale
 */
function explain({ journal, client, ...call }: RecordedCall, epochMs: number) {
  const { startedMs, attempts, cache, session, crossValidation, logs, considered } = journal
  return {
    ...{ ...call, at: new Date(epochMs + startedMs).toISOString() },
    /** Address, user agent and path, without control characters and keys. */
    client: client && cleanClient(client),
    // Each is null if the call did not involve it.
    ...{ cache, session, crossValidation, logs },
    attempts: attempts.map((each) => explainAttempt(each, startedMs)),
    /** Candidates of the last pick if it found no upstream; otherwise null. */
    unserved: considered?.every(({ exclusionReason }) => exclusionReason !== null)
      ? considered
      : null,
  }
}

function cleanClient({ address, userAgent, path }: Client): Client {
  return { address, userAgent: userAgent && clean(userAgent), path: clean(path) }
}

function explainAttempt(attempt: AttemptRecord, callMs: number) {
  const { upstream, kind, startedMs, endedMs, budgetMs, violation, considered } = attempt
  const evidence = evidenceOf(attempt)
  return {
    ...{ upstream, kind },
    /** Relative to the start of the call. */
    startMs: startedMs - callMs,
    /** Null while in flight. For a stream, the time until its head. */
    tookMs: endedMs === null ? null : endedMs - startedMs,
    /** Time until the attempt is late or fails; null for no limit. */
    budgetMs: budgetMs === Infinity ? null : budgetMs,
    /** As in the label of `router_attempts_total`. */
    result: resultOf(attempt),
    /** HTTP status, code and words of a failure; for a violation, the check and its detail. */
    detail: violation ? `${violation.check}: ${violation.detail}` : evidence,
    /** All upstreams as the pick saw them; null without a pick (a named upstream, a broadcast). */
    considered,
  }
}
