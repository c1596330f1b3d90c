// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import { shownSpan } from './block.ts'
import type { ResultDocument } from './result-document.ts'
import { numberAt, toNumber } from './values.ts'
import { violation, type Violation } from './violation.ts'

/** The answer tells a range from the lower number to the higher one, with what was asked for in it. */
export function checkContains(
  rule: Extract<CheckRule, { check: 'contains' }>,
  document: ResultDocument,
  wanted: unknown,
): Violation | null {
  const { bytes } = document
  const [from, to] = [document.at(rule.from), document.at(rule.to)]
  const first = from === null ? NaN : numberAt(bytes, from.start, from.end)
  const last = to === null ? NaN : numberAt(bytes, to.start, to.end)
  const got = `${shownSpan(bytes, from)} to ${shownSpan(bytes, to)}`
  if (!(first <= last)) return violation('shape', `wanted a range, got ${got}`)
  const number = toNumber(wanted)
  if (Number.isNaN(number) || (number >= first && number <= last)) return null
  return violation('identity', `asked for ${number}, got ${got}`)
}
