// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RetentionPolicies } from '../cache/cache.ts'
import { finalDistance, indexingBlocks } from '../chain/finality.ts'
import type { Random } from '../clock/random.ts'
import type { Live, RelayConfig, RouterConfig } from '../config/types.ts'
import type { Call } from '../relay/call.ts'
import { isUnanswered } from '../relay/errors.ts'
import type { Relay } from '../relay/relay.ts'
import type { Reply } from '../relay/reply.ts'
import type { Pool } from '../upstream/pool.ts'
import { release } from '../upstream/wire.ts'
import { answerOf } from './answer.ts'
import { Density } from './limits.ts'
import { isNull, lengthOf, readLogs, sizeOf } from './log-list.ts'
import { filterOf, type LogsContext, type LogsQuery, rangeOf, withoutTag } from './query.ts'
import { Slices, type SliceStore } from './slices.ts'
import { isUnclear, rangeLimitIn, Refused, sample } from './part-requests.ts'
import { atOnce, isSure, SplitQuery, tooLong } from './split-query.ts'

export interface LogsOptions extends Omit<LogsContext, 'relay'> {
  readonly pool: Pool
  /** Where the logs of final blocks are cached; null: nowhere. */
  readonly slices: SliceStore | null
  readonly policies: Live<Pick<RetentionPolicies, 'lifetimes'> & Pick<RouterConfig, 'verifyLogs'>>
  readonly random: Random
  readonly config: Live<Pick<RelayConfig, 'processingTimeoutMs'>>
}

/** Wraps a relay so that a query for logs over any range of blocks is cut to what nodes accept. */
export function withLogs(relay: Relay, options: LogsOptions): Relay {
  const logs = new Logs(relay, options)
  return (call) => (call.method.split === 'logs' ? logs.run(call) : relay(call))
}

/** Share of the queries that `sample` verifies. */
const sampled = 0.01

class Logs {
  readonly #options: LogsOptions & LogsContext
  readonly #finalDistance: number

  constructor(relay: Relay, options: LogsOptions) {
    this.#options = { ...options, relay }
    this.#finalDistance = Math.max(finalDistance(options.chain), indexingBlocks)
  }

  async run(asked: Call): Promise<Reply> {
    const { pool, limits, relay } = this.#options
    const call = await withoutTag(asked, this.#options)
    const range = rangeOf(call, Math.max(pool.tip ?? 0, pool.tracker.highestHead))
    const { body, verb } = call.request
    const canCut = body instanceof Uint8Array && verb === 'POST'
    if (range === null || range.from === range.to || !canCut) return relay(call)
    const finalTo = (pool.tip ?? 0) - this.#finalDistance
    const isFinal = range.from <= finalTo
    const filter = isFinal ? filterOf(call) : null
    const slices = filter === null ? null : this.#slicesOf(call, filter)
    const final = { from: range.from, to: Math.min(range.to, finalTo) }
    await slices?.load(final)
    const blocks = sizeOf(range)
    const counts = {
      cachedBlocks: 0,
      requestedBlocks: 0,
      requests: 0,
      verifiedBlocks: 0,
      disputedBlocks: 0,
    }
    const isStored = slices !== null && range.to <= finalTo
    const note = { blocks, ...counts, wrong: [], isStored }
    call.journal.logs = note
    const isVerified = isFinal && isPlain(call) && this.#verifies()
    const density = limits.densityOf(filter)
    const query = { call, range, finalTo, slices, density, isVerified, note }
    const isNew = !slices || (slices.next(final) > final.to && !slices.pending(final))
    const isSingle = isNew && !isVerified && limits.allow(call, blocks, density)
    const outcome = isSingle ? await this.#single(query) : []
    return 'incoming' in outcome ? outcome : this.#split(query, isSingle, outcome)
  }

  #verifies(): boolean {
    const { policies, random } = this.#options
    const { verifyLogs } = policies.now
    return verifyLogs === 'always' || (verifyLogs === 'sample' && random.next() < sampled)
  }

  /** The cached logs of a filter; null if the call must reach an upstream. */
  #slicesOf(call: Call, filter: string): Slices | null {
    const { slices, policies } = this.#options
    if (slices === null || !call.method.cacheable || !isPlain(call)) return null
    const ttlMs = policies.now.lifetimes(call.method.name).finalized
    return ttlMs > 0 ? new Slices(slices, filter, ttlMs) : null
  }

  /**
   * Relays the query unchanged.
   * @returns if a smaller range or another upstream may help: the upstreams to avoid
   */
  async #single(query: LogsQuery): Promise<Reply | readonly string[]> {
    const { call, range, finalTo, slices, density, note } = query
    const { relay, limits, clock } = this.#options
    const { journal } = call
    const final = { from: range.from, to: Math.min(range.to, finalTo) }
    const end = slices?.begin(final)
    let count = 0
    journal.isCuttable = true
    try {
      const reply = await relay(call)
      const { body } = reply.incoming
      const limit = rangeLimitIn(journal)
      if (reply.refusal) {
        const isCut = limit !== null || isUnclear(new Refused(reply), density)
        if (!isCut && limits.serving(call).length === 1) return reply
        if (limit) density.refused(limit, note.blocks)
        release(body)
        return isCut ? [] : [reply.upstream]
      }
      if (body instanceof Uint8Array && isNull(body) && limits.serving(call).length > 1)
        return [reply.upstream]
      Object.assign(note, { requests: 1, requestedBlocks: note.blocks })
      const isWhole = slices && body instanceof Uint8Array
      const logs = isWhole ? readLogs(body, range.from, range.to) : null
      if (logs) {
        count = logs.length
        density.answered(note.blocks, count, lengthOf(logs))
      }
      const finals = logs?.filter(({ block }) => block <= final.to)
      const isKept = finals && isSure(final, reply, journal)
      const isAdded = isKept && slices?.add(final, finals, reply.upstream)
      note.isStored &&= isAdded === true
      return reply
    } catch (error) {
      const isLate = journal.attempts.some(
        ({ result }) => typeof result === 'object' && result?.late === true,
      )
      if (!isUnanswered(error) || !isLate) throw error
      // This many blocks may take the nodes too long.
      density.limitWork(Math.max(sample.blocks, Math.ceil(note.blocks / 2)))
      if (clock.nowMs() >= journal.deadlineMs) throw error
      return []
    } finally {
      limits.learn(journal.attempts, note.blocks, density, count)
      end?.()
    }
  }

  #split(query: LogsQuery, isRefused: boolean, avoided: readonly string[]): Promise<Reply> {
    const { config, clock, limits } = this.#options
    const { journal } = query.call
    journal.budgetMs = config.now.processingTimeoutMs
    const split = new SplitQuery(query, this.#options, isRefused, avoided)
    // A dense answer streams, so its logs do not count, only its blocks.
    const anyLogs = new Density(query.density.blocksOf({}))
    const accepted = limits.serving(query.call).map((each) => limits.of(each, anyLogs))
    const most = Math.max(1, ...accepted)
    const leftMs = journal.deadlineMs - clock.nowMs()
    const fits = most * Math.max(1, Math.floor((leftMs / limits.requestMs) * atOnce))
    if (sizeOf(query.range) <= fits) return answerOf(split)
    split.end()
    throw tooLong(query, fits, `takes too many requests of ${most} blocks`)
  }
}

/** Whether the logs may come from any upstream, or from the cache. */
function isPlain({ directives }: Call): boolean {
  const { only, selectProvider, blockProviders, extension, refreshCache } = directives
  const isFree = only === null && selectProvider === null && blockProviders.length === 0
  return isFree && extension === null && !refreshCache && directives.crossValidation === null
}
