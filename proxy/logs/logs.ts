// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteBudget } from '../bytes/byte-budget.ts'
import type { RetentionPolicies } from '../cache/cache.ts'
import { finalDistance, indexingBlocks } from '../chain/finality.ts'
import type { Chain } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { Live, RelayConfig, RouterConfig } from '../config/types.ts'
import { toQuantity } from '../json/values.ts'
import type { Call, LogsNote } from '../relay/call.ts'
import { errorKinds, RelayError } from '../relay/errors.ts'
import type { Relay } from '../relay/relay.ts'
import type { Reply } from '../relay/reply.ts'
import type { Pool } from '../upstream/pool.ts'
import { release } from '../upstream/wire.ts'
import { answerOf } from './answer.ts'
import type { RangeLimits } from './limits.ts'
import { readLogs, sizeOf } from './log-list.ts'
import { filterOf, isSure, type LogsQuery, type Place, rangeOf, store } from './query.ts'
import type { Slices } from './slices.ts'
import { atOnce, SplitQuery } from './split-query.ts'
import type { VerifyContext } from './verify.ts'

export interface LogsOptions {
  readonly chain: Chain
  readonly pool: Pool
  /** Shared by all relays of the pool. */
  readonly limits: RangeLimits
  /** Where the logs of final blocks are cached; null: nowhere. */
  readonly slices: Slices | null
  readonly policies: Live<Pick<RetentionPolicies, 'lifetimes'> & Pick<RouterConfig, 'verifyLogs'>>
  readonly clock: Clock
  readonly budget: ByteBudget
  readonly random: Random
  readonly config: Live<Pick<RelayConfig, 'processingTimeoutMs'>>
  readonly observer: VerifyContext['observer']
}

/** Wraps a relay so that a query for logs over any range of blocks is cut to what nodes accept. */
export function withLogs(relay: Relay, options: LogsOptions): Relay {
  const logs = new Logs(relay, options)
  return (call) => (call.method.split === 'logs' ? logs.run(call) : relay(call))
}

/** Share of the queries that `sample` verifies. */
const sampled = 0.01
/** Time per request until it is known, and the weight of a new one. */
const usual = { requestMs: 50, weight: 0.1 } as const

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
    const range = rangeOf(call, Math.max(pool.tip ?? 0, pool.tracker.highestHead))
    const { body, verb } = call.request
    const canCut = body instanceof Uint8Array && verb === 'POST'
    if (range === null || range.from === range.to || !canCut) return this.#relay(call)
    const finalTo = (pool.tip ?? 0) - this.#finalDistance
    const place = range.from <= finalTo ? this.#placeOf(call) : null
    const counts = { cachedBlocks: 0, requestedBlocks: 0, requests: 0, verifiedBlocks: 0 }
    const note: LogsNote = { blocks: sizeOf(range), ...counts, wrong: [], isStored: false }
    call.journal.logs = note
    const isVerified = range.from <= finalTo && isPlain(call) && this.#verifies()
    const query = { call, range, finalTo, place, isVerified, note }
    if (place) {
      const { slices, filter } = place
      const final = finalIn(query)
      await slices.load(filter, final)
      const isNew = slices.next(filter, final) > final.to && !slices.pending(filter, final)
      if (!isNew) return this.#split(query)
    }
    if (isVerified) return this.#split(query)
    const { blocks } = note
    const mayFit = limits.allow(call, blocks) && blocks <= limits.forResults(place?.filter)
    return mayFit ? this.#single(query) : this.#split(query)
  }

  #verifies(): boolean {
    const { policies, random } = this.#options
    const { verifyLogs } = policies.now
    return verifyLogs === 'always' || (verifyLogs === 'sample' && random.next() < sampled)
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
  async #single(query: LogsQuery): Promise<Reply> {
    const { call, range, place, note } = query
    const { journal } = call
    const final = finalIn(query)
    const end = place?.slices.begin(place.filter, final)
    try {
      const reply = await this.#relay(call)
      const { body } = reply.incoming
      if (!reply.refusal?.range) {
        Object.assign(note, { requests: 1, requestedBlocks: note.blocks })
        const isWhole = body instanceof Uint8Array && reply.refusal === null
        const isKept = place && isWhole && isSure(final, reply, journal)
        const logs = isKept ? readLogs(body, final.from, final.to) : null
        const isStored = logs !== null && store(query, final, logs, reply.upstream)
        note.isStored = isStored && final.to === range.to
        return reply
      }
      release(body)
    } finally {
      this.#options.limits.learn(journal.attempts, note.blocks)
      end?.()
    }
    return this.#split(query)
  }

  #split(query: LogsQuery): Promise<Reply> {
    const { config, clock } = this.#options
    const { journal } = query.call
    journal.budgetMs = config.now.processingTimeoutMs
    const split = new SplitQuery(query, {
      ...{ ...this.#options, relay: this.#relay },
      filter: query.place?.filter ?? filterOf(query.call),
      timed: (ms) => (this.#requestMs += usual.weight * (ms - this.#requestMs)),
    })
    const leftMs = journal.deadlineMs - clock.nowMs()
    checkSize(query, split, Math.max(1, Math.floor((leftMs / this.#requestMs) * atOnce)))
    return answerOf(split, split.parts())
  }
}

/** @throws RelayError if the query needs more requests than the time of the call allows */
function checkSize({ call, range }: LogsQuery, split: SplitQuery, requests: number): void {
  // A dense answer streams, so its time is not limited.
  const most = split.most()
  const fits = requests * most
  if (sizeOf(range) <= fits) return
  split.end()
  // Indexers read the range in this form, as some providers write it.
  const next = `Try with this block range [${toQuantity(range.from)}, ${toQuantity(range.from + fits - 1)}].`
  const message = `${call.method.name} over ${sizeOf(range)} blocks takes too many requests of ${most} blocks. ${next}`
  throw new RelayError(errorKinds.logsRange, message)
}

/** The final blocks of a query. */
function finalIn({ range: { from, to }, finalTo }: LogsQuery) {
  return { from, to: Math.min(to, finalTo) }
}

/** Whether the logs may come from any upstream, or from the cache. */
function isPlain({ directives }: Call): boolean {
  const { only, selectProvider, blockProviders, extension, refreshCache } = directives
  const isFree = only === null && selectProvider === null && blockProviders.length === 0
  return isFree && extension === null && !refreshCache && directives.crossValidation === null
}
