// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule, Shape } from '../../chain/check-rule.ts'
import type { Span } from '../../json/span.ts'
import { shownSpan } from './block.ts'
import type { ResultDocument } from './result-document.ts'
import { isHexDigit } from './values.ts'
import { violation, type Violation } from './violation.ts'

/** How many hex digits each may have. Leading zeros and an odd number of digits are let pass. */
const digits: Readonly<Record<'quantity' | 'data' | 'hash', readonly [number, number]>> = {
  quantity: [1, 64],
  data: [0, Infinity],
  hash: [64, 64],
}

/** The answer is of the type that the method promises: what it says of the state nobody can tell. */
export function checkShape(
  { as }: Extract<CheckRule, { check: 'shape' }>,
  { bytes, span }: ResultDocument,
): Violation | null {
  if (isOf(as, bytes, span)) return null
  return violation('shape', `wanted a value of type ${as}, got ${shownSpan(bytes, span)}`)
}

function isOf(as: Shape, bytes: Uint8Array, { start, end }: Span): boolean {
  if (as === 'object') return bytes[start] === 0x7b
  if (as === 'list') return bytes[start] === 0x5b
  const [fewest, most] = digits[as]
  const first = start + 3
  const count = end - 1 - first
  if (count < fewest || count > most || bytes[start] !== 0x22) return false
  if (bytes[start + 1] !== 0x30 || ((bytes[start + 2] as number) | 0x20) !== 0x78) return false
  for (let at = first; at < end - 1; at++) if (!isHexDigit(bytes[at] as number)) return false
  return true
}
