// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ByteBudget, Reservation } from '../bytes/byte-budget.ts'
import { nodeLimits } from '../bytes/limits.ts'
import { Cancellation, unlessAborted } from '../clock/cancellation.ts'
import type { Clock } from '../clock/clock.ts'
import { Turns } from '../clock/turns.ts'
import { valueAt } from '../json/value-at.ts'
import { toHash, toQuantity } from '../json/values.ts'
import { Journal } from '../relay/call.ts'
import { CallAborted, errorKinds, isUnanswered, overloaded, RelayError } from '../relay/errors.ts'
import type { Reply } from '../relay/reply.ts'
import { isStreamFailure } from '../relay/streamed-answer.ts'
import { release, wholeBody } from '../upstream/wire.ts'
import { lengthOf, type LogList, type Range, readLogs, sizeOf } from './log-list.ts'
import { askNode, isSure, type LogsQuery, pieceOf, store } from './query.ts'
import { type VerifyContext, verified } from './verify.ts'

const MiB = 1024 * 1024
/** Requests of one query in flight, and parts of its answer that wait to be read. */
export const atOnce = 4
/** Length of a part to aim at: larger while the whole answer is short enough for the memory. */
const wanted = { untilBytes: 8 * MiB, bytes: MiB, thenBytes: MiB / 4 } as const
/** Length at which an answer is dropped, and requested in smaller pieces. */
const maxBytes = 4 * MiB
/** Attempts that the journal of a query retains. */
const maxAttempts = 100
/** Requests of the size that results allow, after which the size grows, and its growth. */
const growth = { afterRequests: 8, factor: 1.25 } as const

/** How often the newest logs are read if the chain changes meanwhile. */
const recentTries = 3

/** A node refused a part of the query for another reason than its range: the client gets that. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly reply: Reply

  constructor(reply: Reply) {
    super(`${reply.upstream} refused a part of the query`)
    this.reply = reply
  }
}

export interface SplitContext extends VerifyContext {
  readonly clock: Clock
  readonly budget: ByteBudget
  /** Takes the time of a request. */
  readonly timed: (ms: number) => void
  readonly filter: string | null
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

interface Answer {
  readonly logs: LogList
  readonly reply: Reply
  readonly journal: Journal
}

/** Either the logs of a range, or the size of the pieces that it must be cut into. */
type Outcome = Answer | { readonly cutTo: number }

/**
 * A query that is cut into requests which the upstreams accept. Parts arrive in order; at most four
 * are requested or wait at a time.
 */
export class SplitQuery {
  /** Upstream of the last answer; empty before the first. */
  upstream = ''
  /** Lowest head among the upstreams that answered; null if one is unknown. */
  latestBlock: number | null = Infinity
  /** Whether the client already reads, so that the deadline of the call is over. */
  isStreaming = false
  readonly query: LogsQuery
  readonly held: Reservation
  readonly #context: SplitContext
  readonly #cancellation = new Cancellation()
  readonly #leave = () => this.#cancellation.abort()
  readonly #turns = new Turns(atOnce)
  /** Blocks per request that results allow; Infinity until an answer was refused. */
  #limit: number
  /** Answers of that size. */
  #wins = 0
  /** Blocks whose logs have the wanted length, according to the last answer. */
  #fitting = Infinity
  #readBytes = 0

