// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { keccak256 } from 'viem'
import { describe, expect, test } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { CacheFixture, Instead, type Question } from './testing/cache-fixture.ts'

/* A client that has seen block N anywhere gets nothing older from the cache. */

const hex = (value: number) => `0x${value.toString(16)}`
const account = '0x00000000000000000000000000000000000000aa'
const hashOf = (number: number, branch = 'a') =>
  `0x${branch.repeat(32)}${number.toString(16).padStart(32, '0')}`
const transaction = `0x${'cd'.repeat(32)}`
const known = 10_000
const next = known + 1

const receipt = (number: number, branch?: string) => ({
  ...{ transactionHash: transaction, blockNumber: hex(number), blockHash: hashOf(number, branch) },
  ...{ transactionIndex: '0x0', logs: [] },
})
const log = (number: number, branch?: string) => ({
  ...{ address: account, topics: [], data: '0x', logIndex: '0x0', transactionHash: transaction },
  ...{ blockNumber: hex(number), blockHash: hashOf(number, branch), transactionIndex: '0x0' },
})
const block = (number: number, branch?: string) => ({
  ...{ number: hex(number), hash: hashOf(number, branch) },
  ...{ parentHash: hashOf(number - 1, branch), transactions: [] },
})

/** A call and its result from a node at block N. */
type Showing = readonly [
  method: string,
  params: readonly unknown[],
  result: (n: number, branch?: string) => unknown,
]

const byNumber: readonly Showing[] = [
  ['eth_blockNumber', [], hex],
  ['eth_getBlockByNumber', ['latest', false], block],
  ['eth_getBlockByNumber', [hex(next), false], block],
  ['eth_getBlockByHash', [hashOf(next), false], block],
  ['eth_getHeaderByNumber', ['latest'], block],
  ['eth_getBlockReceipts', ['latest'], (n, branch) => [receipt(n, branch)]],
  ['eth_getBlockReceipts', [hashOf(next)], (n, branch) => [receipt(n, branch)]],
  ['eth_getTransactionReceipt', [transaction], receipt],
  [
    'eth_getTransactionByHash',
    [transaction],
    (n, branch) => ({ ...receipt(n, branch), hash: transaction }),
  ],
  ['eth_sendRawTransactionSync', ['0x00'], receipt],
  [
    'eth_feeHistory',
    ['0x3', 'latest', []],
    (n) => ({ oldestBlock: hex(n - 2), gasUsedRatio: [0, 0, 0] }),
  ],
  ['eth_simulateV1', [{ blockStateCalls: [{}] }, 'latest'], (n) => [{ number: hex(n + 1) }]],
  ['eth_getBlockByNumber', ['pending', false], (n, branch) => block(n + 1, branch)],
  [
    'eth_getLogs',
    [{ fromBlock: hex(known - 5), toBlock: 'latest' }],
    (n, branch) => [log(n, branch)],
  ],
  ['eth_getFilterChanges', ['0x1'], (n, branch) => [log(n, branch)]],
  ['eth_getFilterLogs', ['0x1'], (n, branch) => [log(n, branch)]],
  // A result about a numbered block proves that the block exists.
  ['eth_call', [{ to: account }, hex(next)], () => '0x'],
  ['eth_getStorageAt', [account, '0x0', hex(next)], () => '0x1'],
  ['eth_getTransactionCount', [account, hex(next)], () => '0x1'],
  ['eth_getBlockTransactionCountByNumber', [hex(next)], () => '0x1'],
  ['debug_traceBlockByNumber', [hex(next), {}], () => [{}]],
  ['trace_block', [hex(next)], () => [{}]],
]

/** Calls whose answer has no block number. */
const byHash: readonly Showing[] = [
  ['eth_getBlockTransactionCountByHash', [hashOf(next)], () => '0x1'],
  ['eth_getRawTransactionByHash', [transaction], () => '0x02'],
  ['debug_traceTransaction', [transaction, {}], () => ({ gas: 1 })],
  ['debug_traceBlockByHash', [hashOf(next), {}], () => [{}]],
  ['trace_transaction', [transaction], () => [{}]],
  ['trace_replayTransaction', [transaction, ['trace']], () => ({ trace: [{}] })],
  ['eth_getFilterChanges', ['0x1'], () => [hashOf(next)]],
]

