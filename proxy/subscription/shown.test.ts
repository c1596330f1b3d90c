// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { ethereumFamily } from './families/ethereum.ts'
import { tendermintFamily } from './families/tendermint.ts'
import { SubscriptionFixture, type FixtureOptions } from './testing/subscription-fixture.ts'

const hashOf = (number: number, branch = '') =>
  `0x${branch}${number.toString(16).padStart(64 - branch.length, '0')}`
const header = (number: number, branch = '') => ({
  number: `0x${number.toString(16)}`,
  hash: hashOf(number, branch),
  parentHash: hashOf(number - 1),
})

const ethereum: FixtureOptions = {
  chainId: 'ETH1',
  family: ethereumFamily,
  answer: () => null,
}
const tendermint: FixtureOptions = {
  chainId: 'HUBCHAIN',
  apiInterface: 'tendermintrpc',
  family: tendermintFamily,
  answer: () => null,
}

async function setUp(options: FixtureOptions) {
  const fixture = await SubscriptionFixture.create(options)
  fixture.report(100)
  const { tracker } = fixture.pool
  return { fixture, tracker, one: fixture.sockets['one']! }
}

describe('the heads that the router itself subscribes to', () => {
  const range = ['logs', { fromBlock: '0x1' }]
  const newHeader = (height: number) => ({
    data: { type: 'tendermint/event/NewBlockHeader', value: { header: { height: `${height}` } } },
  })
  test.each([
    ['Ethereum', ethereum, 'eth_subscribe', range, 'newHeads', header(105)],
    ['Tendermint', tendermint, 'subscribe', ["tm.event='Tx'"], 'NewBlockHeader', newHeader(105)],
  ])('raise the tip without a client for them: %s', async (_, chain, method, params, to, head) => {
    const { fixture, tracker, one } = await setUp(chain)
    await fixture.join(method, params)
    one.push(head, to)
    const [upstream] = fixture.pool.upstreams
    expect([tracker.tip, tracker.highestShown, upstream!.latest?.block]).toEqual([105, 105, 105])
    expect(upstream!.sockets[0]!.head?.block).toBe(105)
  })

  test('show a block that replaces another one', async () => {
    const { fixture, tracker, one } = await setUp(ethereum)
    await fixture.join('eth_subscribe', range)
    one.push(header(105), 'newHeads')
    const { branch } = tracker
    one.push(header(105, 'b'), 'newHeads')
    expect(tracker.branch).toBe(branch + 1)
  })
})

describe('a head that jumps', () => {
  const far = 1_000_000_000
  const jumped = async () => {
    const scene = await setUp(ethereum)
    await scene.fixture.join('eth_subscribe', ['logs', { fromBlock: '0x1' }])
    scene.one.push(header(101), 'newHeads')
    scene.one.push(header(far), 'newHeads')
    return { ...scene, url: scene.fixture.pool.upstreams[0]!.sockets[0]! }
  }

  test('is not shown, nor are those that follow it', async () => {
    const { tracker, one } = await jumped()
    one.push(header(far + 1), 'newHeads')
    expect([tracker.tip, tracker.highestShown]).toEqual([101, 101])
  })

  test('is shown once its URL passes its next verification', async () => {
    const { fixture, tracker, one, url } = await jumped()
    url.verified = true
    one.push(header(far + 1), 'newHeads')
    expect(fixture.pool.upstreams[0]!.latest?.block).toBe(far + 1)
    expect(tracker.highestShown).toBe(far + 1)
  })

  test('is not shown if its URL serves another chain', async () => {
    const { tracker, one, url } = await jumped()
    url.verified = false
    one.push(header(102), 'newHeads')
    expect(tracker.highestShown).toBe(101)
  })
})
