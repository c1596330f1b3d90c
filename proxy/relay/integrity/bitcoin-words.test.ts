// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { AskedChain } from '../../chain/testing/asked-chain.ts'
import { doubleSha256, shownDigest } from './bitcoin-transaction.ts'
import { BlockMemory } from './block-memory.ts'
import { wrongInPieces } from './testing/answered.ts'
import {
  firstHash,
  firstRoot,
  paidCoinbase,
  paidHash,
  payment,
  paymentId,
  segwit,
  segwitId,
  segwitWtxid,
  stripped,
} from './testing/bitcoin-blocks.ts'
import { judgedAs } from './testing/judged.ts'

const btc = await AskedChain.load('BTC')

// As Bitcoin Core gives them.
const first = {
  hash: firstHash,
  confirmations: 900_000,
  height: 0,
  version: 1,
  versionHex: '00000001',
  merkleroot: firstRoot,
  time: 1_231_006_505,
  mediantime: 1_231_006_505,
  nonce: 2_083_236_893,
  bits: '1d00ffff',
  difficulty: 1,
  nTx: 1,
  nextblockhash: '00000000839a8e6886ab5951d76f411475428afc90947ee320161bbf18eb6048',
}
const paidCoinbaseId = 'b1fea52486ce0c62bb442b530a3f0132b826c74e473d1f2c220bfa78111c5082'
const paid = {
  hash: paidHash,
  confirmations: 900_000,
  height: 170,
  version: 1,
  versionHex: '00000001',
  merkleroot: '7dac2c5666815c17a3b36427de37bb9d2e2c5ccec3f8633eb91a4205cb4c10ff',
  time: 1_231_731_025,
  mediantime: 1_231_716_245,
  nonce: 1_889_418_792,
  bits: '1d00ffff',
  difficulty: 1,
  nTx: 2,
  previousblockhash: '000000002a22cfee1f2c846adbd12b3e183d4f97683f85dad08a79780a84bd55',
  nextblockhash: '00000000c9ec538cab7f38ef9c67a95742f56ab07b0a37c5be6b02808dbfb4e0',
}
const paidIds = [paidCoinbaseId, paymentId]
const paidBlock = { ...paid, tx: paidIds }
const whole = (txid: string) => ({ txid, hash: txid, vin: [{ txid: firstRoot }], vout: [] })
const paidWhole = { ...paid, tx: paidIds.map(whole) }
const otherId = 'ab'.repeat(32)

/** A header of one transaction, with a version of today. */
function made(version: number) {
  const header = Buffer.alloc(80, 7)
  header.writeInt32LE(version, 0)
  const shown = (from: number, to: number) =>
    Buffer.from(header.subarray(from, to).toReversed()).toString('hex')
  return {
    hash: shownDigest(doubleSha256(header)),
    height: 5,
    version,
    versionHex: shown(0, 4),
    previousblockhash: shown(4, 36),
    merkleroot: shown(36, 68),
    time: header.readUInt32LE(68),
    bits: shown(72, 76),
    nonce: header.readUInt32LE(76),
  }
}

type Block = Readonly<Record<string, unknown>> & { readonly hash: string }

/** Somebody has shown a header of this chain before. */
function knowing(): BlockMemory {
  const memory = new BlockMemory()
  judgedAs(btc.jsonrpc('getblockheader', [firstHash]), first, { memory, upstream: 'b' })
  return memory
}

function wrong(method: string, block: Block, memory = knowing(), upstream = 'a'): string | null {
  const found = judgedAs(btc.jsonrpc(method, [block.hash]), block, { memory, upstream })
  return found && `${found.check}${found.certain ? '' : '?'}`
}

type Row = readonly [name: string, block: Block, found: string | null]

