// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import { ItemCursor } from './item-cursor.ts'
import type { ResultDocument } from './result-document.ts'
import { hashAt } from './values.ts'
import { violation, type Violation } from './violation.ts'

const rootDigits = 64

/** A list that its header has only the root of is empty exactly when the root is that of an empty one. */
export function checkRoot(
  { list, root, ofNone, lenient }: Extract<CheckRule, { check: 'root' }>,
  document: ResultDocument,
): Violation | null {
  const { bytes } = document
  const [array, told] = [document.at([list]), document.at([root])]
  const digest = told && hashAt(bytes, told.start, told.end)
  if (array === null || bytes[array.start] !== 0x5b || digest?.length !== rootDigits) return null
  // Chains without such lists write zeros.
  if (/^0*$/.test(digest)) return null
  const isEmpty = !new ItemCursor(bytes, array.start).next()
  if (isEmpty === (digest === ofNone)) return null
  if (isEmpty && lenient === 'listed') return null
  const what = isEmpty
    ? `no ${list}, though ${root} is 0x${digest}`
    : `${list}, though ${root} is that of none`
  return { ...violation('items-alike', what), certain: lenient !== (isEmpty ? 'empty' : 'listed') }
}