/** Caches reads of the latest block, then adds a block and reveals it to a client. */
async function readAfter(
  [method, params, result]: Showing,
  directives = {},
  send = (value: unknown): unknown => value,
) {
  let latest = known
  const answering = (question: Question) => {
    const { method: request, params: given } = question
    if (request === method && JSON.stringify(given) === JSON.stringify(params))
      return send(result(latest))
    return request === 'eth_getBalance' ? hex(latest) : null
  }
  const cache = new CacheFixture(answering).heads(known)
  const read = () => cache.get('eth_getBalance', [account, 'latest'])
  await read()
  expect(await read()).toMatchObject({ cache: 'hit latest', answer: hex(known) })
  latest = next
  const { answer, text } = await cache.get(method, params, { directives })
  expect(answer).toEqual(text === 'a stream' ? undefined : send(result(next)))
  return { cache, read }
}

test.each([...byNumber, ...byHash])('after %s %j, no older read is served', async (...showing) => {
  const { read } = await readAfter(showing)
  expect((await read()).answer).toBe(hex(next))
})

/** Calls whose answer contains the block next to other data. */
const long = byNumber.filter(([, , result]) => typeof result(next) === 'object')

/** Adds a long member to the first or only item. */
const padded = (bytes: number) => (value: unknown) => {
  const pad = { pad: '0'.repeat(bytes) }
  if (!Array.isArray(value)) return { ...(value as object), ...pad }
  return value.map((each: object, index) => (index === 0 ? { ...each, ...pad } : each))
}

/** Streams the end of the answer. */
const streamed = (result: unknown) => {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, result })
  return new Instead({ body: text.slice(0, -3), rest: [text.slice(-3)], streams: true })
}

test.each(long)('after %s %j with a long answer, no older read is served', async (...showing) => {
  for (const bytes of [40_000, 70_000, 900_000]) {
    const { read } = await readAfter(showing, {}, padded(bytes))
    expect((await read()).answer, `${bytes} bytes`).toBe(hex(next))
  }
})

test.each(long)(
  'after %s %j with a streamed answer, no older read is served',
  async (...showing) => {
    const { read } = await readAfter(showing, {}, streamed)
    expect((await read()).answer).toBe(hex(next))
  },
)

test.each<[string, readonly unknown[], unknown]>([
  ['eth_getLogs', [{ fromBlock: hex(known - 900), toBlock: hex(known - 800) }], [log(known - 850)]],
  ['eth_getBlockReceipts', [hex(known - 850)], [receipt(known - 850)]],
  ['eth_getBlockByNumber', [hex(known - 850), true], block(known - 850)],
])(
  '%s %j with a long answer about old blocks invalidates nothing',
  async (method, params, result) => {
    for (const send of [padded(70_000), streamed]) {
      const answering = ({ method: request }: Question) =>
        request === method ? send(result) : '0x1'
      const cache = new CacheFixture(answering).heads(known)
      await cache.get('eth_gasPrice')
      await cache.get(method, params)
      expect((await cache.get('eth_gasPrice')).cache).toBe('hit latest')
    }
  },
)

test.each(byNumber.slice(0, 8))(
  'after %s %j that is not cached, no older read is served',
  async (...showing) => {
    const { read } = await readAfter(showing, { stickiness: 'session' })
    expect((await read()).answer).toBe(hex(next))
  },
)

const errorOf = (code: number, message: string): ScriptedAnswer => ({
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message } }),
})

test.each<[string, number, ScriptedAnswer]>([
  ['a revert proves that its block exists', next, errorOf(3, 'execution reverted: no')],
  ['an unknown block proves nothing', known, errorOf(-32000, 'header not found')],
])('%s', async (_, expected, error) => {
  let latest = known
  const cache = new CacheFixture(({ method }) =>
    method === 'eth_call' ? new Instead(error) : hex(latest),
  ).heads(known)
  const read = async () => (await cache.get('eth_getBalance', [account, 'latest'])).answer
  await read()
  latest = next
  await cache.get('eth_call', [{ to: account }, hex(next)])
  expect(await read()).toBe(hex(expected))
})

const replacing: readonly Showing[] = byNumber.filter(([, , result]) =>
  /hash/i.test(JSON.stringify(result(next))),
)

