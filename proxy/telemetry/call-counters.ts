// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Metric, Registry } from 'prom-client'
import type { CallEnd, ListenerObserver } from '../listener/listener.ts'
import {
  attemptKinds,
  isCancelled,
  type AttemptRecord,
  type Call,
  type RelayObserver,
} from '../relay/call.ts'
import type { FailureClass } from '../chain/failure-table.ts'
import type { Reply } from '../relay/reply.ts'
import type { UrlRecord } from '../upstream/observer.ts'
import { isBlamed } from '../upstream/outcome.ts'
import type { Exemplar } from './metrics-page.ts'
import { type Series, series } from './series.ts'

/*
 * Counters of every call. prom-client hashes all labels on each increment, even through `labels()`.
 * Hot counters therefore count in a cell that their owner caches, and a scrape reads the cells.
 */

/** Node errors of a method since its last success, over all listeners. */
export interface Streak {
  count: number
  /** Of the first and the last one, on the clock's monotonic scale. */
  sinceMs: number
  lastMs: number
  last: AttemptRecord | null
}

/** Counts calls by outcome. @param streaks by key, such as `ETH1 jsonrpc eth_call` */
export function callCounter(
  registry: Registry,
  streaks: Map<string, Streak>,
): (listener: Labels) => ListenerObserver['callEnded'] {
  const total = counterCells(registry, series.requests)
  const duration = histogramCells(registry, series.requestDuration)
  const retries = counterCells(registry, series.retries)
  const nodeErrors = counterCells(registry, series.nodeErrors)
  const lookups = counterCells(registry, series.cacheLookups)
  return (listener) => {
    const lookupsOf = memo((ageClass) =>
      memo((verdict) => lookups({ ...listener, class: ageClass, verdict })),
    )
    const cellsOf = memo((method) => ({
      ofOutcome: memo((outcome) => total({ ...listener, method, outcome })),
      duration: duration({ ...listener, method }),
      retries: retries({ ...listener, method }),
      nodeErrors: nodeErrors({ ...listener, method }),
      streak: streaks.getOrInsertComputed(
        [listener['chain'], listener['interface'], method].join(' '),
        () => ({ count: 0, sinceMs: 0, lastMs: 0, last: null }),
      ),
    }))
    return (call, end, durationMs) => {
      const cells = cellsOf(call.method.known ? call.method.name : 'other')
      const outcome = outcomeOf(call, end)
      cells.ofOutcome(outcome).count += 1
      if (outcome !== 'success' && isOfNodes(outcome, end)) {
        const { startedMs, attempts } = call.journal
        cells.nodeErrors.count += 1
        const { streak } = cells
        streak.lastMs = startedMs + durationMs
        if ((streak.count += 1) === 1) streak.sinceMs = streak.lastMs
        streak.last = attempts.at(-1) ?? null
      } else if (outcome === 'success' || outcome === 'node-error') cells.streak.count = 0
      if (end.kind !== 'abandoned') cells.duration.observe(durationMs / 1_000, call.journal.traceId)
      const { cache } = call.journal
      if (cache) lookupsOf(cache.ageClass)(cache.verdict).count += 1
      if (call.journal.attempts.length > 1) cells.retries.count += call.journal.retries
    }
  }
}

/** Results that are not the upstream's fault, and those whose first event an alert must see. */
const started = [
  ...['answer', 'node-error', 'overtaken', 'aborted'],
  ...['method-rate-limited', 'limit-of-method'],
] as const

/** Results of attempts at one URL. */
const urlResults = ['answered', 'failed', 'overtaken'] as const

/** The result for the counter of a URL; null if it says nothing about the URL. */
export function urlResultOf(result: string): (typeof urlResults)[number] | null {
  if (result === 'answer' || result === 'node-error') return 'answered'
  if (result === 'aborted' || result === 'running') return null
  return result === 'overtaken' ? result : 'failed'
}

