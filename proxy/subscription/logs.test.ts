// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ethereumFamily, markRemoved } from './ethereum/ethereum.ts'
import { BlockChain, headOf, logsOf, type TestBlock } from './testing/block-chain.ts'
import { SubscriptionFixture, type FixtureOptions } from './testing/subscription-fixture.ts'
import type { TestSocket } from './testing/test-socket.ts'

async function setUp(options: Partial<FixtureOptions> = {}) {
  const chain = new BlockChain()
  const fixture = await SubscriptionFixture.create({
    chainId: 'ETH1',
    family: ethereumFamily,
    answer: (method, params: never) => chain.answer(method, params),
    ...options,
  })
  const one = fixture.sockets['one'] as TestSocket
  const mine = async (count = 1) => {
    for (let each = 0; each < count; each++) one.push(headOf(chain.mine()), 'newHeads')
    await fixture.clock.advance(100)
  }
  return { chain, fixture, one, mine }
}

const filter = { address: '0x00000000000000000000000000000000000000aa' }
const logs = (blocks: readonly TestBlock[]) =>
  blocks.flatMap((block) => logsOf(block).map((log) => JSON.stringify(log)))
const removed = (blocks: readonly TestBlock[]) =>
  logs(blocks)
    .toReversed()
    .map((log) => log.replace('"removed":false', '"removed":true'))

test('logs arrive by block, in order, and are requested by hash and filter', async () => {
  const { chain, fixture, mine, one } = await setUp()
  const client = await fixture.join('eth_subscribe', ['logs', filter])
  await mine(2)
  expect(client.texts).toEqual(logs([chain.at(11), chain.at(12)]))
  expect(fixture.calls.filter((call) => call.includes('eth_getLogs'))).toEqual(
    [chain.at(11), chain.at(12)].map(
      ({ hash }) => `one eth_getLogs [{"blockHash":"${hash}","address":"${filter.address}"}]`,
    ),
  )
  expect(one.requests).toEqual(['eth_subscribe ["newHeads"]'])
})

test('logs are requested from the upstream that reported the block, then from another', async () => {
  const chain = new BlockChain()
  const { fixture, one } = await setUp({
    answer: (method, params: never, node) =>
      method === 'eth_getLogs' && node === 'two' ? undefined : chain.answer(method, params),
  })
  const two = fixture.sockets['two'] as TestSocket
  one.answer = 'refused'
  const client = await fixture.join('eth_subscribe', ['logs'])
  two.push(headOf(chain.mine()), 'newHeads')
  await fixture.clock.advance(5_000)
  const requests = fixture.calls.filter((call) => call.includes('eth_getLogs'))
  expect(requests.map((call) => call.split(' ')[0])).toEqual(['two', 'one'])
  expect(client.texts).toEqual(logs([chain.at(11)]))
})

test('a late client starts with the next block, and all share the requests', async () => {
  const { chain, fixture, mine } = await setUp()
  const early = await fixture.join('eth_subscribe', ['logs', filter])
  await mine()
  const late = await fixture.join('eth_subscribe', ['logs', { address: [filter.address] }])
  await mine()
  expect(early.texts).toEqual(logs([chain.at(11), chain.at(12)]))
  expect(late.texts).toEqual(logs([chain.at(12)]))
  expect(fixture.calls.filter((call) => call.includes('eth_getLogs'))).toHaveLength(2)
})

test('logs of a replaced block are removed, the newest first, before their replacements', async () => {
  const { chain, fixture, mine, one } = await setUp()
  const client = await fixture.join('eth_subscribe', ['logs'])
  await mine(3)
  const old = [chain.at(12), chain.at(13)]
  chain.reorg(2)
  one.push(headOf(chain.head), 'newHeads')
  await fixture.clock.advance(100)
  expect(client.texts).toEqual([
    ...logs([chain.at(11), ...old]),
    ...removed(old),
    ...logs([chain.at(12), chain.at(13)]),
  ])
})

test('the logs of 256 blocks can be removed; a deeper reorg ends with a reason', async () => {
  const { chain, fixture, mine, one } = await setUp()
  const client = await fixture.join('eth_subscribe', ['logs'])
  for (let each = 0; each < 270; each++) await mine()
  chain.reorg(256)
  one.push(headOf(chain.head), 'newHeads')
  await fixture.clock.advance(10_000)
  expect(client.ended).toBe(null)
  expect(client.texts).toHaveLength(logs([chain.at(11)]).length * (270 + 256 + 256))
  chain.reorg(257)
  one.push(headOf(chain.head), 'newHeads')
  await fixture.clock.advance(10_000)
  expect(client.ended).toBe('a reorganisation goes deeper than 256 blocks')
})

test('a block replaced before its logs arrive is never sent', async () => {
  const { chain, fixture, one } = await setUp()
  const client = await fixture.join('eth_subscribe', ['logs'])
  one.push(headOf(chain.mine()))
  await fixture.clock.advance(0)
  chain.reorg(1)
  one.push(headOf(chain.head))
  await fixture.clock.advance(1_000)
  expect(client.texts).toEqual(logs([chain.at(11)]))
})

test('missed events come first when the upstream fails', async () => {
  const { chain, fixture, mine, one } = await setUp()
  const client = await fixture.join('eth_subscribe', ['logs'])
  await mine()
  one.cut()
  chain.mine(20)
  await fixture.clock.advance(2_000)
  const blocks = Array.from({ length: 21 }, (_, at) => chain.at(11 + at))
  expect(client.texts).toEqual(logs(blocks))
})

test('unavailable logs are retried, and nothing overtakes them', async () => {
  const chain = new BlockChain()
  let isDown = false
  const { fixture, one } = await setUp({
    answer: (method, params) =>
      isDown && method === 'eth_getLogs' ? undefined : chain.answer(method, params),
  })
  const client = await fixture.join('eth_subscribe', ['logs'])
  isDown = true
  one.push(headOf(chain.mine()))
  await fixture.clock.advance(1_000)
  isDown = false
  one.push(headOf(chain.mine()))
  await fixture.clock.advance(0)
  expect(client.texts).toEqual([])
  await fixture.clock.advance(10_000)
  expect(client.texts).toEqual(logs([chain.at(11), chain.at(12)]))
})

test('it ends with a reason when the logs of too many blocks cannot be fetched', async () => {
  const chain = new BlockChain()
  const { fixture, one } = await setUp({
    maxGapBlocks: 5,
    answer: (method, params) =>
      method === 'eth_getLogs' ? undefined : chain.answer(method, params),
  })
  const client = await fixture.join('eth_subscribe', ['logs'])
  const heads = await fixture.join('eth_subscribe', ['newHeads'])
  for (let each = 0; each < 7; each++) one.push(headOf(chain.mine()))
  await fixture.clock.advance(100)
  expect(client.ended).toBe('the events of more than 5 blocks could not be fetched')
  expect(heads).toMatchObject({ ended: null })
  expect(heads.texts).toHaveLength(7)
  heads.leave()
  await fixture.clock.advance(100)
  expect(fixture.clock.pending).toBe(0)
})

const marks: [string, string, string][] = [
  ['false', '{"a":1,"removed":false,"b":2}', '{"a":1,"removed":true,"b":2}'],
  ['with white space', '{ "removed" : false }', '{"removed":true}'],
  ['missing', '{"a":1}', '{"a":1,"removed":true}'],
  ['missing in an empty log', '{}', '{"removed":true}'],
]
test.each(marks)('a log whose `removed` is %s is marked', (_, log, marked) => {
  expect(Buffer.from(markRemoved(Buffer.from(log))).toString()).toBe(marked)
})
