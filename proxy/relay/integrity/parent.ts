// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import type { BlockMemory } from './block-memory.ts'
import type { ResultDocument } from './result-document.ts'
import { hashAt, numberAt } from './values.ts'
import type { Violation } from './violation.ts'

/**
 * A block that was heard of before has the height and the parent that it had. Another block of the
 * same height is a reorganisation, and nothing is said about it. Who tells a block's parent tells
 * the height of that one too.
 */
export function checkParent(
  rule: Extract<CheckRule, { check: 'parent' }>,
  document: ResultDocument,
  teller: string,
  memory: BlockMemory,
): Violation | null {
  const hash = textAt(document, rule.hash)
  const parent = rule.parent && textAt(document, rule.parent)
  const span = document.at(rule.number)
  const number = span === null ? NaN : numberAt(document.bytes, span.start, span.end)
  // A pending block has no hash yet.
  if (hash === null || Number.isNaN(number)) return null
  if (rule.parent !== null && parent === null) return null
  const found = compare(memory, teller, hash, number, parent)
  if (found || parent === null || number === 0) return found
  return compare(memory, teller, parent, number - 1, null)
}

function compare(
  memory: BlockMemory,
  teller: string,
  hash: string,
  number: number,
  parent: string | null,
): Violation | null {
  const recalled = memory.hear(teller, hash, number, parent)
  if (recalled.kind === 'fits') return null
  const shown = (each: number, of: string | null) => `${each}${of ? ` with parent 0x${of}` : ''}`
  return {
    check: 'parent',
    evidence: `0x${hash} was ${shown(recalled.number, recalled.parent)}, now ${shown(number, parent)}`,
    certain: recalled.kind === 'contradicted',
  }
}

function textAt(document: ResultDocument, path: readonly (string | number)[]): string | null {
  const span = document.at(path)
  const hash = span && hashAt(document.bytes, span.start, span.end)
  return hash !== null && hash.length > 0 && hash.length <= 128 ? hash : null
}
