// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { ethereumFamily } from './ethereum.ts'
import { BlockChain, headOf, logsOf } from '../testing/block-chain.ts'
import { faults, faulty, pathsOf, type Fault, type MemberPath } from '../testing/faults.ts'
import { SubscriptionFixture } from '../testing/subscription-fixture.ts'

interface WrongAnswer {
  readonly method: string
  readonly path: MemberPath
  readonly fault: Fault
}

/** Delivers two blocks, the first of which is missed. The first node answers incorrectly. */
async function received(topic: string, wrong: WrongAnswer) {
  const chain = new BlockChain()
  const fixture = await SubscriptionFixture.create({
    chainId: 'ETH1',
    family: ethereumFamily,
    answer: (method, params: never, node) => {
      const answer = chain.answer(method, params)
      const isWrong = chain.head.number !== '0xa' && node === 'one' && method === wrong.method
      return isWrong ? faulty(answer, wrong.path, wrong.fault) : answer
    },
  })
  const client = await fixture.join('eth_subscribe', [topic])
  const blocks = [chain.mine(), chain.mine()]
  fixture.sockets['one']?.push(headOf(chain.head))
  await fixture.clock.advance(20_000)
  return { client, blocks }
}

const block = new BlockChain().head
const all = Object.keys(faults) as Fault[]

describe('when the first upstream answers incorrectly in any field', () => {
  test.each(all)('missed heads: %s', async (fault) => {
    for (const method of ['eth_getBlockByHash', 'eth_getBlockByNumber'])
      for (const path of pathsOf(block)) {
        const { client, blocks } = await received('newHeads', { method, path, fault })
        expect(client.ended).toBeNull()
        const heads = blocks.map((each) => JSON.stringify(headOf(each)))
        expect(client.texts, `${method} ${path.join('.')}`).toEqual(heads)
      }
  })

  /** The reader rejects an answer for any other block. */
  const checked: readonly unknown[] = ['blockHash', 'blockNumber']
  const mightBe = (path: MemberPath) => path.length < 2 || !checked.includes(path.at(-1))

  test.each(all)('logs: %s', async (fault) => {
    for (const path of pathsOf(logsOf(block))) {
      const wrong = { method: 'eth_getLogs', path, fault }
      const { client, blocks } = await received('logs', wrong)
      expect(client.ended).toBeNull()
      if (mightBe(path)) continue
      const logs = blocks.flatMap((each) => logsOf(each).map((log) => JSON.stringify(log)))
      expect(client.texts, path.join('.')).toEqual(logs)
    }
  })
})
