// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { invalidParams, type SlotView } from './params.ts'
import type { SlotTransaction } from './transaction.ts'

/** A transaction in the encoding that was asked for. */
export function written(
  { message, signatures, version, wire }: SlotTransaction,
  { encoding = 'json', maxSupportedTransactionVersion }: Readonly<Record<string, unknown>>,
) {
  const versioned = maxSupportedTransactionVersion === undefined ? {} : { version }
  if (encoding === 'json' || encoding === 'jsonParsed')
    return { transaction: { message, signatures }, ...versioned }
  if (wire === null || encoding !== 'base64')
    throw invalidParams(`encoding ${String(encoding)} is not simulated here`)
  return { transaction: [wire.toString('base64'), 'base64'], ...versioned }
}

/** What came of a transaction: each pays its fee and nothing else. */
export function metaOf(view: SlotView, { message }: SlotTransaction, slot: number) {
  const fee = 5_000
  const after = message.accountKeys.map((key) => view.chain.balance(key, slot))
  return {
    err: null,
    status: { Ok: null },
    fee,
    preBalances: after.map((lamports, at) => (at === 0 ? lamports + fee : lamports)),
    postBalances: after,
    preTokenBalances: [],
    postTokenBalances: [],
    innerInstructions: [],
    logMessages: ['Program 11111111111111111111111111111111 success'],
    loadedAddresses: { readonly: [], writable: [] },
    rewards: [],
    computeUnitsConsumed: 150,
  }
}
