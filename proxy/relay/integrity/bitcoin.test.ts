// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { AskedChain } from '../../chain/testing/asked-chain.ts'
import type { Classification } from '../../chain/types.ts'
import { doubleSha256, shownDigest } from './bitcoin-transaction.ts'
import { wrongWith, wrongWithLong } from './testing/answered.ts'
import {
  firstCoinbase,
  firstHash,
  firstHeader,
  firstRoot,
  noTxid,
  paidCoinbase,
  paidHash,
  paidHeader,
  payment,
  paymentId,
  segwit,
  segwitBody,
  segwitId,
  segwitWtxid,
  stripped,
  witness,
} from './testing/bitcoin-blocks.ts'

const btc = await AskedChain.load('BTC')
const regtest = await AskedChain.load('BTC-REGTEST')

// The first coinbase with the witness that BIP 141 gives to those of today.
const coinbaseId = firstRoot
const witnessedCoinbase = `${firstCoinbase.slice(0, 8)}0001${firstCoinbase.slice(8, -8)}0120${noTxid}00000000`

const hashOf = (hex: string) => doubleSha256(Buffer.from(hex, 'hex'))
/** A block of transactions whose digests are given; the number of them, one byte, tells itself. */
function blockOf(transactions: readonly string[], root: Uint8Array): [hash: string, hex: string] {
  const header = `00000020${noTxid}${Buffer.from(root).toString('hex')}${'11'.repeat(12)}`
  const count = Buffer.of(transactions.length).toString('hex')
  return [shownDigest(hashOf(header)), `${header}${count}${transactions.join('')}`]
}

type Case = readonly [name: string, asked: Classification, result: unknown, found: string | null]

const block = (params: unknown[]) => btc.jsonrpc('getblock', params)
const otherHash = 'ab'.repeat(32)

describe('a block', () => {
  const first = { hash: firstHash, height: 0, merkleroot: firstRoot, time: 5, tx: [otherHash] }
  const firstBlock = `${firstHeader}01${firstCoinbase}`
  const paid = `${paidHeader}02${paidCoinbase}${payment}`
  const ids = [firstCoinbase, stripped].map(hashOf)
  const pair = hashOf(Buffer.concat(ids).toString('hex'))
  const [segwitBlockHash, segwitBlock] = blockOf([witnessedCoinbase, segwit], pair)
  // Of three the last one counts twice; nobody may have told it twice (CVE-2012-2459).
  const third = hashOf(payment)
  const lastPair = doubleSha256(Buffer.concat([third, third]))
  const root = doubleSha256(Buffer.concat([pair, lastPair]))
  const three = [firstCoinbase, segwit, payment]
  const [threeHash, threeBlock] = blockOf(three, root)
  const [fourHash, fourBlock] = blockOf([...three, payment], root)
  const [emptyHash, emptyBlock] = blockOf([], Buffer.alloc(32))
  it.each<Case>([
    ['in words', block([firstHash]), first, null],
    ['without a height', block([firstHash]), { ...first, height: null }, 'shape'],
    ['of a height in words', block([firstHash]), { ...first, height: '0' }, 'shape'],
    ['of half a height', block([firstHash]), { ...first, height: 0.5 }, 'shape'],
    ['of no root', block([firstHash]), { ...first, merkleroot: `0x${firstRoot}` }, 'shape'],
    ['with a text for transactions', block([firstHash]), { ...first, tx: 'x' }, 'shape'],
    // btcd at verbosity 2.
    ['of raw transactions', block([firstHash, 2]), { ...first, tx: undefined, rawtx: [] }, null],
    ['that is a list', block([firstHash]), [first], 'block-hash'],
    ['that is null', block([firstHash]), null, 'shape'],
    ['of another hash', block([firstHash]), { ...first, hash: otherHash }, 'block-hash'],
    ['in hex', block([firstHash, 0]), firstBlock, null],
    ['in hex, as `false`', block([firstHash, false]), firstBlock, null],
    ['in capitals', block([firstHash.toUpperCase(), 0]), firstBlock.toUpperCase(), null],
    ['in hex with a payment', block([paidHash, 0]), paid, null],
    ['in hex with witnesses', block([segwitBlockHash, 0]), segwitBlock, null],
    [
      'whose witnesses an old node leaves out',
      block([segwitBlockHash, 0]),
      `${segwitBlock.slice(0, 162)}${firstCoinbase}${stripped}`,
      null,
    ],
    ['in hex with an odd number', block([threeHash, 0]), threeBlock, null],
    ['in hex with one told twice', block([fourHash, 0]), fourBlock, 'transaction-hash'],
    ['in hex of another hash', block([otherHash, 0]), firstBlock, 'block-hash'],
    ['that is half a header', block([firstHash, 0]), firstHeader.slice(0, 100), 'shape'],
    ['that is its header', block([firstHash, 0]), firstHeader, 'shape'],
    ['that is no hex', block([firstHash, 0]), 'zz', 'shape'],
    ['with half a byte', block([firstHash, 0]), firstBlock.slice(0, -1), 'shape'],
    ['without its last byte', block([firstHash, 0]), firstBlock.slice(0, -2), 'shape'],
    ['with a byte too much', block([firstHash, 0]), `${firstBlock}00`, 'shape'],
    ['with letters behind it', block([firstHash, 0]), `${firstBlock}zz`, 'shape'],
    ['that lost a payment', block([paidHash, 0]), paid.slice(0, -payment.length), 'shape'],
    [
      'that counts too few',
      block([paidHash, 0]),
      paid.replace(`${paidHeader}02`, `${paidHeader}01`),
      'shape',
    ],
    [
      'that counts too many',
      block([paidHash, 0]),
      paid.replace(`${paidHeader}02`, `${paidHeader}ffffffffffffffffff`),
      'shape',
    ],
    [
      'without one of two',
      block([paidHash, 0]),
      `${paidHeader}01${paidCoinbase}`,
      'transaction-hash',
    ],
    [
      'of another payment',
      block([paidHash, 0]),
      `${paidHeader}02${paidCoinbase}${segwit}`,
      'transaction-hash',
    ],
    [
      'of transactions in another order',
      block([paidHash, 0]),
      `${paidHeader}02${payment}${paidCoinbase}`,
      'transaction-hash',
    ],
    ['of no transactions', block([emptyHash, 0]), emptyBlock, 'shape'],
  ])('%s', (_case, asked, result, found) => {
    expect(wrongWith(asked, result)).toBe(found)
  })

  const verbose = btc.jsonrpc('getblockheader', [firstHash])
  const raw = btc.jsonrpc('getblockheader', [firstHash, false])
  it.each<Case>([
    // The first block has no `previousblockhash`.
    ['in words', verbose, { ...first, tx: undefined }, null],
    ['of no time', verbose, { ...first, time: undefined }, 'shape'],
    ['in hex', raw, firstHeader, null],
    ['with a byte too much', raw, `${firstHeader}00`, 'shape'],
    ['with half a byte too much', raw, `${firstHeader}0`, 'shape'],
    ['with the block behind it', raw, firstBlock, 'shape'],
    ['without its last byte', raw, firstHeader.slice(0, -2), 'shape'],
    ['of another block', raw, paidHeader, 'block-hash'],
  ])('its header %s', (_case, asked, result, found) => {
    expect(wrongWith(asked, result)).toBe(found)
  })

  const long = '00'.repeat(600_000)
  it.each<Case>([
    ['whose header is right', block([firstHash, 0]), `${firstBlock}${long}`, null],
    ['of half a byte', block([firstHash, 0]), `${firstBlock}${long}0`, 'shape'],
    ['of another hash', block([otherHash, 0]), `${firstBlock}${long}`, 'block-hash'],
    ['that is asked for its header', raw, `${firstHeader}${long}`, 'shape'],
  ])('that is longer than what is held: %s', (_case, asked, result, found) => {
    expect(wrongWithLong(asked, result)).toBe(found)
  })
})

