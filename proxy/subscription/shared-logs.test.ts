// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { ethereumFamily } from './ethereum/ethereum.ts'
import { BlockChain, headOf, type TestBlock } from './testing/block-chain.ts'
import { SubscriptionFixture } from './testing/subscription-fixture.ts'
import type { TestSocket } from './testing/test-socket.ts'

interface LogQuery {
  readonly blockHash: string
  readonly address?: string
  readonly topics?: readonly unknown[]
}

const address = (digit: number) => `0x${digit.toString(16).padStart(40, '0')}`
const topic = (digit: number) => `0x${digit.toString(16).padStart(64, '0')}`
const [a, b, one, two] = [address(0xa), address(0xb), topic(1), topic(2)] as const

/** Addresses and topics of the logs in each block. */
const written = [
  { address: a, topics: [one, two] },
  { address: a, topics: [two] },
  { address: b, topics: [one] },
  { address: b, topics: [] },
  { address: a, topics: [one, one] },
]

const logsOf = ({ number, hash }: TestBlock) =>
  written.map((log, at) => ({
    ...log,
    blockHash: hash,
    blockNumber: number,
    logIndex: `0x${at}`,
    removed: false,
  }))

/** A node's answer; undefined stands for an error, as if all were down. */
type Answer = (query: LogQuery, logs: readonly object[]) => unknown

async function setUp(answer: Answer = (_, logs) => logs) {
  const chain = new BlockChain()
  const state = { answer }
  const fixture = await SubscriptionFixture.create({
    chainId: 'ETH1',
    family: ethereumFamily,
    answer: (method, params: never) => {
      if (method !== 'eth_getLogs') return chain.answer(method, params)
      const [query] = params as readonly [LogQuery]
      const block = chain.answer('eth_getBlockByHash', [query.blockHash]) as TestBlock | null
      const isOfNobody = query.address === address(0)
      return block && state.answer(query, isOfNobody ? [] : logsOf(block))
    },
  })
  const one = fixture.sockets['one'] as TestSocket
  const mine = async () => {
    one.push(headOf(chain.mine()), 'newHeads')
    await fixture.clock.advance(1_000)
  }
  const requests = () =>
    fixture.calls.flatMap((call) => {
      const [, query] = /eth_getLogs \[(.*)\]$/.exec(call) ?? []
      return query === undefined ? [] : [JSON.parse(query) as LogQuery]
    })
  const join = async (filters: readonly unknown[]) =>
    await Promise.all(filters.map((filter) => fixture.join('eth_subscribe', ['logs', filter])))
  return { chain, fixture, state, mine, requests, join, push: one }
}

/** Filters without matches. One more would be too many for individual requests. */
const others = [11, 12, 13, 14].map((digit) => ({ address: address(digit * 16) }))
const texts = (block: TestBlock, indices: readonly number[]) => {
  const logs = logsOf(block)
  return indices.map((at) => JSON.stringify(logs[at]))
}

const fitting: readonly [what: string, filter: unknown, indices: readonly number[]][] = [
  ['everything', {}, [0, 1, 2, 3, 4]],
  ['an address', { address: a }, [0, 1, 4]],
  ['addresses', { address: [b, a, address(0xc)] }, [0, 1, 2, 3, 4]],
  ['an address without logs', { address: address(0xc) }, []],
  ['an address in another case', { address: a.toUpperCase().replace('X', 'x') }, [0, 1, 4]],
  ['the first topic', { topics: [one] }, [0, 2, 4]],
  ['alternatives', { topics: [[two, one]] }, [0, 1, 2, 4]],
  ['the second topic', { topics: [null, two] }, [0]],
  ['two topics', { topics: [one, [one, two]] }, [0, 4]],
  ['an address and a topic', { address: a, topics: [one] }, [0, 4]],
  ['a topic that must exist', { topics: [null] }, [0, 1, 2, 4]],
  ['a second topic that must exist', { address: a, topics: [null, null] }, [0, 4]],
  ['a topic in an absent position', { topics: [null, null, one] }, []],
]