describe('a header in words', () => {
  const rolled = made(0x2fff_e000)
  const signed = made(-0x7fff_fffe)
  it.each<Row>([
    ['the first one, which has no parent', first, null],
    [
      'the first one, with zeros for a parent',
      { ...first, previousblockhash: '00'.repeat(32) },
      null,
    ],
    ['the first one, with null for a parent', { ...first, previousblockhash: null }, null],
    ['of block 170', paid, null],
    ['of the newest block', { ...paid, nextblockhash: undefined }, null],
    ['by a node that does not count transactions', { ...paid, nTx: undefined }, null],
    ['by an old node, without its version in hex', { ...paid, versionHex: undefined }, null],
    ['in capitals', { ...paid, bits: '1D00FFFF', merkleroot: paid.merkleroot.toUpperCase() }, null],
    ['with its bits as a number', { ...paid, bits: 0x1d00_ffff }, null],
    ['of rolled bits in its version', rolled, null],
    ['of a version with a sign', signed, null],
    ['of that version without it', { ...signed, version: signed.version + 2 ** 32 }, null],
    // So btcd writes it.
    ['of that version in hex with a sign', { ...signed, versionHex: '-7ffffffe' }, null],
    ['of another version', { ...paid, version: 2, versionHex: '00000002' }, 'header-hash'],
    ['of two versions', { ...paid, versionHex: '00000002' }, 'header-hash'],
    ['of two versions, the other way', { ...paid, version: 2 }, 'header-hash'],
    ['of another parent', { ...paid, previousblockhash: firstHash }, 'header-hash'],
    ['that lost its parent', { ...paid, previousblockhash: undefined }, 'header-hash'],
    ['of another root', { ...paid, merkleroot: otherId }, 'header-hash'],
    ['of another time', { ...paid, time: paid.time + 1 }, 'header-hash'],
    ['of other bits', { ...paid, bits: '1d00fffe' }, 'header-hash'],
    ['of another nonce', { ...paid, nonce: paid.nonce - 1 }, 'header-hash'],
    ['with a hash of its own', { ...paid, hash: otherId }, 'header-hash'],
    // What it would make cannot be told, so somebody else is asked.
    ['without its nonce', { ...paid, nonce: undefined }, 'header-hash?'],
    ['with half a nonce', { ...paid, nonce: 0.5 }, 'header-hash?'],
    ['without its bits', { ...paid, bits: undefined }, 'header-hash?'],
    ['without its version', { ...paid, version: null, versionHex: null }, 'header-hash?'],
  ])('%s', (_name, block, found) => {
    expect(wrong('getblockheader', block)).toBe(found)
    expect(wrong('getblock', { ...block, tx: undefined })).toBe(found)
  })

  const changed = { ...paid, time: paid.time + 1 }
  it('is only doubted as long as nobody has shown how this chain makes its hashes', () => {
    const memory = new BlockMemory()
    expect(wrong('getblockheader', changed, memory)).toBe('header-hash?')
    expect(wrong('getblockheader', paid, memory, 'b')).toBeNull()
    expect(wrong('getblockheader', changed, memory)).toBe('header-hash')
  })

  it('is believed on a chain that makes its hashes in another way', () => {
    const memory = new BlockMemory()
    const others = [
      { ...paid, hash: otherId },
      { ...first, hash: 'cd'.repeat(32) },
    ]
    expect(wrong('getblockheader', others[0]!, memory, 'a')).toBe('header-hash?')
    expect(wrong('getblockheader', others[0]!, memory, 'b')).toBeNull()
    expect(wrong('getblockheader', others[1]!, memory, 'a')).toBeNull()
    // Nothing follows from a root in such a header.
    expect(wrong('getblock', { ...others[1]!, tx: [otherId] }, memory, 'a')).toBeNull()
  })

  it('is believed where no node shows all of it', () => {
    const memory = new BlockMemory()
    // A nonce of Zcash.
    const long = { ...paid, nonce: 'ab'.repeat(32) }
    expect(wrong('getblockheader', long, memory)).toBeNull()
  })
})

