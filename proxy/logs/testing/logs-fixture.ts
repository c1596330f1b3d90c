// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { seededRandom } from '../../clock/testing/seeded-random.ts'
import type { SharedCache } from '../../cache/shared-cache.ts'
import type { Chain } from '../../chain/types.ts'
import {
  type CallResult,
  ethereum,
  RelayFixture,
  type TestCall,
} from '../../relay/testing/relay-fixture.ts'
import { wholeBody } from '../../upstream/wire.ts'
import { RangeLimits } from '../limits.ts'
import { withLogs } from '../logs.ts'
import type { SliceMemory } from '../slices.ts'
import { type Filter, type Limits, type Log, LogChain } from './log-chain.ts'

const { chain, iface } = await ethereum()
const hex = (number: number) => `0x${number.toString(16)}`

export interface Answered {
  readonly logs: readonly Log[] | null
  /** The reason of an error of the router, or the error of a node. */
  readonly error: string | null
  readonly result: CallResult
}

export interface FixtureOptions {
  readonly head?: number
  readonly chain?: Chain
  /** Default: logs are not cached. */
  readonly memory?: SliceMemory
  readonly shared?: SharedCache
  readonly verify?: 'off' | 'sample' | 'always'
}

const lifetimes = { finalized: 86_400_000, 'near-head': 0, latest: 0 }

/** Limited nodes of one chain behind the engine, in virtual time. */
export class LogsFixture {
  readonly relays: RelayFixture
  readonly chain: LogChain
  readonly budget = new ByteBudget(Infinity)
  /** Upstreams whose logs were wrong. */
  readonly mismatches: string[] = []
  /** Pairs of upstreams whose logs differ, where nothing decides. */
  readonly disputes: string[] = []

  constructor(nodes: Readonly<Record<string, Limits>>, options: FixtureOptions = {}) {
    const { chain: own = chain, memory = null, shared = null } = options
    this.chain = new LogChain(options.head ?? 100_000)
    const upstreams = Object.entries(nodes).map(([name, limits]) => {
      const { maxLogBlocks = null, group = '' } = limits
      const script = this.chain.node(name, limits)
      return [name, { script, group, urls: [{ maxLogBlocks }] }] as const
    })
    this.relays = new RelayFixture(own, iface, Object.fromEntries(upstreams))
    const { pool, clock, relay } = this.relays
    const policies = { now: { lifetimes: () => lifetimes, verifyLogs: options.verify ?? 'off' } }
    this.relays.relay = withLogs(relay, {
      ...{ chain: own, pool, clock, budget: this.budget, policies },
      random: seededRandom(1),
      config: { now: { processingTimeoutMs: 30_000 } },
      observer: {
        logsMismatched: (_call, upstreams, verdict) =>
          (verdict === 'wrong' ? this.mismatches : this.disputes).push(...upstreams),
      },
      limits: new RangeLimits(pool),
      slices: memory && { memory, shared, clock, scope: 'test', pending: new Map() },
    })
    this.see()
  }

  /** All nodes report the head of the chain. */
  see(): void {
    const { pool, clock } = this.relays
    for (const upstream of pool.upstreams)
      pool.observeHead(upstream, this.chain.head, clock.nowMs(), upstream.urls[0]!)
  }

  async ask(...query: Query): Promise<Answered> {
    return answeredBy(await this.relays.ask(callOf(query)), this)
  }

  /** Sends a query without advancing the clock. */
  begin(...query: Query): Promise<CallResult> {
    return this.relays.begin(callOf(query))
  }
}

type Query = [from: number, to: number | string, filter?: Filter, more?: TestCall]

function callOf([from, to, filter = {}, more = {}]: Query): TestCall {
  const range = { fromBlock: hex(from), toBlock: typeof to === 'number' ? hex(to) : to }
  return { method: 'eth_getLogs', params: [{ ...range, ...filter }], ...more }
}

async function answeredBy(result: CallResult, { relays }: LogsFixture): Promise<Answered> {
  if (!result.incoming) return { logs: null, error: result.outcome, result }
  let body: Uint8Array | null | undefined
  const reading = wholeBody(result.incoming.body, Infinity).then((bytes) => (body = bytes))
  for (let each = 0; each < 4_000 && body === undefined; each++) await relays.clock.advance(10)
  await reading
  const { result: logs, error } = JSON.parse(Buffer.from(body!).toString()) as {
    result?: readonly Log[]
    error?: { message: string }
  }
  return { logs: logs ?? null, error: error?.message ?? null, result }
}
