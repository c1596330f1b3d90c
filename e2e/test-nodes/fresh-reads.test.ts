// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { toHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AnvilNode, startAnvil } from '../nodes/anvil.ts'
import { ChildProcesses } from '../processes/child-processes.ts'
import { freePort } from '../processes/free-ports.ts'
import { askRpc } from '../processes/rpc-client.ts'
import { createWorkspace } from '../program/workspace.ts'
import { serveRouter } from '../served/served-router.ts'

const stack = new AsyncDisposableStack()
let anvil: AnvilNode
let url: string
beforeAll(async () => {
  const workspace = stack.use(await createWorkspace())
  const children = stack.use(new ChildProcesses(workspace.directory))
  anvil = await startAnvil({
    ...{ name: 'anvil', port: await freePort(), chainId: 31_337, genesisSeconds: 1_750_000_000 },
    ...{ mining: 'each-transaction', children, signal: AbortSignal.timeout(20_000) },
  })
  url = stack.use(await serveRouter({ chainId: 'ANVIL', primaries: [anvil] })).url
  await ask(['anvil_mine', '0x5'])
  await ask(height)
})
afterAll(() => stack.disposeAsync())

/** A method and its params. */
type Rpc = readonly [method: string, ...params: unknown[]]

const account = `0x${'a1'.repeat(20)}`
const rich = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const ask = ([method, ...params]: Rpc, at = url) => askRpc<unknown>(at, method, params)
const block: Rpc = ['eth_getBlockByNumber', 'latest', false]
const first: Rpc = ['eth_getBlockByNumber', '0x1', false]
const height: Rpc = ['eth_blockNumber']
const balance: Rpc = ['eth_getBalance', account, 'latest']
const code: Rpc = ['eth_getCode', account, 'latest']
const nonce: Rpc = ['eth_getTransactionCount', account, 'latest']
const slot: Rpc = ['eth_getStorageAt', account, toHex(0, { size: 32 }), 'latest']
const transfer = { from: rich, to: account, value: '0x1' }
const erc20 = `0x${'c2'.repeat(20)}`
/** Code that answers `balanceOf` from a mapping in slot 0. */
const tokenCode = '0x600435600052600060205260406000205460005260206000f3'
const balanceOf = `0x70a08231${account.slice(2).padStart(64, '0')}`

/** A change of state, and the read that it affects. `before`: calls that prepare the change. */
const changes: readonly (readonly [change: Rpc, read: Rpc, before?: readonly Rpc[]])[] = [
  [['anvil_setBalance', account, '0x51'], balance],
  [['hardhat_setBalance', account, '0x52'], balance],
  [['tenderly_setBalance', account, '0x53'], balance],
  [['anvil_addBalance', account, '0x1'], balance],
  [['tenderly_addBalance', account, '0x1'], balance],
  [['anvil_setCode', account, '0x6001'], code],
  [['hardhat_setCode', account, '0x6002'], code],
  [['anvil_setNonce', account, '0x11'], nonce],
  [['hardhat_setNonce', account, '0x12'], nonce],
  [['evm_setAccountNonce', account, '0x13'], nonce],
  [['anvil_setStorageAt', account, '0x0', toHex(7, { size: 32 })], slot],
  [['hardhat_setStorageAt', account, '0x0', toHex(8, { size: 32 })], slot],
  [['anvil_setCoinbase', `0x${'c0'.repeat(20)}`], ['eth_coinbase']],
  [['hardhat_setCoinbase', `0x${'c1'.repeat(20)}`], ['eth_coinbase']],
  [['anvil_setNextBlockBaseFeePerGas', '0x77359400'], ['eth_gasPrice']],
  [['evm_mine'], height],
  [['evm_mine'], block],
  [['anvil_mine', '0x3e8'], height],
  [['hardhat_mine', '0x2'], height],
  [['evm_mine_detailed'], height],
  [['eth_sendTransaction', transfer], balance],
  [
    ['eth_sendTransaction', transfer],
    ['eth_getTransactionCount', rich, 'latest'],
  ],
  [['anvil_rollback', 1], height],
  [['anvil_rollback', 1], block],
  [['anvil_reorg', 1, [[transfer, 0]]], block, [['evm_mine']]],
  [['anvil_setChainId', 31_339], ['eth_chainId']],
  [['anvil_setChainId', 31_337], ['net_version']],
  [
    ['anvil_dropAllTransactions'],
    ['eth_getTransactionCount', rich, 'pending'],
    [
      ['evm_setAutomine', false],
      ['eth_sendTransaction', transfer],
    ],
  ],
  [['evm_setAutomine', true], ['anvil_getAutomine']],
  [
    ['anvil_dealERC20', account, erc20, '0x9'],
    ['eth_call', { to: erc20, data: balanceOf }, 'latest'],
    [['anvil_setCode', erc20, tokenCode]],
  ],
]

