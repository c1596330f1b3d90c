// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { ethereumFamily } from './ethereum/ethereum.ts'
import { solanaFamily } from './solana/solana.ts'
import { tendermintFamily } from './tendermint/tendermint.ts'
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
const solana: FixtureOptions = {
  chainId: 'SLOTCHAIN',
  family: (ask, clock) => solanaFamily({ ask, clock, blockTimeMs: 400 }),
  answer: () => 100,
}

async function setUp(options: FixtureOptions) {
  const fixture = await SubscriptionFixture.create(options)
  fixture.report(100)
  const { tracker } = fixture.pool
  return { fixture, tracker, one: fixture.sockets['one']! }
}

const account = (commitment?: string) => ['1'.repeat(32), ...(commitment ? [{ commitment }] : [])]
const slot = (number: number, value: unknown = null) => ({ context: { slot: number }, value })
const log = { blockNumber: '0x69', blockHash: hashOf(105), topics: [] }
const query = (words: string) => ({ query: words })
const pushed = (type: string, value: object) => ({
  data: { type: `tendermint/event/${type}`, value },
})
const tx = pushed('Tx', { TxResult: { height: '105' } })

describe('an event shows its block before a client gets it', () => {
  const range = ['logs', { fromBlock: '0x1' }]
  type Row = readonly [string, FixtureOptions, string, unknown, object | number]
  test.each<Row>([
    ['logs of a range', ethereum, 'eth_subscribe', range, log],
    ['an account', solana, 'accountSubscribe', account('confirmed'), slot(105, { lamports: 1 })],
    ['a program', solana, 'programSubscribe', account('confirmed'), slot(105, {})],
    ['logs of Solana', solana, 'logsSubscribe', ['all', { commitment: 'confirmed' }], slot(105)],
    ['a block', solana, 'blockSubscribe', ['all', { commitment: 'confirmed' }], slot(105)],
    ['a signature', solana, 'signatureSubscribe', account('confirmed'), slot(105, { err: null })],
    ['a transaction', tendermint, 'subscribe', query("tm.event='Tx'"), tx],
    ['some transactions', tendermint, 'subscribe', query("tm.event='Tx' AND a.b > 5"), tx],
    [
      'events of a block',
      tendermint,
      'subscribe',
      query("tm.event='NewBlockEvents'"),
      pushed('NewBlockEvents', { height: '105', events: [] }),
    ],
    [
      'blocks of a query',
      tendermint,
      'subscribe',
      query("tm.event='NewBlock' AND a.b > 5"),
      pushed('NewBlock', { block: { header: { height: '105' } } }),
    ],
    [
      'a round of the next block',
      tendermint,
      'subscribe',
      query("tm.event='NewRound'"),
      pushed('NewRound', { height: '106', round: 0 }),
    ],
    [
      'a vote for the next block',
      tendermint,
      'subscribe',
      query("tm.event='Vote'"),
      pushed('Vote', { Vote: { height: '106' } }),
    ],
  ])('%s', async (_, chain, method, params, event) => {
    const { fixture, tracker, one } = await setUp(chain)
    const shown: number[] = []
    const client = await fixture.join(method, params)
    client.texts.push = () => shown.push(tracker.highestShown)
    one.push(event, method === 'eth_subscribe' ? 'logs' : method)
    expect(shown).toEqual([105])
  })

  test('a log shows the hash of its block', async () => {
    const { fixture, tracker, one } = await setUp(ethereum)
    await fixture.join('eth_subscribe', range)
    one.push(log, 'logs')
    expect(tracker.numberOf('69')).toBe(105)
    const { branch } = tracker
    one.push({ ...log, blockHash: hashOf(105, 'b') }, 'logs')
    expect(tracker.branch).toBe(branch + 1)
  })

  test('a log of a replaced block shows a reorg, not the block', async () => {
    const { fixture, tracker, one } = await setUp(ethereum)
    await fixture.join('eth_subscribe', range)
    const { branch } = tracker
    one.push({ ...log, removed: true }, 'logs')
    expect(tracker.branch).toBe(branch + 1)
    expect([tracker.highestShown, tracker.numberOf('69')]).toEqual([100, null])
  })
})

describe('an event that shows no block above the tip', () => {
  const pendingLog = { ...log, blockNumber: null, blockHash: null }
  const settled = { height: '105' }
  const other = query("transfer.amount > 5 AND message.action='send'")
  type Row = readonly [string, FixtureOptions, string, unknown, unknown, boolean]
  test.each<Row>([
    ['of a finalized slot', solana, 'accountSubscribe', account(), slot(70), true],
    ['of a root', solana, 'rootSubscribe', [], 70, true],
    [
      'of a slot with its root',
      solana,
      'slotSubscribe',
      [],
      { slot: 101, parent: 100, root: 70 },
      true,
    ],
    ['of a processed slot', solana, 'accountSubscribe', account('processed'), slot(107), false],
    ['of a vote', solana, 'voteSubscribe', [], { slots: [107], hash: '1' }, false],
    [
      'of an unknown form',
      solana,
      'slotsUpdatesSubscribe',
      [],
      { type: 'frozen', slot: 107 },
      true,
    ],
    ['of any query', tendermint, 'subscribe', other, pushed('Tx', settled), true],
    [
      'of a topic of a provider',
      ethereum,
      'eth_subscribe',
      ['alchemy_minedTransactions'],
      {},
      true,
    ],
    ['of a sync', ethereum, 'eth_subscribe', ['syncing'], false, true],
    [
      'of a pending transaction',
      ethereum,
      'eth_subscribe',
      ['newPendingTransactions'],
      '"0x1"',
      false,
    ],
    ['of a pending log', ethereum, 'eth_subscribe', ['pendingLogs'], pendingLog, false],
    [
      'of a full pending transaction',
      ethereum,
      'eth_subscribe',
      ['alchemy_pendingTransactions'],
      { hash: '0x1', blockNumber: null },
      false,
    ],
  ])('%s expires what is cached about the latest block, if it may be newer', async (...row) => {
    const [, chain, method, params, event, isNewer] = row
    const { fixture, tracker, one } = await setUp(chain)
    const client = await fixture.join(method, params)
    const { revision } = tracker
    const to = method === 'eth_subscribe' ? String((params as readonly string[])[0]) : method
    one.push(event, to)
    await fixture.clock.advance(1)
    expect(client.texts).toHaveLength(1)
    expect([tracker.revision > revision, tracker.highestShown]).toEqual([isNewer, 100])
  })

  test('does not expire the cache if it repeats a finalized block', async () => {
    const { fixture, tracker, one } = await setUp(solana)
    await fixture.join('rootSubscribe', [])
    one.push(70, 'root')
    const { revision } = tracker
    one.push(70, 'root')
    expect(tracker.revision).toBe(revision)
  })
})

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

  test('is ignored, and so are those that follow it', async () => {
    const { tracker, one } = await jumped()
    one.push(header(far + 1), 'newHeads')
    expect([tracker.tip, tracker.highestShown]).toEqual([101, 101])
  })

  test('counts once its URL passes its next verification', async () => {
    const { fixture, tracker, one, url } = await jumped()
    url.verified = true
    one.push(header(far + 1), 'newHeads')
    expect(fixture.pool.upstreams[0]!.latest?.block).toBe(far + 1)
    expect(tracker.highestShown).toBe(far + 1)
  })

  test('is ignored if its URL serves another chain', async () => {
    const { tracker, one, url } = await jumped()
    url.verified = false
    one.push(header(102), 'newHeads')
    expect(tracker.highestShown).toBe(101)
  })
})
