// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import type { BlockMemory } from './block-memory.ts'
import type { ResultDocument } from './result-document.ts'
import { hashAt, numberAt } from './values.ts'
import type { Violation } from './violation.ts'

/**
 * A block that was seen before has the height and the parent that it had. Another block of the same
 * height is a reorganisation, and nothing is said about it.
 */
export function checkParent(
  rule: Extract<CheckRule, { check: 'parent' }>,
  document: ResultDocument,
  teller: string,
  memory: BlockMemory,
): Violation | null {
  const hash = textAt(document, rule.hash)
  const parent = textAt(document, rule.parent)
  const span = document.at(rule.number)
  const number = span === null ? NaN : numberAt(document.bytes, span.start, span.end)
  // A pending block has no hash yet.
  if (hash === null || parent === null || Number.isNaN(number)) return null
  const recalled = memory.hear(teller, hash, number, parent)
  if (recalled.kind === 'fits') return null
  return {
    check: 'parent',
    evidence:
      `0x${hash} was ${recalled.number} with parent 0x${recalled.parent}, ` +
      `now ${number} with parent 0x${parent}`,
    certain: recalled.kind === 'contradicted',
  }
}

function textAt(document: ResultDocument, path: readonly (string | number)[]): string | null {
  const span = document.at(path)
  const hash = span && hashAt(document.bytes, span.start, span.end)
  return hash !== null && hash.length > 0 && hash.length <= 128 ? hash : null
}
