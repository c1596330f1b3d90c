// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createMPT } from '@ethereumjs/mpt'
import { valueAt } from '../json/value-at.ts'
import { toNumber, toQuantity } from '../json/values.ts'
import { keccak256 } from './keccak256.ts'
import { dataOf, listFrom, listOf, quantityOf } from './proof.ts'

/**
 * Root of the trie of a block's receipts, which its header commits to. Null if a receipt has an
 * unknown form, or if two have the same index.
 */
export async function receiptsRoot(receipts: readonly unknown[]): Promise<string | null> {
  const trie = await createMPT({ useKeyHashingFunction: keccak256 })
  const keys = new Set<string>()
  for (const receipt of receipts) {
    const index = toNumber(valueAt(receipt, ['transactionIndex']))
    const key = index === null ? null : quantityOf(toQuantity(index))
    const bytes = receiptOf(receipt)
    if (bytes === null || key === null || keys.has(key)) return null
    keys.add(key)
    await trie.put(Buffer.from(key, 'hex'), Buffer.from(bytes, 'hex'))
  }
  return `0x${Buffer.from(trie.root()).toString('hex')}`
}

/** The bytes of a receipt (EIP-2718), in hex. */
export function receiptOf(receipt: unknown): string | null {
  const at = (name: string) => valueAt(receipt, [name])
  const type = toNumber(at('type') ?? 0)
  // OP chains: receipts of deposits commit to these two since the fork Canyon, not before.
  const ofDeposit = at('depositReceiptVersion') ? ['depositNonce', 'depositReceiptVersion'] : []
  const list = listFrom([
    at('status') === undefined ? dataOf(at('root')) : quantityOf(at('status')),
    quantityOf(at('cumulativeGasUsed')),
    dataOf(at('logsBloom')),
    listOf(at('logs'), (log) =>
      listFrom([
        dataOf(valueAt(log, ['address'])),
        listOf(valueAt(log, ['topics']), dataOf),
        dataOf(valueAt(log, ['data'])),
      ]),
    ),
    ...ofDeposit.map((name) => quantityOf(at(name))),
  ])
  if (list === null || type === null) return null
  return type === 0 ? list : type.toString(16).padStart(2, '0') + list
}
