// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  isTransaction,
  logsOf,
  withBlock,
  withLast,
  withOneReceipt,
  withReceipt,
  withTransactions,
} from './lie-tools.ts'
import { isObject, reply, type Lie } from './lying.ts'

/** Lies under another name, of another type, or with a value of another kind. */
export const labelLies = {
  /** As if it were of a type that the router does not know. */
  'transaction-of-unknown-type': (lying) =>
    isTransaction(lying) && isObject(lying.result)
      ? reply(lying.call, { ...lying.result, type: '0x7f', value: '0x123456' })
      : null,
  'transaction-in-block-of-unknown-type': (lying) =>
    withTransactions(lying, (all) =>
      isObject(all.at(-1)) ? withLast(all, { type: '0x7f', to: `0x${'6'.repeat(40)}` }) : null,
    ),
  // Under a second name that some clients read first.
  'block-under-second-name': (lying) => withBlock(lying, { prevRandao: `0x${'5'.repeat(64)}` }),
  'transaction-under-second-name': (lying) =>
    isTransaction(lying) && isObject(lying.result)
      ? reply(lying.call, { ...lying.result, data: '0xdeadbeef' })
      : null,
  'transaction-in-block-under-second-name': (lying) =>
    withTransactions(lying, (all) =>
      isObject(all.at(-1)) ? withLast(all, { gasLimit: '0xdeadbeef' }) : null,
    ),
  'receipt-under-second-name': (lying) =>
    withReceipt(lying, (receipt) => ({ ...receipt, hash: `0x${'5'.repeat(64)}` })),
  'receipts-under-second-name': (lying) =>
    withOneReceipt(lying, (receipt) => ({ ...receipt, index: '0xffff' })),
  'log-under-second-name': (lying) => {
    const logs = logsOf(lying)
    return logs.length === 0 ? null : reply(lying.call, withLast(logs, { index: '0xffff' }))
  },
  // Of a type that breaks a client.
  'block-of-no-size': (lying) => withBlock(lying, { size: 'x' }),
  'receipt-of-no-sender': (lying) =>
    withReceipt(lying, (receipt) => ({ ...receipt, from: 'hello' })),
  'receipts-of-no-price': (lying) =>
    withOneReceipt(lying, (receipt) => ({ ...receipt, effectiveGasPrice: 'x' })),
  'log-of-no-time': (lying) => {
    const logs = logsOf(lying)
    return logs.length === 0 ? null : reply(lying.call, withLast(logs, { blockTimestamp: 'x' }))
  },
} as const satisfies Record<string, Lie>
