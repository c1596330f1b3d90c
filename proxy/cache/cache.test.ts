// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test, vi } from 'vitest'
import type { Directives } from '../relay/call.ts'
import { solana } from '../relay/testing/relay-fixture.ts'
import { CacheFixture, Instead, type Question } from './testing/cache-fixture.ts'

const account = '0x00000000000000000000000000000000000000aa'
const hash = `0x${'ab'.repeat(32)}`
const hex = (block: number) => `0x${block.toString(16)}`
const head = 10_000
const final = head - 150

/** Returns a different answer each time, so that tests recognize old ones. */
function counting(): CacheFixture {
  let requests = 0
  return new CacheFixture(() => hex(++requests)).heads(head)
}

function revert(): Instead {
  const error = { code: 3, message: 'execution reverted: no' }
  return new Instead({ body: JSON.stringify({ jsonrpc: '2.0', id: 1, error }) })
}

describe('an answer is cached', () => {
  test.each([
    // Columns: block, params, age class, TTL, and whether the next block invalidates the answer.
    ['of a final block', [account, hex(final)], 'finalized', 3_600_000, false],
    ['of the first block', [account, 'earliest'], 'finalized', 3_600_000, false],
    ['of a block that is not final', [account, hex(final + 2)], 'near-head', 12_000, true],
    ['of a block by its hash', [account, { blockHash: hash }], 'near-head', 12_000, true],
    ['of the latest block', [account, 'latest'], 'latest', 500, true],
    ['of the default block', [account], 'latest', 500, true],
    ['of the finalized block', [account, 'finalized'], 'latest', 500, true],
  ] as const)('%s', async (_, params, ageClass, ttlMs, endsWithHead) => {
    const cache = counting()
    const first = await cache.get('eth_getBalance', params)
    expect(first.cache).toBe(`miss ${ageClass}`)
    const kept = await cache.get('eth_getBalance', params, { id: 'other' })
    expect(kept).toEqual({
      cache: `hit ${ageClass}`,
      answer: first.answer,
      text: first.text.replace('"id":1', '"id":"other"'),
      upstream: 'a',
    })
    cache.grow()
    const grown = await cache.get('eth_getBalance', params)
    expect(grown.cache).toBe(`${endsWithHead ? 'miss' : 'hit'} ${ageClass}`)
    const leftMs = ttlMs - (endsWithHead ? 1 : 40)
    await cache.clock.advance(leftMs - 1)
    const before = await cache.start('eth_getBalance', params)
    expect(before.cache).toBe(`hit ${ageClass}`)
    await cache.clock.advance(60)
    // Old heads expire.
    cache.heads(head + 1)
    expect((await cache.get('eth_getBalance', params)).cache).not.toMatch('hit')
  })

  test.each([
    ['eth_chainId', [], 'finalized'],
    ['eth_blockNumber', [], 'latest'],
    ['eth_gasPrice', [], 'latest'],
    ['eth_getLogs', [{ fromBlock: hex(1), toBlock: hex(final) }], 'finalized'],
    ['eth_getLogs', [{ fromBlock: hex(1), toBlock: hex(head) }], 'near-head'],
    ['eth_getLogs', [{ fromBlock: hex(1) }], 'latest'],
    ['eth_getLogs', [{ fromBlock: 'latest' }], 'latest'],
  ] as const)('of %s %j: %s', async (method, params, ageClass) => {
    const cache = new CacheFixture(() => (method === 'eth_getLogs' ? [] : hex(head))).heads(head)
    expect((await cache.get(method, params)).cache).toBe(`miss ${ageClass}`)
    expect((await cache.get(method, params)).cache).toBe(`hit ${ageClass}`)
  })

  test.each([
    ['sendRawTransaction', ['0x02'], 'write'],
    ['eth_sendRawTransaction', ['0x02'], 'write'],
    ['eth_getBalance', [account, 'pending'], 'pending'],
    ['eth_estimateGas', [{}], 'pending'],
    ['eth_getLogs', [{ fromBlock: hex(1), toBlock: 'pending' }], 'pending'],
    ['eth_getFilterChanges', ['0x1'], 'method'],
    ['net_version_of_nobody', [], 'method'],
    ['eth_syncing', [], 'method'],
    ['eth_getBalance', [account, 'nonsense'], 'method'],
    ['eth_call', [{ data: `0x${'00'.repeat(40_000)}` }, 'latest'], 'too-large'],
  ] as const)('never of %s %j: %s', async (method, params, why) => {
    const cache = counting()
    const expected = method === 'sendRawTransaction' ? 'method' : why
    for (let each = 0; each < 2; each++)
      expect((await cache.get(method, params)).cache).toBe(`bypass none ${expected}`)
    expect(cache.store.count).toBe(0)
  })

  test('never for a block number while no head is known', async () => {
    const cache = new CacheFixture(() => '0x1')
    const { cache: verdict } = await cache.get('eth_getBalance', [account, '0x5'])
    expect(verdict).toBe('bypass none block-unknown')
    expect((await cache.get('eth_getBalance', [account])).cache).toBe('miss latest block-unknown')
    expect(cache.store.count).toBe(0)
  })
})