describe('beyond four filters', () => {
  test.each(fitting)('%s: matching logs arrive in order', async (_, filter, indices) => {
    const { chain, requests, mine, join } = await setUp()
    const [client] = await join([filter, ...others])
    await mine()
    await mine()
    expect(client?.texts).toEqual([
      ...texts(chain.at(11), indices),
      ...texts(chain.at(12), indices),
    ])
    expect(requests()).toEqual(
      [chain.at(11), chain.at(12)].map(({ hash }) => ({ blockHash: hash })),
    )
  })

  test('thousands of filters send their logs in turns of the event loop', async () => {
    const { mine, join } = await setUp()
    const filters = Array.from({ length: 2_000 }, (_, at) => ({ topics: [[one, topic(at + 9)]] }))
    const clients = await join(filters)
    const sent = () => clients.reduce((sum, { texts: { length } }) => sum + length, 0)
    const mining = mine()
    const perTurn: number[] = []
    for (let before = 0; before < 6_000; before = sent()) {
      await new Promise(setImmediate)
      perTurn.push(sent() - before)
    }
    await mining
    expect(sent()).toBe(6_000)
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(1_026)
  })

  test('the logs of a block are requested once for all filters, and not all are retained', async () => {
    const { chain, requests, mine, join } = await setUp()
    const filters = Array.from({ length: 2_000 }, (_, at) => ({ topics: [topic(at)] }))
    const clients = await join(filters)
    for (let each = 0; each < 3; each++) await mine()
    expect(requests()).toHaveLength(3)
    const received = clients.map((client) => client.texts.length)
    expect(received.slice(0, 4)).toEqual([0, 9, 3, 0])
    expect(clients[2]?.texts[2]).toBe(texts(chain.at(13), [1])[0])
  })

  test('filters request logs individually again when the others have left', async () => {
    const { chain, requests, mine, join } = await setUp()
    const [client, other] = await join([{ address: a }, ...others])
    await mine()
    other?.leave()
    await mine()
    const queries = requests().filter(({ blockHash }) => blockHash === chain.at(12).hash)
    expect(queries.map((query) => query.address)).toEqual([
      a,
      ...others.slice(1).map((each) => each.address),
    ])
    expect(client?.texts.slice(0, 3)).toEqual(texts(chain.at(11), [0, 1, 4]))
  })

  test('logs of a replaced block are removed, the newest first', async () => {
    const { chain, fixture, mine, join, push } = await setUp()
    const [client] = await join([{ topics: [one] }, ...others])
    await mine()
    const old = chain.at(11)
    chain.reorg(1)
    chain.mine()
    push.push(headOf(chain.head), 'newHeads')
    await fixture.clock.advance(1_000)
    const removed = texts(old, [4, 2, 0]).map((text) =>
      text.replace('"removed":false', '"removed":true'),
    )
    expect(client?.texts).toEqual([
      ...texts(old, [0, 2, 4]),
      ...removed,
      ...texts(chain.at(11), [0, 2, 4]),
      ...texts(chain.at(12), [0, 2, 4]),
    ])
  })

  test('neither a filter that leaves nor a replaced block delays the others', async () => {
    const { chain, fixture, join, push } = await setUp()
    const [client, other] = await join([{ address: b }, ...others, { topics: [one] }])
    push.push(headOf(chain.mine()), 'newHeads')
    await fixture.clock.advance(0)
    other?.leave()
    chain.reorg(1)
    push.push(headOf(chain.head), 'newHeads')
    await fixture.clock.advance(1_000)
    expect(client?.texts).toEqual(texts(chain.at(11), [2, 3]))
  })

  const filtered: readonly [why: string, Answer][] = [
    ['nodes refuse a request without a filter', ({ address: of }, logs) => (of ? logs : null)],
    [
      'addresses have a different form',
      ({ address: of }, logs) => (of ? logs : logs.map((log) => ({ ...log, address: 'a.near' }))),
    ],
    [
      'logs have no topics',
      ({ address: of }, logs) => (of ? logs : logs.map((log) => ({ ...log, topics: null }))),
    ],
  ]
  test.each(filtered)('each filter requests its own logs where %s', async (_, answer) => {
    const { chain, requests, mine, join } = await setUp(answer)
    const [client] = await join([{ address: a }, ...others])
    await mine()
    expect(client?.texts).toEqual(texts(chain.at(11), [0, 1, 2, 3, 4]))
    expect(
      requests()
        .map((query) => query.address)
        .filter((of) => of !== undefined && of !== address(0)),
    ).toEqual([a, ...others.map((each) => each.address)])
  })

  test('a block that no node has yet is retried with one request for all', async () => {
    const { chain, requests, mine, join, state } = await setUp(() => null)
    const filters = Array.from({ length: 100 }, (_, at) => ({ topics: [topic(at)] }))
    const clients = await join(filters)
    await mine()
    expect(clients[1]?.texts).toEqual([])
    const before = requests().length
    expect(before).toBeLessThan(30)
    state.answer = (_, logs) => logs
    await mine()
    await mine()
    expect(clients[1]?.texts).toEqual(
      [11, 12, 13].flatMap((number) => texts(chain.at(number), [0, 2, 4])),
    )
    expect(requests().length).toBeLessThan(before + 10)
  })

  test('it ends with a reason when the logs cannot be fetched', async () => {
    const { mine, join, fixture } = await setUp(() => null)
    const clients = await join([{ address: a }, ...others])
    await mine()
    await fixture.clock.advance(400_000)
    expect(new Set(clients.map(({ ended }) => ended))).toEqual(
      new Set(['the events of block 11 could not be fetched']),
    )
    expect(fixture.clock.pending).toBe(0)
  })
})
