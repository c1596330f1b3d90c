// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import type { CheckRule } from '../../chain/check-rule.ts'
import type { Span } from '../../json/span.ts'
import { parseSpan } from '../../json/text.ts'
import { valueEnd } from '../../json/value.ts'
import { bitcoinTxid } from './bitcoin-transaction.ts'
import { shownSpan } from './block.ts'
import { ItemCursor } from './item-cursor.ts'
import { ResultDocument } from './result-document.ts'
import { hexAt, isNull, spellsHash } from './values.ts'
import { violation, type Violation } from './violation.ts'

type HashedRule = Extract<CheckRule, { check: 'hashed' }>

/** Of a long result no longer text is sure to be kept whole. */
const wholeTextBytes = 2_000

/** A hash is the digest of the bytes beside it. */
export function checkHashed(rule: HashedRule, document: ResultDocument): Violation | null {
  if (rule.each === null) return compare(rule, document, document.isAbridged)
  const { bytes } = document
  const list = document.at(rule.each)
  if (list === null || isNull(bytes, list.start)) return null
  if (bytes[list.start] !== 0x5b) return violation('shape', 'the answer has no list in its place')
  const cursor = new ItemCursor(bytes, list.start, document.skippedAt(rule.each))
  while (cursor.next()) {
    const end = valueEnd(bytes, cursor.start)
    const item = new ResultDocument(bytes, { start: cursor.start, end })
    const found = compare(rule, item, document.isAbridged)
    if (found) return { ...found, evidence: `item ${cursor.index}: ${found.evidence}` }
    cursor.ended(end)
  }
  return null
}

function compare(
  { data, result, digest, optional }: HashedRule,
  document: ResultDocument,
  isAbridged: boolean,
): Violation | null {
  const { bytes } = document
  const [from, hash] = [document.at(data), document.at(result)]
  if (document.twin !== null) return violation('shape', 'a member stands there in two spellings')
  if (optional && (from === null || isNull(bytes, from.start))) return null
  if (isAbridged && from && from.end - from.start > wholeTextBytes) return null
  const made = from && digests[digest](bytes, from)
  if (made === null) {
    const found = violation('shape', `wanted bytes to hash, got ${shownSpan(bytes, from)}`)
    // A chain that extends Bitcoin's may have something else in its transactions.
    return { ...found, certain: digest !== 'bitcoin-txid' }
  }
  if (hash && spellsHash(bytes, hash.start, hash.end, made)) return null
  return violation(
    'transaction-hash',
    `beside one of hash ${made} stands ${shownSpan(bytes, hash)}`,
  )
}

/** What a text makes, in hex; null where it is not in its form. */
const digests = {
  sha256(bytes: Uint8Array, { start, end }: Span): string | null {
    const text = parseSpan(bytes, start, end)
    const hashed = typeof text === 'string' ? Buffer.from(text, 'base64') : null
    if (hashed === null || hashed.toString('base64') !== text) return null
    return createHash('sha256').update(hashed).digest('hex')
  },
  'bitcoin-txid'(bytes: Uint8Array, { start, end }: Span): string | null {
    const raw = hexAt(bytes, start, end)
    return raw && bitcoinTxid(raw)
  },
} as const