describe('an answer that reveals a block', () => {
  const log = (block: number) => ({ address: account, topics: [], blockNumber: hex(block) })
  const shows = (block: number) =>
    [
      ['eth_getTransactionReceipt', [hash], { transactionHash: hash, blockNumber: hex(block) }],
      ['eth_getBlockByNumber', [hex(block), false], { number: hex(block) }],
      ['eth_getLogs', [{ fromBlock: hex(1) }], [log(block - 1), log(block)]],
    ] as const
  const seenAfter = async (method: string, params: readonly unknown[], answer: unknown) => {
    const cache = new CacheFixture((request) => (request.method === method ? answer : '0x1'))
    await cache.heads(head).get('eth_getBalance', [account])
    await cache.get(method, params)
    return { tip: cache.pool.tip, ...(await cache.get('eth_getBalance', [account])) }
  }

  test.each(shows(head + 1))('above the head: %s %j', async (method, params, answer) => {
    const seen = await seenAfter(method, params, answer)
    expect(seen).toMatchObject({ tip: head, cache: 'miss latest block-unknown' })
  })

  test.each(shows(5))('below the head: %s %j', async (method, params, answer) => {
    const seen = await seenAfter(method, params, answer)
    expect(seen).toMatchObject({ tip: head, cache: 'hit latest' })
  })
})

describe('on a chain with instant finality', () => {
  test.each([
    ['empty logs of the last block, which may not be indexed yet', 1, [], 'near-head'],
    ['empty logs of an old block', 200, [], 'finalized'],
    ['logs', 1, [{ address: account, topics: [], blockNumber: hex(head - 1) }], 'finalized'],
  ])('%s', async (_, behind, answer, ageClass) => {
    const cache = new CacheFixture(() => answer, { finality: 1 }).heads(head)
    const request = [
      'eth_getLogs',
      [{ fromBlock: hex(head - behind), toBlock: hex(head - behind) }],
    ] as const
    await cache.get(...request)
    expect((await cache.get(...request)).cache).toBe(`hit ${ageClass}`)
    cache.grow()
    const isKept = ageClass === 'finalized'
    expect((await cache.get(...request)).cache).toMatch(isKept ? 'hit finalized' : 'miss')
  })
})

describe('by hash', () => {
  const receipt = (block: number) => ({ transactionHash: hash, blockNumber: hex(block) })
  test.each([
    ['of a final block', receipt(final), 'hit finalized'],
    ['of a block that is not final', receipt(final + 2), 'miss near-head'],
  ] as const)('a receipt %s', async (_, answer, afterHead) => {
    const cache = new CacheFixture(() => answer).heads(head)
    expect((await cache.get('eth_getTransactionReceipt', [hash])).cache).toBe('miss near-head')
    expect((await cache.get('eth_getTransactionReceipt', [hash])).cache).toMatch('hit')
    cache.grow()
    expect((await cache.get('eth_getTransactionReceipt', [hash])).cache).toBe(afterHead)
  })

  test.each([
    ['an unknown transaction', 'eth_getTransactionReceipt', null],
    ['a pending transaction', 'eth_getTransactionByHash', { hash, blockNumber: null }],
  ] as const)('%s is asked about again with the next block, or soon', async (_, method, answer) => {
    const cache = new CacheFixture(() => answer).heads(head)
    expect((await cache.get(method, [hash])).cache).toBe('miss near-head empty')
    expect((await cache.get(method, [hash])).cache).toBe('hit near-head')
    cache.grow()
    expect((await cache.get(method, [hash])).cache).toBe('miss near-head empty')
    await cache.clock.advance(501)
    expect((await cache.get(method, [hash])).cache).toBe('miss near-head empty')
  })

  test('null from a lagging node is not cached', async () => {
    const cache = new CacheFixture(() => null, { nodes: 'ab' }).heads(head).heads(head - 1, 'a')
    const directives = { selectProvider: 'a' }
    const seen = await cache.get('eth_getTransactionReceipt', [hash], { directives })
    expect(seen).toMatchObject({ cache: 'miss near-head empty', upstream: 'a' })
    expect(cache.store.count).toBe(0)
  })
})

