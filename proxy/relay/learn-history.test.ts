// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it, test } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { Chain, ChainInterface, DataKind } from '../chain/types.ts'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import type { RelayConfig } from '../config/types.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { type FixtureUpstream, nodeError, RelayFixture, result } from './testing/relay-fixture.ts'

const catalog = await loadCatalog([])
const [head, pruned] = [1_000_000, 900_000]
const hex = (block: number) => `0x${block.toString(16)}`

function chainOf(id: string, apiInterface: 'jsonrpc' | 'tendermintrpc') {
  const chain = catalog.find(id) as Chain
  return { chain, iface: chain.interfaces.get(apiInterface) as ChainInterface }
}
const eth = chainOf('ETH1', 'jsonrpc')
const hub = chainOf('HUBCHAIN', 'tendermintrpc')
const slots = chainOf('SLOTCHAIN', 'jsonrpc')
const btc = chainOf('BTC', 'jsonrpc')

/** How the nodes of one family answer requests for pruned blocks. */
interface Family {
  readonly chain: { readonly chain: Chain; readonly iface: ChainInterface }
  readonly method: string
  readonly params: (block: number) => unknown
  readonly data: (block: number) => unknown
  readonly gone: (block: number) => ScriptedAnswer
  readonly kind: DataKind
}

const ethBlock: Omit<Family, 'gone'> = {
  chain: eth,
  kind: 'blocks',
  method: 'eth_getBlockByNumber',
  params: (block) => [hex(block), false],
  data: (block) => ({ number: hex(block) }),
}
const ethLogs: Omit<Family, 'gone'> = {
  chain: eth,
  kind: 'logs',
  method: 'eth_getLogs',
  params: (block) => [{ fromBlock: hex(block), toBlock: hex(block + 9) }],
  data: (block) => [{ blockNumber: hex(block + 1), topics: [] }],
}
const families: readonly (readonly [string, Family])[] = [
  ['Ethereum: null', { ...ethBlock, gone: () => result(null) }],
  ['Ethereum: empty logs', { ...ethLogs, gone: () => result([]) }],
  [
    'Ethereum: code 4444',
    { ...ethBlock, gone: () => nodeError(4444, 'pruned history unavailable') },
  ],
  [
    'Ethereum: logs, code 4444',
    { ...ethLogs, gone: () => nodeError(4444, 'pruned history unavailable') },
  ],
  [
    'Ethereum: empty receipts',
    {
      ...ethBlock,
      kind: 'receipts',
      method: 'eth_getBlockReceipts',
      params: (block) => [hex(block)],
      data: (block) => [{ blockNumber: hex(block) }],
      gone: () => result([]),
    },
  ],
  [
    'Ethereum: null transaction',
    {
      ...ethBlock,
      kind: 'transactions',
      method: 'eth_getTransactionByBlockNumberAndIndex',
      params: (block) => [hex(block), '0x0'],
      data: (block) => ({ blockNumber: hex(block) }),
      gone: () => result(null),
    },
  ],
  [
    'Ethereum: missing state of a call',
    {
      ...ethBlock,
      kind: 'state',
      method: 'eth_call',
      params: (block) => [{}, hex(block)],
      data: () => '0x01',
      gone: () => nodeError(-32000, 'missing trie node 1b7f (path ) is not available'),
    },
  ],
  [
    'Tendermint: the lowest height',
    {
      chain: hub,
      kind: 'blocks',
      method: 'block',
      params: (block) => [String(block)],
      data: (block) => ({ block: { header: { height: String(block) } } }),
      gone: (block) =>
        nodeError(-32603, `height ${block} is not available, lowest height is ${pruned}`),
    },
  ],
  [
    'Tendermint: missing state',
    {
      chain: hub,
      kind: 'state',
      method: 'abci_query',
      params: (block) => ['/a', '', String(block), false],
      data: () => ({ response: { value: 'AQ==' } }),
      gone: (block) => nodeError(-32603, `failed to load state at height ${block}`),
    },
  ],
  [
    'Tendermint: a refusal in the result',
    {
      chain: hub,
      kind: 'state',
      method: 'abci_query',
      params: (block) => ['/a', '', String(block), false],
      data: () => ({ response: { code: 0, value: 'AQ==' } }),
      gone: (block) =>
        result({ response: { code: 18, log: `failed to load state at height ${block}` } }),
    },
  ],
  [
    'Solana: block cleaned up',
    {
      chain: slots,
      kind: 'blocks',
      method: 'getBlock',
      params: (block) => [block],
      data: (block) => ({ parentSlot: block - 1 }),
      gone: (block) =>
        nodeError(
          -32001,
          `Block ${block} cleaned up, does not exist on node. First available block: ${pruned}`,
        ),
    },
  ],
  [
    'Solana: empty slots',
    {
      chain: slots,
      kind: 'blocks',
      method: 'getBlocks',
      params: (block) => [block, block + 5],
      data: (block) => [block],
      gone: () => result([]),
    },
  ],
  [
    'Bitcoin: pruned data',
    {
      chain: btc,
      kind: 'blocks',
      method: 'getblockstats',
      params: (block) => [block],
      data: (block) => ({ height: block }),
      gone: () => nodeError(-1, 'Block not available (pruned data)', { status: 500 }),
    },
  ],
]

