// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckPath, CheckRule } from '../../chain/check-rule.ts'
import { FieldReader } from './field-reader.ts'
import { ItemCursor } from './item-cursor.ts'
import type { ResultDocument } from './result-document.ts'
import { isNull, numberAt, shownAt, toNumber } from './values.ts'
import { violation, type Violation } from './violation.ts'

type SequenceRule = Extract<CheckRule, { check: 'sequence' }>

/** The items of a list are numbered without a gap, from where the request or the answer says. */
export function checkSequence(
  rule: SequenceRule,
  document: ResultDocument,
  wanted: unknown,
): Violation | null {
  const found = findGap(rule, document, wanted)
  return found && { ...found, certain: !rule.isLenient }
}

function findGap(rule: SequenceRule, document: ResultDocument, wanted: unknown): Violation | null {
  const { bytes } = document
  const { result, key, begin, end, isLenient } = rule
  const list = document.at(result)
  const isListed = begin !== null && wanted === 'true'
  if (list === null || isNull(bytes, list.start))
    return isListed ? violation('items-count', 'the list that was asked for is not there') : null
  if (bytes[list.start] !== 0x5b) return violation('shape', 'the answer has no list in its place')
  const first = begin === null ? toNumber(wanted) : numberOf(document, begin)
  const last = end === null ? NaN : numberOf(document, end)
  const fields = new FieldReader([key])
  const cursor = new ItemCursor(bytes, list.start, document.skippedAt(result))
  let previous = NaN
  let count = 0
  while (cursor.next()) {
    if (!cursor.isObject) return violation('shape', `item ${cursor.index} is no object`)
    cursor.ended(fields.read(bytes, cursor.start))
    const [start, stop] = [fields.start(0), fields.end(0)]
    const number = start < 0 ? NaN : numberAt(bytes, start, stop)
    const isNext = Number.isNaN(previous) || number === previous + 1
    const told = start < 0 ? 'nothing' : shownAt(bytes, start, stop)
    const place = first + cursor.index
    const isPlaced = Number.isNaN(first) || (isLenient ? number >= place : number === place)
    if (fields.twin !== null || Number.isNaN(number) || !isNext || !isPlaced || number > last)
      return violation('items-order', `${key} of item ${cursor.index} is ${told}`)
    previous = number
    count++
  }
  return isListed && count === 0 ? violation('items-count', 'a list of no items') : null
}

function numberOf(document: ResultDocument, path: CheckPath): number {
  const span = document.at(path)
  return span === null ? NaN : numberAt(document.bytes, span.start, span.end)
}