describe('an empty answer or an error', () => {
  test('about a final block without logs is cached like any result', async () => {
    const cache = new CacheFixture(() => []).heads(head)
    const params = [{ fromBlock: hex(1), toBlock: hex(2) }]
    expect((await cache.get('eth_getLogs', params)).cache).toBe('miss finalized')
    await cache.clock.advance(3_000_000)
    expect((await cache.heads(head).get('eth_getLogs', params)).cache).toBe('hit finalized')
  })

  test('null for a block that exists is not cached', async () => {
    const cache = new CacheFixture(() => null).heads(head)
    expect((await cache.get('eth_getBlockByNumber', [hex(5), false])).cache).toMatch(
      /^miss finalized/,
    )
    expect(cache.store.count).toBe(0)
  })

  test('a revert is cached as long as its block', async () => {
    const cache = new CacheFixture(revert).heads(head)
    const params = [{ to: account }, hex(final)]
    const first = await cache.get('eth_call', params)
    expect(first.text).toMatch('execution reverted: no')
    expect(await cache.get('eth_call', params)).toEqual({ ...first, cache: 'hit finalized' })
    expect(cache.requests).toBe(1)
  })

  test.each([
    ['missing trie node 1234 (path ) state is not available', -32000],
    ['header not found', -32000],
    ['invalid argument 0: hex string has length 2, want 40', -32602],
    ['rate limit exceeded', -32005],
  ])('%s is not cached', async (message, code) => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message } })
    const cache = new CacheFixture(() => new Instead({ body: text })).heads(head)
    expect((await cache.get('eth_call', [{ to: account }, hex(final)])).cache).toBe(
      'miss finalized error',
    )
    expect(cache.store.count).toBe(0)
  })
})

