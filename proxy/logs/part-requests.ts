// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { nodeLimits } from '../bytes/limits.ts'
import type { RangeLimit } from '../chain/failure-table.ts'
import { checkLogs } from '../integrity/logs.ts'
import { parseSpan } from '../json/scanner.ts'
import { type Call, Journal } from '../relay/call.ts'
import { errorKinds, isUnanswered, overloaded, RelayError } from '../relay/errors.ts'
import { withRange } from '../relay/pin.ts'
import type { Reply } from '../relay/reply.ts'
import { isStreamFailure } from '../relay/streamed-answer.ts'
import { release, wholeBody } from '../upstream/wire.ts'
import type { Density } from './limits.ts'
import { isNull, type LogList, type Range, readLogs, sizeOf } from './log-list.ts'
import { filterIn, type LogsContext, type LogsQuery } from './query.ts'

/** Target length of an answer. Providers bill requests, so a few long answers are better. */
export const wantedBytes = 1.5 * 1024 * 1024
/** Blocks of the first request; later ones grow by this factor over the blocks seen so far. */
export const sample = { blocks: 50, growth: 8 } as const
/** Attempts that the journal of a query retains. */
const maxAttempts = 100
/** How often a range is halved after errors of unknown cause, before the client gets the error. */
const maxGuesses = 3

/** Every node refused a part of the query for another reason than its range. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly reply: Reply

  constructor(reply: Reply) {
    super(`${reply.upstream} refused a part of the query`)
    this.reply = reply
  }
}

export interface Answer extends Range {
  readonly logs: LogList
  readonly reply: Reply
  readonly journal: Journal
}

/** A request that returned no logs. */
interface Failure {
  /** What an upstream limits; null if none names a limit. */
  readonly limit: RangeLimit | null
  /** Upstreams that failed or refused. */
  readonly by: readonly string[]
  readonly error: Refused | RelayError
}

/** Whether nodes have refused the whole range, and upstreams to avoid. */
export type Asked = readonly [isRefused: boolean, avoided: readonly string[]]

/** The requests of a split query, each of which fits the upstreams that may get it. */
export class PartRequests {
  /** Upstream of the last answer; empty before the first. */
  upstream = ''
  /** Lowest head among the upstreams that answered; null if one is unknown. */
  latestBlock: number | null = Infinity
  /** Whether the client already reads, so that the deadline of the call is over. */
  isStreaming = false
  /** Why the last call of `all` returned null. */
  failure: Error | null = null
  readonly #query: LogsQuery
  readonly #context: LogsContext
  /** Upstreams whose latest part failed or was refused while others could answer. */
  readonly #failed: Set<string>
  readonly #isRefused: boolean
  /** Whether nodes have refused an end that is far above the head. */
  #isEndLowered = false
  /** The first upstream that returned null. */
  #nullBy: string | null = null

  constructor(query: LogsQuery, context: LogsContext, ...[isRefused, avoided]: Asked) {
    this.#query = query
    this.#context = context
    this.#isRefused = isRefused
    this.#failed = new Set(avoided)
  }

  /** Upstreams that may get a request of this many blocks. */
  able(size: number, only = this.#query.call.directives.only): readonly string[] {
    return this.#serving(only)
      .filter(({ blocks }) => blocks >= size)
      .map(({ name }) => name)
  }

  #serving(only = this.#query.call.directives.only) {
    const { limits } = this.#context
    const { call, density } = this.#query
    return limits
      .serving(call, only)
      .filter(({ name }) => !this.#failed.has(name))
      .map((upstream) => ({ name: upstream.name, blocks: limits.of(upstream, density) }))
  }

