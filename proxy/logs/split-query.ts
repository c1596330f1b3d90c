// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Reservation } from '../bytes/byte-budget.ts'
import { nodeLimits } from '../bytes/limits.ts'
import { isAccepted, isDoubtful } from '../cache/retention.ts'
import type { FailureClass, RangeLimit } from '../chain/failure-table.ts'
import { Cancellation, unlessAborted } from '../clock/cancellation.ts'
import { valueAt } from '../json/value-at.ts'
import { toHash, toQuantity } from '../json/values.ts'
import { type Call, Journal } from '../relay/call.ts'
import { CallAborted, errorKinds, isUnanswered, overloaded, RelayError } from '../relay/errors.ts'
import { askElsewhere } from '../relay/own-call.ts'
import { withRange } from '../relay/pin.ts'
import type { Reply } from '../relay/reply.ts'
import { isStreamFailure } from '../relay/streamed-answer.ts'
import { release, wholeBody } from '../upstream/wire.ts'
import { lengthOf, type LogList, type Range, readLogs, sizeOf } from './log-list.ts'
import type { LogsContext, LogsQuery } from './query.ts'
import { verified } from './verify.ts'

const MiB = 1024 * 1024
/** Requests of one query in flight, and parts of its answer that wait to be read. */
export const atOnce = 4
/** Length of a part to aim at: larger while the whole answer is short enough for the memory. */
const wanted = { untilBytes: 2 * MiB, bytes: MiB / 2, thenBytes: MiB / 4 } as const
/** Blocks of the first request; later ones grow by this factor over the blocks seen so far. */
const sample = { blocks: 50, growth: 8 } as const
/** Attempts that the journal of a query retains. */
const maxAttempts = 100
/** How often a range is halved after errors of unknown cause, before the client gets the error. */
const maxGuesses = 3
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

