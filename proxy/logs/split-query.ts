// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Reservation } from '../bytes/byte-budget.ts'
import { isAccepted, isDoubtful } from '../cache/retention.ts'
import { Cancellation, unlessAborted } from '../clock/cancellation.ts'
import { valueAt } from '../json/value-at.ts'
import { toHash, toQuantity } from '../json/values.ts'
import type { Call, Journal } from '../relay/call.ts'
import { CallAborted, errorKinds, isUnanswered, RelayError } from '../relay/errors.ts'
import { askElsewhere } from '../relay/own-call.ts'
import type { Reply } from '../relay/reply.ts'
import { lengthOf, type LogList, type Range, sizeOf } from './log-list.ts'
import { type Asked, PartRequests, wantedBytes } from './part-requests.ts'
import type { LogsContext, LogsQuery } from './query.ts'
import { verified } from './verify.ts'

/** Requests of one query in flight, and parts of its answer that wait to be read. */
export const atOnce = 4
/** Expected length of those parts together. */
const aheadBytes = 2 * wantedBytes
/** A part that exceeds the largest answered one by more than this factor is tried alone. */
const maxGrowth = 1.5
/** Share of the measured range to suggest: blocks differ, and parts wait for their order. */
const margin = 0.5
/** How often the newest logs are read if the chain changes meanwhile. */
const recentTries = 3

/** The error for a query that takes too long. Indexers read the range in this form. */
export function tooLong({ call, range }: LogsQuery, fits: number, why: string): RelayError {
  const { from } = range
  const to = Math.min(range.to, from + Math.max(1, Math.floor(fits * margin)) - 1)
  const message = `${call.method.name} over ${sizeOf(range)} blocks ${why}. Try with this block range [${toQuantity(from)}, ${toQuantity(to)}].`
  return new RelayError(errorKinds.logsRange, message)
}

/** The logs up to a block. */
interface Part {
  readonly to: number
  readonly logs: LogList
}

/** A part that is being read. It may turn out shorter than its range. */
interface Begun {
  readonly to: number
  readonly part: Promise<Part>
}

/**
 * A query that is cut into requests which the upstreams accept. Parts arrive in order; at most four
 * are requested or wait at a time.
 */
export class SplitQuery {
  readonly query: LogsQuery
  readonly held: Reservation
  readonly requests: PartRequests
  readonly #context: LogsContext
  readonly #clientSignal: Call['signal']
  readonly #cancellation = new Cancellation()
  readonly #leave = () => this.#cancellation.abort()

