// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ByteBudget, Reservation } from '../bytes/byte-budget.ts'
import { nodeLimits } from '../bytes/limits.ts'
import { Cancellation, unlessAborted } from '../clock/cancellation.ts'
import type { Clock } from '../clock/clock.ts'
import { bufferOf, memberOf } from '../json/scanner.ts'
import { type Call, Journal, type LogsNote } from '../relay/call.ts'
import { CallAborted, errorKinds, isUnanswered, overloaded, RelayError } from '../relay/errors.ts'
import type { Relay } from '../relay/relay.ts'
import type { Reply } from '../relay/reply.ts'
import { isStreamFailure } from '../relay/streamed-answer.ts'
import type { ChainTracker } from '../tracker/chain-tracker.ts'
import { release, wholeBody } from '../upstream/wire.ts'
import type { RangeLimits } from './limits.ts'
import { joinRuns, type LogRun, readRun } from './log-run.ts'
import { pieceOf, type Range, sizeOf } from './query.ts'
import type { Slices } from './slices.ts'

/** Requests of one query in flight, and parts of its answer that wait to be read. */
const atOnce = 4
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

/** Where the logs of final blocks are cached. */
export interface Place {
  readonly slices: Slices
  readonly filter: string
  readonly ttlMs: number
}

export interface SplitContext {
  /** Null if they are not cached. */
  readonly place: Place | null
  /** Logs up to this block can no longer change. */
  readonly finalTo: number
  readonly relay: Relay
  readonly tracker: ChainTracker
  readonly limits: RangeLimits
  readonly clock: Clock
  readonly budget: ByteBudget
  /** Takes the time of a request. */
  readonly timed: (ms: number) => void
}

/** Either the logs of a part, or the size of the parts that it must be cut into. */
type Outcome = { readonly run: LogRun } | { readonly cutTo: number }

/**
 * A query that is cut into requests which the upstreams accept. Parts arrive in order; at most four
 * are requested or wait at a time.
 */
export class SplitQuery {
  /** Upstream of the last answer; null before the first. */
  upstream: string | null = null
  /** Lowest head among the upstreams that answered; null if one is unknown. */
  latestBlock: number | null = Infinity
  /** Whether the client already reads, so that the deadline of the call is over. */
  isStreaming = false
  readonly call: Call
  /** What happened so far. */
  readonly note: LogsNote
  readonly held: Reservation
  readonly #range: Range
  readonly #context: SplitContext
  readonly #cancellation = new Cancellation()
  readonly #leave = () => this.#cancellation.abort()
  readonly #waiting: (() => void)[] = []
  #free = atOnce
  #requests = 0
  /** Blocks per request that results allow; unlimited until an answer was too long. */
  #span = Infinity
  #read = { blocks: 0, bytes: 0 }

