// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import { blockRangeOf, shownRange, type HeightAsked } from './block-range.ts'
import { ItemCursor } from './item-cursor.ts'
import type { ResultDocument } from './result-document.ts'
import { isOf } from './shape.ts'
import { numberAt, shownAt } from './values.ts'
import { doubtful, violation, type Violation } from './violation.ts'

/**
 * A list of heights inside the range asked for, or from the one height asked for on, each above the
 * one before. Which of them have no block is the node's to say.
 */
export function checkHeights(document: ResultDocument, asked: HeightAsked): Violation | null {
  const { bytes, span } = document
  if (bytes[span.start] !== 0x5b) return violation('shape', 'the answer is no list of heights')
  const { block } = asked
  const range = blockRangeOf(block)
  const to = block.kind === 'number' ? Infinity : range.to
  const horizon = asked.horizon() ?? Infinity
  const cursor = new ItemCursor(bytes, span.start, document.skippedAt([]))
  let last = -1
  let doubt: Violation | null = null
  while (cursor.next()) {
    cursor.skip()
    const { start, end, index } = cursor
    const told = () => `item ${index} is ${shownAt(bytes, start, end)}`
    const height = isOf('integer', bytes, start, end) ? numberAt(bytes, start, end) : NaN
    if (Number.isNaN(height)) return violation('shape', `${told()}, no height`)
    if (height < range.from || height > to)
      return violation('items-block', `asked for ${shownRange({ ...range, to })}, ${told()}`)
    if (height <= last) return violation('items-order', `${told()}, after ${last}`)
    last = height
    if (height > horizon) doubt ??= doubtful('items-block', told())
  }
  return doubt
}

/** The answer is of no older state than the request wants; a node that does not know the wish is not to blame. */
export function checkLeast(
  { result }: Extract<CheckRule, { check: 'least' }>,
  document: ResultDocument,
  wanted: unknown,
): Violation | null {
  const span = document.at(result)
  if (typeof wanted !== 'number' || span === null) return null
  const told = numberAt(document.bytes, span.start, span.end)
  if (!(told < wanted)) return null
  return doubtful('block-number', `asked for ${wanted} at least, got ${told}`)
}