test.each(replacing)(
  'after %s %j with a replaced block at the same height, no older read is served',
  async (...showing) => {
    const [method, params, result] = showing
    let branch = 'a'
    const answering = ({ method: request, params: given }: Question) => {
      if (request === 'eth_getBalance') return hex(branch === 'a' ? 1 : 2)
      if (request === 'eth_getHeaderByNumber' && given[0] === hex(next)) return block(next, branch)
      return request === method ? result(next, branch) : null
    }
    const cache = new CacheFixture(answering).heads(next)
    await cache.get('eth_getHeaderByNumber', [hex(next)])
    const reads = () =>
      Promise.all(
        ['latest', hex(next), hex(known)].map(
          async (tag) => (await cache.get('eth_getBalance', [account, tag])).answer,
        ),
      )
    expect(await reads()).toEqual(['0x1', '0x1', '0x1'])
    branch = 'b'
    const requests = params.map((each) => (each === hashOf(next) ? hashOf(next, 'b') : each))
    await cache.get(method, requests)
    expect(await reads()).toEqual(['0x2', '0x2', '0x2'])
  },
)

test('immutable answers stay cached, as do reads after an answer about an old block', async () => {
  const answering = ({ method, params }: Question) => {
    if (method === 'eth_getTransactionReceipt') return receipt(known - 500)
    return method === 'eth_getBalance' && params[1] === 'latest' ? '0x1' : '0x2'
  }
  const cache = new CacheFixture(answering).heads(known)
  const old = () => cache.get('eth_getBalance', [account, hex(known - 500)])
  const latest = () => cache.get('eth_getBalance', [account, 'latest'])
  await old()
  await latest()
  await cache.get('eth_getTransactionReceipt', [transaction])
  expect([(await latest()).cache, (await old()).cache]).toEqual(['hit latest', 'hit finalized'])
  // The receipt has revealed the block of this transaction.
  await cache.get('debug_traceTransaction', [transaction, {}])
  expect([(await latest()).cache, (await old()).cache]).toEqual(['hit latest', 'hit finalized'])
  await cache.get('debug_traceTransaction', [`0x${'ef'.repeat(32)}`, {}])
  expect([(await latest()).cache, (await old()).cache]).toEqual(['miss latest', 'hit finalized'])
})

describe('an answer by hash without its block', () => {
  const traces = ['debug_traceTransaction', [transaction, {}]] as const
  const pending = { ...receipt(next), hash: transaction, blockNumber: null, blockHash: null }

  /** Whether each call invalidates cached reads of the latest block. */
  async function endings(calls: readonly Showing[]) {
    let result: unknown = null
    const cache = new CacheFixture(({ method }) => (method === 'eth_gasPrice' ? '0x1' : result))
    cache.heads(next)
    const seen = []
    for (const [method, params, answer] of calls) {
      await cache.get('eth_gasPrice')
      result = answer(next)
      await cache.get(method, params, { directives: { refreshCache: true } })
      seen.push((await cache.get('eth_gasPrice')).cache === 'hit latest' ? 'cached' : 'ended')
    }
    return seen
  }

  test.each<[string, readonly string[], readonly Showing[]]>([
    [
      'the same trace',
      ['ended', 'cached', 'cached'],
      [1, 2, 3].map((gas) => [...traces, () => ({ gas })]),
    ],
    [
      'the raw transaction, which may be pending, and then its trace',
      ['ended', 'ended', 'cached'],
      [
        ['eth_getRawTransactionByHash', [transaction], () => '0x02'],
        [...traces, () => ({ gas: 1 })],
        ['eth_getRawTransactionByHash', [transaction], () => '0x02'],
      ],
    ],
    [
      'a pending transaction and then its trace',
      ['cached', 'ended'],
      [
        ['eth_getTransactionByHash', [transaction], () => pending],
        [...traces, () => ({ gas: 1 })],
      ],
    ],
    [
      'a block by its hash',
      ['ended', 'cached', 'ended'],
      [hashOf(7), hashOf(7), hashOf(8)].map((hash) => [
        ...(['eth_getBlockTransactionCountByHash', [hash]] as const),
        () => '0x1',
      ]),
    ],
    [
      'a trace whose block was replaced',
      ['ended', 'cached', 'ended', 'ended'],
      [
        [...traces, () => ({ gas: 1 })],
        ['eth_getBlockByNumber', [hex(next), false], (n) => block(n)],
        ['eth_getBlockByNumber', [hex(next), false], (n) => block(n, 'b')],
        [...traces, () => ({ gas: 1 })],
      ],
    ],
  ])('invalidates the cache once: %s', async (_, expected, calls) => {
    expect(await endings(calls)).toEqual(expected)
  })
})