describe('the directives of a client', () => {
  test('a refresh goes upstream and replaces the entry', async () => {
    const cache = counting()
    const params = [account, hex(final)]
    await cache.get('eth_getBalance', params)
    const directives = { refreshCache: true }
    const fresh = await cache.get('eth_getBalance', params, { directives })
    expect(fresh).toMatchObject({ cache: 'refresh finalized', answer: '0x2' })
    const kept = await cache.get('eth_getBalance', params)
    expect(kept).toMatchObject({ cache: 'hit finalized', answer: '0x2' })
  })

  test.each<[string, unknown, unknown]>([
    ['too many logs', [], Array.from({ length: 900 }, () => ({ address: account }))],
    ['null', { blockNumber: hex(final) }, null],
    ['an error', '0x1', new Instead({ body: '{"id":1,"error":{"code":-32602,"message":"no"}}' })],
  ])('a refresh that returns %s deletes the entry', async (_, before, after) => {
    let answer = before
    const cache = new CacheFixture(() => answer, { maxBytes: 256 * 1024 }).heads(head)
    const request = ['eth_getLogs', [{ fromBlock: hex(1), toBlock: hex(final) }]] as const
    await cache.get(...request)
    expect((await cache.get(...request)).cache).toBe('hit finalized')
    answer = after
    const directives = { refreshCache: true }
    const { text } = await cache.get(...request, { directives })
    expect((await cache.get(...request)).text).toBe(text)
  })

  test.each<[string, Partial<Directives>]>([
    ['session', { stickiness: 'digest' }],
    ['cross-validation', { crossValidation: { participants: 2, agreement: 2 } }],
    [
      'cross-validation',
      { crossValidation: { participants: 2, agreement: 2 }, refreshCache: true },
    ],
  ])('with a %s: the cache is bypassed', async (why, directives) => {
    const cache = counting()
    const ask = (more: Partial<Directives>) =>
      cache.get('eth_getBalance', [account, hex(final)], { directives: more })
    for (const answer of ['0x1', '0x2'])
      expect(await ask(directives)).toMatchObject({ cache: `bypass none ${why}`, answer })
    expect(await ask({})).toMatchObject({ cache: 'miss finalized', answer: '0x3' })
    expect(await ask(directives)).toMatchObject({ cache: `bypass none ${why}`, answer: '0x4' })
    expect(await ask({})).toMatchObject({ cache: 'hit finalized', answer: '0x3' })
  })

  test('with rpc-min-block: an immutable answer of a node that had the block is used', async () => {
    const cache = counting()
    const ask = (minBlock: number | null, params: readonly unknown[] = [account, hex(final)]) =>
      cache.get('eth_getBalance', params, { directives: { minBlock } })
    await ask(null)
    expect(await ask(head)).toMatchObject({ cache: 'hit finalized', answer: '0x1' })
    cache.grow()
    expect(await ask(head + 1)).toMatchObject({ cache: 'miss finalized', answer: '0x2' })
    expect(await ask(head + 1)).toMatchObject({ cache: 'hit finalized', answer: '0x2' })
    expect(await ask(null)).toMatchObject({ cache: 'hit finalized', answer: '0x2' })
  })

  test.each([
    ['the latest block', [account, 'latest'], 'bypass none min-block'],
    ['the finalized block', [account, 'finalized'], 'bypass none min-block'],
    ['a block that is not final', [account, hex(head)], 'miss near-head'],
  ])('with rpc-min-block, calls for %s go upstream', async (_, params, expected) => {
    const cache = counting()
    await cache.get('eth_getBalance', params)
    const directives = { minBlock: head }
    const seen = await cache.get('eth_getBalance', params, { directives })
    expect(seen).toMatchObject({ cache: expected, answer: '0x2' })
  })

  test('with rpc-min-block, a final receipt is a hit and a missing one is not', async () => {
    const cache = new CacheFixture(() => null).heads(head)
    const ask = (more = {}) => cache.get('eth_getTransactionReceipt', [hash], more)
    const directives = { minBlock: head }
    await ask()
    expect([(await ask()).cache, (await ask({ directives })).cache]).toEqual([
      'hit near-head',
      'miss near-head empty',
    ])
    cache.answering = () => ({ transactionHash: hash, blockNumber: hex(final) })
    await ask({ directives: { refreshCache: true } })
    expect((await ask({ directives })).cache).toBe('hit finalized')
  })

  test('with rpc-min-block, a call does not join another one', async () => {
    const cache = counting()
    const params = [account, hex(final)]
    const directives = { minBlock: head }
    const first = cache.start('eth_getBalance', params)
    const own = await cache.get('eth_getBalance', params, { directives })
    expect([(await first).answer, own]).toMatchObject(['0x1', { cache: 'miss finalized' }])
    expect(cache.requests).toBe(2)
  })

  test('with minContextSlot, only an answer for the same floor is used', async () => {
    let slot = 200
    const answering = () => ({ context: { slot }, value: slot })
    const cache = new CacheFixture(answering, { of: await solana() }).heads(slot)
    const ask = (minContextSlot: number) =>
      cache.get('getBalance', [account, { commitment: 'confirmed', minContextSlot }])
    const old = { answer: { value: 200 } }
    expect(await ask(200)).toMatchObject({ cache: 'miss latest', ...old })
    expect(await ask(200)).toMatchObject({ cache: 'hit latest', ...old })
    cache.heads((slot = 201))
    for (const floor of [201, 200])
      expect(await ask(floor)).toMatchObject({ cache: 'miss latest', answer: { value: 201 } })
  })

  test('selected and excluded upstreams restrict the entries that are used', async () => {
    const cache = new CacheFixture((_, node) => (node === 'a' ? '0xa' : '0xb'), { nodes: 'ab' })
    cache.heads(head)
    const params = [account, hex(final)]
    expect((await cache.get('eth_getBalance', params)).upstream).toBe('a')
    const ask = (directives: object) => cache.get('eth_getBalance', params, { directives })
    expect(await ask({ selectProvider: 'a' })).toMatchObject({
      cache: 'hit finalized',
      upstream: 'a',
    })
    expect(await ask({ blockProviders: ['b'] })).toMatchObject({ cache: 'hit finalized' })
    expect(await ask({ selectProvider: 'b' })).toMatchObject({
      cache: 'miss finalized',
      upstream: 'b',
    })
    expect(await ask({ blockProviders: ['b'] })).toMatchObject({
      cache: 'miss finalized',
      upstream: 'a',
    })
  })
})

