// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash as digestOf } from 'node:crypto'
import { Deserializer, SignedTransaction } from '@aptos-labs/ts-sdk'

/** A signed transaction that a client sent. */
export interface MoveTransaction {
  readonly hash: string
  readonly sender: string
  readonly sequenceNumber: number
  readonly maxGasAmount: string
  readonly gasUnitPrice: string
  readonly expirationSeconds: string
  readonly chainId: number
}

/** Reads a signed transaction from BCS. @throws when the bytes are none */
export function readTransaction(bytes: Buffer): MoveTransaction {
  const { raw_txn: raw } = SignedTransaction.deserialize(new Deserializer(bytes))
  const prefix = digestOf('sha3-256', 'APTOS::Transaction', 'buffer')
  // A user's transaction is the first kind of transaction.
  const whole = Buffer.concat([prefix, Buffer.from([0]), bytes])
  return {
    hash: `0x${digestOf('sha3-256', whole, 'hex')}`,
    sender: raw.sender.toString(),
    sequenceNumber: Number(raw.sequence_number),
    maxGasAmount: String(raw.max_gas_amount),
    gasUnitPrice: String(raw.gas_unit_price),
    expirationSeconds: String(raw.expiration_timestamp_secs),
    chainId: raw.chain_id.chainId,
  }
}
