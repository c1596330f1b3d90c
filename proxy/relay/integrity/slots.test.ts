// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { AskedChain } from '../../chain/testing/asked-chain.ts'
import { judgedAs } from './testing/judged.ts'

const slots = await AskedChain.load('SLOTCHAIN')
const context = { slot: 300 }
const key = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
const signature = '4'.repeat(88)

/** The name of what is wrong with an answer, with `?` when it is only doubted; null when nothing is. */
function wrong(method: string, params: unknown[], result: unknown): string | null {
  const found = judgedAs(slots.jsonrpc(method, params), JSON.stringify(result), { horizon: 500 })
  return found && `${found.check}${found.certain ? '' : '?'}`
}

type Row = readonly [name: string, params: unknown[], result: unknown, found: string | null]

describe('a list of slots', () => {
  it.each<Row>([
    ['all of the range', [5, 7], [5, 6, 7], null],
    ['some of it', [5, 9], [6, 9], null],
    ['none of it', [5, 9], [], null],
    ['one below it', [5, 9], [4, 6], 'items-block'],
    ['one above it', [5, 9], [6, 10], 'items-block'],
    ['one doubled', [5, 9], [6, 6], 'items-order'],
    ['in reverse', [5, 9], [9, 6], 'items-order'],
    ['as texts', [5, 9], ['6'], 'shape'],
    ['with a half', [5, 9], [6.5], 'shape'],
    ['a null in it', [5, 9], [null], 'shape'],
    ['to the newest', [5], [5, 499], null],
    ['to the newest, in the older form', [5, null], [4], 'items-block'],
    ['far above the tip', [5], [5, 501], 'items-block?'],
    ['of a range that the node explains', [9, 5], [], null],
    ['null', [5, 9], null, 'shape'],
    ['an object', [5, 9], {}, 'shape'],
  ])('%s', (_name, params, result, found) => {
    expect(wrong('getBlocks', params, result)).toBe(found)
  })

  it.each<Row>([
    ['as many as may be', [5, 3], [5, 6, 9], null],
    ['fewer', [5, 3], [7], null],
    ['too many', [5, 3], [5, 6, 7, 8], 'items-count'],
    ['one before the first', [5, 3], [4, 5], 'items-block'],
    ['one doubled', [5, 3], [5, 5], 'items-order'],
    ['no limit that is known', [5], [5, 6, 7, 8], null],
  ])('from a slot on: %s', (_name, params, result, found) => {
    expect(wrong('getBlocksWithLimit', params, result)).toBe(found)
  })
})

describe('a block', () => {
  const header = {
    ...{ parentSlot: 97, blockHeight: 80, blockTime: 5 },
    ...{ blockhash: key, previousBlockhash: '2'.repeat(44) },
  }
  const transactions = [{ transaction: {}, meta: null }]
  const whole = { ...header, transactions }
  const first = { ...whole, parentSlot: 0, blockHeight: 0, previousBlockhash: '1'.repeat(32) }
  const details = (transactionDetails: string) => [100, { transactionDetails }]
  it.each<Row>([
    ['with its transactions', [100], whole, null],
    ['without them', [100], header, 'shape'],
    ['with null for them', [100, {}], { ...header, transactions: null }, 'shape'],
    ['with texts for them', [100], { ...header, transactions: ['x'] }, 'shape'],
    ['with the accounts of each', details('accounts'), whole, null],
    ['without the accounts', details('accounts'), header, 'shape'],
    ['with signatures', details('signatures'), { ...header, signatures: [signature] }, null],
    ['with transactions for signatures', details('signatures'), whole, 'shape'],
    ['with none, as was asked', details('none'), header, null],
    ['in the form of an older request', [100, 'json'], whole, null],
    ['of a short hash', [100], { ...whole, blockhash: 'abc' }, 'shape'],
    ['of a hash with a zero', [100], { ...whole, blockhash: `0${key.slice(1)}` }, 'shape'],
    ['of a hash that is too long', [100], { ...whole, blockhash: signature }, 'shape'],
    ['of a short parent', [100], { ...whole, previousBlockhash: key.slice(2) }, 'shape'],
    ['at its parent', [100], { ...whole, parentSlot: 100 }, 'block-number'],
    ['below its parent', [100], { ...whole, parentSlot: 101 }, 'block-number'],
    ['the first one', [0], first, null],
    ['above itself, as the first one', [1], { ...first, parentSlot: 1 }, 'block-number'],
    ['none', [100], null, null],
  ])('%s', (_name, params, result, found) => {
    expect(wrong('getBlock', params, result)).toBe(found)
  })
})

