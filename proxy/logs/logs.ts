// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteBudget } from '../bytes/byte-budget.ts'
import { finalDistance } from '../chain/finality.ts'
import type { Chain } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Live, RelayConfig } from '../config/types.ts'
import type { Call } from '../relay/call.ts'
import { errorKinds, RelayError } from '../relay/errors.ts'
import type { Relay } from '../relay/relay.ts'
import type { Reply } from '../relay/reply.ts'
import type { Pool } from '../upstream/pool.ts'
import { release } from '../upstream/wire.ts'
import { answerOf } from './answer.ts'
import { RangeLimits } from './limits.ts'
import { hex, type Range, rangeOf, sizeOf } from './query.ts'
import { SplitQuery } from './split-query.ts'

export interface LogsOptions {
  readonly chain: Chain
  readonly pool: Pool
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
  readonly #limits: RangeLimits
  readonly #finalDistance: number
  #requestMs: number = usual.requestMs

  constructor(relay: Relay, options: LogsOptions) {
    this.#relay = relay
    this.#options = options
    this.#limits = new RangeLimits(options.pool, options.clock)
    this.#finalDistance = Math.max(finalDistance(options.chain), indexingBlocks)
  }

  async run(call: Call): Promise<Reply> {
    const { pool } = this.#options
    const head = Math.max(pool.tip ?? 0, pool.tracker.highestHead)
    const range = rangeOf(call, head)
    if (range === null || range.from === range.to || !isSplittable(call)) return this.#relay(call)
    return this.#limits.allow(call, range) ? this.#single(call, range) : this.#split(call, range)
  }

  /** Relays the query unchanged, since no known limit forbids its range. */
  async #single(call: Call, range: Range): Promise<Reply> {
    const { attempts } = call.journal
    try {
      const reply = await this.#relay(call)
      if (!reply.refusal?.range) return reply
      release(reply.incoming.body)
    } finally {
      this.#limits.learn(attempts, range)
    }
    return this.#split(call, range)
  }

  #split(call: Call, range: Range): Promise<Reply> {
    const { pool, clock, config, budget } = this.#options
    call.journal.budgetMs = config.now.processingTimeoutMs
    const query = new SplitQuery(call, range, {
      ...{ relay: this.#relay, tracker: pool.tracker, limits: this.#limits, clock, budget },
      timed: (ms) => (this.#requestMs += usual.weight * (ms - this.#requestMs)),
    })
    this.#checkSize(query, range)
    return answerOf(query, query.runs((pool.tip ?? 0) - this.#finalDistance))
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

/** Whether the request can be changed, and repeated. */
function isSplittable({ request: { body, verb } }: Call): boolean {
  return body instanceof Uint8Array && verb === 'POST'
}
