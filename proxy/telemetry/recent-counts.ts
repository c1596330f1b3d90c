// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Cancel, type Clock } from '../clock/clock.ts'
import type { Metrics } from './metrics.ts'
import { type Series, series } from './series.ts'
import { growthOf, type Tables, totalOf, troublesOf } from './trouble.ts'

interface Counted {
  readonly atMs: number
  readonly counts: Tables
}

/** Counters since the start, and their growth. */
export interface Grown {
  readonly counts: Tables
  /** Of the last 50 to 60 s, or since the start. */
  readonly minute: { readonly seconds: number; readonly counts: Tables }
  /** Attempts that show trouble: of the minute or, if they are few, of up to five minutes. */
  readonly recent: Tables
}

const everyMs = 10_000
/** Number of samples to keep: a minute of all counters, five minutes of attempts. */
const samples = { minute: 6, attempts: 30 } as const
/** Below this many attempts in the last minute, earlier attempts of an upstream count too. */
const enough = 60
const ofAttempts = / (attempts|urls)$/

/** Each table with its series, and the labels that form its keys. Other words are literal. */
const counted: readonly (readonly [string, Series, ...string[]])[] = [
  ['outcomes', series.requests, 'outcome'],
  ['methods', series.requests, 'method', 'outcome'],
  ['methods', series.nodeErrors, 'method', 'of-nodes'],
  ['durations', series.requestDuration, 'le'],
  ['refused', series.refused, 'reason'],
  ['cache', series.cacheLookups, 'verdict'],
  ['attempts', series.attempts, 'kind', 'result'],
  ['urls', series.urlRequests, 'url', 'result'],
  ['durations', series.attemptDuration, 'le'],
  ['disputes', series.integrityViolations, 'check'],
  ['disputes', series.finalizedMismatches, 'mismatches'],
  ['disputes', series.logsMismatches, 'logs', 'verdict'],
  ['disputes', series.missingBlockAnswers, 'missing-blocks'],
  ['cut-offs', series.cutOffs, 'clients'],
]

/** Counters since the start and over the last minute. Sampling them costs calls nothing. */
export class RecentCounts {
  readonly #metrics: Pick<Metrics, 'samples' | 'startNew'>
  readonly #clock: Clock
  readonly #sampled: (grown: Grown) => void
  #past: readonly Counted[]
  #cancel: Cancel = () => {}

  /** @param sampled called at each sample */
  constructor(
    metrics: Pick<Metrics, 'samples' | 'startNew'>,
    clock: Clock,
    sampled: (grown: Grown) => void = () => {},
  ) {
    this.#metrics = metrics
    this.#clock = clock
    this.#sampled = sampled
    this.#past = [{ atMs: clock.nowMs(), counts: {} }]
  }

  /** Samples until `stop`. */
  start(): void {
    this.#cancel = this.#clock.after(everyMs, () => {
      this.start()
      void this.#tables().then((counts) => {
        this.#sampled(this.#grown(counts))
        const past = this.#past.with(this.#minuteAt, trimmed(this.#past[this.#minuteAt] as Counted))
        this.#past = [...past, { atMs: this.#clock.nowMs(), counts }].slice(-samples.attempts)
      })
    })
  }

  stop(): void {
    this.#cancel()
  }

  async read() {
    return this.#grown(await this.#tables())
  }

  #grown(counts: Tables): Grown {
    const before = this.#past[this.#minuteAt] as Counted
    const seconds = (this.#clock.nowMs() - before.atMs) / 1_000
    return {
      counts,
      minute: { seconds, counts: growthOf(counts, before.counts) },
      recent: this.#recent(counts),
    }
  }

  get #minuteAt(): number {
    return Math.max(0, this.#past.length - samples.minute)
  }

  #recent(counts: Tables): Tables {
    const found: Record<string, Tables[string]> = {}
    for (const table of Object.keys(counts).filter((each) => each.endsWith(' attempts'))) {
      const urls = table.replace(ofAttempts, ' urls')
      const of = (all: Tables) => ({ attempts: all[table] ?? {}, urls: all[urls] ?? {} })
      const since = (at: number) => growthOf(of(counts), of(this.#past[at]?.counts ?? {}))
      let at = this.#minuteAt
      let grown = since(at)
      const isOpen = ({ attempts = {}, urls: byUrl = {} }: Tables) =>
        totalOf(attempts) < enough &&
        Object.values(troublesOf(attempts, byUrl)).every((one) => !one)
      while (at > 0 && isOpen(grown)) grown = since((at -= 1))
      Object.assign(found, { [table]: grown['attempts'] ?? {}, [urls]: grown['urls'] ?? {} })
    }
    return found
  }

  async #tables(): Promise<Tables> {
    const all: Record<string, Record<string, number>> = {}
    this.#metrics.startNew()
    for (const [table, one, ...by] of counted)
      for (const { labels, value } of await this.#metrics.samples(one)) {
        // Histogram lines without a bound are its sum and its count.
        if (by[0] === 'le' && !('le' in labels)) continue
        const { chain, interface: iface, upstream } = labels
        const name = [chain, iface, upstream, table].filter(Boolean).join(' ')
        const counts = (all[name] ??= {})
        const word = by.map((label) => labels[label] ?? label).join(' ')
        counts[word] = (counts[word] ?? 0) + value
      }
    return all
  }
}

/** A sample older than a minute retains only its attempts. */
function trimmed({ atMs, counts }: Counted): Counted {
  const tables = Object.entries(counts).filter(([table]) => ofAttempts.test(table))
  return { atMs, counts: Object.fromEntries(tables) }
}