/** Counts attempts at upstreams and their URLs. */
export function attemptCounter(registry: Registry) {
  const total = counterCells(registry, series.attempts)
  const byUrl = counterCells(registry, series.urlRequests)
  const duration = histogramCells(registry, series.attemptDuration)
  /** Starts counters of an upstream at 0. Those of all failure classes would be too many. */
  const start = (upstream: Labels, urls: readonly UrlRecord[]) => {
    for (const kind of attemptKinds)
      for (const result of started) total({ ...upstream, kind, result })
    for (const { position } of urls)
      for (const result of urlResults) byUrl({ ...upstream, url: String(position), result })
  }
  const countOf = (listener: Labels): RelayObserver['attemptEnded'] => {
    const cellsOf = memo((upstream) => ({
      ofKind: memo((kind) => memo((result) => total({ ...listener, upstream, kind, result }))),
      ofUrl: memo((url) => memo((result) => byUrl({ ...listener, upstream, url, result }))),
      duration: duration({ ...listener, upstream }),
    }))
    return (call, attempt) => {
      const { upstream, position, kind, startedMs, endedMs } = attempt
      const cells = cellsOf(upstream)
      const result = countedResultOf(attempt)
      cells.ofKind(kind)(result).count += 1
      const ofUrl = urlResultOf(result)
      if (ofUrl !== null) cells.ofUrl(String(position))(ofUrl).count += 1
      // An overtaken attempt took at least this long.
      if (result !== 'aborted' && endedMs !== null)
        cells.duration.observe((endedMs - startedMs) / 1_000, call.journal.traceId)
    }
  }
  const countProbe = (upstream: Labels, position: number, isFailed: boolean) => {
    const result = isFailed ? 'failed' : 'answered'
    byUrl({ ...upstream, url: String(position), result }).count += 1
  }
  return { start, countOf, countProbe }
}

/** The outcome of a call, for its label (see `docs/reference/metrics.md`) and for the log. */
export function outcomeOf(call: Call, end: CallEnd): string {
  if (end.kind === 'abandoned') return 'abandoned'
  if (end.kind === 'error') return end.error.isCallersFault ? 'refused' : end.error.kind.reason
  if (end.kind === 'subscription') return end.isRefused ? 'node-error' : 'success'
  return outcomeOfReply(call, end.reply)
}

/**
 * The outcome of the attempts on the upstream that sent the reply. An error on which all nodes
 * agree is their answer; it is a failure only if another attempt failed through its upstream.
 */
function outcomeOfReply({ journal }: Call, reply: Reply): string {
  const { upstream, refusal } = reply
  const [first, second] = journal.attempts
  if (first?.result === 'answer' && second === undefined && refusal === null) return 'success'
  const isAgreed = !journal.attempts.some(hasFailed) && !isUnserved(reply)
  const failed = isAgreed ? 'node-error' : 'upstream-error'
  // A cached answer, or one shared with another call.
  if (first === undefined && journal.cache) return refusal === null && isAgreed ? 'success' : failed
  const made = journal.attempts.filter(
    (attempt) => attempt.upstream === upstream && !isCancelled(attempt.result),
  )
  const hasNodeError = made.some(({ result }) => result === 'node-error')
  // A node rejects a transaction that it already has, which counts as success.
  if (refusal) return hasNodeError ? 'node-error' : failed
  if (hasNodeError || made.length === 0 || made.some(isAnswer)) return 'success'
  return failed
}

/** Whether the client got a node error that its call did not cause. */
function isOfNodes(outcome: string, end: CallEnd): boolean {
  if (outcome !== 'node-error' || end.kind !== 'reply') return outcome === 'upstream-error'
  return end.reply.refusal !== null && isOfNode(end.reply.refusal)
}

/** Whether the same call may succeed at another node. */
function isOfNode({ origin, retry, doubtful, range, transaction }: FailureClass): boolean {
  const isOfCall = origin === 'caller' || range !== undefined || transaction !== null
  return (retry || doubtful) && !isOfCall
}

/** Whether the client got the failure of an upstream instead of an answer. */
function isUnserved({ refusal, incoming: { status } }: Reply): boolean {
  if (refusal && isBlamed(refusal)) return true
  // Nodes also report errors of their own with 500, and a method that they lack with 501.
  const isOwn = status === 501 || (status === 500 && refusal !== null && !refusal.doubtful)
  return status >= 500 && !isOwn
}

/** Whether it failed through the fault of its upstream. */
function hasFailed({ result, violation }: AttemptRecord): boolean {
  return violation !== null || (typeof result === 'object' && result !== null && isBlamed(result))
}

/** A stream in progress also counts as an answer. */
function isAnswer({ result, endedMs }: AttemptRecord): boolean {
  return result === 'answer' || (result === null && endedMs !== null)
}