  constructor(call: Call, range: Range, context: SplitContext) {
    this.call = call
    this.note = call.journal.logs = noteOf(range)
    this.note.isStored = context.place !== null && range.to <= context.finalTo
    this.#range = range
    this.#context = context
    this.held = new Reservation(context.budget)
    if (call.signal.aborted) throw new CallAborted()
    call.signal.addEventListener('abort', this.#leave, { once: true })
  }

  /** Blocks that the next request may have. */
  get size(): number {
    const { limits } = this.#context
    const most = Math.max(...limits.serving(this.call).map((each) => limits.of(each)))
    const { blocks, bytes } = this.#read
    const dense = bytes > wantedBytes ? Math.floor((blocks * wantedBytes) / bytes) : Infinity
    const size = Math.min(most, this.#span, dense)
    // Without an upstream, the relay waits for one or fails.
    return Math.max(1, Number.isFinite(size) ? size : sizeOf(this.#range))
  }

  /**
   * The logs in order. Blocks up to `finalTo` can no longer change; later ones are read in one view
   * of the chain.
   */
  async *runs(): AsyncGenerator<LogRun, void> {
    const { from, to } = this.#range
    const { finalTo } = this.#context
    const ahead: Promise<LogRun>[] = []
    try {
      for (let at = from; at <= to || ahead.length > 0;) {
        while (at <= to && ahead.length < atOnce) {
          const isFinal = at <= finalTo
          const end = isFinal ? this.#endOf({ from: at, to: Math.min(to, finalTo) }) : to
          const part = { from: at, to: end }
          const run = isFinal ? this.#fetchFinal(part) : this.#fetchRecent(part)
          // The loop may end before it awaits this one.
          run.catch(() => {})
          ahead.push(run)
          at = end + 1
        }
        const run = await ahead[0]
        void ahead.shift()
        if (run && run.blocks.length > 0) yield run
      }
    } finally {
      this.end()
    }
  }

  /** Stops all requests and releases all bytes. */
  end(): void {
    this.call.signal.removeEventListener('abort', this.#leave)
    this.#cancellation.abort()
    this.held.finish()
  }

  /** The last block to request, or to read from the cache, with the first block of the range. */
  #endOf(range: Range): number {
    const { place } = this.#context
    const cached = place?.slices.at(place.filter, range)
    if (cached) return cached.to
    const next = place?.slices.next(place.filter, range) ?? Infinity
    return Math.min(range.from + this.size - 1, range.to, next - 1)
  }

  async #fetchFinal({ from, to }: Range): Promise<LogRun> {
    const { place } = this.#context
    const runs: LogRun[] = []
    for (let at = from; at <= to;) {
      const rest = { from: at, to }
      const cached = place?.slices.at(place.filter, rest)
      const pending = cached ? null : place?.slices.pending(place.filter, rest)
      if (cached) {
        this.note.cachedBlocks += sizeOf(cached)
        this.upstream ??= cached.upstream
        runs.push(cached.run)
        at = cached.to + 1
      } else if (pending)
        // Another query has asked for some of the blocks.
        await unlessAborted(pending, this.#cancellation, () => new CallAborted())
      else {
        const end = place ? place.slices.next(place.filter, rest) - 1 : to
        runs.push(await this.#fetchShared({ from: at, to: end }))
        at = end + 1
      }
    }
    const run = joinRuns(runs)
    this.held.hold(run.bytes.length)
    return run
  }

  /** Requests blocks that are not cached. Other queries wait meanwhile. */
  async #fetchShared(range: Range): Promise<LogRun> {
    const { place } = this.#context
    const end = place?.slices.begin(place.filter, range)
    try {
      return await this.#fetchParts(range)
    } finally {
      end?.()
    }
  }

  /** Repeats the requests once if the chain changed between them. */
  async #fetchRecent(range: Range): Promise<LogRun> {
    const { tracker } = this.#context
    for (let isSecond = false; ; isSecond = true) {
      const { branch } = tracker
      const before = this.#requests
      const run = await this.#fetchParts(range)
      if (this.#requests - before === 1 || tracker.branch === branch) {
        this.held.hold(run.bytes.length)
        return run
      }
      if (!isSecond) continue
      const message = 'the chain reorganised twice while its newest logs were read; retry'
      throw new RelayError(errorKinds.upstreamFailed, message)
    }
  }

  async #fetchParts(range: Range): Promise<LogRun> {
    const size = Math.min(this.size, sizeOf(range))
    return size < sizeOf(range) ? this.#fetchCut(range, size) : this.#fetchWhole(range)
  }

  async #fetchCut({ from, to }: Range, size: number): Promise<LogRun> {
    const runs: Promise<LogRun>[] = []
    for (let at = from; at <= to; at += size)
      runs.push(this.#fetchWhole({ from: at, to: Math.min(to, at + size - 1) }))
    return joinRuns(await Promise.all(runs))
  }

  async #fetchWhole(range: Range): Promise<LogRun> {
    const outcome = await this.#inTurn(() => this.#request(range, []))
    if ('run' in outcome) return outcome.run
    return this.#fetchCut(range, Math.min(outcome.cutTo, sizeOf(range) - 1))
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
    const size = sizeOf(range)
    const serving = limits.serving(this.call).filter(({ name }) => !failed.includes(name))
    const able = serving.filter((each) => limits.of(each) >= size)
    const { only: allowed } = this.call.directives
    const only =
      able.length > 0 && able.length < serving.length + failed.length
        ? able.map(({ name }) => name)
        : allowed
    const startedMs = clock.nowMs()
    const journal = new Journal(startedMs)
    const { clientDeadlineMs, deadlineMs } = this.call.journal
    journal.clientDeadlineMs = this.isStreaming ? clientDeadlineMs : deadlineMs
    const piece = pieceOf(this.call, range, { only, journal, signal: this.#cancellation })
    if (piece === null) throw new RelayError(errorKinds.invalidParams, 'the range has no place')
    this.#requests += 1
    this.note.requests += 1
    this.note.requestedBlocks += size
    try {
      const reply = await relay(piece)
      timed(clock.nowMs() - startedMs)
      const outcome = await this.#outcomeOf(reply, range)
      if ('run' in outcome) this.#store(range, outcome.run, reply, journal)
      return outcome
    } catch (error) {
      const tried = [...failed, ...able.map(({ name }) => name)]
      const others = serving.filter(({ name }) => !tried.includes(name))
      if (only === allowed || others.length === 0 || !isUnanswered(error)) throw error
      const most = Math.max(...others.map((each) => limits.of(each)))
      return most >= size ? this.#request(range, tried) : { cutTo: most }
    } finally {
      limits.learn(journal.attempts, range)
      this.#note(journal, range)
    }
  }

  #store(range: Range, run: LogRun, reply: Reply, journal: Journal): void {
    const { place, finalTo } = this.#context
    if (!place || range.to > finalTo) return
    const isStored = isSure(range, reply, journal) && store(place, range, run, reply)
    this.note.isStored &&= isStored
  }

  /** Shows the attempts in the journal of the whole query, each with its range. */
  #note({ attempts }: Journal, { from, to }: Range): void {
    for (const attempt of attempts) {
      if (attempt.result === 'answer') attempt.detail ??= `blocks ${from} to ${to}`
      if (this.call.journal.attempts.length < maxAttempts) this.call.journal.attempts.push(attempt)
    }
  }

  async #outcomeOf(reply: Reply, range: Range): Promise<Outcome> {
    const { incoming, refusal, upstream, latestBlock } = reply
    const size = sizeOf(range)
    const limit = refusal?.range
    if (limit && size > 1) {
      release(incoming.body)
      const { limits, blocks } = limit
      const cutTo = blocks !== null && blocks < size ? blocks : Math.ceil(size / 2)
      if (limits === 'results') this.#span = Math.min(this.#span, cutTo)
      return { cutTo }
    }
    if (refusal) throw new Refused(reply)
    const { wholeBytes } = nodeLimits
    const { budget } = this.#context
    const body = await wholeBody(incoming.body, wholeBytes, budget, overloaded).catch(broken)
    if (body === null && size > 1) {
      this.#span = Math.min(this.#span, Math.ceil(size / 2))
      return { cutTo: this.#span }
    }
    const at = body && memberOf(body, 'result')
    const run =
      body && at && readRun(bufferOf(body).subarray(at.start, at.end), range.from, range.to)
    if (!body) throw new RelayError(errorKinds.upstreamFailed, `over ${wholeBytes} bytes of logs`)
    if (!run) throw new Refused({ ...reply, incoming: { ...incoming, body } })
    this.upstream = upstream
    const known = this.latestBlock
    this.latestBlock = known === null || latestBlock === null ? null : Math.min(known, latestBlock)
    const { blocks, bytes } = this.#read
    this.#read = { blocks: blocks + size, bytes: bytes + body.length }
    // Denser blocks may be behind.
    if (size === this.#span) this.#span = Math.ceil(this.#span * 1.25)
    return { run }
  }
}

export function noteOf(range: Range): LogsNote {
  const counts = { cachedBlocks: 0, requestedBlocks: 0, requests: 0 }
  return { blocks: sizeOf(range), ...counts, isStored: false }
}

/** Whether the upstream had all of the blocks, and its answer passed every check. */
export function isSure({ to }: Range, { latestBlock, upstream }: Reply, journal: Journal): boolean {
  const attempt = journal.attempts.findLast(
    (each) => each.upstream === upstream && each.result !== 'aborted',
  )
  const isAccepted = attempt?.result === 'answer' && !attempt.isDoubted && !attempt.violation
  return isAccepted && (latestBlock ?? -1) >= to
}

/** @returns whether the logs are cached */
export function store(place: Place, range: Range, run: LogRun, { upstream }: Reply): boolean {
  const { slices, filter, ttlMs } = place
  return slices.add(filter, range, { run, upstream, ttlMs })
}

function broken(cause: unknown): never {
  if (!isStreamFailure(cause)) throw cause
  throw new RelayError(errorKinds.upstreamFailed, cause.message, { cause })
}