describe('a transaction', () => {
  const of = (...params: unknown[]) => btc.jsonrpc('getrawtransaction', params)
  // A transaction without inputs looks as if it had the marker of witnesses.
  const noInputs = `020000000001${'00'.repeat(8)}0151${'00'.repeat(4)}`
  it.each<Case>([
    ['in hex', of(paymentId), payment, null],
    ['in hex, as 0', of(paymentId, 0), payment, null],
    ['in capitals', of(paymentId.toUpperCase(), false), payment.toUpperCase(), null],
    ['by name', btc.jsonrpc('getrawtransaction', { txid: paymentId }), payment, null],
    [
      'by name, another',
      btc.jsonrpc('getrawtransaction', { txid: segwitId }),
      payment,
      'transaction-hash',
    ],
    ['with its witness', of(segwitId), segwit, null],
    ['of an old node, without its witness', of(segwitId), stripped, null],
    ['that makes coins', of(coinbaseId), firstCoinbase, null],
    ['that makes coins, with a witness', of(coinbaseId), witnessedCoinbase, null],
    ['another', of(segwitId), payment, 'transaction-hash'],
    ['by the hash of its witness', of(segwitWtxid), segwit, 'transaction-hash'],
    [
      'of another amount',
      of(paymentId),
      payment.replace('00ca9a3b', '00ca9a3c'),
      'transaction-hash',
    ],
    ['without its last byte', of(paymentId), payment.slice(0, -2), 'shape'],
    ['with half a byte', of(paymentId), payment.slice(0, -1), 'shape'],
    ['with a byte too much', of(paymentId), `${payment}00`, 'shape'],
    ['with two bytes less of its witness', of(segwitId), segwit.replace('057dcc', '05'), 'shape'],
    ['with a marker and no witness', of(segwitId), `020000000001${segwitBody}0000000000`, 'shape'],
    ['with another flag', of(segwitId), segwit.replace('020000000001', '020000000003'), 'shape'],
    [
      'with a count in more bytes than it needs',
      of(segwitId),
      segwit.replace(witness, `fd0200${witness.slice(2)}`),
      'shape',
    ],
    [
      'that counts what is not there',
      of(segwitId),
      segwit.replace(witness, `ffffffffffffffffff${witness}`),
      'shape',
    ],
    ['without inputs', of(shownDigest(hashOf(noInputs))), noInputs, 'shape'],
    ['of nothing', of(paymentId), '', 'shape'],
    ['of no hex', of(paymentId), `0x${payment}`, 'shape'],
    ['of a few bytes', of(paymentId), '0100', 'shape'],
    ['that is a list', of(paymentId), [], 'shape'],
    ['that is null', of(paymentId), null, 'shape'],
    ['in words', of(paymentId, true), { txid: paymentId }, null],
    ['in words, another', of(paymentId, 1), { txid: firstHash }, 'identity'],
  ])('%s', (_case, asked, result, found) => {
    expect(wrongWith(asked, result)).toBe(found)
  })

  it.each<Case>([
    ['whatever it holds', of(paymentId), '01'.repeat(600_000), null],
    ['with half a byte', of(paymentId), `${'01'.repeat(600_000)}0`, 'shape'],
  ])('that is longer than what is held: %s', (_case, asked, result, found) => {
    expect(wrongWithLong(asked, result)).toBe(found)
  })
})

