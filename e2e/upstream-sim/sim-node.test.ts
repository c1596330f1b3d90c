// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import net from 'node:net'
import { JsonRpcProvider, Network, Wallet as EthersWallet } from 'ethers'
import { createPublicClient, http, parseAbi, parseAbiItem } from 'viem'
import { mainnet } from 'viem/chains'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createChainModel, type ChainModel } from './chain-model.ts'
import { transferTopic } from './drafts.ts'
import { type Fault, quota } from './faults.ts'
import { type SimNode, startSimNode } from './sim-node.ts'

let chain: ChainModel
let node: SimNode

beforeEach(async () => {
  chain = createChainModel({ seed: 'test' })
  node = await startSimNode({ chain })
})

afterEach(() => node.stop())

async function post(body: unknown, url = node.url) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

async function ask(method: string, params: unknown[] = [], url = node.url) {
  const { text } = await post({ jsonrpc: '2.0', id: 1, method, params }, url)
  return JSON.parse(text) as {
    id: unknown
    result?: any
    error?: { code: number; message: string }
  }
}

/** The newest block with a log. */
function blockWithLogs() {
  for (let height = chain.head - 5; height > chain.head - 100; height--) {
    const mined = chain.block(height)
    if (mined.receipts.some(({ logs }) => logs.length > 0)) return mined
  }
  throw new Error('no logs in 95 blocks')
}

describe('real clients', () => {
  test('viem reads blocks, transactions, receipts, logs, balances, contracts', async () => {
    const client = createPublicClient({ chain: mainnet, transport: http(node.url) })
    const mined = blockWithLogs()
    const blockNumber = BigInt(mined.height)
    expect(await client.getBlockNumber()).toBe(20_000_000n)
    expect(await client.getChainId()).toBe(1)
    const block = await client.getBlock({ blockNumber, includeTransactions: true })
    expect(block.hash).toBe(mined.hash)
    const hash = mined.receipts.find(({ logs }) => logs.length > 0)!.transactionHash
    expect((await client.getTransaction({ hash })).blockNumber).toBe(blockNumber)
    const receipt = await client.getTransactionReceipt({ hash })
    const logs = await client.getLogs({
      event: parseAbiItem('event Transfer(address indexed a, address indexed b, uint256 value)'),
      fromBlock: blockNumber,
      toBlock: blockNumber,
    })
    expect(logs.map((log) => log.transactionHash)).toContain(receipt.transactionHash)
    const [address] = chain.population.contracts
    const abi = parseAbi([
      'function symbol() view returns (string)',
      'function balanceOf(address) view returns (uint256)',
    ])
    expect(await client.readContract({ address: address!, abi, functionName: 'symbol' })).toBe(
      'SIM',
    )
    expect(await client.getBalance({ address: address! })).toBeGreaterThan(0n)
    await expect(
      client.readContract({
        address: chain.population.revertingContract,
        abi,
        functionName: 'symbol',
      }),
    ).rejects.toThrow('always')
    expect((await client.getBlock({ blockTag: 'pending' })).hash).toBeNull()
    expect((await client.estimateFeesPerGas()).maxFeePerGas).toBeGreaterThan(0n)
  })

  test('ethers reads, sends and finds its transaction mined', async () => {
    const provider = new JsonRpcProvider(node.url, Network.from(1), {
      staticNetwork: true,
      batchMaxCount: 10,
    })
    try {
      const wallet = new EthersWallet(`0x${'33'.repeat(32)}`, provider)
      const block = await provider.getBlock('latest', true)
      expect(block?.hash).toBe(chain.block(chain.head).hash)
      const mined = blockWithLogs()
      const [first] = mined.receipts
      expect((await provider.getTransactionReceipt(first!.transactionHash))?.index).toBe(0)
      expect((await provider.getTransaction(first!.transactionHash))?.from).toMatch(/^0x/)
      expect(
        await provider.getLogs({ blockHash: mined.hash, topics: [transferTopic] }),
      ).not.toEqual([])
      const sent = await wallet.sendTransaction({ to: `0x${'44'.repeat(20)}`, value: 7n })
      expect((await provider.getTransaction(sent.hash))?.blockNumber).toBeNull()
      chain.mine()
      const receipt = await provider.getTransactionReceipt(sent.hash)
      expect(receipt?.blockNumber).toBe(chain.head)
      expect(await provider.getTransactionCount(wallet.address)).toBe(1)
      const raw = node.calls.requests
        .flatMap(({ body }) => JSON.parse(body))
        .find(({ method }) => method === 'eth_sendRawTransaction').params[0]
      expect((await ask('eth_sendRawTransaction', [raw])).error?.message).toBe('already known')
    } finally {
      provider.destroy()
    }
  })
})

