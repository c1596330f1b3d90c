// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect } from 'vitest'
import { headerDigest } from '../../proxy/relay/integrity/header-digest.ts'
import { ResultDocument } from '../../proxy/relay/integrity/result-document.ts'
import { transactionDigest } from '../../proxy/relay/integrity/transaction-digest.ts'
import { askRpc } from '../processes/rpc-client.ts'

interface Hashed {
  readonly hash: string
}
interface Block extends Hashed {
  readonly transactions: readonly (Hashed & { readonly type: string })[]
}

/**
 * The blocks from the first up to a height have the hashes that the router works out, and so have
 * their transactions.
 * @returns the types of the transactions
 */
export async function expectOwnHashes(url: string, height: number): Promise<readonly number[]> {
  const types: number[] = []
  for (let at = 0; at <= height; at++) {
    const block = await askRpc<Block>(url, 'eth_getBlockByNumber', [`0x${at.toString(16)}`, true])
    expect(`0x${headerDigest(documentOf(block)).digest}`).toBe(block.hash)
    for (const transaction of block.transactions) {
      expect(`0x${transactionDigest(documentOf(transaction))?.digest}`).toBe(transaction.hash)
      types.push(Number(transaction.type))
    }
  }
  return types
}

function documentOf(value: unknown): ResultDocument {
  const bytes = Buffer.from(JSON.stringify(value))
  return new ResultDocument(bytes, { start: 0, end: bytes.length })
}