test.each(
  changes.map((each) => [`${each[0].join(' ')}, then ${each[1].join(' ')}`, each] as const),
)('%s: no read is stale', async (_, [change, read, before = []]) => {
  for (const each of before) await ask(each)
  const was = await ask(read)
  expect(await ask(read)).toEqual(was)
  const changed = await ask(change)
  // The node answers before it mines a transaction.
  const receipt: Rpc = ['eth_getTransactionReceipt', changed]
  if (change[0] === 'eth_sendTransaction')
    await expect.poll(() => ask(receipt, anvil.url)).not.toBeNull()
  const is = await ask(read)
  expect(is).not.toEqual(was)
  expect(is).toEqual(await ask(read, anvil.url))
})

/** Reads of a client that takes a snapshot, changes state, and reverts. */
const reads: readonly Rpc[] = [balance, code, nonce, slot, height, block, first]
test.each(['evm', 'anvil'])(
  '%s: no read is stale after a snapshot, changes and a revert',
  async (namespace) => {
    for (let round = 1; round <= 10; round++) {
      const before = await Promise.all(reads.map((read) => ask(read)))
      const id = await ask([`${namespace}_snapshot`])
      await ask(['anvil_setBalance', account, toHex(1_000 + round)])
      await ask(['anvil_setCode', account, toHex(round, { size: 4 })])
      await ask(['evm_mine'])
      const changed = await ask(balance)
      expect(changed).toBe(toHex(1_000 + round))
      await ask(height)
      expect(await ask([`${namespace}_revert`, id])).toBe(true)
      const after = await Promise.all(reads.map((read) => ask(read)))
      expect(after).toEqual(before)
    }
  },
)

/** Ways to replace the block at the height of the latest block. */
const replacements: readonly (readonly [string, (snapshot: unknown) => readonly Rpc[]])[] = [
  ['anvil_reorg', () => [['anvil_reorg', 2, []]]],
  ['anvil_rollback', () => [['anvil_rollback', 1], ['evm_mine']]],
  ['evm_revert', (snapshot) => [['evm_revert', snapshot], ['evm_mine']]],
]
test.each(replacements)(
  '%s: no number, tag or hash returns the replaced block',
  async (_, replace) => {
    for (let round = 1; round <= 10; round++) {
      await ask(['evm_mine'])
      const snapshot = await ask(['evm_snapshot'])
      const sent = await ask(['eth_sendTransaction', { ...transfer, value: toHex(round) }])
      const receipt: Rpc = ['eth_getTransactionReceipt', sent]
      await expect.poll(() => ask(receipt)).toMatchObject({ status: '0x1' })
      const { number, hash } = (await ask(block)) as { number: string; hash: string }
      const places: readonly Rpc[] = [
        ['eth_getBlockByNumber', number, false],
        block,
        ['eth_getBlockReceipts', number],
        ['eth_getBlockByHash', hash, false],
      ]
      const before = await Promise.all(places.map((read) => ask(read)))
      for (const each of replace(snapshot)) await ask(each)
      expect(await ask(height)).toBe(number)
      const after = await Promise.all(places.map((read) => ask(read)))
      for (const [at, answer] of after.entries()) expect(answer).not.toEqual(before[at])
      expect(after).toEqual(await Promise.all(places.map((read) => ask(read, anvil.url))))
      expect(await ask(receipt)).toBeNull()
    }
  },
)

