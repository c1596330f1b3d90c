// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, describe, expect, it, test } from 'vitest'
import { ClassifiedChain, height, invalid, none, range, tag } from '../testing/classified-chain.ts'
import type { BlockRef, MethodSpec } from '../types.ts'

let slots: ClassifiedChain
beforeAll(async () => {
  slots = await ClassifiedChain.load('SLOTCHAIN')
})

const key = '4Qkev8aNZcqFNSRhQzwyLMFSsi94jHqE8WNVTJzTP99F'
const confirmed = { commitment: 'confirmed' }
const [latest, pending, finalized] = [tag('latest'), tag('pending'), tag('finalized')]

describe('the slot that a call asks about', () => {
  test.each<[string, unknown, BlockRef]>([
    ['getSlot', [], finalized],
    ['getSlot', undefined, finalized],
    ['getSlot', [{}], finalized],
    ['getSlot', [{ commitment: 'processed' }], pending],
    ['getSlot', [confirmed], latest],
    ['getSlot', [{ commitment: 'finalized' }], finalized],
    ['getSlot', [{ commitment: 'soon' }], invalid],
    ['getSlot', [{ commitment: null }], finalized],
    ['getBalance', [key], finalized],
    ['getBalance', [key, confirmed], latest],
    ['getAccountInfo', [key, { encoding: 'base64' }], finalized],
    ['getAccountInfo', [key, { ...confirmed, minContextSlot: 5 }], latest],
    ['getMultipleAccounts', [[key], confirmed], latest],
    ['getProgramAccounts', [key, confirmed], latest],
    ['getTokenAccountBalance', [key, confirmed], latest],
    ['getTokenAccountsByOwner', [key, { mint: key }, confirmed], latest],
    ['getLatestBlockhash', [confirmed], latest],
    ['getBlock', [250_000_000], height(250_000_000)],
    ['getBlock', [250_000_000, { ...confirmed, transactionDetails: 'none' }], height(250_000_000)],
    ['getBlock', ['x'], invalid],
    ['getBlock', [], invalid],
    ['getBlockTime', [5], height(5)],
    ['getBlocks', [5, 9], range(height(5), height(9))],
    ['getBlocks', [5], range(height(5), finalized)],
    ['getBlocksWithLimit', [5, 3], range(height(5), finalized)],
    ['getSlotLeaders', [5, 3], finalized],
    ['getLeaderSchedule', [5], finalized],
    ['getBlockCommitment', [5], latest],
    ['getBlockHeight', [confirmed], latest],
    ['getTransaction', ['5sig', confirmed], none],
    ['getSignatureStatuses', [['5sig']], pending],
    ['getSignaturesForAddress', [key, { limit: 5, ...confirmed }], latest],
    ['simulateTransaction', ['AQ==', confirmed], latest],
    ['getEpochInfo', [confirmed], latest],
    ['getInflationReward', [[key], { epoch: 2 }], none],
    ['getInflationReward', [[key]], finalized],
    ['getGenesisHash', [], none],
    ['getHealth', [], none],
    ['sendTransaction', ['AQ=='], none],
  ])('%s %j', (method, params, block) => {
    expect(slots.jsonrpc(method, params).block).toEqual(block)
  })
})