/** The block of a request of any family. */
function blockOf(body: string): number {
  const { params } = JSON.parse(body) as { params: readonly unknown[] }
  const given = params.map((each) => (each as { fromBlock?: string })?.fromBlock ?? each)
  return Number(given.find((each) => Number(each) > 1))
}

/** Nodes with their oldest blocks. */
function nodesOf(
  family: Family,
  oldest: Readonly<Record<string, number>>,
  config: Partial<RelayConfig> = {},
): RelayFixture {
  const nodes = Object.entries(oldest).map(([name, first]): [string, FixtureUpstream] => {
    const script: FixtureUpstream['script'] = ({ body }) => {
      const block = blockOf(Buffer.from(body as Uint8Array).toString())
      return block < first ? family.gone(block) : result(family.data(block))
    }
    return [name, { script }]
  })
  const { chain, iface } = family.chain
  const relay = new RelayFixture(chain, iface, Object.fromEntries(nodes), config)
  for (const each of relay.pool.upstreams) relay.pool.observeHead(each, head, 0, each.urls[0]!)
  return relay
}

const historyOf = (relay: RelayFixture, name: string) =>
  relay.pool.upstreams.find((each) => each.name === name)!.urls[0]!.history
const total = (relay: RelayFixture) => Object.values(relay.sent).reduce((a, b) => a + b, 0)

describe('reads of pruned blocks', () => {
  it.each(families)('%s: correct, with one call each', async (_, family) => {
    const relay = nodesOf(family, { a: pruned, b: 0, c: 0 }, { strategy: 'balanced' })
    const random = seededRandom(7)
    let wrong = 0
    for (let each = 0; each < 400; each++) {
      const block = 100_000 + Math.floor(random.next() * 799_000)
      const params = family.params(block)
      const reply = await relay.ask({ method: family.method, params })
      if (reply.outcome !== result(family.data(block)).body) wrong += 1
    }
    expect(wrong).toBe(0)
    // Each block that the node lacks raises the bound.
    expect(total(relay)).toBeLessThanOrEqual(415)
    expect(historyOf(relay, 'a').oldest(family.kind)).toBeGreaterThan(800_000)
    expect(historyOf(relay, 'b').oldest(family.kind)).toBe(0)
    const before = relay.sent['a']!
    const recent = { method: family.method, params: family.params(950_000) }
    for (let each = 0; each < 60; each++) await relay.ask(recent)
    expect(relay.sent['a']).toBeGreaterThan(before)
  })

  it.each(families)(
    '%s: an ascending backfill over two pruned nodes of three',
    async (_, family) => {
      const relay = nodesOf(family, { a: pruned, b: pruned - 9, c: 0 })
      // A node that returned old data becomes the one that confirms.
      if (family.gone(1).body === result([]).body || family.kind === 'transactions')
        historyOf(relay, 'c').returned(family.kind, 2)
      for (let block = 500_000; block < 500_300; block++) {
        const reply = await relay.ask({ method: family.method, params: family.params(block) })
        expect(reply.outcome).toBe(result(family.data(block)).body)
      }
      // Each miss doubles the gap that the router assumes.
      expect(total(relay)).toBeLessThanOrEqual(300 + 2 * 10)
    },
  )
})

