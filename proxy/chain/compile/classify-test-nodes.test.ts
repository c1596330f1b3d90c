// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadCatalog } from '../load-catalog.ts'
import type { Chain, ChainCatalog } from '../types.ts'

let catalog: ChainCatalog
beforeAll(async () => {
  catalog = await loadCatalog([])
})

const ask = (chain: Chain | null, method: string, params: unknown[] = []) =>
  chain!.interfaces.get('jsonrpc')!.classify({ apiInterface: 'jsonrpc', method, params })

const address = `0x${'a1'.repeat(20)}`
const hash = `0x${'b2'.repeat(32)}`

describe.each(['ANVIL', 'HARDHAT', 'GETH-DEV', 'GANACHE', 'BTC-REGTEST'])('%s', (id) => {
  it('caches no answers at all', () => {
    const chain = catalog.find(id)
    expect(chain?.cacheable).toBe(false)
    const { methods } = chain!.interfaces.get('jsonrpc')!
    expect(methods.size).toBeGreaterThan(100)
    const specs = [...methods].flatMap((method) =>
      [[], ['latest'], ['0x1'], [hash], [address, '0x1'], [1]].map((params) =>
        ask(chain, method, params),
      ),
    )
    expect(specs.filter(({ cacheable }) => cacheable)).toEqual([])
  })
})

it.each(['ETH1', 'SEP1', 'BTC', 'PERPEVM'])('%s still caches', (id) => {
  expect(catalog.find(id)?.cacheable).toBe(true)
})

it.each([
  ...['evm_revert', 'evm_snapshot', 'evm_mine', 'evm_increaseTime', 'evm_setAutomine'],
  ...['evm_setIntervalMining', 'evm_setNextBlockTimestamp', 'evm_setBlockGasLimit'],
  ...['anvil_setBalance', 'anvil_setCode', 'anvil_setNonce', 'anvil_setStorageAt', 'anvil_mine'],
  ...['anvil_rollback', 'anvil_reorg', 'anvil_reset', 'anvil_loadState', 'anvil_setChainId'],
  ...['anvil_impersonateAccount', 'anvil_dropTransaction', 'anvil_dealERC20'],
  ...['hardhat_setBalance', 'hardhat_setCode', 'hardhat_setNonce', 'hardhat_setStorageAt'],
  ...['hardhat_mine', 'hardhat_reset', 'hardhat_impersonateAccount', 'hardhat_setPrevRandao'],
  ...['hardhat_dropTransaction', 'hardhat_setCoinbase', 'hardhat_setNextBlockBaseFeePerGas'],
  ...['tenderly_setBalance', 'debug_setHead', 'eth_sendTransaction', 'eth_sendUnsignedTransaction'],
])('%s goes to one node, once', (method) => {
  const local = { known: true, kind: 'local', cacheable: false, addon: null, stateful: null }
  for (const id of ['ANVIL', 'GETH-DEV'])
    expect(ask(catalog.find(id), method)).toMatchObject({ name: method, ...local })
})

it('a spec that extends one of them caches nothing either, unless it overrides that', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'test-nodes-'))
  try {
    await writeFile(join(folder, 'a.yml'), 'id: MINE\nextends: ANVIL\n')
    await writeFile(join(folder, 'b.yml'), 'id: CACHED\nextends: ANVIL\ncacheable: true\n')
    const own = await loadCatalog([folder])
    const cacheable = (id: string) => ask(own.find(id), 'eth_gasPrice').cacheable
    expect([cacheable('MINE'), cacheable('CACHED')]).toEqual([false, true])
  } finally {
    await rm(folder, { recursive: true })
  }
})