describe('an answer of Bitcoin', () => {
  const to = (method: string, ...params: unknown[]) => btc.jsonrpc(method, params)
  const height = to('getblockhash', 5)
  const info = { chain: 'main', blocks: 5, headers: 5, bestblockhash: otherHash }
  const output = { bestblock: otherHash, confirmations: 0, value: 0.5, scriptPubKey: {} }
  const firstOfRegtest = '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206'
  it.each<Case>([
    ['a height', to('getblockcount'), 5, null],
    ['half a height', to('getblockcount'), 30.5, 'shape'],
    ['a height below the first', to('getblockcount'), -1, 'shape'],
    ['null for the height', to('getblockcount'), null, 'shape'],
    ['a hash', height, otherHash, null],
    ['null for a hash', height, null, 'shape'],
    ['no hex for a hash', height, 'zz'.repeat(32), 'shape'],
    ['a hash of Ethereum', height, `0x${otherHash}`, 'shape'],
    ['half a hash', height, otherHash.slice(32), 'shape'],
    ['the first hash', to('getblockhash', 0), firstHash, null],
    ['the first hash of another chain', to('getblockhash', 0), firstOfRegtest, 'chain'],
    ['the first hash of this chain', regtest.jsonrpc('getblockhash', [0]), firstOfRegtest, null],
    ['the newest hash', to('getbestblockhash'), otherHash, null],
    ['a short newest hash', to('getbestblockhash'), otherHash.slice(2), 'shape'],
    ['the state', to('getblockchaininfo'), info, null],
    ['a state with half a block', to('getblockchaininfo'), { ...info, blocks: 5.5 }, 'shape'],
    ['a state without headers', to('getblockchaininfo'), { ...info, headers: null }, 'shape'],
    ['stats by height', to('getblockstats', 5), { height: 5 }, null],
    // Bitcoin Core gives the members that were asked for, and no others.
    ['some stats', to('getblockstats', 5, ['txs']), { txs: 1 }, null],
    ['null for stats', to('getblockstats', 5), null, 'shape'],
    ['stats of another height', to('getblockstats', 5), { height: 6 }, 'block-number'],
    ['an output', to('gettxout', otherHash, 0), output, null],
    ['an output that was spent', to('gettxout', otherHash, 0), null, null],
    ['an output of a text', to('gettxout', otherHash, 0), { ...output, value: '0.5' }, 'shape'],
    ['an output in no block', to('gettxout', otherHash, 0), { ...output, bestblock: 'x' }, 'shape'],
    ['nothing that waits', to('getrawmempool'), [], null],
    ['what waits', to('getrawmempool'), [otherHash, paymentId], null],
    ['what waits, in words', to('getrawmempool', true), { [otherHash]: {} }, null],
    ['numbers that wait', to('getrawmempool'), [otherHash, 5], 'shape'],
    ['a text that waits', to('getrawmempool'), otherHash, 'shape'],
    ['one that waits', to('getmempoolentry', otherHash), { time: 5, height: 5, fees: {} }, null],
    ['one that waits for half a block', to('getmempoolentry', otherHash), { height: 5.5 }, 'shape'],
    ['the hash of what was sent', to('sendrawtransaction', payment), paymentId, null],
    ['a word for what was sent', to('sendrawtransaction', payment), 'done', 'shape'],
    ['null for what was sent', to('sendrawtransaction', payment), null, 'shape'],
  ])('%s', (_case, asked, result, found) => {
    expect(wrongWith(asked, result)).toBe(found)
  })

  it('is of any chain where the URL skips to ask which', () => {
    expect(wrongWith(to('getblockhash', 0), firstOfRegtest, ['chain-id'])).toBeNull()
  })
})