describe('requests', () => {
  const call = (data: string, more: object = {}) => [{ to: account, data, ...more }, hex(final)]
  test.each([
    ['reordered members', '[{"data":"0x1","to":"0xA"},"0x5"]', '[{"to":"0xa","data":"0x1"},"0x5"]'],
    ['white space', '[ {"to" : "0xa"} ,\n"0x5" ]', '[{"to":"0xa"},"0x5"]'],
    ['hex in upper case', '["0xAB","0x5"]', '["0xab","0x5"]'],
    ['the default block', '["0xab","latest"]', '["0xab"]'],
  ])('share an entry despite %s', async (_, one, other) => {
    const method = one.includes('{') ? 'eth_call' : 'eth_getBalance'
    const cache = counting()
    await cache.get(method, one)
    expect((await cache.get(method, other)).cache).toMatch('hit')
  })

  test.each([
    ['another number', '[{"gas":1},"0x5"]', '[{"gas":1.0},"0x5"]'],
    [
      'digits beyond double precision',
      '[{"gas":10000000000000001},"0x5"]',
      '[{"gas":10000000000000000},"0x5"]',
    ],
    ['a text in upper case', '[{"a":"Ab"},"0x5"]', '[{"a":"ab"},"0x5"]'],
    ['a space in a text', '[{"a":"a b"},"0x5"]', '[{"a":"ab"},"0x5"]'],
    ['a duplicate member', '[{"a":1,"a":2},"0x5"]', '[{"a":2,"a":1},"0x5"]'],
    ['another structure', '[{"a":["b"]},"0x5"]', '[{"a":"b"},"0x5"]'],
    ['null and nothing', '[{"a":null},"0x5"]', '[{},"0x5"]'],
  ])('have separate entries with %s', async (_, one, other) => {
    const cache = counting()
    await cache.get('eth_call', one)
    expect((await cache.get('eth_call', other)).cache).toMatch('miss')
  })

  test('have a key without params', async () => {
    const cache = counting()
    await cache.get('eth_getBalance', null)
    expect((await cache.get('eth_getBalance', null)).cache).toMatch('hit')
    expect((await cache.get('eth_getBalance')).cache).toMatch('miss')
  })

  test('have separate entries with another extension, version or method', async () => {
    const cache = counting()
    const params = call('0x1')
    await cache.get('eth_call', params)
    expect((await cache.get('eth_createAccessList', params)).cache).toMatch('miss')
    expect((await cache.get('eth_call', params, { version: '' })).cache).toMatch('miss')
    const directives = { extension: 'archive' }
    expect((await cache.get('eth_call', params, { directives })).cache).toMatch('miss')
    expect((await cache.get('eth_call', params)).cache).toMatch('hit')
  })
})

