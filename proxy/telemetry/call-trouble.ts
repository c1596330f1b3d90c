// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { evidenceOf } from '../chain/failure-words.ts'
import type { Clock } from '../clock/clock.ts'
import type { Streak } from './call-counters.ts'
import { timeOf } from './config-state.ts'
import type { Metrics } from './metrics.ts'
import type { Grown } from './recent-counts.ts'
import { copied } from './shown-client.ts'
import { type Counts, totalOf } from './trouble.ts'

/*
 * Finds methods that return only node errors, and when refusals began. Neither counts as a failure
 * of the service, so the error ratio does not show it.
 */

/**
 * A method fails if this many of its calls failed in a row for this long, or this share of those of
 * a minute. It works again below the other share, or after a pause.
 */
const failing = { calls: 10, forMs: 20_000, from: 0.9, below: 0.5, pauseMs: 300_000 } as const
const noStreak: Streak = { count: 0, sinceMs: 0, lastMs: 0, last: null }

interface Calls {
  readonly failed: number
  readonly calls: number
}

/** A method for which nearly all calls return node errors. */
export interface MethodTrouble extends Calls {
  /** Of the pool, such as `ETH1 jsonrpc`. */
  readonly name: string
  readonly method: string
  readonly since: string
  /** Calls before these; null: none has succeeded since the start. */
  readonly before: Calls | null
  /** The last error, without keys. */
  readonly why: string | null
}

/** What is wrong with a method, in words. */
export function methodText({ method, failed, calls, before, why }: MethodTrouble): string {
  const words = why === null ? '' : ` (${why})`
  const past = before
    ? `before, ${before.failed} of ${before.calls} did`
    : 'none has succeeded since the start'
  return `${method}: ${failed} of ${calls} calls get an error of the nodes${words}; ${past}`
}

/** Calls of a method that a node could answer. */
function callsOf(counts: Counts | undefined, method: string): Calls {
  const of = (word: string) => counts?.[`${method} ${word}`] ?? 0
  const failed = of('of-nodes')
  const all = totalOf(counts ?? {}, `${method} `)
  return { failed, calls: all - failed - of('refused') - of('abandoned') }
}

type Method = Readonly<Record<'chain' | 'interface' | 'method', string>>

/** Refused requests: since when, and the last error. */
interface Refused {
  readonly since: string
  readonly last: string
}
const maxWords = 100

type Sources = Pick<Metrics, 'streaks' | 'refusalWords'>

export class CallTroubles {
  readonly #clock: Clock
  readonly #streaks: Sources['streaks']
  readonly #words: Sources['refusalWords']
  readonly #changed: (method: Method, why: string | null) => void
  #found: ReadonlyMap<string, MethodTrouble> = new Map()
  /** Ongoing refusals, by keys such as `ETH1 jsonrpc method-denied`. A quiet minute ends them. */
  refused: Readonly<Record<string, Refused>> = {}

  /** @param changed called when a method begins to fail and, with null, when it no longer does */
  constructor(
    clock: Clock,
    { streaks, refusalWords }: Sources,
    changed: (method: Method, why: string | null) => void,
  ) {
    this.#clock = clock
    this.#streaks = streaks
    this.#words = refusalWords
    this.#changed = changed
  }

  get methods(): readonly MethodTrouble[] {
    return [...this.#found.values()]
  }

  sampled({ counts, minute }: Omit<Grown, 'recent'>): void {
    const now = new Map<string, MethodTrouble>()
    const refused: Record<string, Refused> = {}
    for (const [table, ever] of Object.entries(counts)) {
      const name = table.replace(/ \w+$/, '')
      const recent = minute.counts[table] ?? {}
      if (table.endsWith(' refused'))
        for (const [reason, count] of Object.entries(recent)) {
          const key = `${name} ${reason}`
          const { since = timeOf(this.#clock.wallMs()) } = this.refused[key] ?? {}
          const last = copied(this.#words.get(key) ?? '', maxWords)
          if (count > 0) refused[key] = { since, last }
        }
      if (!table.endsWith(' methods')) continue
      for (const method of new Set(Object.keys(ever).map((word) => word.replace(/ \S+$/, '')))) {
        const key = `${name} ${method}`
        const last = callsOf(recent, method)
        const trouble = this.#troubleOf(name, method, last, callsOf(ever, method))
        if (trouble) now.set(key, trouble)
      }
    }
    for (const [key, each] of new Map([...this.#found, ...now])) {
      if (now.has(key) === this.#found.has(key)) continue
      const [chain = '', iface = ''] = each.name.split(' ')
      const method = { chain, interface: iface, method: each.method }
      this.#changed(method, now.has(key) ? methodText(each) : null)
    }
    this.#found = now
    this.refused = refused
  }

  #troubleOf(name: string, method: string, minute: Calls, ever: Calls): MethodTrouble | null {
    const key = `${name} ${method}`
    const known = this.#found.get(key)
    const { count, sinceMs, lastMs, last: attempt } = this.#streaks.get(key) ?? noStreak
    const nowMs = this.#clock.nowMs()
    const isRecent = nowMs - lastMs < failing.pauseMs
    const isRow = count >= failing.calls && isRecent && nowMs - sinceMs >= failing.forMs
    const last = isRow ? { failed: count, calls: count } : minute
    const { failed, calls } = last
    // Without calls, nothing shows that it works again.
    if (known && calls === 0) return isRecent ? known : null
    if (known) return failed >= failing.below * calls ? { ...known, ...last } : null
    // `other` stands for all methods that the spec lacks.
    if (calls < failing.calls || failed < failing.from * calls || method === 'other') return null
    const past = { failed: ever.failed - failed, calls: ever.calls - calls }
    // If most calls failed before, too, nothing has changed.
    const isNews = past.calls > 0 && past.failed <= past.calls / 2
    if (!isNews && ever.failed < ever.calls) return null
    return {
      ...{ name, method, failed, calls },
      since: timeOf(this.#clock.wallMs() - (count > 0 ? nowMs - sinceMs : 0)),
      before: isNews ? past : null,
      why: attempt && evidenceOf(attempt),
    }
  }
}