describe('the other properties of a method', () => {
  test.each<[string, Partial<MethodSpec>]>([
    ['getAccountInfo', { kind: 'read', cacheable: true, deterministic: true }],
    ['getBalance', { kind: 'read', cost: 10 }],
    ['getMultipleAccounts', { cost: 40 }],
    ['getProgramAccounts', { cost: 500, timeoutMs: 30_000 }],
    ['getTokenAccountBalance', { kind: 'read' }],
    ['getSlot', { cacheable: true }],
    ['getBlock', { cost: 100 }],
    ['getBlockHeight', { tellsTip: null }],
    ['getBlockTime', { cacheable: false }],
    ['getBlocks', { cost: 30 }],
    ['getLatestBlockhash', { deterministic: false }],
    ['getTransaction', { byHash: true, cacheable: true }],
    ['getSignatureStatuses', { cacheable: false }],
    ['sendTransaction', { kind: 'write', cacheable: false }],
    ['simulateTransaction', { kind: 'read', cacheable: false }],
    ['getHealth', { cacheable: false, deterministic: false }],
    ['getVersion', { cacheable: false }],
    ['getEpochInfo', { kind: 'read' }],
    ['getClusterNodes', { deterministic: false }],
    ['getGenesisHash', { cacheable: true, deterministic: true }],
    ['requestAirdrop', { kind: 'local' }],
    ['getMinimumBalanceForRentExemption', { block: none, cacheable: true }],
  ])('%s', (method, expected) => {
    expect(slots.jsonrpc(method, [])).toMatchObject({ name: method, known: true, ...expected })
  })

  test.each(
    ['account', 'block', 'logs', 'program', 'root', 'signature', 'slot', 'slotsUpdates', 'vote']
      .flatMap((word) => [`${word}Subscribe`, `${word}Unsubscribe`])
      .map((method) => [method]),
  )('%s is a subscription', (method) => {
    expect(slots.jsonrpc(method, [])).toMatchObject({ known: true, kind: 'subscribe' })
  })

  test.each<[string, unknown[], unknown]>([
    ['getSlot', [confirmed], []],
    ['getBalance', [key, confirmed], ['context', 'slot']],
    ['getLatestBlockhash', [confirmed], ['context', 'slot']],
    ['getEpochInfo', [confirmed], ['absoluteSlot']],
  ])('%s %j shows the tip', (method, params, path) => {
    expect(slots.jsonrpc(method, params).tellsTip).toEqual({ path, encoding: 'decimal' })
  })

  test.each<[string, unknown[]]>([
    ['getSlot', []],
    ['getSlot', [{ commitment: 'processed' }]],
    ['getBalance', [key]],
    ['getSignatureStatuses', [['5sig']]],
    ['getBlock', [5]],
    ['getBlockHeight', [confirmed]],
  ])('%s %j does not show the tip', (method, params) => {
    expect(slots.jsonrpc(method, params).tellsTip).toBeNull()
  })
})

test.each<[string, unknown[], number | undefined]>([
  ['getSlot', [{ minContextSlot: 5 }], 5],
  ['getBlockHeight', [{ ...confirmed, minContextSlot: 5 }], 5],
  ['getEpochInfo', [{ minContextSlot: 5 }], 5],
  ['getLatestBlockhash', [{ minContextSlot: 5 }], 5],
  ['getTransactionCount', [{ minContextSlot: 5 }], 5],
  ['getSlotLeader', [{ minContextSlot: 5 }], 5],
  ['getAccountInfo', [key, { encoding: 'base64', minContextSlot: 5 }], 5],
  ['getBalance', [key, { minContextSlot: 5 }], 5],
  ['getMultipleAccounts', [[key, key], { minContextSlot: 5 }], 5],
  ['getProgramAccounts', [key, { minContextSlot: 5 }], 5],
  ['getSignaturesForAddress', [key, { minContextSlot: 5 }], 5],
  ['getFeeForMessage', ['AQ==', { minContextSlot: 5 }], 5],
  ['getInflationReward', [[key], { epoch: 2, minContextSlot: 5 }], 5],
  ['isBlockhashValid', [key, { minContextSlot: 5 }], 5],
  ['simulateTransaction', ['AQ==', { minContextSlot: 5 }], 5],
  ['getTokenAccountsByOwner', [key, { mint: key }, { minContextSlot: 5 }], 5],
  ['getTokenAccountsByDelegate', [key, { mint: key }, { minContextSlot: 5 }], 5],
  ['getBlocksWithLimit', [1, 3, { minContextSlot: 5 }], 5],
  ['getBlocks', [1, 3, { minContextSlot: 5 }], 5],
  ['getBalance', [key, confirmed], undefined],
  ['getBalance', [key], undefined],
  ['getBalance', undefined as never, undefined],
  ['getBalance', [key, { minContextSlot: null }], undefined],
  ['getBalance', [key, { minContextSlot: '5' }], undefined],
  ['getBalance', [key, { minContextSlot: 1.5 }], undefined],
  ['getBalance', [{ minContextSlot: 5 }, confirmed], undefined],
  ['getTokenSupply', [key, { minContextSlot: 5 }], undefined],
])('%s %j has the floor %s', (method, params, floor) => {
  expect(slots.jsonrpc(method, params).floor?.block).toBe(floor)
})

it('is probed for the slot, and for the first block of the cluster', () => {
  const { latestBlock, verifications } = slots.offered('jsonrpc')
  expect(JSON.parse(String(latestBlock?.body))).toMatchObject({
    method: 'getSlot',
    params: [confirmed],
  })
  expect(verifications).toMatchObject([
    { name: 'chain-id', expected: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d', addon: null },
    { name: 'pruning', addon: 'archive', severity: 'warn' },
  ])
})

test.each(['SOLANA', 'sol', 'SlotChain'])('%s is its name', async (name) => {
  expect((await ClassifiedChain.load(name)).chain.id).toBe('SLOTCHAIN')
})
