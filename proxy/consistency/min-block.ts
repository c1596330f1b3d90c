// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain } from '../chain/types.ts'
import { type Clock, sleep } from '../clock/clock.ts'
import type { Live, RelayConfig } from '../config/types.ts'
import type { Call } from '../relay/call.ts'
import { CallAborted, RelayError, errorKinds } from '../relay/errors.ts'
import type { Relay } from '../relay/relay.ts'
import type { Reply } from '../relay/reply.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'

interface Pieces {
  readonly chain: Pick<Chain, 'blockTimeMs'>
  readonly pool: Pick<Pool, 'upstreams' | 'askHeads'>
  readonly config: Live<Pick<RelayConfig, 'processingTimeoutMs'>>
  readonly clock: Clock
}

const blocksWaited = 2
const lookMs = 50
/** However fast the chain is: a head has to be asked for. */
const minWaitMs = 1_000
/** No head that was seen a moment ago is further behind the chain. */
const maxAhead = 1_000

/**
 * A relay that asks only upstreams that have the block of `rpc-min-block`. While none has it, the call waits for two
 * block times. A write goes to every upstream.
 */
export function withMinBlock(relay: Relay, pieces: Pieces): Relay {
  return (call) => {
    const { minBlock } = call.directives
    if (minBlock === null || call.asked.kind === 'write') return relay(call)
    return relayFrom(minBlock, call, relay, pieces)
  }
}

async function relayFrom(
  minBlock: number,
  call: Call,
  relay: Relay,
  { chain, pool, config, clock }: Pieces,
): Promise<Reply> {
  const { directives, signal, journal } = call
  const { only, blockProviders } = directives
  const allowed = pool.upstreams.filter(
    ({ name }) => only?.includes(name) !== false && !blockProviders.includes(name),
  )
  // Every upstream has block 0, be its head known or not.
  const hasIt = ({ latest }: Upstream) => (latest?.block ?? 0) >= minBlock
  const isReady = (each: Upstream) => hasIt(each) && each.serves([]) && !each.availability.isOnTrial
  const waitMs = Math.max(blocksWaited * chain.blockTimeMs, minWaitMs)
  const untilMs = Math.min(
    clock.nowMs() + waitMs,
    journal.startedMs + config.now.processingTimeoutMs,
  )
  const mayCome = () =>
    allowed.some(({ latest }) => latest === null || latest.block + maxAhead >= minBlock)
  while (!allowed.some(isReady) && clock.nowMs() < untilMs && mayCome()) {
    if (signal.aborted) throw new CallAborted()
    pool.askHeads?.()
    await sleep(clock, lookMs)
  }
  const having = allowed.filter(hasIt).map(({ name }) => name)
  if (having.length === 0) {
    const heads = allowed.map(({ name, latest }) => `${name}: ${latest?.block ?? 'unknown'}`)
    const message = `no upstream has block ${minBlock} of rpc-min-block yet (${heads.join(', ')})`
    throw new RelayError(errorKinds.minBlock, message)
  }
  return relay({ ...call, directives: { ...directives, only: having } })
}
