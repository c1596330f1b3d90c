// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Client from 'bitcoin-core'
import { beforeAll, expect, test } from 'vitest'
import { waitUntil } from '../../processes/eventually.ts'
import { askBtcd, type BtcdNode, generate, startBtcdPair } from '../btcd.ts'
import { runTool } from '../../processes/run-tool.ts'
import { spendReward } from './bitcoin-transaction.ts'
import { quickPrograms } from '../build/go-programs.ts'
import { openGround } from './ground.ts'
import { routeTo } from './routed.ts'

const ground = await openGround(quickPrograms)
/** The first block of every regtest chain. */
const genesis = '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206'

let nodes: [BtcdNode, BtcdNode]
let url: string
beforeAll(async () => {
  nodes = await startBtcdPair(ground)
  const leg = {
    chainId: 'BTC-REGTEST',
    apiInterface: 'jsonrpc' as const,
    nodes: nodes.map(({ name, url: nodeUrl, authorization }) => ({
      name,
      urls: [{ url: nodeUrl, 'auth-config': { 'auth-headers': { authorization } } }],
    })),
  }
  const routed = await routeTo(ground, [leg])
  url = routed.urls[0] ?? ''
})

const log = { debug: () => {}, trace: () => {}, error: () => {}, info: () => {}, warn: () => {} }

/** A client of the router, which needs no password because the router has it. */
function connect(): Client {
  return new Client({ host: url, logger: log })
}

test('bitcoin-core reads the chain', async () => {
  const client = connect()
  const height = await client.command<number>('getblockcount')
  expect(height).toBe(await askBtcd(nodes[0], 'getblockcount'))
  expect(await client.command('getblockhash', 0)).toBe(genesis)
  const best = await client.command<string>('getbestblockhash')
  const block = await client.command<{ height: number; tx: string[] }>('getblock', best)
  expect(block.height).toBe(height)
  const [id] = block.tx
  const transaction = await client.command('getrawtransaction', id, 1)
  expect(transaction).toMatchObject({ txid: id, blockhash: best, confirmations: 1 })
  expect(await client.command('getblock', best, 0)).toMatch(/^[0-9a-f]{200,}$/)
})

test('a batch of bitcoin-core has an answer or an error for each item', async () => {
  const client = connect()
  const answers = await client.command<unknown[]>([
    { method: 'getblockcount', parameters: [] },
    { method: 'getblockhash', parameters: [0] },
    { method: 'getblockhash', parameters: [1_000_000] },
  ])
  expect(answers[0]).toBe(await askBtcd(nodes[0], 'getblockcount'))
  expect(answers[1]).toBe(genesis)
  expect(answers[2]).toMatchObject({ code: -1, message: 'Block number out of range' })
})

test('bitcoin-core gets the errors of the node', async () => {
  const client = connect()
  await expect(client.command('getnetworkinfo')).rejects.toMatchObject({ code: -1 })
  await expect(client.command('getblock', '00'.repeat(32))).rejects.toMatchObject({ code: -5 })
  await expect(client.command('nosuchmethod')).rejects.toMatchObject({ code: -32601 })
})

test.each([
  ['Params', '"Params":["nonsense"]'],
  ['params with an escape', String.raw`"\u0070arams":["nonsense"]`],
  ['params with a long s', '"param\u017f":["nonsense"]'],
])('a second list of params, as %s, gives no other caller another answer', async (_, member) => {
  const address = 'mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r'
  const post = async (more: string) => {
    const body = `{"jsonrpc":"1.0","id":1,"method":"validateaddress","params":["${address}"]${more}}`
    const answer = await fetch(url, { method: 'POST', body })
    return (await answer.json()) as { result: unknown }
  }
  expect((await post(`,${member}`)).result).toMatchObject({ isvalid: true })
  expect((await post('')).result).toMatchObject({ isvalid: true })
})

test('a transaction reaches both nodes, and is mined', async () => {
  const client = connect()
  const { id, hex } = await spendReward(nodes[0], 1)
  expect(await client.command('sendrawtransaction', hex)).toBe(id)
  // The client gets its answer as soon as the first node has the transaction.
  for (const node of nodes)
    await expect.poll(() => askBtcd<string[]>(node, 'getrawmempool')).toContain(id)
  expect(await client.command('sendrawtransaction', hex)).toBe(id)
  const [block] = await generate(ground, nodes, 1)
  expect(await client.command('sendrawtransaction', hex)).toBe(id)
  const mined = await client.command('getrawtransaction', id, 1)
  expect(mined).toMatchObject({ blockhash: block, confirmations: 1 })
})

test('the password of btcctl does not reach the node', async () => {
  const file = join(ground.directory, 'btcctl.conf')
  const settings = ['notls=1', `rpcserver=${new URL(url).host}`, 'rpcuser=me', 'rpcpass=mine']
  await writeFile(file, ['[Application Options]', ...settings, ''].join('\n'))
  const btcctl = async (...words: string[]) =>
    runTool(ground.cache.program('btcctl'), [`--configfile=${file}`, ...words])
  const count = await btcctl('getblockcount')
  expect(count.stderr).toBe('')
  expect(Number(count.stdout)).toBe(await askBtcd(nodes[0], 'getblockcount'))
  const { stdout } = await btcctl('getblock', genesis)
  expect(JSON.parse(stdout)).toMatchObject({ hash: genesis, height: 0 })
  const failed = await btcctl('getblockhash', '1000000')
  expect([failed.code, failed.stderr]).toEqual([1, '-1: Block number out of range\n'])
})

test('no call fails when one node dies, and the other node serves alone', async () => {
  const client = connect()
  const height = await askBtcd<number>(nodes[0], 'getblockcount')
  const seen: unknown[] = []
  for (let at = 0; at < 60; at++) {
    if (at === 20) nodes[1].child.kill('SIGKILL')
    seen.push(await client.command('getblockhash', at))
  }
  expect(seen.every((hash) => /^[0-9a-f]{64}$/.test(String(hash)))).toBe(true)
  await waitUntil('it is gone', 60_000, ground.signal, () => !nodes[1].child.alive)
  expect(await client.command('getblockcount')).toBe(height)
})
