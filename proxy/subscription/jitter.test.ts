// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ethereumFamily } from './ethereum/ethereum.ts'
import { BlockChain, headOf } from './testing/block-chain.ts'
import { SubscriptionFixture } from './testing/subscription-fixture.ts'

type Counter = (fixture: SubscriptionFixture) => number

const logQuestions: Counter = ({ calls }) =>
  calls.filter((call) => call.includes('eth_getLogs')).length
const headQuestions: Counter = ({ calls }) => calls.length - logQuestions({ calls } as never)
const subscribes: Counter = ({ sockets }) =>
  Object.values(sockets).flatMap(({ requests }) => requests).length

/** Times of one replica's retries, in steps of 5 ms, from the start of an outage. */
async function timesOf(count: Counter, next: number): Promise<readonly number[]> {
  const chain = new BlockChain()
  let isDown = false
  const fixture = await SubscriptionFixture.create({
    chainId: 'ETH1',
    family: ethereumFamily,
    answer: (method, params: never) => (isDown ? undefined : chain.answer(method, params)),
    random: { next: () => next },
  })
  await fixture.join('eth_subscribe', ['logs'])
  isDown = true
  const sockets = Object.values(fixture.sockets)
  chain.mine(3)
  for (const socket of sockets) {
    // Each missing block needs its logs, and before that its parent.
    for (const number of [11, 13]) socket.push(headOf(chain.at(number)))
    socket.answer = 'refused'
    socket.cut()
  }
  const times: number[] = []
  for (let ms = 0, before = count(fixture); ms < 5_000; ms += 5) {
    await fixture.clock.advance(5)
    if (count(fixture) > before) times.push(ms)
    before = count(fixture)
  }
  return times
}

test.each<[string, Counter]>([
  ['subscribe again', subscribes],
  ['retry blocks', headQuestions],
  ['retry logs', logQuestions],
])('replicas do not %s at the same moments', async (_, count) => {
  const [early, late] = [await timesOf(count, 0), await timesOf(count, 0.999)]
  expect(early.length).toBeGreaterThan(2)
  expect(late.filter((ms) => ms > 50 && early.includes(ms))).toEqual([])
})