describe('the next blocks', () => {
  const block = (number: number, branch: string) => ({
    number: hex(number),
    hash: `0x${branch.repeat(32)}${number.toString(16).padStart(32, '0')}`,
    parentHash: `0x${branch.repeat(32)}${(number - 1).toString(16).padStart(32, '0')}`,
  })

  test('a reorg at the same height invalidates entries near the head, but no final ones', async () => {
    let branch = 'a'
    const answering = ({ method, params }: Question) =>
      method === 'eth_getBlockByNumber' ? block(Number(params[0]), branch) : `0x${branch}`
    const cache = new CacheFixture(answering).heads(head)
    const near = [account, hex(head - 2)]
    const old = [account, hex(final)]
    for (const params of [near, old]) await cache.get('eth_getBalance', params)
    await cache.get('eth_getBlockByNumber', [hex(head), false])
    branch = 'b'
    const directives = { refreshCache: true }
    await cache.get('eth_getBlockByNumber', [hex(head), false], { directives })
    const seen = await cache.get('eth_getBalance', near)
    expect(seen).toMatchObject({ cache: 'miss near-head', answer: '0xb' })
    expect((await cache.get('eth_getBalance', old)).cache).toBe('hit finalized')
  })

  test('a reorg that an uncached call reveals counts as well', async () => {
    let branch = 'a'
    const answering = ({ method, params }: Question) =>
      method === 'eth_getBlockByNumber' ? block(Number(params[0]), branch) : `0x${branch}`
    const cache = new CacheFixture(answering).heads(head)
    const near = [account, hex(head - 2)]
    await cache.get('eth_getBalance', near)
    const see = () =>
      cache.get('eth_getBlockByNumber', [hex(head), false], { directives: { stickiness: 'x' } })
    expect((await see()).cache).toBe('bypass none session')
    expect((await cache.get('eth_getBalance', near)).cache).toBe('hit near-head')
    branch = 'b'
    await see()
    expect(await cache.get('eth_getBalance', near)).toMatchObject({
      cache: 'miss near-head',
      answer: '0xb',
    })
  })

  test('the latest block number falls only after a reorg', async () => {
    let branch = 'a'
    let tip = head
    const answering = ({ method, params }: Question) =>
      method === 'eth_getBlockByNumber' ? block(Number(params[0]), branch) : hex(tip)
    const cache = new CacheFixture(answering).heads(head)
    const number = async () => {
      await cache.clock.advance(1_000)
      return (await cache.get('eth_blockNumber')).answer
    }
    const see = () =>
      cache.get('eth_getBlockByNumber', [hex(head - 1), false], {
        directives: { refreshCache: true },
      })
    await see()
    tip = head - 1
    expect(await number()).toBe(hex(head))
    branch = 'b'
    await see()
    expect(await number()).toBe(hex(head - 1))
  })

  test('a block with another parent is a reorg as well', async () => {
    let branch = 'a'
    const answering = ({ method, params }: Question) =>
      method === 'eth_getBlockByNumber' ? block(Number(params[0]), branch) : `0x${branch}`
    const cache = new CacheFixture(answering).heads(head)
    await cache.get('eth_getBalance', [account, hex(head - 2)])
    await cache.get('eth_getBlockByNumber', [hex(head - 1), false])
    branch = 'b'
    await cache.get('eth_getBlockByNumber', [hex(head), false])
    const seen = await cache.get('eth_getBalance', [account, hex(head - 2)])
    expect(seen).toMatchObject({ cache: 'miss near-head', answer: '0xb' })
  })

  test('a head that fluctuates by one invalidates nothing and serves nothing older', async () => {
    const cache = counting()
    await cache.get('eth_getBalance', [account, hex(head - 2)])
    cache.heads(head - 1)
    expect((await cache.get('eth_getBalance', [account, hex(head - 2)])).cache).toBe(
      'hit near-head',
    )
    await cache.get('eth_getBalance', [account])
    const seen = await cache.get('eth_getBalance', [account])
    expect(seen.cache).toBe('miss latest block-unknown')
  })

  test('no answer is older than the head of any node', async () => {
    let requests = 0
    const cache = new CacheFixture(() => hex(++requests), { nodes: 'ab' }).heads(head)
    const latest = (directives = {}) =>
      cache.get('eth_getBalance', [account, 'latest'], { directives })
    await latest()
    cache.heads(head + 1, 'b')
    // The answer of a node that lacks the newest block reaches only its own client.
    const old = await latest({ selectProvider: 'a' })
    expect(old).toMatchObject({ cache: 'miss latest block-unknown', upstream: 'a' })
    expect(await latest({ selectProvider: 'b' })).toMatchObject({
      cache: 'miss latest',
      answer: '0x3',
    })
    expect(await latest()).toMatchObject({ cache: 'hit latest', answer: '0x3' })
  })

  test('a request from before a new head does not serve calls after it', async () => {
    const cache = counting()
    const pending = cache.start('eth_getBalance', [account, 'latest'])
    cache.grow()
    const later = cache.start('eth_getBalance', [account, 'latest'])
    await cache.clock.advance(100)
    expect([(await pending).answer, (await later).answer]).toEqual(['0x1', '0x2'])
    expect(await cache.get('eth_getBalance', [account, 'latest'])).toMatchObject({
      cache: 'hit latest',
      answer: '0x2',
    })
  })
})