/** Every node refused a part of the query for another reason than its range. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly reply: Reply

  constructor(reply: Reply) {
    super(`${reply.upstream} refused a part of the query`)
    this.reply = reply
  }
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

interface Answer extends Part {
  readonly reply: Reply
  readonly journal: Journal
}

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
  readonly #context: LogsContext
  readonly #clientSignal: Call['signal']
  readonly #cancellation = new Cancellation()
  readonly #leave = () => this.#cancellation.abort()
  /** Upstreams that failed or refused a part while others could answer. */
  readonly #failed = new Set<string>()
  /** Upstreams that answered. */
  readonly #answered = new Set<string>()
  readonly #isRefused: boolean
  #readBytes = 0

  /** @param isRefused whether nodes have refused the whole range */
  constructor(query: LogsQuery, context: LogsContext, isRefused = false) {
    this.#isRefused = isRefused
    const { signal } = query.call
    if (signal.aborted) throw new CallAborted()
    this.query = { ...query, call: { ...query.call, signal: this.#cancellation } }
    this.#context = context
    this.#clientSignal = signal
    this.held = new Reservation(context.budget)
    signal.addEventListener('abort', this.#leave, { once: true })
  }

  /** Upstreams that may get a request, with the blocks that each accepts. */
  #serving(only = this.query.call.directives.only) {
    const { limits } = this.#context
    const { call, density } = this.query
    return limits
      .serving(call, only)
      .filter(({ name }) => !this.#failed.has(name))
      .map((upstream) => ({ upstream, blocks: limits.of(upstream, density) }))
  }

  /** Blocks that the upstreams accept in one request. */
  most(only?: readonly string[] | null): number {
    const most = Math.max(...this.#serving(only).map(({ blocks }) => blocks))
    // Without an upstream, the relay waits for one or fails.
    return Number.isFinite(most) ? most : sizeOf(this.query.range)
  }

  /** Blocks that the next request may have. */
  #size(only?: readonly string[] | null): number {
    const { density, range } = this.query
    const most = this.most(only)
    const bytes = this.#readBytes < wanted.untilBytes ? wanted.bytes : wanted.thenBytes
    // A query that must be cut anyway starts small, to measure the density.
    const isCut = this.#isRefused || most < sizeOf(range)
    const shown = isCut ? Math.max(sample.blocks, density.blocks * sample.growth) : Infinity
    return Math.max(1, Math.min(most, density.blocksOf({ bytes }), Math.ceil(shown)))
  }

  /** One part at a time while its logs or its work may be too much for nodes. */
  get #mostAhead(): number {
    const { call, density } = this.query
    if (density.isProbe) return 1
    return this.#context.limits.isProven(call, this.#size(), density) ? atOnce : 1
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
      this.upstream ||= cached.upstream
      return this.#held(cached.to, Promise.resolve(cached))
    }
    const next = slices?.next(final) ?? Infinity
    const to = Math.min(final.from + this.#size() - 1, final.to, next - 1)
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
      const { to, logs, reply, journal } = await this.#first(range)
      const own = { from: range.from, to }
      const { upstream } = reply
      const ask = (second: string) => this.#fetch(own, second).catch(noLogs)
      const right = query.isVerified
        ? await verified(query, own, { logs, by: upstream }, ask, this.#context)
        : { logs, isProven: true }
      this.upstream = upstream
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
    const whole = this.#size() < sizeOf(range) ? null : await this.#first(range)
    if (whole?.to === to) return whole
    const known = Math.min(to, this.query.range.head)
    for (let each = 0; each < recentTries; each++) {
      const most = this.most()
      const best = this.#serving().filter(({ blocks }) => blocks >= most)
      const names = best.map(({ upstream }) => upstream.name)
      const before = await this.#hashOf(known, names)
      const logs = before && (await this.#fetch(range, before.upstream).catch(noLogs))
      const after = logs && (await this.#hashOf(known, [before.upstream]))
      if (after && after.hash === before.hash) return { to, logs }
    }
    const message = 'the newest logs changed each time they were read; retry'
    throw new RelayError(errorKinds.upstreamFailed, message)
  }

  async #hashOf(block: number, only: readonly string[]) {
    const params = [toQuantity(block), false]
    const question = { method: 'eth_getBlockByNumber', params, only }
    const reply = await askElsewhere(this.query.call, this.#context, question)
    return reply && { upstream: reply.upstream, hash: toHash(valueAt(reply.result, ['hash'])) }
  }

  /** The logs of one upstream, in as many requests as it needs. */
  async #fetch(range: Range, upstream: string): Promise<LogList> {
    const all: LogList[] = []
    for (let { from } = range; from <= range.to;) {
      const { to, logs } = await this.#first({ from, to: range.to }, [upstream])
      all.push(logs)
      from = to + 1
    }
    return all.flat()
  }

  /** The logs of the first blocks of a range, as many as one answer has. */
  async #first({ from, to }: Range, only = this.query.call.directives.only): Promise<Answer> {
    let guesses = 0
    const mayGuess = () => ++guesses <= maxGuesses
    for (let blocks = to - from + 1; ;) {
      // A refusal may have lowered the limit since.
      const size = Math.min(blocks, this.#size(only))
      const outcome = await this.#request({ from, to: from + size - 1 }, only, mayGuess)
      if (typeof outcome === 'number') blocks = outcome
      else {
        // The answer shows that the error was about the range.
        if (guesses > 0) this.query.density.refused({ limits: 'work', blocks: size }, 2 * size)
        return outcome
      }
    }
  }

  /** @returns blocks to request instead if the range is refused */
  async #request(
    range: Range,
    only: readonly string[] | null,
    mayGuess: () => boolean,
  ): Promise<Answer | number> {
    const { limits, clock, relay } = this.#context
    const { call, note, density } = this.query
    const size = sizeOf(range)
    const able = this.#serving(only)
      .filter(({ blocks }) => blocks >= size)
      .map(({ upstream }) => upstream.name)
    const isChoice = able.length > 0 && able.length < limits.serving(call, only).length
    const journal = new Journal(clock.nowMs())
    journal.clientDeadlineMs = call.journal[this.isStreaming ? 'clientDeadlineMs' : 'deadlineMs']
    journal.isCuttable = size > 1
    note.requests += 1
    note.requestedBlocks += size
    let outcome: Answer | number = size
    try {
      const floor = Math.min(range.to, this.query.range.head)
      const piece = withRange(call, range.from, this.#askedTo(range), journal, floor)
      const directives = { ...call.directives, only: isChoice ? able : only }
      const reply = await relay({ ...piece, directives })
      // The reply may carry the error of another upstream.
      const limit = size > 1 ? rangeLimitIn(journal) : null
      const mayFit = !isChoice || able.some((name) => this.#answered.has(name))
      const isGuess = size > 1 && mayFit && isUnclear(reply.refusal) && !limit && mayGuess()
      if (reply.refusal && (limit || isGuess)) {
        release(reply.incoming.body)
        // If an end above the head is refused, the last block is requested by itself.
        if (this.#askedTo(range) > range.to) outcome = size - 1
        else outcome = limit ? density.refused(limit, size) : Math.ceil(size / 2)
      } else outcome = await this.#outcomeOf(reply, range, journal)
    } catch (error) {
      if (!isChoice || !(isUnanswered(error) || error instanceof Refused)) throw error
      for (const name of able) this.#failed.add(name)
    } finally {
      const count = typeof outcome === 'number' ? 0 : outcome.logs.length
      // An end above the head says nothing about the accepted length.
      if (this.#askedTo(range) === range.to) limits.learn(journal.attempts, size, density, count)
      this.#record(journal, range)
    }
    return outcome
  }

  /** The end of a request. The last one keeps the client's, which may be far above the head. */
  #askedTo({ to }: Range): number {
    const { range } = this.query
    return to === range.to ? range.askedTo : to
  }

  /** Shows the attempts in the journal of the whole query, each with its range. */
  #record({ attempts }: Journal, { from, to }: Range): void {
    const all = this.query.call.journal.attempts
    for (const attempt of attempts) {
      if (attempt.result === 'answer') attempt.detail ??= `blocks ${from} to ${to}`
      if (all.length < maxAttempts) all.push(attempt)
    }
  }

  async #outcomeOf(reply: Reply, range: Range, journal: Journal): Promise<Answer | number> {
    const { density } = this.query
    const { budget } = this.#context
    const { incoming, refusal, latestBlock } = reply
    const size = sizeOf(range)
    if (refusal) throw new Refused(reply)
    const { wholeBytes } = nodeLimits
    const body = await wholeBody(incoming.body, wholeBytes, budget, overloaded).catch(broken)
    if (body === null) {
      const message = `over ${wholeBytes} bytes of logs in block ${range.from}`
      if (size === 1) throw new RelayError(errorKinds.upstreamFailed, message)
      return Math.max(1, Math.floor((size * wanted.bytes) / wholeBytes))
    }
    const logs = readLogs(body, range.from, this.#askedTo(range))
    if (!logs) throw new Refused({ ...reply, incoming: { ...incoming, body } })
    this.#readBytes += body.length
    density.answered(size, logs.length, body.length)
    const known = this.latestBlock
    this.latestBlock = known === null || latestBlock === null ? null : Math.min(known, latestBlock)
    this.upstream = reply.upstream
    this.#answered.add(reply.upstream)
    return { to: range.to, logs, reply, journal }
  }
}

/** Whether the upstream had all of the blocks, and its answer passed every check. */
export function isSure({ to }: Range, reply: Reply, journal: Journal): boolean {
  const isValid = isAccepted({ journal }, reply) && !isDoubtful({ journal }, reply)
  return isValid && (reply.latestBlock ?? -1) >= to
}

/** The last limit of a range that an attempt met. */
export function rangeLimitIn({ attempts }: Journal): RangeLimit | null {
  const failures = attempts.map(({ result }) => (typeof result === 'object' ? result : null))
  return failures.findLast((each) => each?.range)?.range ?? null
}

/** Whether a smaller range may help: the refusal blames neither the method nor the params. */
export function isUnclear(refusal: FailureClass | null): boolean {
  return refusal?.origin === 'node' && refusal.retry && refusal.limit === null
}

function noLogs(error: unknown): null {
  if (error instanceof RelayError || error instanceof Refused) return null
  throw error
}

function broken(cause: unknown): never {
  if (!isStreamFailure(cause)) throw cause
  throw new RelayError(errorKinds.upstreamFailed, cause.message, { cause })
}
