// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../../proxy/clock/clock.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { Dice } from './dice.ts'
import type { Schedule } from './schedule.ts'

/** All schedules share one chain, so that each block is built only once. */
export const chainSeed = 'simulation'

/** A chain that grows, halts and reorganises on schedule. `stop` ends its timers. */
export function growChain(
  { seed, chain: plan }: Pick<Schedule, 'seed' | 'chain'>,
  clock: Clock,
  happened: (event: string) => void,
) {
  const { blockTimeMs } = plan
  const chain = createChainModel({ seed: chainSeed, blockTimeMs })
  const startHead = chain.head
  const minedMs: number[] = []
  const dice = new Dice(seed, 3)
  let cancel = () => {}
  const next = () => {
    cancel = clock.after(blockTimeMs * (0.8 + 0.4 * dice.next()), () => {
      const { halt } = plan
      const nowMs = clock.nowMs()
      if (halt === null || nowMs < halt.fromMs || nowMs >= halt.untilMs) {
        chain.mine()
        minedMs.push(nowMs)
        happened(`block ${chain.head}`)
      }
      next()
    })
  }
  next()
  const reorgs = plan.reorgs.map(({ atMs, depth }) =>
    clock.after(atMs, () => {
      chain.reorg(depth)
      happened(`reorganisation of ${depth}`)
    }),
  )
  const stop = () => {
    cancel()
    for (const each of reorgs) each()
  }
  /** The head of the chain at a time in the past. */
  const headAt = (ms: number) => startHead + minedMs.filter((each) => each <= ms).length
  return { chain, headAt, stop }
}