describe('concurrent calls', () => {
  test('that are identical are coalesced, each with its own id', async () => {
    const cache = counting()
    const ids = [1, 2, 'three', 1.5, null]
    const all = ids.map((id) => cache.start('eth_getBalance', [account, 'latest'], { id }))
    await cache.clock.advance(100)
    const seen = await Promise.all(all)
    expect(seen.map(({ cache: verdict }) => verdict.split(' ')[0])).toEqual([
      'miss',
      ...Array.from({ length: 4 }, () => 'coalesced'),
    ])
    expect(seen.map(({ text }) => (JSON.parse(text) as { id: unknown }).id)).toEqual(ids)
    expect(new Set(seen.map(({ answer }) => answer))).toEqual(new Set(['0x1']))
    expect(cache.requests).toBe(1)
  })

  test.each([{ isBody: false }, { isBody: true }])(
    'that differ are not coalesced, even with equal hashes: %o',
    async ({ isBody }) => {
      const cache = new CacheFixture(({ params: [first] }) => `the answer to ${first as string}`)
      cache.heads(100)
      const pending = ['Aa', 'BB'].map((address) =>
        cache.start('eth_getBalance', [address], { isBody }),
      )
      await cache.clock.advance(100)
      const answers = (await Promise.all(pending)).map(({ answer }) => answer)
      expect(answers).toEqual(['the answer to Aa', 'the answer to BB'])
    },
  )

  test('get a long answer across several event loop turns, like later calls', async () => {
    const cache = new CacheFixture(() => 'x'.repeat(900_000), { maxBytes: 64 * 1024 * 1024 })
    const turns = async (ids: readonly number[]) => {
      const all = ids.map(async (id) => {
        await cache.heads(head).start('eth_getCode', [account, hex(final)], { id })
        return cache.budget.turns.number
      })
      await cache.clock.advance(100)
      return new Set(await Promise.all(all)).size
    }
    const ids = Array.from({ length: 20 }, (_, id) => id)
    expect(await turns(ids)).toBeGreaterThanOrEqual(10)
    expect(await turns(ids)).toBeGreaterThanOrEqual(10)
    expect(cache.requests).toBe(1)
  })

  test('stay coalesced when the client of the first one disconnects', async () => {
    const cache = counting()
    const left = new AbortController()
    const params = [account, 'latest']
    const first = cache.start('eth_getBalance', params, { signal: left.signal })
    const others = [2, 3, 4].map((id) => cache.start('eth_getBalance', params, { id }))
    left.abort()
    await cache.clock.advance(100)
    expect((await first).text).toBe('CallAborted')
    for (const each of others) expect((await each).answer).toBe('0x2')
    expect(cache.requests).toBe(2)
  })

  test('stay coalesced when the deadline of the first one passes', async () => {
    const cache = counting()
    const hangs = new Instead({ hang: true })
    const answering = cache.answering
    cache.answering = () => hangs
    const params = [account, 'latest']
    const nowMs = cache.clock.nowMs()
    const first = cache.start('eth_getBalance', params, { deadlineMs: nowMs + 300 })
    const others = [2, 3].map((id) =>
      cache.start('eth_getBalance', params, { id, deadlineMs: nowMs + 9_000 }),
    )
    await cache.clock.advance(200)
    cache.answering = answering
    await cache.clock.advance(200)
    expect((await first).text).not.toMatch('0x')
    for (const each of others)
      expect(await each).toMatchObject({ answer: '0x1', cache: expect.stringMatching('latest') })
  })

  test('cost constant work per disconnect, however many wait', async () => {
    const cache = counting()
    const params = [account, 'latest']
    const clients = Array.from({ length: 400 }, () => new AbortController())
    const all = clients.map(({ signal }, id) =>
      cache.start('eth_getBalance', params, { id, signal }),
    )
    const looks = vi.spyOn(cache.clock, 'nowMs')
    const [last, ...leaving] = clients.toReversed()
    for (const each of leaving.toReversed()) {
      each.abort()
      await cache.clock.advance(0)
    }
    expect(last?.signal.aborted).toBe(false)
    expect(looks.mock.calls.length).toBeLessThan(100 * clients.length)
    await cache.clock.advance(100)
    expect((await Promise.all(all)).map(({ text }) => text === 'CallAborted')).toEqual(
      clients.map(({ signal }) => signal.aborted),
    )
  })

  test('fail together, and the next call goes upstream', async () => {
    const cache = new CacheFixture(() => new Instead({ fault: 'reset' })).heads(head)
    const all = [1, 2, 3].map((id) => cache.start('eth_getBalance', [account], { id }))
    await cache.clock.advance(30_000)
    for (const each of all) expect((await each).text).toBe('upstream-failed')
    cache.answering = () => '0x5'
    await cache.clock.advance(30_000)
    expect((await cache.heads(head).get('eth_getBalance', [account])).answer).toBe('0x5')
  })

  test.each([
    ['of HTTP 500', { status: 500, body: 'no' }],
    ['of HTTP 429', { status: 429, body: '<html>' }],
    ['of HTTP 400 without an id', { status: 400, body: '{"error":{"code":-32600,"message":"x"}}' }],
  ])('share a page %s', async (_, page) => {
    const cache = new CacheFixture(() => new Instead(page)).heads(head)
    const all = [1, 2, 3].map((id) => cache.start('eth_getBalance', [account], { id }))
    await cache.clock.advance(30_000)
    const [first, ...others] = await Promise.all(all)
    for (const each of others) {
      expect(each.cache).toBe('coalesced latest')
      expect(each.text.replace(/"id":\d/, '')).toBe(first!.text.replace(/"id":\d/, ''))
    }
    // The number includes the retries of one call.
    expect(cache.requests).toBeLessThanOrEqual(3)
  })

  test('neither share nor cache an invalid answer, even if two nodes agree', async () => {
    // The answer is about the previous block, whichever block the request names.
    const before = ({ params: [block] }: Question) => ({ number: hex(Number(block) - 1), hash })
    const cache = new CacheFixture(before, { nodes: 'ab' }).heads(head)
    const ask = (id: number) => cache.start('eth_getBlockByNumber', ['0x10', false], { id })
    const all = [1, 2, 3].map(ask)
    await cache.clock.advance(30_000)
    for (const { answer, cache: verdict } of await Promise.all(all)) {
      expect(answer).toMatchObject({ number: '0xf' })
      expect(verdict).toBe('miss finalized error')
    }
    expect(cache.requests).toBe(3 * 2)
    const again = await cache.get('eth_getBlockByNumber', ['0x10', false])
    expect(again.cache).toBe('miss finalized error')
  })

  test('with their own timeout or upstream are not coalesced', async () => {
    const cache = counting()
    const all = [
      { relayTimeoutMs: 5_000 },
      { selectProvider: 'a' },
      { refreshCache: true },
      {},
    ].map((directives) => cache.start('eth_getBalance', [account], { directives }))
    await cache.clock.advance(100)
    expect(new Set((await Promise.all(all)).map(({ answer }) => answer)).size).toBe(4)
  })
})

