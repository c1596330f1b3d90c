// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { dataKinds } from '../chain/native/schema.ts'
import { shareByStore } from './shared-cache.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import type { CachePolicy } from '../config/types.ts'
import { FakeKeys } from '../store/testing/fake-keys.ts'
import { decodeEntry, encodeEntry, type SharedEntry } from './entry-codec.ts'
import { type Answering, CacheFixture, type CacheFixtureOptions } from './testing/cache-fixture.ts'

const account = '0x00000000000000000000000000000000000000aa'
const other = '0x00000000000000000000000000000000000000bb'
const head = 10_000
const final = `0x${(head - 150).toString(16)}`
const balance = ['eth_getBalance', [account, final]] as const

/** Replicas that share a store, with synchronized clocks. */
class Fleet {
  readonly clock = new VirtualClock()
  readonly keys = new FakeKeys(this.clock)
  readonly shared = shareByStore(this.keys)
  readonly figures = this.shared.figures
  readonly #replicas: CacheFixture[] = []

  replica(answering: Answering, options: CacheFixtureOptions = {}): CacheFixture {
    const replica = new CacheFixture(answering, { ...options, shared: this.shared }).heads(head)
    this.#replicas.push(replica)
    return replica
  }

  async advance(ms: number): Promise<void> {
    for (const clock of [this.clock, ...this.#replicas.map((each) => each.clock)])
      await clock.advance(ms)
    for (const each of this.#replicas) each.heads(head)
  }

  /** The key of the only answer in the store. */
  get key(): string {
    return Object.keys(this.keys.texts).find((each) => each.startsWith('a:'))!
  }

  /** Replaces an answer with a crafted entry. */
  async craft(change: Partial<SharedEntry>): Promise<void> {
    await this.advance(1_000)
    const { key } = this
    const name = key.slice(2)
    const { value } = await this.keys.get(key)
    const entry = (await decodeEntry(name, Buffer.from(value!)))!
    await this.keys.set(key, (await encodeEntry(name, { ...entry, ...change }))!, 3_600_000)
  }
}

const revert = { code: 3, message: 'execution reverted: no' }
const text = (value: unknown) => JSON.stringify(value)

describe('a stored entry', () => {
  test.each<[string, Partial<SharedEntry>]>([
    ['no JSON', { body: '<html>' }],
    ['nothing', { body: '' }],
    ['a JSON document without a result', { body: '{}' }],
    ['a list', { body: '[]' }],
    ['truncated JSON', { body: '{"id":1,"result":"0x9"' }],
    ['two documents', { body: '{"id":1,"result":"0x9"}{}' }],
    ['a result without an id', { body: '{"result":"0x9"}' }],
    ['a result and an error', { body: text({ id: 1, result: '0x9', error: revert }) }],
    ['a duplicate result', { body: '{"id":1,"result":"0x9","result":"0x8"}' }],
    ['bytes that are not UTF-8', { body: '{"id":1,"result":"\xff"}' }],
    ['an empty error', { body: text({ id: 1, error: {} }) }],
    [
      'the error of a gateway',
      { body: text({ id: 1, error: { code: -32005, message: 'limit' } }) },
    ],
    [
      'an error about the params',
      { body: text({ id: 1, error: { code: -32602, message: 'no' } }) },
    ],
  ])('that contains %s is a miss', async (_, change) => {
    const fleet = new Fleet()
    await fleet.replica(() => '0x1').get(...balance)
    await fleet.craft(change)
    const seen = await fleet.replica(() => '0x2').get(...balance)
    expect(seen).toMatchObject({ cache: 'miss finalized', answer: '0x2' })
    expect(fleet.figures).toEqual({ failures: 0, broken: 1 })
  })

  test.each<[string, Partial<SharedEntry>, string]>([
    ['the id of another request', { body: '{"id":"other","result":"0x9"}' }, '"result":"0x9"'],
    ['a result with a nested id', { body: '{"result":{"id":5},"id":1}' }, '"result":{"id":5}'],
    ['a revert', { body: text({ id: 1, error: revert }) }, '"error":{"code":3'],
    ['headers that clients never get', { headers: ['content-length', '5'] }, '"result":"0x1"'],
  ])('that contains %s is a hit with the id of the call', async (_, change, expected) => {
    const fleet = new Fleet()
    await fleet.replica(() => '0x1').get(...balance)
    await fleet.craft(change)
    const seen = await fleet.replica(() => '0x2').get(...balance, { id: 'own' })
    expect(seen.cache).toBe('hit finalized')
    expect(seen.text).toContain(expected)
    expect(JSON.parse(seen.text)).toMatchObject({ id: 'own' })
  })

  test('under the key of another call is a miss', async () => {
    const fleet = new Fleet()
    await fleet.replica(() => '0x1').get(...balance)
    const { value } = await fleet.keys.get(fleet.key)
    const victim = new Fleet()
    await victim.replica(() => '0x2').get('eth_getBalance', [other, final])
    await victim.keys.set(victim.key, Buffer.from(value!), 3_600_000)
    await victim.advance(1_000)
    const seen = await victim.replica(() => '0x3').get('eth_getBalance', [other, final])
    expect(seen).toMatchObject({ cache: 'miss finalized', answer: '0x3' })
    expect(victim.figures.broken).toBe(1)
  })

  test('of random bytes is a miss, and an invalid reorg counter changes no final answer', async () => {
    const fleet = new Fleet()
    const get = fleet.keys.get.bind(fleet.keys)
    await fleet.replica(() => '0x1').get(...balance)
    await fleet.keys.set(fleet.key, Buffer.alloc(1_000, 'RPC2'), 3_600_000)
    fleet.keys.get = async (key) => ({ ...(await get(key)), count: NaN })
    for (const cache of ['miss finalized', 'hit finalized']) {
      const seen = await fleet.replica(() => '0x2').get(...balance)
      expect(seen).toMatchObject({ cache, answer: '0x2' })
    }
  })
})

const policy = (ttlMs: number, ageClass: CachePolicy['ageClass']): CachePolicy => ({
  ...{ chainId: null, apiInterface: null, method: '*', ageClass, ttlMs, pattern: /^/ },
})

describe('a shorter TTL in the policy of a replica', () => {
  test.each<[string, readonly unknown[], CachePolicy['ageClass'], number]>([
    ['of a final block', [account, final], 'finalized', 20_000],
    ['near the head', [account, `0x${(head - 2).toString(16)}`], 'near-head', 4_000],
    ['of the latest block', [account], 'latest', 100],
  ])(
    'also limits entries that another replica stored for longer: %s',
    async (_, params, ageClass, ttlMs) => {
      const fleet = new Fleet()
      let requests = 0
      const answering = () => `0x${(++requests).toString(16)}`
      const usual = fleet.replica(answering)
      const short = fleet.replica(answering, { policies: [policy(ttlMs, ageClass)] })
      await usual.get('eth_getBalance', params)
      const ask = (replica: CacheFixture) => replica.get('eth_getBalance', params)
      await fleet.advance(ttlMs / 2)
      expect(await ask(short)).toMatchObject({ cache: `hit ${ageClass}`, answer: '0x1' })
      await fleet.advance(ttlMs / 2 + 30)
      expect(await ask(usual)).toMatchObject({ cache: `hit ${ageClass}`, answer: '0x1' })
      expect(await ask(short)).toMatchObject({ cache: `miss ${ageClass}`, answer: '0x2' })
    },
  )

  test('of zero ignores entries of other replicas', async () => {
    const fleet = new Fleet()
    await fleet.replica(() => '0x1').get(...balance)
    const none = fleet.replica(() => '0x2', { policies: [policy(0, 'finalized')] })
    expect(await none.get(...balance)).toMatchObject({
      cache: 'miss finalized policy',
      answer: '0x2',
    })
  })

  test.each([-3_600_000, 3_600_000])(
    'clocks that are %s ms apart make no other difference',
    async (ms) => {
      const fleet = new Fleet()
      const [one, two] = [fleet.replica(() => '0x1'), fleet.replica(() => '0x2')]
      await (ms < 0 ? one : two).clock.advance(Math.abs(ms))
      const [first, second] = [one, two].map((each) => each.heads(head)) as [
        CacheFixture,
        CacheFixture,
      ]
      for (const params of [[account, final], [account]]) {
        await first.get('eth_getBalance', params)
        expect((await second.get('eth_getBalance', params)).answer).toBe('0x1')
      }
    },
  )
})

describe('an empty answer about a final block', () => {
  const logs = ['eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x2' }]] as const
  const log = { address: account, topics: [], blockNumber: '0x1' }

  /** Nodes that have returned older data, so that their empty answers need no confirmation. */
  function proven(cache: CacheFixture): CacheFixture {
    for (const { urls } of cache.pool.upstreams)
      for (const kind of dataKinds) urls[0]!.history.returned(kind, 1)
    return cache
  }

  test('gets the full TTL at once if the router had to confirm it', async () => {
    const fleet = new Fleet()
    const cache = fleet.replica(() => [], { nodes: 'ab' })
    expect((await cache.get(...logs)).cache).toBe('miss finalized')
    await fleet.advance(3_000_000)
    expect((await cache.get(...logs)).cache).toBe('hit finalized')
    expect(cache.requests).toBe(2)
  })

  test.each<[string, string, readonly unknown[], unknown]>([
    ['no logs', ...logs, []],
    ['null', 'eth_getTransactionByBlockNumberAndIndex', ['0x1', '0x5'], null],
    ['a list that no check parses', 'eth_getStorageAt', [account, '0x0', '0x1'], []],
    ['a page without items', 'eth_getProof', [account, [], '0x1'], { storageProof: [], total: 0 }],
  ])(
    'lives for a minute, and longer once another upstream confirms it: %s',
    async (_, method, params, nothing) => {
      const fleet = new Fleet()
      const cache = proven(fleet.replica(() => nothing, { nodes: 'ab' }))
      const first = await cache.get(method, params)
      expect(first.cache).toBe('miss finalized empty')
      await fleet.advance(59_000)
      expect(await cache.get(method, params)).toMatchObject({ cache: 'hit finalized' })
      await fleet.advance(2_000)
      const second = await cache.get(method, params)
      expect(second.cache).toBe('miss finalized')
      expect(new Set([first.upstream, second.upstream])).toEqual(new Set(['a', 'b']))
      await fleet.advance(3_000_000)
      expect(await cache.get(method, params)).toMatchObject({ cache: 'hit finalized' })
      expect(cache.requests).toBe(2)
    },
  )

  test('is replaced when another upstream has more', async () => {
    let healed: string | null = null
    const fleet = new Fleet()
    const cache = proven(
      fleet.replica((__, node) => (node === healed ? [log] : []), { nodes: 'ab' }),
    )
    const first = await cache.get(...logs)
    healed = first.upstream === 'a' ? 'b' : 'a'
    await fleet.advance(61_000)
    expect(await cache.get(...logs)).toMatchObject({ cache: 'miss finalized', answer: [log] })
    await fleet.advance(3_000_000)
    expect(await cache.get(...logs)).toMatchObject({ cache: 'hit finalized', answer: [log] })
  })

  test('is fetched again each minute if only one upstream answers', async () => {
    const fleet = new Fleet()
    const cache = proven(fleet.replica(() => [], { nodes: 'ab' }))
    const ask = () => cache.get(...logs, { directives: { selectProvider: 'a' } })
    for (let minute = 0; minute < 3; minute++) {
      expect(await ask()).toMatchObject({ cache: 'miss finalized empty', upstream: 'a' })
      expect(await ask()).toMatchObject({ cache: 'hit finalized', upstream: 'a' })
      await fleet.advance(61_000)
    }
  })

  test('gets the full TTL if the pool has one upstream', async () => {
    const fleet = new Fleet()
    const cache = fleet.replica(() => [])
    expect((await cache.get(...logs)).cache).toBe('miss finalized')
    await fleet.advance(3_000_000)
    expect((await cache.get(...logs)).cache).toBe('hit finalized')
  })

  test('is confirmed for all replicas by another replica and upstream', async () => {
    const fleet = new Fleet()
    const [one, two] = [1, 2].map(() => proven(fleet.replica(() => [], { nodes: 'ab' }))) as [
      CacheFixture,
      CacheFixture,
    ]
    const first = await one.get(...logs)
    expect(first.cache).toBe('miss finalized empty')
    await fleet.advance(30_000)
    expect(await two.get(...logs)).toMatchObject({
      cache: 'hit finalized',
      upstream: first.upstream,
    })
    await fleet.advance(31_000)
    const second = await two.get(...logs)
    expect(second.cache).toBe('miss finalized')
    expect(second.upstream).not.toBe(first.upstream)
    await fleet.advance(600_000)
    expect(await one.get(...logs)).toMatchObject({
      cache: 'hit finalized',
      upstream: second.upstream,
    })
    expect(await two.get(...logs)).toMatchObject({ cache: 'hit finalized' })
    expect(one.requests + two.requests).toBe(2)
  })

  test.each([
    ['a balance of zero', ...balance, '0x0'],
    ['no code', 'eth_getCode', [account, final], '0x'],
    ['a list with null', 'eth_getStorageAt', [account, '0x0', '0x1'], [null]],
  ])('does not include %s', async (_, method, params, answer) => {
    const fleet = new Fleet()
    const cache = fleet.replica(() => answer, { nodes: 'ab' })
    expect((await cache.get(method, params)).cache).toBe('miss finalized')
  })
})

test('after an answer of another replica, nothing older is served', async () => {
  const fleet = new Fleet()
  const [ahead, behind] = [fleet.replica(() => '0x2'), fleet.replica(() => '0x1')]
  await behind.get('eth_getBalance', [account])
  await fleet.advance(0)
  ahead.heads(head + 1)
  await ahead.get('eth_gasPrice')
  await fleet.advance(0)
  expect((await behind.get('eth_gasPrice')).cache).toBe('hit latest')
  expect((await behind.get('eth_getBalance', [account])).cache).toContain('miss')
})

/** A node whose head is one block of a branch. */
const nodeAt = (at: { number: number; branch: string }): Answering => {
  const hash = (number: number) => `0x${at.branch.repeat(32)}${String(number).padStart(32, '0')}`
  const [number, value] = [() => `0x${at.number.toString(16)}`, () => `${at.branch}${at.number}`]
  const shown = () => ({ blockNumber: number(), blockHash: hash(at.number), logs: [], topics: [] })
  const results: Record<string, () => unknown> = {
    eth_blockNumber: number,
    eth_getBlockByNumber: () => ({
      ...{ number: number(), hash: hash(at.number), parentHash: hash(at.number - 1) },
    }),
    eth_getBlockReceipts: () => [shown()],
    eth_getLogs: () => [{ ...shown(), address: account }],
    eth_feeHistory: () => ({ oldestBlock: number(), gasUsedRatio: [0] }),
  }
  return ({ method }) => (results[method] ?? value)()
}

describe.each<[string, readonly unknown[]]>([
  ['eth_blockNumber', []],
  ['eth_getBlockByNumber', ['latest', false]],
  ['eth_getBlockByNumber', [`0x${(head + 1).toString(16)}`, false]],
  ['eth_getBlockReceipts', ['latest']],
  ['eth_getLogs', [{ fromBlock: `0x${(head - 5).toString(16)}`, toBlock: 'latest' }]],
  ['eth_feeHistory', ['0x1', 'latest', []]],
])('%s %j that first reveals the next block', (...request) => {
  test('is a hit for all replicas, and nothing older is served after it', async () => {
    const fleet = new Fleet()
    const at = { number: head, branch: 'a' }
    const [first, second] = [fleet.replica(nodeAt(at)), fleet.replica(nodeAt(at))]
    const read = () => second.get('eth_getBalance', [account])
    await read()
    expect(await read()).toMatchObject({ cache: 'hit latest', answer: `a${head}` })
    at.number += 1
    const { answer } = await first.get(...request)
    for (const replica of [first, second])
      expect(await replica.get(...request)).toMatchObject({
        ...{ cache: expect.stringContaining('hit') as unknown, answer },
      })
    expect((await read()).answer).toBe(`a${head + 1}`)
  })
})

test.each<[string, readonly unknown[]]>([
  ['eth_getBlockByNumber', [`0x${head.toString(16)}`, false]],
  ['eth_getBlockReceipts', [`0x${head.toString(16)}`]],
])('%s %j of another replica reveals a replaced block', async (...request) => {
  const fleet = new Fleet()
  const at = { number: head, branch: 'a' }
  const second = fleet.replica(nodeAt(at))
  await second.get('eth_getBlockByNumber', ['latest', false])
  const read = () => second.get('eth_getBalance', [account, `0x${head.toString(16)}`])
  expect((await read()).answer).toBe(`a${head}`)
  at.branch = 'b'
  await fleet.replica(nodeAt(at)).get(...request)
  expect((await second.get(...request)).cache).toContain('hit')
  expect((await read()).answer).toBe(`b${head}`)
})

test('blocks of other branches by hash invalidate entries near the head only for this replica', async () => {
  const fleet = new Fleet()
  const at = { number: head, branch: 'a' }
  const node = nodeAt(at)
  const orphan = (hash: unknown) => ({ number: `0x${head.toString(16)}`, hash, parentHash: hash })
  const [asking, other] = [1, 2].map(() =>
    fleet.replica((question, name) =>
      question.method === 'eth_getBlockByHash' ? orphan(question.params[0]) : node(question, name),
    ),
  ) as [CacheFixture, CacheFixture]
  const read = (replica: CacheFixture) =>
    replica.get('eth_getBalance', [account, `0x${head.toString(16)}`])
  for (const each of [asking, other]) await each.get('eth_getBlockByNumber', ['latest', false])
  await read(other)
  for (const digit of '0123456789')
    await asking.get('eth_getBlockByHash', [`0x${digit.repeat(63)}1`, false])
  at.branch = 'b'
  expect((await read(other)).answer).toBe(`a${head}`)
  // Its client may have seen the new branch.
  expect((await read(asking)).answer).toBe(`b${head}`)
})

test('a stored transaction count is not used after a write', async () => {
  let nonce = 7
  const fleet = new Fleet()
  const replica = () =>
    fleet.replica(({ method }) => {
      if (method === 'eth_sendTransaction') nonce += 1
      return `0x${nonce}`
    })
  const [writes, reads] = [replica(), replica()]
  const count = ['eth_getTransactionCount', [account, 'latest']] as const
  for (const each of [writes, reads]) await each.get(...count)
  await fleet.advance(0)
  await writes.get('eth_sendTransaction', [{}])
  expect((await writes.get(...count)).answer).toBe('0x8')
})