test('a rollback to the start removes final blocks, receipts and logs', async () => {
  await ask(['anvil_mine', '0x200'])
  const sent = await ask(['eth_sendTransaction', transfer])
  const receipt: Rpc = ['eth_getTransactionReceipt', sent]
  await expect.poll(() => ask(receipt)).toMatchObject({ status: '0x1' })
  const was = await ask(first)
  expect(was).toMatchObject({ number: '0x1' })
  await ask(['anvil_rollback', Number(await ask(height))])
  expect([await ask(height), await ask(first), await ask(receipt)]).toEqual(['0x0', null, null])
  await ask(['evm_mine', 1_760_000_000])
  expect(await ask(first)).toEqual(await ask(first, anvil.url))
  expect(await ask(first)).not.toEqual(was)
})

test('anvil_reset: no read is stale', async () => {
  await ask(['anvil_setBalance', account, '0x77'])
  expect(await ask(balance)).toBe('0x77')
  await ask(['anvil_reset'])
  expect(await ask(balance)).toBe('0x0')
})

test('the answer reports the bypass of the cache', async () => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }),
  })
  expect(response.headers.get('rpc-cache')).toBe('bypass')
})

test('a read from before a change does not answer a read after it', async () => {
  /** Answers that the node has not sent yet. */
  const pending: (() => void)[] = []
  let current = '0x1'
  const node = http.createServer((request, response) => {
    let text = ''
    request.on('data', (bytes: Buffer) => (text += bytes.toString()))
    request.on('end', () => {
      const { id, method } = JSON.parse(text) as { id: number; method: string }
      if (method === 'anvil_setBalance') current = '0x2'
      const result = method === 'eth_getBalance' ? current : '0x1'
      const reply = JSON.stringify({ jsonrpc: '2.0', id, result })
      response.setHeader('content-type', 'application/json')
      // The node has read the state, but delays its answer.
      if (method === 'eth_getBalance' && pending.length === 0)
        pending.push(() => response.end(reply))
      else response.end(reply)
    })
  })
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = node.address() as AddressInfo
    const primaries = [{ name: 'slow', url: `http://127.0.0.1:${port}` }]
    await using router = await serveRouter({ chainId: 'ANVIL', primaries })
    const before = ask(balance, router.url)
    await expect.poll(() => pending.length).toBe(1)
    await ask(['anvil_setBalance', account, '0x2'], router.url)
    expect(await ask(balance, router.url)).toBe('0x2')
    pending[0]?.()
    expect(await before).toBe('0x1')
  } finally {
    node.close()
    node.closeAllConnections()
  }
})

test('a change is sent once to one of two nodes, even if it fails there', async () => {
  const requests: string[] = []
  const start = async (name: string) => {
    const node = http.createServer((request, response) => {
      let text = ''
      request.on('data', (bytes: Buffer) => (text += bytes.toString()))
      request.on('end', () => {
        const { id, method } = JSON.parse(text) as { id: number; method: string }
        if (method === 'evm_mine') {
          requests.push(name)
          // The execution state is unknown after a reset.
          return request.socket.destroy()
        }
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
      })
    })
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
    return { name, node, url: `http://127.0.0.1:${(node.address() as AddressInfo).port}` }
  }
  const primaries = [await start('a'), await start('b')]
  try {
    await using router = await serveRouter({ chainId: 'ANVIL', primaries })
    await expect(ask(['evm_mine'], router.url)).rejects.toThrow('evm_mine')
    expect(requests).toHaveLength(1)
  } finally {
    for (const { node } of primaries) node.close()
  }
})