test.each<[string, readonly unknown[], number]>([
  ['eth_call', [{ to: account }, hex(2 ** 50)], 2 ** 50],
  ['eth_call', [{ to: account }, hex(known + 1_000)], known + 1_000],
  ['eth_blockNumber', [], 2 ** 50],
  ['eth_getBlockByNumber', ['latest', false], 2 ** 50],
  ['eth_getBlockByNumber', ['finalized', false], 2 ** 50],
  ['eth_getTransactionReceipt', [transaction], 2 ** 50],
])(
  '%s %j: an implausible block number invalidates the cache once',
  async (method, params, wrong) => {
    const answering = ({ method: request }: Question, node: string) => {
      if (request !== method) return node
      if (method === 'eth_blockNumber') return hex(wrong)
      return method === 'eth_getTransactionReceipt' ? receipt(wrong) : block(wrong)
    }
    const cache = new CacheFixture(answering, { nodes: 'ab' }).heads(known)
    const read = async () => (await cache.get('eth_getBalance', [account, 'latest'])).cache
    await read()
    await cache.get(method, params)
    expect(await read()).toBe('miss latest')
    expect(await read()).toBe('hit latest')
    cache.heads(next, 'ab')
    expect([await read(), await read()]).toEqual(['miss latest', 'hit latest'])
  },
)

test('pending blocks with changing hashes cause no reorg', async () => {
  let requests = 0
  const answering = ({ method, params }: Question) => {
    if (method === 'eth_getBlockByNumber' && params[0] === 'pending')
      return { ...block(next, (++requests % 10).toString(16)), parentHash: hashOf(known) }
    return '0x1'
  }
  const cache = new CacheFixture(answering).heads(known)
  await cache.get('eth_getBalance', [account, 'latest'])
  for (let each = 0; each < 5; each++) {
    await cache.get('eth_getBlockByNumber', ['pending', false])
    expect((await cache.get('eth_getBalance', [account, 'latest'])).cache).toBe('hit latest')
  }
})

test('repeated requests for an abandoned block by hash cause no reorg', async () => {
  const answering = ({ method, params }: Question) => {
    if (method === 'eth_getBlockByNumber') return block(known, 'b')
    if (method === 'eth_getBlockByHash')
      return block(known, params[0] === hashOf(known) ? 'a' : 'b')
    return '0x1'
  }
  const cache = new CacheFixture(answering).heads(known)
  const near = () => cache.get('eth_getBalance', [account, hex(known - 1)])
  const orphan = () =>
    cache.get('eth_getBlockByHash', [hashOf(known), false], { directives: { refreshCache: true } })
  await orphan()
  await cache.get('eth_getBlockByNumber', [hex(known), false])
  await near()
  await orphan()
  expect((await near()).cache).toBe('hit near-head')
})

test('a request for an announced block by hash goes to a node that has it', async () => {
  const answering = ({ params }: Question, node: string) =>
    node === 'b' || params[0] !== hashOf(next) ? block(next) : null
  const cache = new CacheFixture(answering, { nodes: 'ab' }).heads(known).heads(next, 'b')
  cache.pool.tracker.showBlock({
    ...{ number: next, hash: `${'a'.repeat(32)}${next.toString(16).padStart(32, '0')}` },
    ...{ parent: null, isByHash: false },
  })
  for (let each = 0; each < 10; each++) {
    const directives = { refreshCache: true }
    const seen = await cache.get('eth_getBlockByHash', [hashOf(next), false], { directives })
    expect(seen).toMatchObject({ upstream: 'b', answer: block(next) })
  }
})

const chains = await loadCatalog([])

/** Caches a read of the latest state, and returns the effect of another answer on it. */
function chainCache(id: string, reading: string, params: readonly unknown[] = []) {
  const chain = chains.find(id)!
  let result: unknown
  const answering = ({ method }: Question) => (method === reading ? '1' : result)
  const of = { chain, iface: chain.interfaces.get('jsonrpc')! }
  const cache = new CacheFixture(answering, { of }).heads(known)
  const read = async () => (await cache.get(reading, params)).cache
  return async (method: string, given: readonly unknown[], shown: unknown) => {
    await read()
    expect(await read()).toBe('hit latest')
    result = shown
    await cache.get(method, given, { directives: { refreshCache: true } })
    return (await read()) === 'hit latest' ? 'cached' : 'ended'
  }
}

test('a newer finalized slot invalidates the cache', async () => {
  const after = chainCache('SLOTCHAIN', 'getTransactionCount')
  const shown = []
  for (const slot of [50, 50, 51, 50, 51, 53])
    shown.push(await after('getBalance', ['aa'], { context: { slot }, value: 1 }))
  expect(shown).toEqual(['ended', 'cached', 'ended', 'cached', 'cached', 'ended'])
})

