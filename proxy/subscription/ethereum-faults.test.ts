// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { ethereumFamily } from './families/ethereum.ts'
import { BlockChain, headOf, logsOf } from './testing/block-chain.ts'
import { faults, faulty, pathsOf, type Fault, type MemberPath } from './testing/faults.ts'
import { SubscriptionFixture } from './testing/subscription-fixture.ts'

interface Lie {
  readonly method: string
  readonly path: MemberPath
  readonly fault: Fault
}

/** Two blocks, the first of which was missed; whoever is asked first lies about what it is asked. */
async function told(topic: string, lie: Lie) {
  const chain = new BlockChain()
  const fixture = await SubscriptionFixture.create({
    chainId: 'ETH1',
    family: ethereumFamily,
    answer: (method, params: never, node) => {
      const answer = chain.answer(method, params)
      const isLie = chain.head.number !== '0xa' && node === 'one' && method === lie.method
      return isLie ? faulty(answer, lie.path, lie.fault) : answer
    },
  })
  const hearing = await fixture.join('eth_subscribe', [topic])
  const blocks = [chain.mine(), chain.mine()]
  fixture.sockets['one']?.tell(headOf(chain.head))
  await fixture.clock.advance(20_000)
  return { hearing, blocks }
}

const block = new BlockChain().head
const all = Object.keys(faults) as Fault[]

describe('where the first upstream says something else in any place of its answers', () => {
  test.each(all)('heads that were missed: %s', async (fault) => {
    for (const method of ['eth_getBlockByHash', 'eth_getBlockByNumber'])
      for (const path of pathsOf(block)) {
        const { hearing, blocks } = await told('newHeads', { method, path, fault })
        expect(hearing.ended).toBeNull()
        const heads = blocks.map((each) => JSON.stringify(headOf(each)))
        expect(hearing.texts, `${method} ${path.join('.')}`).toEqual(heads)
      }
  })

  /** What is not of the block asked for is no answer. */
  const checked: readonly unknown[] = ['blockHash', 'blockNumber']
  const mightBe = (path: MemberPath) => path.length < 2 || !checked.includes(path.at(-1))

  test.each(all)('logs: %s', async (fault) => {
    for (const path of pathsOf(logsOf(block))) {
      const lie = { method: 'eth_getLogs', path, fault }
      const { hearing, blocks } = await told('logs', lie)
      expect(hearing.ended).toBeNull()
      if (mightBe(path)) continue
      const logs = blocks.flatMap((each) => logsOf(each).map((log) => JSON.stringify(log)))
      expect(hearing.texts, path.join('.')).toEqual(logs)
    }
  })
})