describe('several nodes', () => {
  test('each node serves its own view of one chain', async () => {
    await using behind = await startSimNode({ chain, name: 'behind', lagBlocks: 10 })
    await using pruned = await startSimNode({
      chain,
      name: 'pruned',
      earliestState: chain.head - 128,
    })
    const tip = (await ask('eth_getBlockByNumber', ['latest', false])).result
    expect(Number((await ask('eth_blockNumber', [], behind.url)).result)).toBe(chain.head - 10)
    expect((await ask('eth_getBlockByNumber', [tip.number, false], behind.url)).result).toBeNull()
    expect((await ask('eth_getBlockByHash', [tip.hash, false], behind.url)).result).toBeNull()
    const address = chain.population.accounts[0]
    expect((await ask('eth_getBalance', [address, tip.number], behind.url)).error).toEqual({
      code: -32000,
      message: 'header not found',
    })
    expect((await ask('eth_getBalance', [address, '0x1'], pruned.url)).error?.message).toMatch(
      /^missing trie node [0-9a-f]{64} \(path \) state 0x[0-9a-f]{64} is not available/,
    )
    behind.view.lagBlocks = 0
    behind.view.frozenAt = chain.head
    chain.mine(3)
    expect(Number((await ask('eth_blockNumber', [], behind.url)).result)).toBe(chain.head - 3)
    expect((await ask('eth_getBlockByNumber', [tip.number, false], behind.url)).result).toEqual(tip)
  })
})

describe('eth_getLogs', () => {
  const all = () => {
    const mined = blockWithLogs()
    return { mined, logs: mined.receipts.flatMap(({ logs }) => logs) }
  }

  test('filters by address, topic, alternatives, wildcards, block hash', async () => {
    const { mined, logs } = all()
    const [log] = logs
    const other = `0x${'00'.repeat(32)}`
    const cases: [string, object, (one: (typeof logs)[number]) => boolean][] = [
      ['nothing', {}, () => true],
      ['address', { address: log!.address }, (one) => one.address === log!.address],
      ['addresses', { address: [log!.address] }, (one) => one.address === log!.address],
      ['no such topic', { topics: [other] }, () => false],
      [
        'either topic',
        { topics: [[other, log!.topics[0]]] },
        (one) => one.topics[0] === log!.topics[0],
      ],
      [
        'any, then one',
        { topics: [null, log!.topics[1]] },
        (one) => one.topics[1] === log!.topics[1],
      ],
      ['more topics than logs have', { topics: [null, null, null, null] }, () => false],
      ['empty alternatives', { topics: [[]] }, () => true],
    ]
    for (const [name, criteria, fits] of cases) {
      const { result } = await ask('eth_getLogs', [{ blockHash: mined.hash, ...criteria }])
      expect(result, name).toEqual(logs.filter(fits))
    }
  })

  test('a range returns the logs of its blocks', async () => {
    const { mined } = all()
    const range = { fromBlock: `0x${(mined.height - 3).toString(16)}`, toBlock: mined.block.number }
    const expected = [3, 2, 1, 0].flatMap((back) =>
      chain.block(mined.height - back).receipts.flatMap(({ logs }) => logs),
    )
    expect((await ask('eth_getLogs', [range])).result).toEqual(expected)
  })
})

