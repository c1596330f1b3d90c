// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it, test } from 'vitest'
import { loadCatalog } from '../load-catalog.ts'
import { nativeSchema } from '../native/schema.ts'
import type { MethodSpec } from '../types.ts'

/* Methods of a node's operator, and names that look like those of reads. */

const catalog = await loadCatalog([])
const ask = (chain: string, method: string): MethodSpec =>
  catalog
    .find(chain)!
    .interfaces.get('jsonrpc')!
    .classify({ apiInterface: 'jsonrpc', method, params: [] })

describe('a method of an operator', () => {
  test.each([
    ['ETH1', 'admin_addPeer', true],
    ['ETH1', 'miner_setExtra', true],
    ['ETH1', 'personal_unlockAccount', true],
    ['ETH1', 'engine_newPayloadV4', true],
    ['ETH1', 'debug_setHead', true],
    ['ETH1', 'debug_setGCPercent', true],
    ['ETH1', 'debug_bundler_clearState', true],
    ['ETH1', 'evm_mine', true],
    ['ETH1', 'reth_newPayload', true],
    ['ETH1', 'reth_forkchoiceUpdated', true],
    ['ETH1', 'reth_getBalanceChangesInBlock', false],
    ['ETH1', 'debug_resetHead', true],
    ['ETH1', 'debug_deleteChainSlice', true],
    ['ETH1', 'debug_insertReceipts', true],
    ['ETH1', 'debug_chaindbCompact', true],
    ['ETH1', 'clique_propose', true],
    ['ETH1', 'clique_discard', true],
    ['ETH1', 'clique_getSnapshot', false],
    ['ETH1', 'qbft_proposeValidatorVote', true],
    ['ETH1', 'perm_addNodesToAllowlist', true],
    ['ETH1', 'anvil_mine', true],
    ['ETH1', 'hardhat_setBalance', true],
    ['ETH1', 'testing_buildBlockV1', true],
    ['ETH1', 'tenderly_setBalance', true],
    ['ETH1', 'tenderly_simulateTransaction', false],
    ['ETH1', 'debug_traceCall', false],
    ['ETH1', 'eth_sendRawTransaction', false],
    ['ETH1', 'mev_sendBundle', false],
    ['ETH1', 'adminx', false],
    ['PERPEVM', 'admin_peers', true],
    ['SEP1', 'evm_mine', true],
    ['ANVIL', 'anvil_mine', false],
    ['ANVIL', 'evm_mine', false],
    ['ANVIL', 'admin_addPeer', true],
    ['GETH-DEV', 'debug_setHead', false],
    ['SLOTCHAIN', 'surfnet_setAccount', true],
    ['SLOTCHAIN', 'getSlot', false],
  ])('%s, %s: %s', (chain, method, expected) => {
    expect(ask(chain, method).operatorOnly ?? false).toBe(expected)
  })
})

describe('a method that the spec does not name, by its name', () => {
  test.each([
    ['ETH1', 'arb_getL1Confirmations', true],
    ['ETH1', 'zks_getBlockDetails', true],
    ['ETH1', 'zks_estimateFee', true],
    ['ETH1', 'bor_getSigners', true],
    ['ETH1', 'arbtrace_block', true],
    ['ETH1', 'eth_getFoo', true],
    ['ETH1', 'optimism_version', true],
    ['ETH1', 'optimism_syncStatus', false],
    ['ETH1', 'parity_foo', false],
    ['ETH1', 'eth_gettysburg', false],
    ['ETH1', 'foo_send', false],
    ['ETH1', 'trace_setFoo', false],
    ['ETH1', 'trace_blockAndDelete', false],
    ['ETH1', 'trace_replayFoo', true],
    ['ETH1', 'trace_getFoo', true],
    ['ETH1', 'proof_submit', false],
    ['ETH1', 'ots_delete', false],
    ['ETH1', 'ots_getFoo', true],
    ['ETH1', 'foo_callAndSend', false],
    ['ETH1', 'eth_getAndDelete', false],
    ['ETH1', 'eth_getSettings', true],
    ['ETH1', 'zks_getAddressBalances', true],
    ['ETH1', 'wallet_sendCalls', false],
    ['SLOTCHAIN', 'getFoo', true],
    ['SLOTCHAIN', 'sendFoo', false],
    ['BTC', 'getfoo', true],
    ['BTC', 'sendfoo', false],
  ])('%s, %s: %s', (chain, method, expected) => {
    expect(ask(chain, method)).toMatchObject({ known: false, looksLikeRead: expected })
  })

  it.each(['sdk.foo.v1beta1.Query/Bar', 'foo.Service/GetBar', 'foo.Service/Bar', 'foo.Msg/Send'])(
    'gRPC: %s',
    (method) => {
      const { classify } = catalog.find('HUBCHAIN')!.interfaces.get('grpc')!
      const isRead = /Query\/|\/Get/.test(method)
      const { looksLikeRead } = classify({ apiInterface: 'grpc', method, header: () => null })
      expect(looksLikeRead).toBe(isRead)
    },
  )
})

// Its format has neither list.
it('a chain of the public catalog has the lists of its family', async () => {
  const folder = new URL('../testdata/catalog', import.meta.url).pathname
  const other = await loadCatalog([folder])
  const { classify } = other.find('ETH1')!.interfaces.get('jsonrpc')!
  const question = { apiInterface: 'jsonrpc', method: 'admin_peers', params: [] } as const
  expect(classify(question).operatorOnly).toBe(true)
  expect(classify({ ...question, method: 'bor_getSigners' }).looksLikeRead).toBe(true)
  const near = other.find('NEAR')!.interfaces.get('jsonrpc')!
  expect(near.classify({ ...question, method: 'state_getPairs' }).looksLikeRead).toBe(false)
})

it.each([
  [{ 'operator-only': ['a*b'] }, 'its beginning and `*`'],
  [{ 'read-names': ['('] }, 'is not a regular expression'],
])('refuses %j', (own, message) => {
  const checked = nativeSchema.safeParse({ id: 'A', interfaces: { jsonrpc: own } })
  expect(JSON.stringify(checked.error?.issues)).toContain(message)
})
