// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import { ItemCursor } from './item-cursor.ts'
import { ResultDocument } from './result-document.ts'
import { fits } from './shape.ts'
import { digitsAt, shown, shownAt, toNumber } from './values.ts'
import { violation, type Violation } from './violation.ts'

/** A request for so many things is answered with so many, and where they have keys, with those. One that lists none is not checked. */
export function checkLength(
  rule: Extract<CheckRule, { check: 'length' }>,
  document: ResultDocument,
  wanted: unknown,
): Violation | null {
  if (!Array.isArray(wanted)) return null
  const { bytes } = document
  const list = document.at(rule.result)
  if (list === null || bytes[list.start] !== 0x5b)
    return violation('shape', 'the answer has no list in its place')
  const cursor = new ItemCursor(bytes, list.start, document.skippedAt(rule.result))
  const missing = new Set(rule.key === null ? [] : wanted.map(digitsOf))
  while (cursor.next()) {
    cursor.skip()
    const { start, end } = cursor
    if (rule.items !== null && !fits(rule.items, false, bytes, start, end))
      return violation('shape', `item ${cursor.index} is ${shownAt(bytes, start, end)}`)
    if (rule.key === null) continue
    const span = new ResultDocument(bytes, { start, end }).at([rule.key])
    const key = span && digitsAt(bytes, span.start, span.end)
    missing.delete(key === null ? null : plainDigits(key))
  }
  const count = cursor.index + 1
  if (count !== wanted.length)
    return violation('items-count', `asked for ${wanted.length}, got ${count}`)
  // Of what passed before nobody knows which it was about, nor of a request in another form.
  const isWhole = document.skippedAt(rule.result) === 0 && !missing.has(null)
  if (!isWhole || missing.size === 0) return null
  const [first] = missing
  return violation('identity', `asked for ${shown(`0x${first}`)}, which is not there`)
}

/** Of so many things at most there are no more. A request that names no number is not checked. */
export function checkLimit(
  { result }: Extract<CheckRule, { check: 'limit' }>,
  document: ResultDocument,
  wanted: unknown,
): Violation | null {
  const { bytes } = document
  const most = toNumber(wanted)
  const list = document.at(result)
  if (Number.isNaN(most) || list === null || bytes[list.start] !== 0x5b) return null
  const cursor = new ItemCursor(bytes, list.start, document.skippedAt(result))
  while (cursor.next()) {
    if (cursor.index >= most) return violation('items-count', `asked for ${most} at most, got more`)
    cursor.skip()
  }
  return null
}

/** Null for what is no number in hex. */
function digitsOf(wanted: unknown): string | null {
  if (typeof wanted !== 'string' || !/^0x[0-9a-f]*$/i.test(wanted)) return null
  return plainDigits(wanted.slice(2))
}

/** A key may be written with or without leading zeros. */
function plainDigits(digits: string): string {
  return digits.toLowerCase().replace(/^0+(?=.)/, '')
}