test.each([
  ['declares archive', ['archive'], 100, true],
  ['declares archive, and prunes blocks that others have too', ['archive'], head - 100, false],
  ['declares nothing', [], 100, false],
])('whether a node that %s is said to lack old data', async (_, addons, block, isSaid) => {
  const [, family] = families.find(([name]) => name.includes('state of a call'))!
  const relay = nodesOf(family, { a: head, b: 0 })
  const [url] = relay.pool.upstreams[0]!.urls
  url!.addons = new Set(addons)
  Object.assign(url!, { declaredAddons: addons })
  relay.pool.changed()
  for (let each = 0; each < 3; each++)
    await relay.ask({ method: family.method, params: family.params(block) })
  const words = 'state-missing (code -32000: missing trie node 1b7f (path ) is not available)'
  expect(url!.archiveGap).toBe(isSaid ? words : null)
})

test('a node that shows another block at a known height is verified again', async () => {
  const block = (id: string) => result({ number: hex(head), hash: `0x${id.repeat(32)}` })
  const relay = new RelayFixture(eth.chain, eth.iface, {
    a: { script: () => block('aa') },
    b: { script: () => block('bb') },
  })
  const suspects: string[] = []
  for (const each of relay.pool.upstreams) each.onSuspect = () => suspects.push(each.name)
  const ask = () => relay.ask({ method: 'eth_getBlockByNumber', params: ['latest', false] })
  await ask()
  expect(suspects).toEqual([])
  await ask()
  expect(suspects).toEqual(['b'])
})

describe('a lookup by hash of possibly pruned data', () => {
  const hash = `0x${'ab'.repeat(32)}`
  const nodes = (answer: unknown) => {
    const script = (value: unknown) => ({ script: () => result(value) })
    const relay = new RelayFixture(eth.chain, eth.iface, { a: script(null), b: script(answer) })
    for (const each of relay.pool.upstreams) relay.pool.observeHead(each, head, 0, each.urls[0]!)
    return relay
  }
  const cases = [
    ['eth_getTransactionReceipt', 'receipts', { transactionHash: hash, blockNumber: '0x5' }],
    ['eth_getTransactionByHash', 'transactions', { hash, blockNumber: '0x5' }],
    ['eth_getTransactionReceipt', 'blocks', { transactionHash: hash, blockNumber: '0x5' }],
  ] as const

  it.each(cases)('%s: another node answers, with %s pruned', async (method, kind, value) => {
    const relay = nodes(value)
    historyOf(relay, 'a').lacked(kind, pruned)
    for (let each = 0; each < 20; each++)
      expect((await relay.ask({ method, params: [hash] })).outcome).toBe(result(value).body)
    expect(relay.sent['a']).toBeGreaterThan(0)
  })

  it.each([
    ['costs at most one more call if both nodes lack the data', true, 30],
    ['costs one call while no node is known to prune', false, 15],
  ])('%s', async (_, isPruned, calls) => {
    const relay = nodes(null)
    if (isPruned) historyOf(relay, 'a').lacked('receipts', pruned)
    for (let each = 0; each < 15; each++) {
      const reply = await relay.ask({ method: 'eth_getTransactionReceipt', params: [hash] })
      expect(reply.outcome).toBe(result(null).body)
    }
    expect(total(relay)).toBeLessThanOrEqual(calls)
  })
})

const [, nullBlock] = families[0]!
const [, noLogs] = families[1]!

