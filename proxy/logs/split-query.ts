// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ByteBudget, Reservation } from '../bytes/byte-budget.ts'
import { nodeLimits } from '../bytes/limits.ts'
import { Cancellation, unlessAborted } from '../clock/cancellation.ts'
import type { Clock } from '../clock/clock.ts'
import { Journal } from '../relay/call.ts'
import { CallAborted, errorKinds, isUnanswered, overloaded, RelayError } from '../relay/errors.ts'
import type { Reply } from '../relay/reply.ts'
import { isStreamFailure } from '../relay/streamed-answer.ts'
import type { ChainTracker } from '../tracker/chain-tracker.ts'
import { release, wholeBody } from '../upstream/wire.ts'
import { lengthOf, type LogList, type Range, readLogs, sizeOf } from './log-list.ts'
import { isSure, type LogsQuery, pieceOf, store } from './query.ts'
import { type VerifyContext, verified } from './verify.ts'

/** Requests of one query in flight, and parts of its answer that wait to be read. */
export const atOnce = 4
/** Length of an answer to aim at, so that the parts of an answer fit into memory. */
const wantedBytes = 2 * 1024 * 1024
/** Attempts that the journal of a query retains. */
const maxAttempts = 100

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
  readonly tracker: ChainTracker
  readonly clock: Clock
  readonly budget: ByteBudget
  /** Takes the time of a request. */
  readonly timed: (ms: number) => void
}

