// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash as digestOf } from 'node:crypto'
import { ByteReader } from './byte-reader.ts'

export interface TxInput {
  readonly txid: string
  readonly vout: number
  readonly script: Buffer
  readonly sequence: number
  readonly witness: readonly Buffer[]
}

export interface TxOutput {
  readonly satoshis: bigint
  readonly script: Buffer
}

/** A transaction as it was read from its bytes. */
export interface Tx {
  readonly raw: Buffer
  readonly txid: string
  /** With the witness; equal to the txid where there is none. */
  readonly hash: string
  readonly version: number
  readonly inputs: readonly TxInput[]
  readonly outputs: readonly TxOutput[]
  readonly lockTime: number
  readonly weight: number
}

/** SHA-256 of SHA-256. */
export function hash256(bytes: Uint8Array): Buffer {
  return digestOf('sha256', digestOf('sha256', bytes, 'buffer'), 'buffer')
}

/** A hash as it is shown: the bytes in reverse. */
export function shownHash(bytes: Uint8Array): string {
  return Buffer.from(bytes.toReversed()).toString('hex')
}

/** Reads a transaction from its bytes. @throws RangeError when they are none */
export function readTx(raw: Buffer): Tx {
  const reader = new ByteReader(raw)
  const tx = readTxFrom(reader)
  if (reader.left > 0) throw new RangeError('bytes behind the transaction')
  return tx
}

function readTxFrom(reader: ByteReader): Tx {
  const start = reader.at
  const version = reader.uint32()
  const hasWitness = reader.peek(0) === 0 && reader.peek(1) !== 0
  if (hasWitness) reader.bytes(2)
  const bodyStart = reader.at
  const inputs = reader.list(() => ({
    txid: shownHash(reader.bytes(32)),
    vout: reader.uint32(),
    script: reader.bytes(reader.compact()),
    sequence: reader.uint32(),
  }))
  const outputs = reader.list(() => ({
    satoshis: reader.uint64(),
    script: reader.bytes(reader.compact()),
  }))
  if (inputs.length === 0) throw new RangeError('a transaction without inputs')
  const bodyEnd = reader.at
  const witnesses = inputs.map(() =>
    hasWitness ? reader.list(() => reader.bytes(reader.compact())) : [],
  )
  const lockStart = reader.at
  const lockTime = reader.uint32()
  const raw = reader.slice(start, reader.at)
  const stripped = Buffer.concat([
    reader.slice(start, start + 4),
    reader.slice(bodyStart, bodyEnd),
    reader.slice(lockStart, reader.at),
  ])
  return {
    raw,
    txid: shownHash(hash256(stripped)),
    hash: shownHash(hash256(raw)),
    version,
    inputs: inputs.map((input, at) => ({ ...input, witness: witnesses[at] ?? [] })),
    outputs,
    lockTime,
    weight: 3 * stripped.length + raw.length,
  }
}

/** The first transaction of a block: it makes new coins. */
export function coinbase(height: number, extra: Buffer, payTo: Buffer): Tx {
  const heightBytes = Buffer.alloc(4)
  heightBytes.writeUInt32LE(height)
  const script = Buffer.concat([Buffer.from([4]), heightBytes, Buffer.from([extra.length]), extra])
  const satoshis = Buffer.alloc(8)
  satoshis.writeBigUInt64LE(312_500_000n)
  return readTx(
    Buffer.concat([
      Buffer.from('0200000001', 'hex'),
      Buffer.alloc(32),
      Buffer.from([0xff, 0xff, 0xff, 0xff, script.length]),
      script,
      Buffer.from('ffffffff01', 'hex'),
      satoshis,
      Buffer.from([payTo.length]),
      payTo,
      Buffer.alloc(4),
    ]),
  )
}