describe('an honest empty answer', () => {
  const quiet: Family = { ...noLogs, data: () => [], gone: () => result([]) }
  const ask = (relay: RelayFixture, block: number) =>
    relay.ask({ method: quiet.method, params: quiet.params(block) })

  it.each([
    ['is confirmed each time, since an agreed one does not show what a node has', [], 200],
    ['needs no confirmation if its node declares archive', ['archive'], 100],
  ])('%s', async (_, addons, calls) => {
    const relay = nodesOf(quiet, { a: 0, b: 0 })
    for (const { urls } of relay.pool.upstreams) urls[0]!.addons = new Set(addons)
    for (let block = 500_000; block < 500_100; block++)
      expect((await ask(relay, block)).outcome).toBe(result([]).body)
    expect(total(relay)).toBe(calls)
  })

  it('of a pruned node does not hide logs after the node was right once', async () => {
    const relay = nodesOf(
      {
        ...ethLogs,
        data: (block) => (block > 500_000 ? ethLogs.data(block) : []),
        gone: () => result([]),
      },
      { a: 900_000, b: 0 },
    )
    expect((await ask(relay, 500_000)).outcome).toBe(result([]).body)
    for (let block = 500_001; block < 500_050; block++)
      expect((await ask(relay, block)).outcome).toBe(result(ethLogs.data(block)).body)
  })

  it('needs no confirmation if its node has returned older data', async () => {
    const relay = nodesOf(quiet, { a: 0, b: 0 })
    for (const name of 'ab') historyOf(relay, name).returned('logs', 400_000)
    for (let block = 500_000; block < 500_100; block++) await ask(relay, block)
    expect(total(relay)).toBe(100)
  })

  it('is never confirmed by a node that has pruned the block', async () => {
    const relay = nodesOf(quiet, { a: 0, b: 0 })
    historyOf(relay, 'b').lacked('logs', 600_000)
    for (let each = 0; each < 10; each++) await ask(relay, 500_000)
    expect(relay.sent).toEqual({ a: 10, b: 0 })
  })

  it.each<[string, ScriptedAnswer]>([
    ['an error', nodeError(-32602, 'invalid params')],
    ['no answer', { fault: 'reset' }],
    ['a limit', { status: 429, body: '' }],
    ['an answer that never comes', { afterMs: 60_000 }],
  ])('is returned if the second node gives %s', async (_, answer) => {
    const relay = new RelayFixture(eth.chain, eth.iface, {
      a: { script: () => result([]) },
      b: { script: () => answer },
    })
    for (const each of relay.pool.upstreams) relay.pool.observeHead(each, head, 0, each.urls[0]!)
    const reply = await ask(relay, 500_000)
    expect(reply.outcome).toBe(result([]).body)
    expect(reply.upstream).toBe('a')
  })

  it.each<[string, Partial<RelayConfig>]>([['retries are off', { retryLimit: 0 }]])(
    'is returned at once if %s',
    async (_, config) => {
      const relay = nodesOf(quiet, { a: 0, b: 0 }, config)
      expect((await ask(relay, 500_000)).outcome).toBe(result([]).body)
      expect(total(relay)).toBe(1)
    },
  )

  it('costs one call with a single node', async () => {
    const relay = nodesOf(quiet, { a: 0 })
    for (let each = 0; each < 10; each++) await ask(relay, 500_000)
    expect(total(relay)).toBe(10)
  })
})