test.each<[string, readonly unknown[], unknown]>([
  ['getSlotLeaders', [known + 1_000, 2], ['aa', 'bb']],
  ['getLeaderSchedule', [known + 1_000], { aa: [0, 1] }],
  ['getBlockCommitment', [known + 1_000], { commitment: null, totalStake: 42 }],
])('%s %j: an answer about a future slot does not prove that it exists', async (...request) => {
  const after = chainCache('SLOTCHAIN', 'getTransactionCount', [{ commitment: 'confirmed' }])
  expect(await after(...request)).toBe('cached')
})

test('a hash without a number invalidates the cache once', async () => {
  const after = chainCache('BTC', 'getdifficulty')
  const [first, second] = ['ab'.repeat(32), 'cd'.repeat(32)]
  const shown = [
    await after('getbestblockhash', [], first),
    await after('getbestblockhash', [], first),
    await after('getrawtransaction', [second, true], { txid: second, blockhash: first }),
    await after('getbestblockhash', [], second),
    await after('getbestblockhash', [], first),
    // A pending transaction, in hex.
    await after('getrawtransaction', [second, true], { txid: second }),
    await after('getrawtransaction', [second], '02000000'),
  ]
  expect(shown).toEqual(['ended', 'cached', 'cached', 'ended', 'cached', 'cached', 'cached'])
})

test('a head with another hash at the same height invalidates the cache', async () => {
  const after = chainCache('BTC', 'getdifficulty')
  const info = (hash: string) => ({ blocks: known, bestblockhash: hash })
  const [first, second] = ['ab'.repeat(32), 'cd'.repeat(32)]
  await after('getblockhash', [known], first)
  expect(await after('getblockchaininfo', [], info(first))).toBe('cached')
  expect(await after('getblockchaininfo', [], info(second))).toBe('ended')
  expect(await after('getblockchaininfo', [], info(second))).toBe('cached')
  const template = (hash: string) => ({ height: known + 1, previousblockhash: hash })
  expect(await after('getblocktemplate', [{}], template(second))).toBe('cached')
  expect(await after('getblocktemplate', [{}], template(first))).toBe('ended')
})

test.each(['asc', 'desc'])('finds the newest block of a list in %s order', async (order) => {
  const range = { fromBlock: hex(known - 5), toBlock: 'latest' }
  const logs = (number: number) =>
    [known - 3, number].map((each) => ({ ...log(each), blockNumber: each }))
  const { read } = await readAfter([
    ...(['trace_filter', [range]] as const),
    (number) => (order === 'asc' ? logs(number) : logs(number).toReversed()),
  ])
  expect((await read()).answer).toBe(hex(next))
})

/** A node that mines each transaction at once. */
function instantNode() {
  const node = { nonce: 7 }
  const answering = ({ method, params }: Question) => {
    if (method === 'eth_getTransactionCount')
      return params[1] === hex(known - 500) ? '0x1' : hex(node.nonce)
    if (!/^eth_(send|resend)/.test(method)) return '0x1'
    node.nonce += 1
    return keccak256('0x02')
  }
  return { node, answering }
}

const nonce = ['eth_getTransactionCount', [account, 'latest']] as const

test.each<[string, unknown[]]>([
  ['eth_sendRawTransaction', ['0x02']],
  ['eth_sendRawTransactionConditional', ['0x02', {}]],
  ['eth_sendPrivateRawTransaction', ['0x02']],
  ['eth_sendTransaction', [{ from: account }]],
  ['eth_resend', [{ from: account }]],
])('%s invalidates only the transaction count', async (...write) => {
  const { node, answering } = instantNode()
  const cache = new CacheFixture(answering).heads(known)
  const others = [
    ['eth_getTransactionCount', [account, hex(known - 500)]],
    ['eth_getBalance', [account, 'latest']],
    ['eth_gasPrice', []],
  ] as const
  for (const [method, params] of others) await cache.get(method, params)
  for (let sent = 1; sent <= 5; sent++) {
    await cache.get(...nonce)
    expect((await cache.get(...nonce)).cache).toBe('hit latest')
    await cache.get(...write)
    expect(node.nonce).toBe(7 + sent)
    const read = await cache.get(...nonce)
    expect(read).toMatchObject({ cache: 'miss latest', answer: hex(node.nonce) })
  }
  for (const [method, params] of others)
    expect((await cache.get(method, params)).cache).toContain('hit')
})

