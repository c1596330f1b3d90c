// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { explainLimits } from '../../bytes/limits.ts'
import type { Clock } from '../../clock/clock.ts'
import { Journal } from '../../relay/call.ts'
import { isFailure, methodOf, outcomeOf } from '../call-counters.ts'
import { perListener, type PartialObservers } from '../observers.ts'
import { explainCall, type KeptCall } from './explained.ts'

const keptKinds = ['recent', 'failed', 'slow'] as const
type KeptKind = (typeof keptKinds)[number]

export type Explained = ReturnType<KeptCalls['list']>

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
      if (guid === '') return
      const journal = new Journal(this.#clock.nowMs())
      const about = { guid, ...listener, outcome: kind.reason, error: copied(message), journal }
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
  list(kind: KeptKind, limit: number) {
    return this.#explained(this.#rings[kind].calls, limit)
  }

  /** @returns `812 recent calls (the oldest of 40 s ago), 3 failed calls (...), 0 slow calls` */
  get extent(): string {
    const parts = keptKinds.map((kind) => {
      const { calls } = this.#rings[kind]
      const beganMs = Math.min(...calls.map(({ journal }) => journal.startedMs))
      const age = Math.round((this.#clock.nowMs() - beganMs) / 1_000).toLocaleString('en-US')
      return `${calls.length} ${kind} calls${calls.length ? ` (the oldest of ${age} s ago)` : ''}`
    })
    return parts.join(', ')
  }

  #explained(calls: readonly KeptCall[], limit: number) {
    const epochMs = this.#clock.wallMs() - this.#clock.nowMs()
    const newest = calls.toSorted((a, b) => b.journal.startedMs - a.journal.startedMs)
    const shown = newest.slice(0, limit).map((each) => explainCall(each, epochMs))
    // The newest first; and how many there are beyond the limit.
    return { calls: shown, more: calls.length - shown.length }
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

/** The beginning of a text. A slice would keep all of it alive, and with it perhaps a whole request. */
function copied(text: string): string {
  return Buffer.from(text.slice(0, 300)).toString()
}