  /** Blocks that some upstream accepts in one request. */
  most(only?: readonly string[] | null): number {
    const most = Math.max(...this.#serving(only).map(({ blocks }) => blocks))
    // Without an upstream, the relay waits for one or fails.
    return Number.isFinite(most) ? most : sizeOf(this.#query.range)
  }

  /** Blocks that the next request may have. */
  size(only?: readonly string[] | null): number {
    const { density, range } = this.#query
    const most = this.most(only)
    // A query that must be cut anyway starts small, to measure the density.
    const isCut = this.#isRefused || most < sizeOf(range)
    const shown = isCut ? Math.max(sample.blocks, density.blocks * sample.growth) : Infinity
    return Math.max(1, Math.min(most, density.blocksOf({ bytes: wantedBytes }), Math.ceil(shown)))
  }

  /** The logs of one upstream, in as many requests as it needs; null if it does not answer. */
  async all(range: Range, upstream: string): Promise<LogList | null> {
    const all: LogList[] = []
    this.failure = null
    try {
      for (let { from } = range; from <= range.to;) {
        const { to, logs } = await this.first({ from, to: range.to }, [upstream])
        all.push(logs)
        from = to + 1
      }
    } catch (error) {
      if (!(error instanceof RelayError || error instanceof Refused)) throw error
      this.failure = error
      return null
    }
    return all.flat()
  }

  /** The logs of the first blocks of a range, as many as one answer has. */
  async first({ from, to }: Range, only = this.#query.call.directives.only): Promise<Answer> {
    const { density } = this.#query
    const isForced = only !== this.#query.call.directives.only
    const tried = new Set<string>()
    let guesses = 0
    for (let blocks = to - from + 1; ;) {
      // A refusal may have lowered the limit since.
      const size = Math.min(blocks, this.size(only))
      const outcome = await this.#request({ from, to: from + size - 1 }, only)
      if ('logs' in outcome) {
        // The answer shows that the errors were about the range.
        if (guesses > 0) density.limitWork(size)
        return outcome
      }
      const { limit, by, error } = outcome
      for (const name of by) tried.add(name)
      const isAboveHead = this.#askedTo(from + size - 1) >= from + size
      // If an end above the head is refused, the last block is requested by itself.
      if (isAboveHead && size > 1) blocks = size - 1
      else if (isAboveHead && limit) this.#isEndLowered = true
      else if (limit && size > 1) blocks = density.refused(limit, size)
      else {
        for (const name of by) this.#failed.add(name)
        if (this.#serving(only).length === 0) {
          // An upstream that failed an earlier part may answer this one.
          const isUntried = (each: string) => !tried.has(each)
          const hasOthers = this.upstream !== '' && [...this.#failed].some(isUntried)
          if (this.#serving().length === 0) this.#failed.clear()
          if (isForced || !hasOthers) {
            // A caller that named the upstream has others to ask.
            const mayCut = isUnclear(error, density) && !(isForced && error instanceof RelayError)
            if (size === 1 || !mayCut || ++guesses > maxGuesses) throw error
            blocks = Math.ceil(size / 2)
          }
        }
      }
      if (error instanceof Refused) release(error.reply.incoming.body)
    }
  }

  async #request(range: Range, only: readonly string[] | null): Promise<Answer | Failure> {
    const { limits, clock, relay } = this.#context
    const { call, note, density } = this.#query
    const size = sizeOf(range)
    const able = this.able(size, only)
    const isChoice = able.length > 0 && able.length < limits.serving(call, only).length
    const journal = new Journal(clock.nowMs())
    const { deadlineMs, clientDeadlineMs } = call.journal
    // Half of the time is for smaller ranges, in case the nodes need too long for this one.
    const leftMs = (deadlineMs - journal.startedMs) / (size > sample.blocks ? 2 : 1)
    journal.clientDeadlineMs = this.isStreaming ? clientDeadlineMs : journal.startedMs + leftMs
    journal.isCuttable = size > 1
    note.requests += 1
    note.requestedBlocks += size
    const to = this.#askedTo(range.to)
    const floor = Math.min(range.to, this.#query.range.head)
    const piece = withRange(call, range.from, to, journal, floor)
    const directives = { ...call.directives, only: isChoice ? able : only }
    let logs: LogList | null = null
    try {
      const reply = await relay({ ...piece, directives })
      logs = await this.#logsOf(reply, range)
      return { ...range, logs, reply, journal }
    } catch (error) {
      if (!(error instanceof Refused || isUnanswered(error))) throw error
      const tried = journal.attempts.map(({ upstream }) => upstream)
      return { limit: rangeLimitIn(journal), by: tried.length > 0 ? tried : able, error }
    } finally {
      // An end above the head says nothing about the accepted length.
      if (to === range.to) limits.learn(journal.attempts, size, density, logs?.length ?? 0)
      this.#record(journal, range)
    }
  }

  /** The end of a request. The last one keeps the client's, which may be far above the head. */
  #askedTo(to: number): number {
    const { range } = this.#query
    return to === range.to && !this.#isEndLowered ? range.askedTo : to
  }

  /** Shows the attempts in the journal of the whole query, each with its range. */
  #record({ attempts }: Journal, { from, to }: Range): void {
    const all = this.#query.call.journal.attempts
    for (const attempt of attempts) {
      const { result, upstream, isLostRace } = attempt
      if (result === 'answer') {
        attempt.detail ??= `blocks ${from} to ${to}`
        this.#failed.delete(upstream)
      } else if (
        (result === 'overtaken' && !isLostRace) ||
        (typeof result === 'object' && result && !result.range && result.weight > 0)
      )
        this.#failed.add(upstream)
      if (all.length < maxAttempts) all.push(attempt)
    }
  }

  async #logsOf(reply: Reply, { from, to }: Range): Promise<LogList> {
    const { call, density } = this.#query
    const { incoming, refusal, latestBlock, upstream } = reply
    if (refusal) throw new Refused(reply)
    const { wholeBytes } = nodeLimits
    const { budget } = this.#context
    const body = await wholeBody(incoming.body, wholeBytes, budget, overloaded).catch(broken)
    if (body === null) {
      const message = `over ${wholeBytes} bytes of logs from block ${from} on`
      throw new RelayError(errorKinds.upstreamFailed, message)
    }
    const isEmpty = isNull(body) && this.#isConfirmedNull(upstream)
    const logs = isEmpty ? [] : readLogs(body, from, this.#askedTo(to))
    if (!logs) throw new Refused({ ...reply, incoming: { ...incoming, body } })
    // The relay validates only the envelope of a long answer.
    if (body !== incoming.body && !fits(logs, call)) {
      const message = `${upstream} returned logs outside the filter`
      throw new RelayError(errorKinds.upstreamFailed, message)
    }
    density.answered(to - from + 1, logs.length, body.length)
    const known = this.latestBlock
    this.latestBlock = known === null || latestBlock === null ? null : Math.min(known, latestBlock)
    this.upstream = upstream
    return logs
  }

  /**
   * Whether null means an empty list. Some nodes also return it for ranges that they do not serve,
   * so a second upstream must agree if there is one.
   */
  #isConfirmedNull(upstream: string): boolean {
    this.#nullBy ??= upstream
    return this.#nullBy !== upstream || this.#serving().every(({ name }) => name === upstream)
  }
}

/** Whether the first and the last log match the filter. An answer to another query has neither. */
function fits(logs: LogList, call: Call): boolean {
  const ends = [...logs.slice(0, 1), ...logs.slice(-1)]
  const parsed = ends.map(({ json, start, end }) => parseSpan(json, start, end))
  return checkLogs(parsed, filterIn(call)[0], call.method.block) === null
}

/** The last limit of a range that an attempt met. */
export function rangeLimitIn({ attempts }: Journal): RangeLimit | null {
  const failures = attempts.map(({ result }) => (typeof result === 'object' ? result : null))
  return failures.findLast((each) => each?.range)?.range ?? null
}

/**
 * Whether a smaller range may help, because nothing else explains the failure. Once the filter has
 * been answered, the params are right.
 */
export function isUnclear(error: Refused | RelayError, { isKnown }: Density): boolean {
  if (error instanceof RelayError)
    return [errorKinds.upstreamFailed, errorKinds.timeout].includes(error.kind)
  const { refusal } = error.reply
  if (refusal === null || refusal.cooldown || refusal.limit !== null || refusal.pruned) return false
  return refusal.origin !== 'caller' || isKnown
}

function broken(cause: unknown): never {
  if (!isStreamFailure(cause)) throw cause
  throw new RelayError(errorKinds.upstreamFailed, cause.message, { cause })
}