describe('policies and bounds', () => {
  const policy = (
    method: string,
    ttlMs: number | null,
    ageClass: 'latest' | 'finalized' | null = null,
  ) => ({
    ...{ chainId: null, apiInterface: null, method, ageClass, ttlMs },
    pattern: new RegExp(`^${method.replace('*', '.*')}$`),
  })

  test.each([
    ['never', [policy('eth_getBalance', null)], 'bypass none policy', 'bypass none policy'],
    [
      'never of one class',
      [policy('eth_get*', null, 'latest')],
      'miss latest policy',
      'miss latest policy',
    ],
    ['of another method', [policy('eth_getCode', null)], 'miss latest', 'hit latest'],
    [
      'the first match',
      [policy('eth_getBal*', 9_000), policy('*', null)],
      'miss latest',
      'hit latest',
    ],
  ] as const)('%s', async (_, policies, first, second) => {
    let requests = 0
    const cache = new CacheFixture(() => hex(++requests), { policies }).heads(head)
    expect((await cache.get('eth_getBalance', [account])).cache).toBe(first)
    expect((await cache.get('eth_getBalance', [account])).cache).toBe(second)
  })

  test('answers of a cross-validated method are not cached', async () => {
    let requests = 0
    const options = { crossValidated: ['eth_getBalance'] }
    const cache = new CacheFixture(() => hex(++requests), options).heads(head)
    for (const answer of ['0x1', '0x2']) {
      const seen = await cache.get('eth_getBalance', [account, hex(final)])
      expect(seen).toMatchObject({ cache: 'bypass none cross-validation', answer })
    }
    expect((await cache.get('eth_getCode', [account, hex(final)])).cache).toBe('miss finalized')
  })

  test('the TTL of a policy applies', async () => {
    const cache = new CacheFixture(() => '0x1', { policies: [policy('*', 5_000, 'finalized')] })
    const ask = () => cache.heads(head).get('eth_getBalance', [account, '0x1'])
    await ask()
    await cache.clock.advance(4_900)
    expect((await ask()).cache).toBe('hit finalized')
    await cache.clock.advance(200)
    expect((await ask()).cache).toBe('miss finalized')
  })

  test('memory is bounded, and the least recently used entries are evicted first', async () => {
    const maxBytes = 20_000
    const cache = new CacheFixture(() => `0x${'0'.repeat(500)}`, { maxBytes }).heads(head)
    const ask = (block: number) => cache.get('eth_getBalance', [account, hex(block)])
    await ask(1)
    for (let block = 2; block < 60; block++) {
      await ask(block)
      expect((await ask(1)).cache).toBe('hit finalized')
      expect(cache.store.bytes).toBeLessThanOrEqual(maxBytes)
    }
    expect((await ask(2)).cache).toBe('miss finalized')
    expect(cache.store.evictions).toBeGreaterThan(40)
  })

  test('an answer that would evict most others is not cached', async () => {
    const cache = new CacheFixture(() => `0x${'0'.repeat(5_000)}`, { maxBytes: 20_000 }).heads(head)
    expect((await cache.get('eth_getBalance', [account, '0x1'])).cache).toBe(
      'miss finalized too-large',
    )
  })
})
