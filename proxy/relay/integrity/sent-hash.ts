// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import type { SentDigest } from '../../chain/check-rule.ts'
import { bitcoinTxid } from './bitcoin-transaction.ts'
import { firstSignature } from './solana-transaction.ts'
import { transactionHash } from './transaction-hash.ts'

/** What names a transaction that was sent, as nodes write it; null where it cannot be told. */
export function sentHash(digest: SentDigest, raw: unknown): string | null {
  return typeof raw === 'string' ? hashes[digest](raw) : null
}

const hashes: Readonly<Record<SentDigest, (raw: string) => string | null>> = {
  keccak256: transactionHash,
  'bitcoin-txid': (raw) =>
    /^(?:[0-9a-f]{2})+$/i.test(raw) ? bitcoinTxid(Buffer.from(raw, 'hex')) : null,
  'solana-signature': firstSignature,
  sha256(raw) {
    const bytes = Buffer.from(raw, 'base64')
    if (bytes.length === 0 || bytes.toString('base64') !== raw) return null
    return createHash('sha256').update(bytes).digest('hex').toUpperCase()
  },
}