  /** @param asked see `PartRequests` */
  constructor(query: LogsQuery, context: LogsContext, ...asked: Asked) {
    const { signal } = query.call
    if (signal.aborted) throw new CallAborted()
    this.query = { ...query, call: { ...query.call, signal: this.#cancellation } }
    this.requests = new PartRequests(this.query, context, ...asked)
    this.#context = context
    this.#clientSignal = signal
    this.held = new Reservation(context.budget)
    signal.addEventListener('abort', this.#leave, { once: true })
  }

  /** One part at a time while its blocks or its logs may be too many for nodes. */
  get #mostAhead(): number {
    const { call, density, isVerified } = this.query
    const size = this.requests.size()
    const isLarger = size > density.answeredBlocks * maxGrowth
    if (isLarger || !this.#context.limits.isProven(call, size, density)) return 1
    // Two upstreams return each part of a verified query.
    const bytes = isVerified ? aheadBytes / 2 : aheadBytes
    const fitting = Math.floor(bytes / Math.max(1, density.bytesIn(size)))
    return Math.max(1, Math.min(atOnce, fitting))
  }

  /** The logs in order. Blocks that may still change are read in one view of the chain. */
  async *parts(): AsyncGenerator<LogList, void> {
    const { to: end, from } = this.query.range
    const ahead: Begun[] = []
    let read = 0
    try {
      for (let at = from; at <= end || ahead.length > 0;) {
        while (at <= end && ahead.length < this.#mostAhead) {
          const begun = this.#begin({ from: at, to: end })
          ahead.push(begun)
          at = begun.to + 1
        }
        const first = ahead.shift()
        if (!first) return
        const { to, logs } = await first.part
        read = to - from + 1
        // With no later request in flight, the rest is divided again.
        if (ahead.length === 0) at = to + 1
        else if (to < first.to)
          ahead.unshift({ to: first.to, part: this.#begin({ from: to + 1, to: first.to }).part })
        if (logs.length > 0) yield logs
      }
    } catch (error) {
      const isLate = this.#context.clock.nowMs() >= this.query.call.journal.deadlineMs
      if (read === 0 || !isLate || !isUnanswered(error)) throw error
      throw tooLong(this.query, read, `ran out of time after ${read} blocks`)
    } finally {
      this.end()
    }
  }

  /** Stops all requests and releases all bytes. */
  end(): void {
    this.#clientSignal.removeEventListener('abort', this.#leave)
    this.#cancellation.abort()
    this.held.finish()
  }

  #begin(range: Range): Begun {
    const { finalTo, slices, note } = this.query
    if (range.from > finalTo) return this.#held(range.to, this.#recent(range))
    const final = { from: range.from, to: Math.min(range.to, finalTo) }
    const cached = slices?.at(final)
    if (cached) {
      note.cachedBlocks += cached.to - final.from + 1
      this.requests.upstream ||= cached.upstream
      return this.#held(cached.to, Promise.resolve(cached))
    }
    const next = slices?.next(final) ?? Infinity
    const to = Math.min(final.from + this.requests.size() - 1, final.to, next - 1)
    return this.#held(to, this.#missing({ from: final.from, to }))
  }

  #held(to: number, read: Promise<Part>): Begun {
    const part = read.then((each) => {
      this.held.hold(lengthOf(each.logs))
      return each
    })
    // The query may end before it awaits this one.
    part.catch(() => {})
    return { to, part }
  }

  /** Final logs, which are verified and cached. */
  async #missing(range: Range): Promise<Part> {
    const { query } = this
    const { slices, note } = query
    const pending = slices?.pending(range)
    if (pending) {
      // Another query has asked for some of the blocks.
      await unlessAborted(pending, this.#cancellation, () => new CallAborted())
      return { to: range.from - 1, logs: [] }
    }
    const end = slices?.begin(range)
    try {
      const { to, logs, reply, journal } = await this.requests.first(range)
      const own = { from: range.from, to }
      const { upstream } = reply
      const right = query.isVerified
        ? await verified(query, own, { logs, by: upstream }, this.requests, this.#context)
        : { logs, isProven: true }
      this.requests.upstream = upstream
      if (right.isProven && isSure(own, reply, journal))
        note.isStored &&= slices?.add(own, right.logs, upstream) === true
      return { to, logs: right.logs }
    } finally {
      end?.()
    }
  }

  /** Repeats the requests if the chain changed between them, which the hash of the end shows. */
  async #recent(range: Range): Promise<Part> {
    const { to } = range
    const whole = this.requests.size() < sizeOf(range) ? null : await this.requests.first(range)
    if (whole?.to === to) return whole
    const known = Math.min(to, this.query.range.head)
    for (let each = 0; each < recentTries; each++) {
      const able = this.requests.able(this.requests.most())
      const { only } = this.query.call.directives
      const before = await this.#hashOf(known, able.length > 0 ? able : only)
      const logs = before && (await this.requests.all(range, before.upstream))
      const after = logs && (await this.#hashOf(known, [before.upstream]))
      if (after && after.hash === before.hash) return { to, logs }
    }
    const message = 'the newest logs changed each time they were read; retry'
    throw this.requests.failure ?? new RelayError(errorKinds.upstreamFailed, message)
  }

  async #hashOf(block: number, only: readonly string[] | null) {
    const params = [toQuantity(block), false]
    const question = { method: 'eth_getBlockByNumber', params, only }
    const reply = await askElsewhere(this.query.call, this.#context, question)
    return reply && { upstream: reply.upstream, hash: toHash(valueAt(reply.result, ['hash'])) }
  }
}

/** Whether the upstream had all of the blocks, and its answer passed every check. */
export function isSure({ to }: Range, reply: Reply, journal: Journal): boolean {
  const isValid = isAccepted({ journal }, reply) && !isDoubtful({ journal }, reply)
  return isValid && (reply.latestBlock ?? -1) >= to
}
