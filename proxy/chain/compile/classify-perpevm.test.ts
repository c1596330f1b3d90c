// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, it, test } from 'vitest'
import { ClassifiedChain, height, tag } from '../testing/classified-chain.ts'
import type { MethodSpec } from '../types.ts'

let perp: ClassifiedChain
beforeAll(async () => {
  perp = await ClassifiedChain.load('PERPEVM')
})

test.each<[string, unknown[], Partial<MethodSpec>]>([
  ['eth_blockNumber', [], { block: tag('latest'), tellsTip: { path: [], encoding: 'hex' } }],
  ['eth_getBalance', ['0x1', 'latest'], { block: tag('latest'), cacheable: true }],
  ['eth_call', [{}, '0x10'], { block: height(16), cost: 20 }],
  ['eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x1' }], { cost: 75 }],
  ['eth_sendRawTransaction', ['0x'], { kind: 'write' }],
  ['net_version', [], { kind: 'read' }],
  ['web3_clientVersion', [], { cacheable: false }],
  ['debug_traceTransaction', ['0x'], { addon: 'debug' }],
  ['trace_block', ['latest'], { addon: 'trace' }],
  ['eth_bigBlockGasPrice', [], { block: tag('latest') }],
  ['eth_getSystemTxsByBlockNumber', ['0x7'], { block: height(7) }],
])('%s %j', (method, params, expected) => {
  expect(perp.jsonrpc(method, params)).toMatchObject({ name: method, known: true, ...expected })
})

it('is identified by its chain id', () => {
  const [verification] = perp.offered('jsonrpc').verifications
  expect(verification).toMatchObject({ name: 'chain-id', expected: '0x3e7', severity: 'fail' })
})

it('has no WebSocket', () => {
  expect(perp.jsonrpc('eth_subscribe', ['newHeads']).known).toBe(false)
})

test.each(['HYPERLIQUID', 'hyperevm', 'PerpEvm'])('%s is its name too', async (name) => {
  expect((await ClassifiedChain.load(name)).chain.id).toBe('PERPEVM')
})
