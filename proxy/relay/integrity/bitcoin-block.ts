// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { doubleSha256, passTransaction, shownDigest, WireCursor } from './bitcoin-transaction.ts'
import type { ResultDocument } from './result-document.ts'
import { bareHash, hexAt, shown } from './values.ts'
import { violation, type Violation } from './violation.ts'

export const headerBytes = 80
/** Where the root of the transactions stands in the header. */
export const rootStart = 36
const rootEnd = 68

/** The answer is one text, so that it can be a block, a header or a transaction in hex. */
export function isText({ bytes, span }: ResultDocument): boolean {
  return bytes[span.start] === 0x22
}

/**
 * A block of Bitcoin in hex, or its header alone, has the hash asked for, which is that of the header;
 * the header has the root of the transactions behind it. Of a long block only the header is looked at.
 */
export function checkRawBlock(
  document: ResultDocument,
  form: 'bitcoin-block' | 'bitcoin-header',
  wanted: string,
): Violation | null {
  const { bytes, span, longTextBytes } = document
  const raw = hexAt(bytes, span.start, span.end)
  if (raw === null || raw.length < headerBytes)
    return violation('shape', 'the answer is no block in hex')
  const hash = shownDigest(doubleSha256(raw.subarray(0, headerBytes)))
  if (hash !== bareHash(wanted))
    return violation('block-hash', `asked for ${shown(wanted)}, got one of hash ${hash}`)
  if (form === 'bitcoin-header')
    return raw.length === headerBytes ? null : violation('shape', 'more than a header')
  if (longTextBytes !== null)
    return longTextBytes % 2 === 1 ? violation('shape', 'half a byte of a block') : null
  return checkTransactions(raw)
}

function checkTransactions(block: Buffer): Violation | null {
  const cursor = new WireCursor(block, headerBytes)
  const count = cursor.count()
  const txids: Buffer[] = []
  for (let txid; txids.length < count && (txid = passTransaction(cursor));) txids.push(txid)
  if (txids.length === 0 || txids.length !== count || !cursor.isAtEnd)
    return violation('shape', 'behind the header are not the transactions of a block')
  const root = merkleRoot(txids)
  if (root?.equals(block.subarray(rootStart, rootEnd))) return null
  return violation('transaction-hash', 'the transactions are not those of the header')
}

/** Null where a row ends in two that are alike: so the last ones could be doubled (CVE-2012-2459). */
export function merkleRoot(txids: readonly Buffer[]): Buffer | null {
  let row = txids
  while (row.length > 1) {
    const pairs = Array.from({ length: Math.ceil(row.length / 2) }, (_, index) => {
      const left = row[2 * index] as Buffer
      return [left, row[2 * index + 1]] as const
    })
    if (pairs.some(([left, right]) => right?.equals(left))) return null
    row = pairs.map(([left, right]) => doubleSha256(Buffer.concat([left, right ?? left])))
  }
  return row[0] ?? null
}
