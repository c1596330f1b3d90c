// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Hex, hexToBytes, toHex } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import { waitUntil } from '../../processes/eventually.ts'
import { askRpc } from '../../processes/rpc-client.ts'
import type { Program } from '../../program/program.ts'
import { type GethNode, startGeth } from '../geth.ts'
import { makeHome } from '../node-site.ts'
import { openGround } from './ground.ts'
import { routeTo } from './routed.ts'

const ground = await openGround(['geth'])
const account = `0x${'b0'.repeat(20)}`
/** Height of the chain. A full node has the state of the last 128 blocks. */
const height = 180
const rounds = 5

/** Mines blocks, each with a payment to the account. */
async function mine({ url, account: from }: GethNode): Promise<void> {
  const latest = async () => Number(await askRpc<string>(url, 'eth_blockNumber'))
  for (let block = await latest(); block < height; block = await latest()) {
    await askRpc(url, 'eth_sendTransaction', [{ from, to: account, value: '0x1' }])
    await waitUntil('the next block', 20_000, ground.signal, async () => (await latest()) > block)
  }
}

/** An archive node that has executed the blocks of another node. */
async function startArchive({ name: other, url }: GethNode): Promise<GethNode> {
  const own = ['--state.scheme', 'hash', '--gcmode', 'archive']
  const options = { name: `archive-of-${other}`, periodSeconds: 0, flags: own }
  // The first start creates the genesis block.
  await (await startGeth(ground, options)).child.stop()
  const last = Number(await askRpc<string>(url, 'eth_blockNumber'))
  const numbers = Array.from({ length: last }, (_, at) => toHex(at + 1))
  const blocks = await Promise.all(
    numbers.map(async (number) =>
      hexToBytes(await askRpc<Hex>(url, 'debug_getRawBlock', [number])),
    ),
  )
  const home = await makeHome(ground, options.name)
  const file = join(home, 'blocks.rlp')
  await writeFile(file, Buffer.concat(blocks))
  const geth = ground.cache.program('geth')
  await promisify(execFile)(geth, ['import', '--datadir', home, ...own, file])
  return startGeth(ground, options)
}

const at = (block: number) => toHex(block)
/** Reads that depend on the state of a block. */
const stateReads: readonly (readonly [string, (block: number) => unknown[]])[] = [
  ['eth_getBalance', (block) => [account, at(block)]],
  ['eth_getTransactionCount', (block) => [account, at(block)]],
  ['eth_getStorageAt', (block) => [account, '0x0', at(block)]],
  ['eth_getCode', (block) => [account, at(block)]],
  ['eth_getProof', (block) => [account, [], at(block)]],
  ['eth_call', (block) => [{ to: account }, at(block)]],
]
/** Reads of blocks, which every node has. */
const blockReads: typeof stateReads = [
  ['eth_getBlockByNumber', (block) => [at(block), true]],
  ['eth_getBlockReceipts', (block) => [at(block)]],
  ['eth_getLogs', (block) => [{ fromBlock: at(block), toBlock: at(block) }]],
]

describe.each(['hash', 'path'])('geth with pruned state in scheme %s', (scheme) => {
  let nodes: readonly GethNode[]
  let archive: string
  let program: Program
  let url: string
  beforeAll(async () => {
    const flags = ['--state.scheme', scheme, '--gcmode', 'full']
    const pruned = await startGeth(ground, { name: `pruned-${scheme}`, periodSeconds: 0, flags })
    await mine(pruned)
    nodes = [pruned, await startArchive(pruned)]
    archive = nodes[1]!.url
    // The developer mode has a different chain id.
    const upstreams = nodes.map((node, at) => ({
      name: at === 0 ? 'pruned' : 'archive',
      urls: [{ url: node.url, 'skip-verifications': ['*'] }],
    }))
    const leg = { chainId: 'ETH1', apiInterface: 'jsonrpc', nodes: upstreams } as const
    const routed = await routeTo(ground, [leg], { strategy: 'round-robin', 'cache-bytes': '0' })
    program = routed.program
    url = routed.urls[0]!
  })

  /** Number of attempts at a node, by result. */
  async function attempts(node: string): Promise<Record<string, number>> {
    const metrics = await (await fetch(`${program.adminUrl}/metrics`)).text()
    const lines = [...metrics.matchAll(/^router_attempts_total\{(.*)\} (\d+)$/gm)]
    const counts: Record<string, number> = {}
    for (const [, labels = '', count] of lines) {
      const [, result = ''] = /result="(.*?)"/.exec(labels) ?? []
      if (labels.includes(`upstream="${node}"`))
        counts[result] = (counts[result] ?? 0) + Number(count)
    }
    return counts
  }

  test('both nodes have the same blocks, and the pruned node refuses old state', async () => {
    const heads = nodes.map((node) =>
      askRpc<{ hash: string }>(node.url, 'eth_getBlockByNumber', ['latest', false]),
    )
    const [one, other] = await Promise.all(heads)
    expect(one!.hash).toBe(other!.hash)
    const old = askRpc(nodes[0]!.url, 'eth_getBalance', [account, at(5)])
    await expect(old).rejects.toThrow(/historical state [0-9a-f]+ is not available/)
  })

  const readAll = async (reads: typeof stateReads, block: number) => {
    for (const [method, params] of reads) {
      const expected = await askRpc(archive, method, params(block))
      const directives = { 'rpc-debug-relay': 'true' }
      expect(await askRpc(url, method, params(block), directives), method).toEqual(expected)
    }
  }

  const refusals = async () => (await attempts('pruned'))['state-missing'] ?? 0

  // A read before the node reports its oldest state may cost one refused attempt.
  test('the archive answers reads of old state, with at most one refused attempt', async () => {
    for (let round = 0; round < rounds; round++) await readAll(stateReads, 30)
    const reads = rounds * stateReads.length
    const refused = await refusals()
    expect(refused).toBeLessThanOrEqual(1)
    expect(await attempts('archive')).toEqual({ answer: reads })
    // The debug log has the same class.
    const ended = () => program.stdout.split('\n').filter((line) => line.includes('attempt ended'))
    const attempted = reads + refused
    await waitUntil('the log has it', 20_000, ground.signal, () => ended().length === attempted)
    const logged = ended().map((line) => JSON.parse(line) as { upstream: string; result: string })
    const results = logged.map(({ upstream, result }) => `${upstream}: ${result}`)
    expect([...new Set(results)].toSorted()).toEqual([
      'archive: answer',
      ...(refused ? ['pruned: state-missing'] : []),
    ])
  })

  test('older blocks cost no refused attempt, and a later block at most one', async () => {
    const before = await refusals()
    await readAll(stateReads, 5)
    expect(await refusals()).toBe(before)
    for (let round = 0; round < rounds; round++) await readAll(stateReads, 40)
    expect(await refusals()).toBeLessThanOrEqual(before + 1)
  })

  test.each([
    ['recent state', stateReads, height - 20],
    ['old blocks, receipts and logs', blockReads, 5],
  ])('both nodes answer reads of %s', async (_, reads, block) => {
    const before = (await attempts('pruned'))['answer'] ?? 0
    const refused = await refusals()
    for (let round = 0; round < rounds; round++) await readAll(reads, block)
    const now = await attempts('pruned')
    expect(await refusals()).toBe(refused)
    expect(now['answer']! - before).toBeGreaterThan(rounds)
  })
})
