// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, test } from 'vitest'
import { compare, type WireCall } from '../byte-equality.ts'
import { startHaltedHub } from '../hub-chain.ts'
import { httpCall, type HttpTarget, postJson } from '../http-call.ts'
import { type GoodParams, jsonRpcCalls } from '../json-rpc-calls.ts'
import type { WasmdNode } from '../wasmd.ts'
import { openGround } from './ground.ts'
import { type HubFacts, hubFacts } from './hub-facts.ts'
import { routeTo } from './routed.ts'
import { answeredOverHttp, specOf } from './spec-methods.ts'

const ground = await openGround()
/** Headers outside the spec: the node's clock, and headers for browsers. */
const withheld = ['x-server-time', 'cache-control', 'x-content-type-options']
/** Methods whose answers contain the uptime of the node. */
const restless = /net_info|consensus_state|status/

let node: WasmdNode
let facts: HubFacts
let router: string
let methods: string[]
beforeAll(async () => {
  node = await startHaltedHub(ground, 'hub')
  facts = await hubFacts(node)
  methods = answeredOverHttp(await specOf('HUBCHAIN', 'tendermintrpc'), 'tendermintrpc')
  const nodes = [{ name: 'hub', urls: [{ url: node.tendermintUrl }] }]
  const leg = { chainId: 'HUBCHAIN', apiInterface: 'tendermintrpc' as const, nodes }
  const { urls } = await routeTo(ground, [leg])
  router = urls[0] ?? ''
})

async function expectEqual(calls: readonly WireCall<HttpTarget>[], atLeast: number): Promise<void> {
  const ways = { node: { url: node.tendermintUrl }, router: { url: router } }
  const found = await compare(calls, ways, { withheld })
  expect(found.differences.slice(0, 8)).toEqual([])
  expect(found.restless.filter((label) => !restless.test(label))).toEqual([])
  expect(found.equal).toBeGreaterThanOrEqual(atLeast)
}

test('JSON-RPC by POST', async () => {
  const { transactions, blockHash, head } = facts
  const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64')
  const heights = ['1', String(head), String(head + 5), '0', '-1'].map((height) => ({ height }))
  const hashes = [...transactions, 'AB'.repeat(32)].map((hash) => ({ hash: base64(hash) }))
  const pages = { page: '1', per_page: '2', order_by: 'desc' }
  const blocks = [blockHash, 'CD'.repeat(32)].map((hash) => ({ hash: base64(hash) }))
  const good: GoodParams = {
    block: [...heights, { height: 3 }],
    block_by_hash: blocks,
    header_by_hash: blocks,
    header: heights,
    commit: heights,
    block_results: heights,
    validators: heights.map((at) => ({ ...at, page: '1', per_page: '3' })),
    consensus_params: heights,
    blockchain: [{ minHeight: '1', maxHeight: '3' }],
    genesis_chunked: [{ chunk: '0' }, { chunk: '7' }],
    tx: hashes.flatMap((hash) => [hash, { ...hash, prove: true }]),
    tx_search: [
      { query: 'tx.height>0', prove: false, ...pages },
      { query: "message.sender='invalid'" },
    ],
    block_search: [{ query: 'block.height>0', ...pages }],
    abci_query: [
      { path: '/app/version', data: '', height: '0', prove: false },
      { path: '/store/bank/key', data: '00', height: '3', prove: true },
      { path: '/nosuch', data: '' },
    ],
    unconfirmed_txs: [{ limit: '3' }],
    broadcast_tx_sync: [{ tx: 'AAEC' }],
    broadcast_tx_async: [{ tx: 'AAEC' }],
    check_tx: [{ tx: 'AAEC' }],
    nosuch: [{}],
  }
  // This method waits for a block that never comes.
  const never = new Set(['broadcast_tx_commit'])
  await expectEqual(jsonRpcCalls({ methods, good, never }), 200)
})

test('URI style', async () => {
  const { transactions, blockHash, head } = facts
  const [hash] = transactions
  const queries: Record<string, string[]> = {
    block: ['height=1', 'height="1"', `height=${head + 9}`, 'height=0', 'height=x', 'height=-1'],
    block_by_hash: [`hash=0x${blockHash}`, 'hash=0xAB', 'hash=zz'],
    tx: [`hash=0x${hash}`, `hash=0x${hash}&prove=true`, `hash="${hash}"`, 'hash=0x12'],
    tx_search: ['query="tx.height>0"&per_page=1&order_by="asc"', 'query=tx.height>0', 'query="x"'],
    block_search: ['query="block.height=2"'],
    validators: ['height=1&per_page=1', 'page=9'],
    abci_query: ['path="/app/version"', 'path="/nosuch"', 'data=0x01&prove=true'],
    blockchain: ['minHeight=1&maxHeight=2', 'minHeight=9&maxHeight=2'],
    genesis_chunked: ['chunk=0', 'chunk=5'],
    broadcast_tx_sync: ['tx=0x0102', 'tx="AAEC"'],
  }
  const never = new Set([
    'broadcast_tx_commit',
    // The router answers this path itself.
    'health',
  ])
  const requests = [...methods, 'nosuch', 'block/1'].filter((method) => !never.has(method))
  const calls = requests.flatMap((method) =>
    ['', 'nonsense=1', ...(queries[method] ?? [])].map((query) => {
      const path = `/${method}${query === '' ? '' : `?${query.replaceAll(' ', '%20')}`}`
      return httpCall(`GET ${path}`, { verb: 'GET', path })
    }),
  )
  await expectEqual(calls, 90)
})

test('batches', async () => {
  const call = (id: number | string, method: string, params: object) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params })
  const items = [
    call(1, 'block', { height: '1' }),
    call('b', 'tx', { hash: '' }),
    call(3, 'nosuch', {}),
    call(4, 'commit', { height: '2' }),
  ]
  // The node answers a batch of one with an object, and the router with a list, as in JSON-RPC 2.0.
  const calls = [items.slice(0, 2), items].map((some) =>
    postJson(`a batch of ${some.length}`, `[${some.join(',')}]`),
  )
  const parsed = async (url: string) =>
    Promise.all(
      calls.map(async (each) => {
        const { bodies } = await each.send({ url })
        return JSON.parse(String(bodies[0])) as unknown
      }),
    )
  // The router splits and reassembles a batch, so its whitespace may differ.
  expect(await parsed(router)).toEqual(await parsed(node.tendermintUrl))
})