describe('the transactions of a block in words', () => {
  it.each<Row>([
    ['their ids', paidBlock, null],
    ['whole', paidWhole, null],
    // btcd has them in another place, and does not count them.
    ['whole, of btcd', { ...paid, nTx: undefined, rawtx: paidWhole.tx }, null],
    ['not counted', { ...paidBlock, nTx: undefined }, null],
    ['without the first', { ...paidBlock, nTx: 1, tx: paidIds.slice(1) }, 'transaction-hash'],
    ['without the last', { ...paidBlock, tx: paidIds.slice(0, 1) }, 'items-count'],
    ['none', { ...paidBlock, nTx: 0, tx: [] }, 'transaction-hash'],
    ['in another order', { ...paidBlock, tx: paidIds.toReversed() }, 'transaction-hash'],
    ['others', { ...paidBlock, tx: [paidCoinbaseId, otherId] }, 'transaction-hash'],
    ['others, whole', { ...paid, tx: [paidCoinbaseId, otherId].map(whole) }, 'transaction-hash'],
    ['others, of btcd', { ...paid, rawtx: [whole(otherId), whole(otherId)] }, 'transaction-hash'],
    [
      'the last one twice',
      { ...paidBlock, nTx: 3, tx: [...paidIds, paymentId] },
      'transaction-hash',
    ],
    ['one too many', { ...paidBlock, nTx: 3 }, 'items-count'],
    ['counted in words', { ...paidBlock, nTx: '2' }, 'items-count'],
    ['numbers', { ...paidBlock, tx: [1, 2] }, 'shape'],
    ['raw', { ...paidBlock, tx: [payment, payment] }, 'shape'],
    ['without an id', { ...paid, tx: [whole(paidCoinbaseId), { vin: [] }] }, 'shape'],
    [
      'of two spellings',
      { ...paid, tx: paidIds.map((txid) => ({ ...whole(txid), TXID: otherId })) },
      'shape',
    ],
  ])('%s', (_name, block, found) => {
    expect(wrong('getblock', block)).toBe(found)
  })
})

describe('a transaction in words', () => {
  const shown = { in_active_chain: true, txid: paymentId, hash: paymentId, hex: payment }
  const other = payment.replace('00ca9a3b', '00ca9a3c')
  const whole = (txid: string, hex: unknown) => ({ txid, hex })
  const inBlock = (first: unknown, last: unknown) => ({
    ...paid,
    tx: [whole(paidCoinbaseId, first), whole(paymentId, last)],
  })
  const rows: readonly (readonly [name: string, id: string, hex: unknown, found: string | null])[] =
    [
      ['beside its bytes', paymentId, payment, null],
      ['beside its bytes in capitals', paymentId, payment.toUpperCase(), null],
      ['without its bytes', paymentId, undefined, null],
      ['with null for them', paymentId, null, null],
      ['with a witness', segwitId, segwit, null],
      // As a node writes it that was told to leave witnesses out.
      ['without its witness', segwitId, stripped, null],
      ['beside those of another amount', paymentId, other, 'transaction-hash'],
      ['beside those of another', paymentId, segwit, 'transaction-hash'],
      // Some chains have something else in their transactions.
      ['beside half of them', paymentId, payment.slice(0, 100), 'shape?'],
      ['beside no hex', paymentId, 'zz', 'shape?'],
      ['beside a number', paymentId, 5, 'shape?'],
    ]
  it.each(rows)('%s', (_name, txid, hex, found) => {
    const asked = btc.jsonrpc('getrawtransaction', [txid, true])
    const result = { ...shown, txid, hash: segwitWtxid, hex }
    const seen = judgedAs(asked, result)
    expect(seen && `${seen.check}${seen.certain ? '' : '?'}`).toBe(found)
  })

  it.each<Row>([
    ['beside their bytes', inBlock(paidCoinbase, payment), null],
    ['without their bytes', inBlock(undefined, undefined), null],
    ['beside those of each other', inBlock(payment, paidCoinbase), 'transaction-hash'],
    ['the last one beside another', inBlock(paidCoinbase, other), 'transaction-hash'],
    [
      'of btcd, beside another',
      { ...paid, rawtx: inBlock(paidCoinbase, other).tx },
      'transaction-hash',
    ],
  ])('in a block, %s', (_name, block, found) => {
    expect(wrong('getblock', block)).toBe(found)
    expect(wrongInPieces(btc.jsonrpc('getblock', [paidHash, 2]), block)).toBe(found)
  })
})

describe('the transactions of a block that is too long to be held', () => {
  const asked = btc.jsonrpc('getblock', [paidHash, 2])
  it.each<Row>([
    ['whole', paidWhole, null],
    ['whole, of btcd', { ...paid, nTx: undefined, rawtx: paidWhole.tx }, null],
    ['their ids', paidBlock, null],
    ['one too few', { ...paidWhole, nTx: 3 }, 'items-count'],
    ['without an id', { ...paid, tx: [whole(paidCoinbaseId), { vin: [] }] }, 'shape'],
    // Of those that have passed nothing is left to make a root of.
    ['others', { ...paidBlock, tx: [paidCoinbaseId, otherId] }, null],
  ])('%s', (_name, block, found) => {
    expect(wrongInPieces(asked, block)).toBe(found)
  })
})
