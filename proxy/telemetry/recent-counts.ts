// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Cancel, type Clock } from '../clock/clock.ts'
import type { Metrics } from './metrics.ts'
import { isFailure } from './call-counters.ts'
import { type Series, series } from './series.ts'

/** Keyed by a router term, such as an outcome. */
export type Counts = Readonly<Record<string, number>>
/** Tables such as `ETH1 jsonrpc node-a attempts`, keyed by phrases such as `hedge answer`. */
export type Tables = Readonly<Record<string, Counts>>

interface Counted {
  readonly atMs: number
  readonly counts: Tables
}

const everyMs = 10_000
/** Number of samples, so that the oldest one is about a minute old. */
const samples = 6

/** Each table with its series, and the labels that form its keys. Other words are literal. */
const counted: readonly (readonly [string, Series, ...string[]])[] = [
  ['outcomes', series.requests, 'outcome'],
  ['durations', series.requestDuration, 'le'],
  ['refused', series.refused, 'reason'],
  ['cache', series.cacheLookups, 'verdict'],
  ['attempts', series.attempts, 'kind', 'result'],
  ['durations', series.attemptDuration, 'le'],
  ['disputes', series.integrityViolations, 'check'],
  ['disputes', series.finalizedMismatches, 'mismatches'],
  ['disputes', series.missingBlockAnswers, 'missing-blocks'],
]

/** Counters since the start and over the last minute. Sampling them costs calls nothing. */
export class RecentCounts {
  readonly #metrics: Pick<Metrics, 'samples'>
  readonly #clock: Clock
  #past: readonly Counted[]
  #cancel: Cancel = () => {}

  constructor(metrics: Pick<Metrics, 'samples'>, clock: Clock) {
    this.#metrics = metrics
    this.#clock = clock
    this.#past = [{ atMs: clock.nowMs(), counts: {} }]
  }

  /** Samples until `stop`. */
  start(): void {
    this.#cancel = this.#clock.after(everyMs, () => {
      this.start()
      void this.#tables().then((counts) => {
        this.#past = [...this.#past, { atMs: this.#clock.nowMs(), counts }].slice(-samples)
      })
    })
  }

  stop(): void {
    this.#cancel()
  }

  /** `minute` has the growth over the last 50 to 60 s, or since the start. */
  async read() {
    const counts = await this.#tables()
    const before = this.#past[0] as Counted
    const seconds = (this.#clock.nowMs() - before.atMs) / 1_000
    return { counts, minute: { seconds, counts: growthOf(counts, before.counts) } }
  }

  async #tables(): Promise<Tables> {
    const all: Record<string, Record<string, number>> = {}
    for (const [table, one, ...by] of counted)
      for (const { labels, value } of await this.#metrics.samples(one)) {
        // Histogram lines without a bound are its sum and its count.
        if (by[0] === 'le' && !('le' in labels)) continue
        const { chain, interface: iface, upstream = '' } = labels
        const counts = (all[`${chain} ${iface} ${upstream} ${table}`.replace('  ', ' ')] ??= {})
        const word = by.map((label) => labels[label] ?? label).join(' ')
        counts[word] = (counts[word] ?? 0) + value
      }
    return all
  }
}

/** Growth of counters, without tables that did not grow. */
export function growthOf(now: Tables, before: Tables): Tables {
  const tables = Object.entries(now).map(([table, counts]) => {
    const grown = Object.entries(counts).map(
      ([word, count]) => [word, count - (before[table]?.[word] ?? 0)] as const,
    )
    return [table, Object.fromEntries(grown)] as const
  })
  return Object.fromEntries(tables.filter(([, counts]) => totalOf(counts) > 0))
}

const notFailed = ['answer', 'overtaken', 'aborted', 'running']

/** Failures by class. @param counts of calls or attempts; the last word of a key is the result */
export function failuresOf(counts: Counts): Counts {
  const failures: Record<string, number> = {}
  for (const [word, count] of Object.entries(counts)) {
    const result = word.split(' ').at(-1) ?? word
    if (count > 0 && isFailure(result) && !notFailed.includes(result))
      failures[result] = (failures[result] ?? 0) + count
  }
  return failures
}

/** @param begin prefix of the keys to sum */
export function totalOf(counts: Counts, begin = ''): number {
  let total = 0
  for (const [word, count] of Object.entries(counts)) if (word.startsWith(begin)) total += count
  return total
}
