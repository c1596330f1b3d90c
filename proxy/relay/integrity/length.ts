// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import { ItemCursor } from './item-cursor.ts'
import type { ResultDocument } from './result-document.ts'
import { violation, type Violation } from './violation.ts'

/** A request for so many things is answered with so many. One that lists none is not checked. */
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
  while (cursor.next()) cursor.skip()
  const count = cursor.index + 1
  if (count === wanted.length) return null
  return violation('items-count', `asked for ${wanted.length}, got ${count}`)
}