  constructor(query: LogsQuery, context: SplitContext) {
    this.query = query
    this.#context = context
    this.#limit = context.limits.forResults(context.filter)
    this.held = new Reservation(context.budget)
    const { call, range, finalTo, place, note } = query
    note.isStored = place !== null && range.to <= finalTo
    if (call.signal.aborted) throw new CallAborted()
    call.signal.addEventListener('abort', this.#leave, { once: true })
  }

  /** Blocks that the upstreams accept in one request. */
  most(only = this.query.call.directives.only): number {
    const { limits } = this.#context
    const { call, range } = this.query
    const most = Math.max(...limits.serving(call, only).map((each) => limits.of(each)))
    // Without an upstream, the relay waits for one or fails.
    return Number.isFinite(most) ? most : sizeOf(range)
  }

  /** Blocks that the next request may have. */
  #size(only?: readonly string[] | null): number {
    return Math.max(1, Math.min(this.most(only), this.#fitting, this.#limit))
  }

  /** Until the first answer shows how many logs a block has, one part at a time. */
  get #mostAhead(): number {
    return this.#fitting === Infinity ? 1 : atOnce
  }

  /** The logs in order. Blocks that may still change are read in one view of the chain. */
  async *parts(): AsyncGenerator<LogList, void> {
    const { to: end, from } = this.query.range
    const ahead: Begun[] = []
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
        const rest = { from: to + 1, to: first.to }
        // Nothing after it was requested yet, so the rest is divided anew.
        if (ahead.length === 0) at = rest.from
        else if (to < first.to) ahead.unshift({ to: first.to, part: this.#begin(rest).part })
        if (logs.length > 0) yield logs
      }
    } finally {
      this.end()
    }
  }

  /** Stops all requests and releases all bytes. */
  end(): void {
    this.query.call.signal.removeEventListener('abort', this.#leave)
    this.#cancellation.abort()
    this.held.finish()
  }

  #begin(range: Range): Begun {
    const { finalTo } = this.query
    if (range.from > finalTo)
      return this.#held(range.to, async () => ({ to: range.to, logs: await this.#recent(range) }))
    const { place, note } = this.query
    const final = { from: range.from, to: Math.min(range.to, finalTo) }
    const cached = place?.slices.at(place.filter, final)
    if (cached) {
      note.cachedBlocks += sizeOf(cached)
      this.upstream ||= cached.upstream
      return this.#held(cached.to, () => Promise.resolve(cached))
    }
    const next = place?.slices.next(place.filter, final) ?? Infinity
    const to = Math.min(final.from + this.#size() - 1, final.to, next - 1)
    return this.#held(to, () => this.#missing({ from: final.from, to }))
  }

  #held(to: number, read: () => Promise<Part>): Begun {
    const part = read().then((each) => {
      this.held.hold(lengthOf(each.logs))
      return each
    })
    // The query may end before it awaits this one.
    part.catch(() => {})
    return { to, part }
  }

  /** The first blocks of a range, as many as one answer has. */
  async #missing({ from, to }: Range): Promise<Part> {
    const { place, call } = this.query
    const pending = place?.slices.pending(place.filter, { from, to })
    if (pending) {
      // Another query has asked for some of the blocks.
      await unlessAborted(pending, this.#cancellation, () => new CallAborted())
      return { to: from - 1, logs: [] }
    }
    const end = place?.slices.begin(place.filter, { from, to })
    try {
      for (let last = to; ;) {
        const range = { from, to: last }
        const outcome = await this.#ask(range, call.directives.only)
        if ('logs' in outcome) return { to: last, logs: await this.#accept(range, outcome) }
        last = from + Math.min(outcome.cutTo, sizeOf(range) - 1) - 1
      }
    } finally {
      end?.()
    }
  }

  /** Repeats the requests if the chain changed between them, which the hash of the end shows. */
  async #recent(range: Range): Promise<LogList> {
    const { limits } = this.#context
    const { call } = this.query
    const whole = await this.#ask(range, call.directives.only)
    if ('logs' in whole) return this.#accept(range, whole)
    for (let each = 0; each < recentTries; each++) {
      const best = limits.serving(call).filter((upstream) => limits.of(upstream) >= this.most())
      const names = best.map(({ name }) => name)
      const before = await this.#hashOf(range.to, names)
      const logs = before && (await this.#fetch(range, before.upstream).catch(noLogs))
      const after = logs && (await this.#hashOf(range.to, [before.upstream]))
      if (after && after.hash === before.hash) return logs
    }
    const message = 'the newest logs changed each time they were read; retry'
    throw new RelayError(errorKinds.upstreamFailed, message)
  }

  async #hashOf(block: number, only: readonly string[]) {
    const context = { ...this.#context, signal: this.#cancellation }
    const params = [toQuantity(block), false]
    const reply = await askNode(this.query.call, context, 'eth_getBlockByNumber', params, only)
    return reply && { upstream: reply.upstream, hash: toHash(valueAt(reply.result, ['hash'])) }
  }

  /** The logs of one upstream, in as many requests as it needs. */
  async #fetch(range: Range, upstream: string): Promise<LogList> {
    const outcome = await this.#ask(range, [upstream])
    const isFinal = range.to <= this.query.finalTo
    if ('logs' in outcome) return isFinal ? outcome.logs : this.#accept(range, outcome)
    const pieces = piecesOf(range, Math.min(outcome.cutTo, sizeOf(range) - 1))
    // Newest blocks are read as fast as possible, before the chain changes.
    if (!isFinal)
      return (await Promise.all(pieces.map((each) => this.#fetch(each, upstream)))).flat()
    const all: LogList[] = []
    for (const each of pieces) all.push(await this.#fetch(each, upstream))
    return all.flat()
  }

  /** Verifies and caches logs of final blocks. */
  async #accept(range: Range, { logs, reply, journal }: Answer): Promise<LogList> {
    const { query } = this
    const { latestBlock, upstream } = reply
    this.upstream = upstream
    const known = this.latestBlock
    this.latestBlock = known === null || latestBlock === null ? null : Math.min(known, latestBlock)
    if (range.to > query.finalTo) return logs
    const context = { ...this.#context, signal: this.#cancellation }
    const ask = (second: string) => this.#fetch(range, second).catch(noLogs)
    const right = query.isVerified
      ? await verified(query, range, logs, upstream, ask, context)
      : logs
    const isKept = right !== null && isSure(range, reply, journal)
    query.note.isStored &&= isKept && store(query, range, right, upstream)
    return right ?? logs
  }

  /** Sends a request in its turn, unless the upstreams do not accept the range. */
  #ask(range: Range, only: readonly string[] | null): Promise<Outcome> {
    return this.#turns.run(async () => {
      if (this.#cancellation.aborted) throw new CallAborted()
      // A refusal may have lowered the limit since.
      const cutTo = this.#size(only)
      return cutTo < sizeOf(range) ? { cutTo } : this.#request(range, only)
    })
  }

  /** @param failed upstreams that could not answer */
  async #request(
    range: Range,
    only: readonly string[] | null,
    failed: readonly string[] = [],
  ): Promise<Outcome> {
    const { limits, clock, relay, timed } = this.#context
    const { call, note } = this.query
    const size = sizeOf(range)
    const serving = limits.serving(call, only).filter(({ name }) => !failed.includes(name))
    const able = serving.filter((each) => limits.of(each) >= size).map(({ name }) => name)
    const isChoice = able.length > 0 && able.length < serving.length + failed.length
    const startedMs = clock.nowMs()
    const journal = new Journal(startedMs)
    journal.clientDeadlineMs = call.journal[this.isStreaming ? 'clientDeadlineMs' : 'deadlineMs']
    const own = { only: isChoice ? able : only, journal, signal: this.#cancellation }
    note.requests += 1
    note.requestedBlocks += size
    try {
      const reply = await relay(pieceOf(call, range, own))
      timed(clock.nowMs() - startedMs)
      return await this.#outcomeOf(reply, range, journal)
    } catch (error) {
      const others = serving.filter(({ name }) => !able.includes(name))
      if (!isChoice || others.length === 0 || !isUnanswered(error)) throw error
      const most = Math.max(...others.map((each) => limits.of(each)))
      return most >= size ? await this.#request(range, only, [...failed, ...able]) : { cutTo: most }
    } finally {
      limits.learn(journal.attempts, size)
      this.#record(journal, range)
    }
  }

  /** Shows the attempts in the journal of the whole query, each with its range. */
  #record({ attempts }: Journal, { from, to }: Range): void {
    const all = this.query.call.journal.attempts
    for (const attempt of attempts) {
      if (attempt.result === 'answer') attempt.detail ??= `blocks ${from} to ${to}`
      if (all.length < maxAttempts) all.push(attempt)
    }
  }

  async #outcomeOf(reply: Reply, range: Range, journal: Journal): Promise<Outcome> {
    const { incoming, refusal } = reply
    const size = sizeOf(range)
    if (refusal?.range && size > 1) {
      release(incoming.body)
      const { limits, blocks } = refusal.range
      const cutTo = blocks !== null && blocks < size ? blocks : Math.ceil(size / 2)
      if (limits === 'results' && cutTo < this.#limit) this.#setLimit(cutTo)
      return { cutTo }
    }
    if (refusal) throw new Refused(reply)
    const { budget } = this.#context
    const most = size > 1 ? maxBytes : nodeLimits.wholeBytes
    const body = await wholeBody(incoming.body, most, budget, overloaded).catch(broken)
    if (body === null) {
      const message = `over ${most} bytes of logs in block ${range.from}`
      if (size === 1) throw new RelayError(errorKinds.upstreamFailed, message)
      const cutTo = Math.max(1, Math.floor((size * wanted.bytes) / most))
      this.#setLimit(Math.min(this.#limit, cutTo))
      return { cutTo }
    }
    const logs = readLogs(body, range.from, range.to)
    if (!logs) throw new Refused({ ...reply, incoming: { ...incoming, body } })
    this.#readBytes += body.length
    const bytes = this.#readBytes < wanted.untilBytes ? wanted.bytes : wanted.thenBytes
    this.#fitting = Math.floor((size * bytes) / body.length)
    // Later blocks may have fewer logs.
    if (size === this.#limit && ++this.#wins % growth.afterRequests === 0)
      this.#setLimit(Math.ceil(size * growth.factor))
    return { logs, reply, journal }
  }

  #setLimit(blocks: number): void {
    this.#limit = blocks
    this.#context.limits.limitResults(this.#context.filter, blocks)
  }
}

function piecesOf({ from, to }: Range, size: number): readonly Range[] {
  return Array.from({ length: Math.ceil((to - from + 1) / size) }, (_, i) => {
    const start = from + i * size
    return { from: start, to: Math.min(to, start + size - 1) }
  })
}

function noLogs(error: unknown): null {
  if (error instanceof RelayError || error instanceof Refused) return null
  throw error
}

function broken(cause: unknown): never {
  if (!isStreamFailure(cause)) throw cause
  throw new RelayError(errorKinds.upstreamFailed, cause.message, { cause })
}
