// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteBudget } from '../bytes/byte-budget.ts'
import type { RetentionPolicies } from '../cache/cache.ts'
import { finalDistance } from '../chain/finality.ts'
import type { Chain } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Live, RelayConfig } from '../config/types.ts'
import { bufferOf, memberOf } from '../json/scanner.ts'
import type { Call } from '../relay/call.ts'
import { errorKinds, RelayError } from '../relay/errors.ts'
import type { Relay } from '../relay/relay.ts'
import type { Reply } from '../relay/reply.ts'
import type { Pool } from '../upstream/pool.ts'
import { release } from '../upstream/wire.ts'
import { answerOf } from './answer.ts'
import type { RangeLimits } from './limits.ts'
import { type LogRun, readRun } from './log-run.ts'
import { filterOf, hex, type Range, rangeOf, sizeOf } from './query.ts'
import type { Slices } from './slices.ts'
import { isSure, noteOf, type Place, type SplitContext, SplitQuery, store } from './split-query.ts'

export interface LogsOptions {
  readonly chain: Chain
  readonly pool: Pool
  /** Shared by all relays of the pool. */
  readonly limits: RangeLimits
  /** Where the logs of final blocks are cached; null: nowhere. */
  readonly slices: Slices | null
  readonly policies: Live<Pick<RetentionPolicies, 'lifetimes'>>
  readonly clock: Clock
  readonly budget: ByteBudget
  readonly config: Live<Pick<RelayConfig, 'processingTimeoutMs'>>
}

/** Wraps a relay so that a query for logs over any range of blocks is cut to what nodes accept. */
export function withLogs(relay: Relay, options: LogsOptions): Relay {
  const logs = new Logs(relay, options)
  return (call) => (call.method.split === 'logs' ? logs.run(call) : relay(call))
}

/** A node may not have indexed blocks this recent yet. */
const indexingBlocks = 128
/** Time per request until it is known, and the weight of a new one. */
const usual = { requestMs: 50, weight: 0.1 } as const
/** Requests of a query in flight. */
const atOnce = 4

class Logs {
  readonly #relay: Relay
  readonly #options: LogsOptions
  readonly #finalDistance: number
  #requestMs: number = usual.requestMs

  constructor(relay: Relay, options: LogsOptions) {
    this.#relay = relay
    this.#options = options
    this.#finalDistance = Math.max(finalDistance(options.chain), indexingBlocks)
  }

  async run(call: Call): Promise<Reply> {
    const { pool, limits } = this.#options
    const head = Math.max(pool.tip ?? 0, pool.tracker.highestHead)
    const range = rangeOf(call, head)
    if (range === null || range.from === range.to || !isSplittable(call)) return this.#relay(call)
    const finalTo = (pool.tip ?? 0) - this.#finalDistance
    const place = range.from <= finalTo ? this.#placeOf(call) : null
    const final = { from: range.from, to: Math.min(range.to, finalTo) }
    if (place) await place.slices.load(place.filter, final)
    const isCached = place !== null && place.slices.next(place.filter, final) <= final.to
    const isPending = place !== null && place.slices.pending(place.filter, final) !== null
    const query = { call, range, finalTo, place }
    if (isCached || isPending || !limits.allow(call, range)) return this.#split(query)
    return this.#single(query)
  }

  /** Where the logs of a call are cached; null if the call must reach an upstream. */
  #placeOf(call: Call): Place | null {
    const { slices, policies } = this.#options
    if (slices === null || !call.method.cacheable || !isPlain(call)) return null
    const ttlMs = policies.now.lifetimes(call.method.name).finalized
    const filter = ttlMs > 0 ? filterOf(call) : null
    return filter === null ? null : { slices, filter, ttlMs }
  }

  /** Relays the query unchanged, since no known limit forbids its range. */
  async #single(query: Query): Promise<Reply> {
    const { call, range, finalTo, place } = query
    const { journal } = call
    const note = (journal.logs = noteOf(range))
    const final = { from: range.from, to: Math.min(range.to, finalTo) }
    const end = place?.slices.begin(place.filter, final)
    try {
      const reply = await this.#relay(call)
      const { incoming, refusal } = reply
      if (refusal?.range) release(incoming.body)
      else {
        Object.assign(note, { requests: 1, requestedBlocks: note.blocks })
        const { body } = incoming
        const isWhole = body instanceof Uint8Array && refusal === null
        const run = place && isWhole && isSure(final, reply, journal) ? runIn(body, final) : null
        const isStored = place && run && store(place, final, run, reply)
        note.isStored = isStored === true && range.to <= finalTo
        return reply
      }
    } finally {
      this.#options.limits.learn(journal.attempts, range)
      end?.()
    }
    return this.#split(query)
  }

  #split({ call, range, finalTo, place }: Query): Promise<Reply> {
    const { pool, clock, config, budget, limits } = this.#options
    call.journal.budgetMs = config.now.processingTimeoutMs
    const query = new SplitQuery(call, range, {
      ...{ relay: this.#relay, tracker: pool.tracker, limits, clock, budget, finalTo, place },
      timed: (ms) => (this.#requestMs += usual.weight * (ms - this.#requestMs)),
    })
    this.#checkSize(query, range)
    return answerOf(query, query.runs())
  }

  /** @throws RelayError if the requests would take longer than the call may */
  #checkSize(query: SplitQuery, range: Range): void {
    const { call, size } = query
    const leftMs = call.journal.deadlineMs - this.#options.clock.nowMs()
    const requests = Math.max(1, Math.floor((leftMs / this.#requestMs) * atOnce))
    const fits = requests * size
    if (sizeOf(range) <= fits) return
    query.end()
    const { from } = range
    // Indexers read the range in this form, as some providers write it.
    const message = `${call.method.name} over ${sizeOf(range)} blocks takes too many requests of ${size} blocks. Try with this block range [${hex(from)}, ${hex(from + fits - 1)}].`
    throw new RelayError(errorKinds.logsRange, message)
  }
}

interface Query extends Pick<SplitContext, 'finalTo' | 'place'> {
  readonly call: Call
  readonly range: Range
}

/** Whether the logs may come from any upstream, or from the cache. */
function isPlain({ directives }: Call): boolean {
  const { only, selectProvider, blockProviders, extension, refreshCache } = directives
  const isFree = only === null && selectProvider === null && blockProviders.length === 0
  return isFree && extension === null && !refreshCache && directives.crossValidation === null
}

function runIn(body: Uint8Array, { from, to }: Range): LogRun | null {
  const at = memberOf(body, 'result')
  return at && readRun(bufferOf(body).subarray(at.start, at.end), from, to)
}

/** Whether the request can be changed, and repeated. */
function isSplittable({ request: { body, verb } }: Call): boolean {
  return body instanceof Uint8Array && verb === 'POST'
}
