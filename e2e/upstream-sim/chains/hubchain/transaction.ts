// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash as digestOf } from 'node:crypto'
import { bytesOf, decode, textOf } from './protobuf.ts'

const msgSend = '/cosmos.bank.v1beta1.MsgSend'

/** A transaction that a client sent. */
export interface HubTransaction {
  /** SHA-256 of its bytes, upper case. */
  readonly hash: string
  readonly raw: Buffer
  readonly memo: string
  readonly transfers: readonly { from: string; to: string; denom: string; amount: bigint }[]
}

/** Reads a transaction from its bytes. @throws RangeError when they are none */
export function readTransaction(raw: Buffer): HubTransaction {
  const body = bytesOf(raw, 1)
  const messages = (decode(body).get(1) ?? []).filter((one) => Buffer.isBuffer(one))
  if (messages.length === 0) throw new RangeError('a transaction without messages')
  const transfers = messages
    .filter((message) => textOf(message, 1) === msgSend)
    .map((message) => {
      const send = bytesOf(message, 2)
      const coin = bytesOf(send, 3)
      const amount = BigInt(textOf(coin, 2) || 0)
      return { from: textOf(send, 1), to: textOf(send, 2), denom: textOf(coin, 1), amount }
    })
  const hash = digestOf('sha256', raw, 'hex').toUpperCase()
  return { hash, raw, memo: textOf(body, 2), transfers }
}