describe('learned history', () => {
  const old = { method: nullBlock.method, params: nullBlock.params(500_000) }

  it('is discarded when the node returns an older block', async () => {
    const relay = nodesOf(nullBlock, { a: 0 })
    historyOf(relay, 'a').lacked('blocks', 600_000)
    await relay.ask(old)
    expect(historyOf(relay, 'a').oldest('blocks')).toBe(0)
  })

  it('ignores missing recent blocks', async () => {
    const relay = nodesOf(nullBlock, { a: head + 1, b: 0 })
    const reply = await relay.ask({ method: old.method, params: nullBlock.params(head - 1) })
    expect(reply.upstream).toBe('b')
    expect(historyOf(relay, 'a').oldest('blocks')).toBe(0)
  })

  it.each<[string, Record<string, number>, number, object]>([
    ['to latest, one block apart', { a: head, b: head + 1 }, head + 1, { toBlock: 'latest' }],
    ['without an end', { a: head, b: head + 1 }, head + 1, {}],
    ['to latest, at the same head', { a: head, b: head }, head, { toBlock: 'latest' }],
    ['above both heads', { a: head, b: head }, head + 1, { toBlock: hex(head + 1) }],
    ['to the head, on two branches', { a: head, b: head }, head, { toBlock: hex(head) }],
  ])('ignores that one node has newer logs: %s', async (_, heads, at, end) => {
    const newest = result([{ blockNumber: hex(at), topics: [] }])
    const relay = new RelayFixture(eth.chain, eth.iface, {
      a: { script: () => result([]) },
      b: { script: () => newest },
    })
    for (const each of relay.pool.upstreams)
      relay.pool.observeHead(each, heads[each.name]!, 0, each.urls[0]!)
    const range = { fromBlock: hex(head - 100), ...end }
    const reply = await relay.ask({ method: 'eth_getLogs', params: [range] })
    expect([reply.outcome, relay.sent]).toEqual([newest.body, { a: 1, b: 1 }])
    expect(relay.pool.upstreams.map(({ oldestBlocks }) => oldestBlocks)).toEqual([{}, {}])
    for (let each = 0; each < 6; each++)
      await relay.ask({ method: 'eth_getLogs', params: noLogs.params(500_000) })
    expect(relay.sent['a']).toBeGreaterThan(1)
  })

  it('includes logs that a node reports as pruned for a range up to latest', async () => {
    const data = result([{ blockNumber: hex(500_000), topics: [] }])
    const relay = new RelayFixture(eth.chain, eth.iface, {
      a: { script: () => nodeError(4444, 'pruned history unavailable') },
      b: { script: () => data },
    })
    for (const each of relay.pool.upstreams) relay.pool.observeHead(each, head, 0, each.urls[0]!)
    const range = { fromBlock: hex(500_000), toBlock: 'latest' }
    expect((await relay.ask({ method: 'eth_getLogs', params: [range] })).outcome).toBe(data.body)
    expect(historyOf(relay, 'a').oldest('logs')).toBe(500_001)
  })

  it('of blocks applies to all data in them', async () => {
    const relay = nodesOf(noLogs, { a: pruned, b: 0 })
    historyOf(relay, 'a').reported('blocks', pruned)
    for (let each = 0; each < 10; each++)
      await relay.ask({ method: noLogs.method, params: noLogs.params(500_000) })
    expect(relay.sent).toEqual({ a: 0, b: 10 })
  })

  it('ranks a node that has pruned the block last', async () => {
    const relay = nodesOf(nullBlock, { a: pruned, b: pruned })
    for (const name of 'ab') historyOf(relay, name).reported('blocks', pruned)
    const reply = await relay.ask(old)
    expect(reply.outcome).toBe(result(null).body)
    expect(total(relay)).toBe(1)
  })

  it('is per URL: the other URL of the same upstream goes first', async () => {
    const script = () => result(null)
    const other = () => result(nullBlock.data(500_000))
    const a = { script, otherScripts: [other], urls: [{}, {}] }
    const relay = new RelayFixture(eth.chain, eth.iface, { a })
    const [upstream] = relay.pool.upstreams
    for (const url of upstream!.urls) relay.pool.observeHead(upstream!, head, 0, url)
    upstream!.urls[0]!.history.lacked('blocks', 600_000)
    for (let each = 0; each < 10; each++) await relay.ask(old)
    expect(
      [relay.transport('a', 0), relay.transport('a', 1)].map((each) => each.requests.length),
    ).toEqual([0, 10])
  })
})
