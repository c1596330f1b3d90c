// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import type { CheckRule } from '../../chain/check-rule.ts'
import { parseSpan } from '../../json/text.ts'
import { valueEnd } from '../../json/value.ts'
import { shownSpan } from './block.ts'
import { ItemCursor } from './item-cursor.ts'
import { ResultDocument } from './result-document.ts'
import { isNull, spellsHash } from './values.ts'
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
  { data, result, digest }: HashedRule,
  document: ResultDocument,
  isAbridged: boolean,
): Violation | null {
  const { bytes } = document
  const [from, hash] = [document.at(data), document.at(result)]
  if (document.twin !== null) return violation('shape', 'a member stands there in two spellings')
  if (isAbridged && from && from.end - from.start > wholeTextBytes) return null
  const text: unknown = from && parseSpan(bytes, from.start, from.end)
  const hashed = typeof text === 'string' ? Buffer.from(text, 'base64') : null
  if (hashed === null || hashed.toString('base64') !== text)
    return violation('shape', `wanted bytes in base64, got ${shownSpan(bytes, from)}`)
  const made = createHash(digest).update(hashed).digest('hex')
  if (hash && spellsHash(bytes, hash.start, hash.end, made)) return null
  return violation(
    'transaction-hash',
    `beside one of hash ${made} stands ${shownSpan(bytes, hash)}`,
  )
}
