// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { AskedChain } from '../../chain/testing/asked-chain.ts'
import { wrongInPieces, wrongWith } from './testing/answered.ts'

const move = await AskedChain.load('MOVECHAIN')
const hash = `0x${'ab'.repeat(32)}`
const block = {
  ...{ block_height: '5', block_hash: hash, block_timestamp: '7' },
  ...{ first_version: '8', last_version: '11', transactions: null },
}
const of = (version: unknown) => ({ version, hash, type: 'user_transaction' })
const versions = (...all: number[]) => all.map((version) => of(String(version)))

/** What is doubted is passed on where an answer is too long to be held. */
function expectWrong(path: string, result: unknown, found: string | null) {
  const asked = move.rest(`GET ${path}`)
  expect(wrongWith(asked, result)).toBe(found)
  expect(wrongInPieces(asked, result)).toBe(found?.endsWith('?') ? null : found)
}

describe('blocks and lists of versions', () => {
  const byVersion = '/blocks/by_version/9'
  const byHeight = '/blocks/by_height/5'
  const whole = `${byHeight}?with_transactions=true`
  const list = '/transactions?start=8&limit=3'
  const showing = (transactions: unknown) => ({ ...block, transactions })
  it.each<[string, string, unknown, string | null]>([
    ['the block of a version', byVersion, block, null],
    ['its first version', '/v1/blocks/by_version/8', block, null],
    ['its last version', '/blocks/by_version/11', block, null],
    ['a block of one version', byHeight, { ...block, last_version: '8' }, null],
    ['a block before the version', '/blocks/by_version/12', block, 'identity'],
    ['a block behind the version', '/blocks/by_version/7', block, 'identity'],
    ['no version at all, which the node refuses', '/blocks/by_version/x', block, null],
    ['a block that ends before it begins', byHeight, { ...block, first_version: '12' }, 'shape'],
    ['no transactions, which nobody asked for', byHeight, { ...block, transactions: null }, null],
    ['a block without the member', byHeight, { ...block, transactions: undefined }, null],
    ['whole transactions', whole, showing(versions(8, 9, 10, 11)), null],
    ['a page of them', whole, showing(versions(8, 9)), null],
    ['null for transactions', whole, showing(null), 'items-count'],
    ['none of them', whole, showing([]), 'items-count'],
    ['without the first', whole, showing(versions(9, 10, 11)), 'items-order'],
    ['with a gap', whole, showing(versions(8, 10)), 'items-order'],
    ['more than the block has', whole, showing(versions(8, 9, 10, 11, 12)), 'items-order'],
    [
      'those of another block',
      `${byVersion}?with_transactions=true`,
      showing(versions(3)),
      'items-order',
    ],
    ['a list', list, versions(8, 9, 10), null],
    ['a short one, at the tip or by the page', list, versions(8), null],
    ['an empty one', list, [], null],
    ['one of no start', '/transactions?limit=3', versions(5, 6, 7), null],
    ['one of no limit', '/transactions', versions(5, 6, 7, 8), null],
    ['another start', list, versions(9, 10), 'items-order'],
    ['too many', list, versions(8, 9, 10, 11), 'items-count'],
    ['in reverse', '/transactions', versions(7, 6, 5), 'items-order'],
    ['with a gap in the list', list, versions(8, 10), 'items-order'],
    ['doubled', list, versions(8, 8), 'items-order'],
    ['texts', list, ['x', 'y'], 'shape'],
    ['no versions', list, [of(undefined)], 'shape'],
    ['an object', list, {}, 'shape'],
  ])('%s', (_case, path, result, found) => {
    expectWrong(path, result, found)
  })
})

describe('transactions of an account', () => {
  const path = '/accounts/0x01/transactions?start=4&limit=2'
  const by = (sender: string, sequence: number, version = 10 + sequence) => ({
    ...of(String(version)),
    ...{ sender, sequence_number: String(sequence) },
  })
  it.each<[string, unknown, string | null]>([
    ['those asked for', [by('0x1', 4), by('0x1', 5)], null],
    ['the address in full', [by(`0x${'1'.padStart(64, '0')}`, 4)], null],
    ['none', [], null],
    ['of another account', [by('0x1', 4), by('0x2', 5)], 'identity'],
    ['too many', [by('0x1', 4), by('0x1', 5), by('0x1', 6)], 'items-count'],
    ['in reverse', [by('0x1', 5), by('0x1', 4)], 'items-order'],
    // Older ones were pruned, or the node has an index of its own.
    ['from a later one on', [by('0x1', 7), by('0x1', 8)], null],
    ['with a gap', [by('0x1', 4), by('0x1', 6)], 'items-order?'],
    ['from an earlier one on', [by('0x1', 3)], 'items-order?'],
    ['texts', ['x'], 'shape'],
  ])('%s', (_case, result, found) => {
    expectWrong(path, result, found)
  })
})

describe('resources and modules', () => {
  const coin = '0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>'
  const resource = (type: string) => `/accounts/0x1/resource/${type}`
  const is = (type: unknown) => ({ type, data: {} })
  it.each<[string, string, unknown, string | null]>([
    ['the type', resource(coin), is(coin), null],
    ['percent-encoded', resource(encodeURIComponent(coin)), is(coin), null],
    ['an address in full', resource(`0x${'1'.padStart(64, '0')}::a::B`), is('0x1::a::B'), null],
    ['in capitals', resource('0xAB::a::B'), is('0xab::a::B'), null],
    ['with a space', resource('0x1::a::B<u8,u64>'), is('0x1::a::B<u8, u64>'), null],
    ['a name that is none', resource('x'), is(coin), null],
    ['a percent sign on its own', resource('%zz'), is(coin), null],
    ['another type', resource(coin), is('0x1::evil::X'), 'identity'],
    ['another case of the name', resource('0x1::a::B'), is('0x1::a::b'), 'identity'],
    ['another argument', resource('0x1::a::B<u8>'), is('0x1::a::B<u64>'), 'identity'],
    ['of another address', resource('0x10::a::B'), is('0x1::a::B'), 'identity'],
    ['without data', resource(coin), { type: coin }, 'shape'],
    ['without a type', resource(coin), { data: {} }, 'shape'],
    ['all resources', '/accounts/0x1/resources', [is(coin)], null],
    ['texts for resources', '/accounts/0x1/resources', ['x'], 'shape'],
    ['resources without data', '/accounts/0x1/resources', [{ type: coin }], 'shape'],
    ['all modules', '/accounts/0x1/modules', [{ bytecode: '0xa1', abi: null }], null],
    ['texts for modules', '/accounts/0x1/modules', ['x'], 'shape'],
    ['a module', '/accounts/0x1/module/coin', { bytecode: '0xa1' }, null],
    ['a module without code', '/accounts/0x1/module/coin', { abi: {} }, 'shape'],
  ])('%s', (_case, path, result, found) => {
    expectWrong(path, result, found)
  })
})