describe('a transaction', () => {
  const at = (slot: number) => ({ slot, meta: null, transaction: { signatures: [signature] } })
  it.each<Row>([
    ['of a slot', [signature], at(400), null],
    ['of the newest slot', [signature], at(500), null],
    ['far above the tip', [signature], at(501), 'block-number?'],
    [
      'of another signature',
      [signature],
      { ...at(5), transaction: { signatures: ['x'] } },
      'identity',
    ],
    ['in bytes', [signature, 'base64'], { ...at(5), transaction: ['AQ==', 'base64'] }, null],
    ['that is not there', [signature], null, null],
  ])('%s', (_name, params, result, found) => {
    expect(wrong('getTransaction', params, result)).toBe(found)
  })
})

describe('what every node gives', () => {
  const account = { lamports: 5, owner: key, executable: false, data: ['', 'base64'] }
  const amount = { amount: '5', decimals: 6, uiAmount: 0.1, uiAmountString: '0.1' }
  const epoch = { absoluteSlot: 5, blockHeight: 5, epoch: 0, slotIndex: 5, slotsInEpoch: 9 }
  const lately = { blockhash: key, lastValidBlockHeight: 5 }
  const sent = { signature, slot: 5, err: null }
  const at = (value: unknown) => ({ context, value })
  const withContext = [key, { withContext: true }]
  const limited = [key, { limit: 2 }]
  it.each<readonly [method: string, params: unknown[], right: unknown, wrong: unknown[]]>([
    ['getSlot', [], 5, [null, 1.5, -5, '5', {}]],
    ['getBlockHeight', [], 5, [1.5, true]],
    ['getTransactionCount', [], 5, ['5', []]],
    ['getFirstAvailableBlock', [], 0, [null, 'x']],
    ['minimumLedgerSlot', [], 5, [null]],
    ['getBlockTime', [5], 5, [-5, 1.5, 'x', {}]],
    ['getBlockTime', [5], null, []],
    ['getMinimumBalanceForRentExemption', [0], 5, [null, 1.5]],
    ['getHealth', [], 'ok', [null, 5, '']],
    ['getVersion', [], { 'solana-core': '3.0.0' }, [null, {}, 'x']],
    ['getIdentity', [], { identity: key }, [{ identity: 'abc' }]],
    [
      'getEpochInfo',
      [],
      epoch,
      [
        { ...epoch, slotIndex: null },
        { ...epoch, absoluteSlot: '5' },
      ],
    ],
    ['getLatestBlockhash', [], at(lately), [at({ ...lately, blockhash: 'x' }), at(null), lately]],
    ['getBalance', [key], at(5), [at('5'), at(-5), at(null), { value: 5 }]],
    [
      'getBalance',
      [key],
      at(5),
      [
        { context: {}, value: 5 },
        { context: { slot: '5' }, value: 5 },
      ],
    ],
    ['getAccountInfo', [key], at(account), [at('x'), at({ ...account, owner: 'x' }), at({})]],
    ['getAccountInfo', [key], at(null), [null]],
    ['getMultipleAccounts', [[key]], at([account]), [at([]), at([null, null]), at(['x'])]],
    ['getSignatureStatuses', [[signature]], at([null]), [at([]), at(['x']), at({})]],
    ['getTokenAccountBalance', [key], at(amount), [at(5), at({ ...amount, amount: 5 })]],
    ['getProgramAccounts', [key], [], [null, 5, {}, at([])]],
    ['getProgramAccounts', withContext, at([]), [null, 5, [], at({}), at(null)]],
    ['getSignaturesForAddress', limited, [sent], [null, ['x'], [sent, sent, sent]]],
    ['getSignaturesForAddress', [key], [sent], [[{ ...sent, signature: key }], [{ signature }]]],
    ['getVoteAccounts', [], { current: [], delinquent: [] }, [[], { current: [] }]],
    ['getFeeForMessage', ['AQ=='], at(null), [at('5'), null]],
    ['sendTransaction', ['AQ=='], signature, [key, 'x', null]],
  ])('of %s %j', (method, params, right, lies) => {
    expect(wrong(method, params, right)).toBe(null)
    expect(lies.map((lie) => wrong(method, params, lie))).not.toContain(null)
  })

  it.each<[number, string | null]>([
    [300, null],
    [301, 'block-number?'],
  ])('is of no older slot than %i, which was asked for', (minContextSlot, found) => {
    expect(wrong('getBalance', [key, { minContextSlot }], at(5))).toBe(found)
  })

  it('is only doubted when a node says in other words that it is well', () => {
    expect(wrong('getHealth', [], 'fine')).toBe('shape?')
  })
})