/** How an attempt ended, in the log and in `router explain`. */
export function resultOf(attempt: AttemptRecord): string {
  if (attempt.result === null) return 'running'
  return typeof attempt.result === 'string' ? attempt.result : attempt.result.name
}

/** The result for the counter of attempts, in which only faults of the upstream have a name. */
export function countedResultOf(attempt: AttemptRecord): string {
  const { result, isUnsent, isLostRace } = attempt
  if (isLostRace && result === 'overtaken') return 'aborted'
  if (typeof result !== 'object' || result === null || hasFailed(attempt)) return resultOf(attempt)
  return isUnsent ? 'aborted' : 'node-error'
}

const fine = new Set(['success', 'node-error', 'refused', 'abandoned'])
/** Whether an outcome is a failure of the service rather than of the client. */
export function isFailure(outcome: string): boolean {
  return !fine.has(outcome)
}

export type Labels = Readonly<Record<string, string>>

/** Caches the value for each key; `make` creates it on first use. */
export function memo<V>(make: (key: string) => V): (key: string) => V {
  const known = new Map<string, V>()
  return (key) => {
    let value = known.get(key)
    if (value === undefined) known.set(key, (value = make(key)))
    return value
  }
}

/** One counter with resolved labels. Only ever increment it. */
interface CounterCell {
  readonly labels: Labels
  count: number
}

/** Registers a counter. The returned function maps labels to a cell; callers cache the cell. */
function counterCells(registry: Registry, counter: Series): (labels: Labels) => CounterCell {
  const cells = new Map<string, CounterCell>()
  mirror(registry, counter, () =>
    [...cells.values()].map(({ labels, count }) => ({ labels, value: count })),
  )
  return (labels) => cells.getOrInsertComputed(JSON.stringify(labels), () => ({ labels, count: 0 }))
}

/** Registers a series whose values are read at each scrape. */
export function mirror(
  registry: Registry,
  { name, help, type, workers }: Series,
  values: () => readonly object[],
): void {
  const get = async () => ({ name, help, type, aggregator: workers ?? 'sum', values: values() })
  registry.registerMetric({ name, get } as unknown as Metric)
}

/** Registers a histogram. The returned function maps labels to a cell; callers cache the cell. */
export function histogramCells(
  registry: Registry,
  one: Series & { readonly buckets: readonly number[] },
): (labels: Labels) => HistogramCell {
  const cells = new Map<string, HistogramCell>()
  // prom-client cannot import bucket counts.
  mirror(registry, one, () => [...cells.values()].flatMap((cell) => cell.lines(one.name)))
  return (labels) =>
    cells.getOrInsertComputed(JSON.stringify(labels), () => new HistogramCell(labels, one.buckets))
}

/** One histogram with resolved labels. */
class HistogramCell {
  readonly #labels: Labels
  readonly #bounds: readonly number[]
  /** Has one more entry than there are bounds: the last counts values above all of them. */
  readonly #counts: number[]
  /** The last traced value per bucket. */
  readonly #exemplars: Exemplar[] = []
  #sum = 0

  constructor(labels: Labels, bounds: readonly number[]) {
    this.#labels = labels
    this.#bounds = bounds
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  /** @param traceId of the call, if it is traced */
  observe(value: number, traceId?: string | null): void {
    let at = 0
    while (at < this.#bounds.length && value > (this.#bounds[at] as number)) at += 1
    ;(this.#counts[at] as number) += 1
    this.#sum += value
    if (traceId) this.#exemplars[at] = { traceId, value, atMs: Date.now() }
  }

  lines(name: string) {
    const labels = this.#labels
    let count = 0
    const buckets = this.#counts.map((inBucket, at) => ({
      metricName: `${name}_bucket`,
      labels: { ...labels, le: this.#bounds[at] ?? '+Inf' },
      value: (count += inBucket),
      exemplar: this.#exemplars[at],
    }))
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ]
  }
}

/**
 * The method in a form that is safe to show, because a client may send any text as its name.
 * `other` stands for a path that the spec lacks, which may contain a key.
 */
export function methodOf({ method: { known, name }, request }: Call): string {
  const isPath = request.body === null || name.includes('/')
  return known ? name : isPath ? 'other' : name.slice(0, 100)
}