/** Either the logs of a part, or the size of the parts that it must be cut into. */
type Outcome = { readonly logs: LogList } | { readonly cutTo: number }

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
  readonly #waiting: (() => void)[] = []
  #free = atOnce
  /** Blocks per request that results allow; unlimited until an answer was too long. */
  #span = Infinity
  #read = { blocks: 0, bytes: 0 }

  constructor(query: LogsQuery, context: SplitContext) {
    this.query = query
    this.#context = context
    this.held = new Reservation(context.budget)
    const { call, range, finalTo, place, note } = query
    note.isStored = place !== null && range.to <= finalTo
    if (call.signal.aborted) throw new CallAborted()
    call.signal.addEventListener('abort', this.#leave, { once: true })
  }

  /** Blocks that the next request may have. */
  get size(): number {
    const { limits } = this.#context
    const { call, range } = this.query
    const most = Math.max(...limits.serving(call).map((each) => limits.of(each)))
    const { blocks, bytes } = this.#read
    const dense = bytes > wantedBytes ? Math.floor((blocks * wantedBytes) / bytes) : Infinity
    const size = Math.min(most, this.#span, dense)
    // Without an upstream, the relay waits for one or fails.
    return Math.max(1, Number.isFinite(size) ? size : sizeOf(range))
  }

  /** The logs in order. Blocks that may still change are read in one view of the chain. */
  async *parts(): AsyncGenerator<LogList, void> {
    const { range, finalTo } = this.query
    const ahead: Promise<LogList>[] = []
    try {
      for (let at = range.from; at <= range.to || ahead.length > 0;) {
        while (at <= range.to && ahead.length < atOnce) {
          const isFinal = at <= finalTo
          const rest = { from: at, to: isFinal ? Math.min(range.to, finalTo) : range.to }
          const to = isFinal ? this.#endOf(rest) : rest.to
          const part = { from: at, to }
          const logs = this.#hold(isFinal ? this.#final(part) : this.#recent(part))
          // The loop may end before it awaits this one.
          logs.catch(() => {})
          ahead.push(logs)
          at = to + 1
        }
        const logs = await ahead[0]
        void ahead.shift()
        if (logs && logs.length > 0) yield logs
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

  async #hold(part: Promise<LogList>): Promise<LogList> {
    const logs = await part
    this.held.hold(lengthOf(logs))
    return logs
  }

  /** The last block to request, or to read from the cache, with the first block of the range. */
  #endOf(range: Range): number {
    const { place } = this.query
    const cached = place?.slices.at(place.filter, range)
    if (cached) return cached.to
    const next = place?.slices.next(place.filter, range) ?? Infinity
    return Math.min(range.from + this.size - 1, range.to, next - 1)
  }

  async #final({ from, to }: Range): Promise<LogList> {
    const { place, note } = this.query
    if (!place) return this.#fetch({ from, to })
    const { slices, filter } = place
    const all: LogList[] = []
    for (let at = from; at <= to;) {
      const rest = { from: at, to }
      const cached = slices.at(filter, rest)
      const pending = cached ? null : slices.pending(filter, rest)
      if (cached) {
        note.cachedBlocks += sizeOf(cached)
        this.upstream ||= cached.upstream
        all.push(cached.logs)
        at = cached.to + 1
      } else if (pending)
        // Another query has asked for some of the blocks.
        await unlessAborted(pending, this.#cancellation, () => new CallAborted())
      else {
        const missing = { from: at, to: slices.next(filter, rest) - 1 }
        const end = slices.begin(filter, missing)
        all.push(await this.#fetch(missing).finally(end))
        at = missing.to + 1
      }
    }
    return all.flat()
  }

  /** Repeats the requests once if the chain changed between them. */
  async #recent(range: Range): Promise<LogList> {
    const { tracker } = this.#context
    const { note } = this.query
    for (let isSecond = false; ; isSecond = true) {
      const { branch } = tracker
      const { requests } = note
      const logs = await this.#fetch(range)
      if (note.requests - requests === 1 || tracker.branch === branch) return logs
      if (!isSecond) continue
      const message = 'the chain reorganised twice while its newest logs were read; retry'
      throw new RelayError(errorKinds.upstreamFailed, message)
    }
  }

  async #fetch(range: Range): Promise<LogList> {
    const { size } = this
    if (size < sizeOf(range)) return this.#fetchCut(range, size)
    const outcome = await this.#inTurn(() => this.#request(range, []))
    if ('logs' in outcome) return outcome.logs
    return this.#fetchCut(range, Math.min(outcome.cutTo, sizeOf(range) - 1))
  }

  async #fetchCut({ from, to }: Range, size: number): Promise<LogList> {
    const parts: Promise<LogList>[] = []
    for (let at = from; at <= to; at += size)
      parts.push(this.#fetch({ from: at, to: Math.min(to, at + size - 1) }))
    return (await Promise.all(parts)).flat()
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      if (this.#cancellation.aborted) throw new CallAborted()
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free += 1
    }
  }

  /** @param failed upstreams that could not answer */
  async #request(range: Range, failed: readonly string[]): Promise<Outcome> {
    const { limits, clock, relay, timed } = this.#context
    const { call, note } = this.query
    const size = sizeOf(range)
    const serving = limits.serving(call).filter(({ name }) => !failed.includes(name))
    const able = serving.filter((each) => limits.of(each) >= size).map(({ name }) => name)
    const { only: allowed } = call.directives
    const isChoice = able.length > 0 && able.length < serving.length + failed.length
    const startedMs = clock.nowMs()
    const journal = new Journal(startedMs)
    journal.clientDeadlineMs = call.journal[this.isStreaming ? 'clientDeadlineMs' : 'deadlineMs']
    const own = { only: isChoice ? able : allowed, journal, signal: this.#cancellation }
    note.requests += 1
    note.requestedBlocks += size
    try {
      const reply = await relay(pieceOf(call, range, own))
      timed(clock.nowMs() - startedMs)
      const outcome = await this.#outcomeOf(reply, range)
      if ('cutTo' in outcome || range.to > this.query.finalTo) return outcome
      const { logs } = outcome
      const context = { ...this.#context, signal: this.#cancellation }
      const right = this.query.isVerified
        ? await verified(this.query, range, logs, reply.upstream, context)
        : logs
      const isKept = right !== null && isSure(range, reply, journal)
      note.isStored &&= isKept && store(this.query, range, right, reply.upstream)
      return { logs: right ?? logs }
    } catch (error) {
      const others = serving.filter(({ name }) => !able.includes(name))
      if (!isChoice || others.length === 0 || !isUnanswered(error)) throw error
      const most = Math.max(...others.map((each) => limits.of(each)))
      return most >= size ? this.#request(range, [...failed, ...able]) : { cutTo: most }
    } finally {
      limits.learn(journal.attempts, range)
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

  async #outcomeOf(reply: Reply, range: Range): Promise<Outcome> {
    const { incoming, refusal, upstream, latestBlock } = reply
    const size = sizeOf(range)
    const half = Math.ceil(size / 2)
    if (refusal?.range && size > 1) {
      release(incoming.body)
      const { limits, blocks } = refusal.range
      const cutTo = blocks !== null && blocks < size ? blocks : half
      if (limits === 'results') this.#span = Math.min(this.#span, cutTo)
      return { cutTo }
    }
    if (refusal) throw new Refused(reply)
    const { wholeBytes } = nodeLimits
    const { budget } = this.#context
    const body = await wholeBody(incoming.body, wholeBytes, budget, overloaded).catch(broken)
    if (body === null) {
      const message = `over ${wholeBytes} bytes of logs in block ${range.from}`
      if (size === 1) throw new RelayError(errorKinds.upstreamFailed, message)
      this.#span = Math.min(this.#span, half)
      return { cutTo: half }
    }
    const logs = readLogs(body, range.from, range.to)
    if (!logs) throw new Refused({ ...reply, incoming: { ...incoming, body } })
    this.upstream = upstream
    const known = this.latestBlock
    this.latestBlock = known === null || latestBlock === null ? null : Math.min(known, latestBlock)
    const { blocks, bytes } = this.#read
    this.#read = { blocks: blocks + size, bytes: bytes + body.length }
    // Later blocks may have fewer logs.
    if (size === this.#span) this.#span = Math.ceil(this.#span * 1.25)
    return { logs }
  }
}

function broken(cause: unknown): never {
  if (!isStreamFailure(cause)) throw cause
  throw new RelayError(errorKinds.upstreamFailed, cause.message, { cause })
}