describe('what a node refuses', () => {
  test.each<[string, string, unknown[], number, RegExp]>([
    ['an unknown method', 'eth_none', [], -32601, /^the method eth_none does not exist/],
    ['a property of every object', 'constructor', [], -32601, /^the method constructor does not/],
    ['no params', 'eth_getBalance', [], -32602, /^invalid argument 0/],
    ['too many params', 'eth_blockNumber', [1], -32602, /^too many arguments, want at most 0/],
    ['leading zeros', 'eth_getBlockByNumber', ['0x01', false], -32602, /^invalid argument 0/],
    ['a short hash', 'eth_getBlockByHash', ['0x12', false], -32602, /^invalid argument 0/],
    ['no transaction', 'eth_sendRawTransaction', ['0x02'], -32000, /^typed transaction too short/],
    [
      'a reversed range',
      'eth_getLogs',
      [{ fromBlock: '0x5', toBlock: '0x4' }],
      -32602,
      /^invalid block range params/,
    ],
    [
      'a range beyond the head',
      'eth_getLogs',
      [{ toBlock: '0xffffffff' }],
      -32602,
      /^block range extends beyond current head block/,
    ],
  ])('%s', async (_name, method, params, code, message) => {
    const { error } = await ask(method, params)
    expect(error).toEqual({ code, message: expect.stringMatching(message) as string })
  })

  test('a batch is answered per item, notifications not at all', async () => {
    const { text } = await post(
      '[{"jsonrpc":"2.0","id":1,"method":"eth_chainId"},' +
        '{"jsonrpc":"2.0","method":"eth_chainId"},{"jsonrpc":"2.0","id":"a","method":"nope"}]',
    )
    expect(JSON.parse(text)).toMatchObject([
      { id: 1, result: '0x1' },
      { id: 'a', error: {} },
    ])
    expect((await post('[{"jsonrpc":"2.0","method":"eth_chainId"}]')).text).toBe('')
  })
})