test.each<[string, ScriptedAnswer]>([
  ['a page of a gateway', { status: 502, body: '<html>' }],
  ['an error', errorOf(-32000, 'already known')],
  ['a lost connection', { fault: 'reset' }],
])('a write that was executed but ends with %s', async (_, ending) => {
  const { node, answering } = instantNode()
  const cache = new CacheFixture((question) => {
    const answer = answering(question)
    return question.method === 'eth_sendRawTransaction' ? new Instead(ending) : answer
  }).heads(known)
  const read = async () => (await cache.get(...nonce)).answer
  expect(await read()).toBe('0x7')
  await cache.get('eth_sendRawTransaction', ['0x02'])
  expect([hex(node.nonce), await read()]).toEqual(['0x8', '0x8'])
})

test('a transaction count read from before a write does not serve one after it', async () => {
  const { node, answering } = instantNode()
  const cache = new CacheFixture(answering).heads(known)
  const before = cache.start(...nonce)
  const write = cache.start('eth_sendTransaction', [{ from: account }])
  const after = write.then(() => cache.start(...nonce))
  await cache.clock.advance(1_000)
  await before
  expect((await after).answer).toBe(hex(node.nonce))
})

test.each<[string, unknown[]]>([
  ['eth_getBalance', [account, 'latest']],
  ['eth_newFilter', [{}]],
  ['eth_estimateGas', [{}]],
])('%s leaves the transaction count cached', async (...request) => {
  const cache = new CacheFixture(instantNode().answering).heads(known)
  await cache.get(...nonce)
  await cache.get(...request)
  expect((await cache.get(...nonce)).cache).toBe('hit latest')
})

describe('a preconfirmed receipt of a block above all heads', () => {
  const balance = ['eth_getBalance', [account, 'latest']] as const
  /** @param heads results of head probes, by node */
  async function chainOf(heads: Record<string, number>) {
    const answering = ({ method, params: [hash] }: Question, node: string) => {
      if (method === 'eth_getTransactionReceipt') return { ...receipt(next), transactionHash: hash }
      return hex(heads[node]!)
    }
    const cache = new CacheFixture(answering, { nodes: Object.keys(heads).join('') }).heads(known)
    // A head that was just reported is not queried again.
    await cache.clock.advance(1_000)
    const probes: string[] = []
    for (const upstream of cache.pool.upstreams)
      upstream.requestProbe = () => {
        probes.push(upstream.name)
        const sentMs = cache.clock.nowMs()
        const head = heads[upstream.name]!
        cache.clock.after(20, () =>
          cache.pool.observeHead(upstream, head, sentMs, upstream.urls[0]!),
        )
      }
    let receipts = 0
    const show = () => cache.get('eth_getTransactionReceipt', [hashOf(receipts++, 'c')])
    return { cache, probes, show }
  }

  test('invalidates the cache at each receipt, and reads in between are cached', async () => {
    const { cache, probes, show } = await chainOf({ a: known })
    await cache.get(...balance)
    expect(await cache.get(...balance)).toMatchObject({ cache: 'hit latest' })
    await show()
    await cache.clock.advance(20)
    for (let each = 0; each < 5; each++) {
      expect(await cache.get(...balance)).toMatchObject({ cache: 'miss latest' })
      expect(await cache.get(...balance)).toMatchObject({ cache: 'hit latest' })
      await show()
    }
    expect(probes).toEqual(['a'])
  })

  test('bounds reads again once its block is the head of a node', async () => {
    const heads = { a: known }
    const { cache, show } = await chainOf(heads)
    await show()
    await cache.clock.advance(20)
    heads.a = next
    cache.heads(next)
    await show()
    expect(await cache.get(...balance)).toMatchObject({ answer: hex(next) })
    expect(await cache.get(...balance)).toMatchObject({ cache: 'hit latest' })
  })

  test('answers of other nodes are not cached once one node has the block', async () => {
    const { cache, show } = await chainOf({ a: next, b: known })
    while ((await show()).upstream !== 'a');
    await cache.clock.advance(20)
    const seen: unknown[] = []
    for (let each = 0; each < 10; each++) {
      const { cache: verdict, answer } = await cache.get(...balance)
      seen.push(verdict === 'hit latest' ? answer : 'not from the cache')
    }
    expect(seen).not.toContain(hex(known))
  })
})
