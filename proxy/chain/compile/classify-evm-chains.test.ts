// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, it, test } from 'vitest'
import { loadCatalog } from '../load-catalog.ts'
import { ClassifiedChain, height, none, range, tag } from '../testing/classified-chain.ts'
import type { Chain, MethodSpec } from '../types.ts'

const catalog = await loadCatalog([])
const chainOf = (id: string) => new ClassifiedChain(catalog.find(id)!)
const latest = tag('latest')

test.each<[string, string, Partial<Chain>]>([
  ['BASE', '0x2105', { blockTimeMs: 2_000, allowedLagBlocks: 5, finality: 'finalized' }],
  ['BASE-SEPOLIA', '0x14a34', { id: 'BASES', blockTimeMs: 2_000 }],
  ['ARBITRUM', '0xa4b1', { blockTimeMs: 250, allowedLagBlocks: 20, finality: 'finalized' }],
  ['arbitrum-nova', '0xa4ba', { id: 'ARBITRUMN', blockTimeMs: 250 }],
  ['ARBITRUM-SEPOLIA', '0x66eee', { id: 'ARBITRUMS' }],
  ['OPTIMISM', '0xa', { id: 'OPTM', blockTimeMs: 2_000 }],
  ['OP-SEPOLIA', '0xaa37dc', { id: 'OPTMS' }],
  ['POLYGON', '0x89', { blockTimeMs: 2_000 }],
  ['AMOY', '0x13882', { id: 'POLYGONA' }],
  ['BNB', '0x38', { id: 'BSC', blockTimeMs: 450 }],
  ['BSC-TESTNET', '0x61', { id: 'BSCT' }],
  ['AVALANCHE', '0xa86a', { id: 'AVALANCHEC', finality: 1 }],
  ['FUJI', '0xa869', { id: 'AVALANCHECT', finality: 1 }],
  ['GNOSIS', '0x64', { blockTimeMs: 5_000 }],
  ['CHIADO', '0x27d8', { blockTimeMs: 5_000 }],
  ['LINEA', '0xe708', {}],
  ['SCROLL', '0x82750', {}],
  ['ZKSYNC', '0x144', {}],
  ['MANTLE', '0x1388', {}],
  ['UNICHAIN', '0x82', {}],
  ['BLAST', '0x13e31', {}],
  ['CELO', '0xa4ec', { blockTimeMs: 1_000 }],
  ['SONIC', '0x92', {}],
  ['SEI', '0x531', { finality: 1 }],
  ['BERACHAIN', '0x138de', { finality: 1 }],
  ['MONAD', '0x8f', { finality: 'finalized' }],
  ['MEGAETH', '0x10e6', {}],
])('%s is identified by %s', (name, expected, properties) => {
  expect(catalog.find(name)).toMatchObject({ family: 'evm', cacheable: true, ...properties })
  const [verification] = chainOf(name).offered('jsonrpc').verifications
  expect(verification).toMatchObject({ name: 'chain-id', expected, severity: 'fail' })
})

const hash = `0x${'ab'.repeat(32)}`

test.each<[string, string, unknown[], Partial<MethodSpec>]>([
  ['BASE', 'eth_getBalance', ['0x1', 'latest'], { block: latest, cacheable: true }],
  ['BASE', 'optimism_syncStatus', [], { block: latest, cacheable: false }],
  ['UNICHAIN', 'optimism_outputAtBlock', ['0x10'], { block: height(16) }],
  ['ARBITRUM', 'arbtrace_block', ['0x10'], { block: height(16), addon: 'arbtrace' }],
  ['ARBITRUMN', 'arbtrace_transaction', [hash], { byHash: true, addon: 'arbtrace' }],
  ['POLYGON', 'bor_getAuthor', ['0x10'], { block: height(16) }],
  ['POLYGON', 'bor_getRootHash', [1, 16], { block: range(height(1), height(16)) }],
  ['BSC', 'eth_getFinalizedHeader', [-3], { block: tag('finalized'), cacheable: false }],
  ['BSCT', 'eth_getBlobSidecars', ['0x10'], { block: height(16), data: 'blocks' }],
  ['AVAX', 'eth_callDetailed', [{}, '0x10'], { block: height(16) }],
  ['AVAX', 'warp_getMessage', ['a'], { block: none, addon: 'warp' }],
  ['LINEA', 'linea_getProof', ['0x1', [], '0x10'], { block: height(16) }],
  ['SCROLL', 'scroll_getBlockByNumber', ['0x10'], { block: height(16) }],
  ['ZKSYNC', 'zks_getBlockDetails', [16], { block: height(16), cacheable: false }],
  ['ZKSYNC', 'zks_sendRawTransactionWithDetailedOutput', ['0x71'], { kind: 'write' }],
  ['SEI', 'sei_getLogs', [{ fromBlock: '0x1', toBlock: '0x1' }], { cost: 75 }],
  ['SEI', 'sei_associate', [{}], { kind: 'write' }],
  ['MEGAETH', 'realtime_sendRawTransaction', ['0x'], { kind: 'write', waitsForBlock: true }],
  ['MEGAETH', 'eth_call', [{}, 'latest'], { block: latest, cacheable: false }],
])('%s %s %j', (id, method, params, expected) => {
  expect(chainOf(id).jsonrpc(method, params)).toMatchObject({ known: true, ...expected })
})

it('has the methods of its own chain only', () => {
  expect(chainOf('ETH1').jsonrpc('bor_getAuthor', ['0x1']).known).toBe(false)
  expect(chainOf('POLYGON').jsonrpc('zks_L1BatchNumber').known).toBe(false)
})

test.each(['ZKSYNC', 'SEI', 'ARBITRUM'])('%s does not prove hashes as Ethereum does', (id) => {
  const { checks } = chainOf(id).jsonrpc('eth_getBlockByNumber', ['0x1', false])
  expect(checks.map(({ rule }) => rule.check)).toEqual(['block', 'parent', 'exists'])
})