describe('faults', () => {
  test('answer faults apply until they are used up', async () => {
    node.faults.add({ kind: 'wrong-id' }, { times: 1 })
    expect((await ask('eth_chainId')).id).toBe('not-what-you-asked')
    node.faults.add({ kind: 'null-result' }, { times: 1 })
    expect((await ask('eth_chainId')).result).toBeNull()
    node.faults.add(quota, { times: 1 })
    expect((await ask('eth_chainId')).error?.code).toBe(-32005)
    expect((await ask('eth_chainId')).result).toBe('0x1')
  })

  test.each<[string, Fault, number, string | null, RegExp]>([
    ['429 in seconds', { kind: 'rate-limit', retryAfter: 7 }, 429, '7', /rate limit/],
    [
      '429 until a date',
      { kind: 'rate-limit', retryAfter: new Date(0) },
      429,
      'Thu, 01 Jan 1970 00:00:00 GMT',
      /rate limit/,
    ],
    [
      '503 with JSON',
      { kind: 'status', status: 503, body: 'json-rpc' },
      503,
      null,
      /"id":1,"error"/,
    ],
    ['502 with HTML', { kind: 'status', status: 502, body: 'html' }, 502, null, /^<html>/],
    [
      '503 with a Retry-After',
      { kind: 'status', status: 503, body: 'html', retryAfter: '1.5' },
      503,
      '1.5',
      /^<html>/,
    ],
    ['500 with nothing', { kind: 'status', status: 500, body: 'empty' }, 500, null, /^$/],
    ['empty body', { kind: 'empty-body' }, 200, null, /^$/],
    ['half JSON', { kind: 'invalid-json' }, 200, null, /^\{"jsonrpc":"2.0"/],
    ['gzip', { kind: 'gzip' }, 200, null, /"result":"0x1"/],
    ['late', { kind: 'slow', delayMs: 5 }, 200, null, /"result":"0x1"/],
  ])('%s', async (_name, fault, status, retryAfter, text) => {
    const off = node.faults.add(fault)
    const reply = await post({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' })
    expect(reply.status).toBe(status)
    expect(reply.headers.get('retry-after')).toBe(retryAfter)
    expect(reply.text).toMatch(text)
    off()
    expect((await ask('eth_chainId')).result).toBe('0x1')
  })

  test.each<[string, Fault, RegExp]>([
    ['reset before the head', { kind: 'reset', when: 'before-head' }, /ECONNRESET/],
    ['reset after the head', { kind: 'reset', when: 'after-head' }, /ECONNRESET/],
    [
      'half of a content length',
      { kind: 'half-body', framing: 'content-length' },
      /other side closed/,
    ],
    ['chunks without an end', { kind: 'half-body', framing: 'chunked' }, /other side closed/],
  ])('%s', async (_name, fault, reason) => {
    node.faults.add(fault)
    const failure = await ask('eth_chainId').then(
      () => 'answered',
      (error: Error) => `${error.message} ${String(error.cause)}`,
    )
    expect(failure).toMatch(reason)
  })

  test('a stopped node ends hanging requests and refuses new ones until a restart', async () => {
    node.faults.add({ kind: 'hang' }, { methods: ['eth_call'] })
    const hanging = ask('eth_call', [{}]).then(
      () => 'answered',
      () => 'cut',
    )
    while (node.calls.count('eth_call') === 0) await new Promise((done) => setImmediate(done))
    expect((await ask('eth_chainId')).result).toBe('0x1')
    await node.stop()
    expect(await hanging).toBe('cut')
    const refused = await new Promise((done) =>
      net.connect(node.port, '127.0.0.1').once('error', (error) => done(error.message)),
    )
    expect(refused).toContain('ECONNREFUSED')
    node.faults.clear()
    await node.start()
    expect((await ask('eth_chainId')).result).toBe('0x1')
  })

  test('a probability has the same outcomes for the same node name', async () => {
    const outcomes = async () => {
      await using one = await startSimNode({ chain, name: 'lots' })
      one.faults.add({ kind: 'null-result' }, { probability: 0.5 })
      const results = []
      for (let at = 0; at < 20; at++) results.push((await ask('eth_chainId', [], one.url)).result)
      return results
    }
    const first = await outcomes()
    expect(new Set(first)).toEqual(new Set(['0x1', null]))
    expect(await outcomes()).toEqual(first)
  })
})

test('a client that disconnects before its answer is recorded as unanswered', async () => {
  node.faults.add({ kind: 'hang' }, { times: 1 })
  const client = new AbortController()
  const call = fetch(node.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}',
    signal: client.signal,
  })
  while (node.calls.total === 0) await new Promise((done) => setImmediate(done))
  client.abort()
  await expect(call).rejects.toThrow('aborted')
  while (node.calls.unanswered === 0) await new Promise((done) => setImmediate(done))
  expect((await ask('eth_chainId')).result).toBe('0x1')
  expect(node.calls.unanswered).toBe(1)
})

test('a test can add methods to a node', async () => {
  await using tracing = await startSimNode({
    chain,
    methods: { trace_block: () => ['traced'] },
  })
  expect((await ask('trace_block', ['latest'], tracing.url)).result).toEqual(['traced'])
  expect((await ask('trace_block', ['latest'])).error?.code).toBe(-32601)
})

test('the node records requests', async () => {
  await ask('eth_chainId')
  await post([{ jsonrpc: '2.0', id: 1, method: 'eth_chainId' }])
  expect(node.calls.count('eth_chainId')).toBe(2)
  expect(node.calls.total).toBe(2)
  expect(node.calls.requests[0]?.headers['content-type']).toBe('application/json')
  node.calls.clear()
  expect(node.calls.count('eth_chainId')).toBe(0)
})
