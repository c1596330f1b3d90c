// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BitcoinBlock } from './chain.ts'
import type { Tx } from './transaction.ts'

/* Blocks and transactions as Bitcoin Core writes them in JSON. */

export function txJson(tx: Tx) {
  return {
    txid: tx.txid,
    hash: tx.hash,
    version: tx.version,
    size: tx.raw.length,
    vsize: Math.ceil(tx.weight / 4),
    weight: tx.weight,
    locktime: tx.lockTime,
    vin: tx.inputs.map((input) => ({
      ...(/^0+$/.test(input.txid)
        ? { coinbase: input.script.toString('hex') }
        : {
            txid: input.txid,
            vout: input.vout,
            scriptSig: { asm: '', hex: input.script.toString('hex') },
          }),
      ...(input.witness.length > 0
        ? { txinwitness: input.witness.map((item) => item.toString('hex')) }
        : {}),
      sequence: input.sequence,
    })),
    vout: tx.outputs.map((output, n) => ({
      value: Number(output.satoshis) / 1e8,
      n,
      scriptPubKey: { asm: '', hex: output.script.toString('hex'), type: 'nonstandard' },
    })),
    hex: tx.raw.toString('hex'),
  }
}

interface Place {
  readonly head: number
  readonly next: BitcoinBlock | null
  /** False for a block that was replaced. */
  readonly isCanonical: boolean
}

export function headerJson({ height, hash, header, transactions }: BitcoinBlock, place: Place) {
  const parent = Buffer.from(header.subarray(4, 36).toReversed()).toString('hex')
  return {
    hash,
    confirmations: place.isCanonical ? place.head - height + 1 : -1,
    height,
    version: header.readUInt32LE(0),
    versionHex: header.readUInt32LE(0).toString(16).padStart(8, '0'),
    merkleroot: Buffer.from(header.subarray(36, 68).toReversed()).toString('hex'),
    time: header.readUInt32LE(68),
    mediantime: header.readUInt32LE(68),
    nonce: header.readUInt32LE(76),
    bits: Buffer.from(header.subarray(72, 76).toReversed()).toString('hex'),
    difficulty: 1,
    chainwork: (height + 1).toString(16).padStart(64, '0'),
    nTx: transactions.length,
    ...(height > 0 ? { previousblockhash: parent } : {}),
    ...(place.next && place.isCanonical ? { nextblockhash: place.next.hash } : {}),
  }
}

/** The whole block as bytes. */
export function rawBlock({ header, transactions }: BitcoinBlock): Buffer {
  const count = Buffer.from([0xfd, transactions.length & 0xff, transactions.length >> 8])
  const short = transactions.length < 0xfd ? Buffer.from([transactions.length]) : count
  return Buffer.concat([header, short, ...transactions.map(({ raw }) => raw)])
}
