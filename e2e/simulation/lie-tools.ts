// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isObject, reply, type Fields, type Lying } from './lying.ts'

/*
 * One part of an answer, told otherwise.
 */

/** Receipts of a block, one of them changed; null when none can be. */
export function withOneReceipt(
  { call, result }: Lying,
  change: (receipt: Fields) => Fields | null,
): string | null {
  if (call.method !== 'eth_getBlockReceipts' || !Array.isArray(result)) return null
  for (const [at, receipt] of result.entries()) {
    const changed = change(receipt as Fields)
    if (changed) return reply(call, result.with(at, changed))
  }
  return null
}

/** A receipt, changed; null when it cannot be. */
export function withReceipt(
  { call, result }: Lying,
  change: (receipt: Fields) => Fields | null,
): string | null {
  if (call.method !== 'eth_getTransactionReceipt' || !isObject(result)) return null
  const changed = change(result)
  return changed && reply(call, changed)
}

/** The same list with other members in its last object. */
export function withLast(list: readonly unknown[], over: Fields): readonly unknown[] {
  return [...list.slice(0, -1), { ...(list.at(-1) as Fields), ...over }]
}

/** A block with other transactions; null when it has none. */
export function withTransactions(
  { call, result }: Lying,
  change: (transactions: readonly unknown[]) => readonly unknown[] | null,
): string | null {
  if (!call.method.startsWith('eth_getBlockBy') || !isObject(result)) return null
  const transactions = result['transactions'] as readonly unknown[]
  const changed = transactions.length === 0 ? null : change(transactions)
  return changed && reply(call, { ...result, transactions: changed })
}

/** A block without a member, or with another value in it. */
export function withBlock(lying: Lying, over: Fields): string | null {
  const { call, result } = lying
  return isBlock(lying) && isObject(result) ? reply(call, { ...result, ...over }) : null
}

export function logsOf({ call, result }: Lying): readonly Fields[] {
  return call.method === 'eth_getLogs' && Array.isArray(result) ? (result as Fields[]) : []
}

export function isBlock({ call }: Lying): boolean {
  return call.method.startsWith('eth_getBlockBy')
}

export function isTransaction({ call }: Lying): boolean {
  return call.method.startsWith('eth_getTransactionBy')
}
