// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import { shownSpan } from './block.ts'
import type { Asked } from './find-violation.ts'
import type { ResultDocument } from './result-document.ts'
import { numberAt, spellsText, toNumber } from './values.ts'
import { violation, type Violation } from './violation.ts'

/**
 * The answer is what a verification wants: a node that was verified at its start may have been
 * exchanged since. Where the verification is skipped, so is this.
 */
export function checkExpected(
  rule: Extract<CheckRule, { check: 'expected' }>,
  document: ResultDocument,
  expected: unknown,
  { block, skipVerifications: skipped }: Asked,
): Violation | null {
  if (typeof expected !== 'string') return null
  const isAbout = block.kind === 'number' && block.number === rule.height
  if (rule.height !== null && !isAbout) return null
  if (skipped.includes('*') || skipped.includes(rule.verification)) return null
  const span = document.at(rule.result)
  if (span === null && rule.optional) return null
  const number = toNumber(expected)
  const { bytes } = document
  const fits =
    span !== null &&
    (Number.isNaN(number)
      ? spellsText(bytes, span.start, span.end, expected)
      : numberAt(bytes, span.start, span.end) === number)
  if (fits) return null
  return violation('chain', `${rule.verification} is ${expected}, got ${shownSpan(bytes, span)}`)
}
