// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import type { BlockMemory } from './block-memory.ts'
import { mayPend, type HeightAsked } from './block-range.ts'
import { FieldReader } from './field-reader.ts'
import { ItemCursor } from './item-cursor.ts'
import type { ResultDocument } from './result-document.ts'
import { hashAt, numberAt } from './values.ts'
import { doubtful, type Violation } from './violation.ts'

type ParentRule = Extract<CheckRule, { check: 'parent' }>

interface Question extends HeightAsked {
  readonly upstream: string
}

/**
 * A block that was heard of before has the height and the parent that it had. Another block of the
 * same height is a reorganisation, and nothing is said about it. Who tells a block's parent tells
 * the height of that one too.
 */
export function checkParent(
  rule: ParentRule,
  document: ResultDocument,
  asked: Question,
  memory: BlockMemory,
): Violation | null {
  const { upstream: teller } = asked
  if (rule.each) return checkEach(rule, document, asked, memory)
  const hash = rule.hash && textAt(document, rule.hash)
  const parent = rule.parent && textAt(document, rule.parent)
  const span = document.at(rule.number)
  const number = span === null ? NaN : numberAt(document.bytes, span.start, span.end)
  // A pending block has no hash yet, nor has it a height everywhere.
  const mayMiss = rule.parent !== null || mayPend(asked.block)
  if (Number.isNaN(number)) return mayMiss || hash === null ? null : heightless(hash)
  if (number > (asked.horizon() ?? Infinity)) return above(number)
  if (rule.hash === null) return null
  if (hash === null) return mayMiss ? null : nowhere(number)
  if (rule.parent !== null && parent === null) return null
  const found = compare(memory, teller, hash, number, parent)
  if (found?.certain || parent === null || number === 0) return found
  const ofParent = compare(memory, teller, parent, number - 1, null)
  return ofParent?.certain ? ofParent : (found ?? ofParent)
}

/**
 * Each block of a list. What is told of many blocks in passing is compared with what is known of them;
 * only the first is remembered.
 */
function checkEach(
  { number, hash }: ParentRule,
  { bytes, span }: ResultDocument,
  { upstream, horizon }: Question,
  memory: BlockMemory,
): Violation | null {
  if (bytes[span.start] !== 0x5b) return null
  const fields = new FieldReader([String(number[0]), String(hash?.[0])])
  const cursor = new ItemCursor(bytes, span.start)
  const highest = horizon() ?? Infinity
  let doubt: Violation | null = null
  let last = ''
  while (cursor.next()) {
    if (!cursor.isObject) return null
    cursor.ended(fields.read(bytes, cursor.start))
    if (!fields.holds(bytes, 0) || !fields.holds(bytes, 1)) continue
    const height = numberAt(bytes, fields.start(0), fields.end(0))
    const own = hashAt(bytes, fields.start(1), fields.end(1)) ?? ''
    if (own === last || own.length !== 64 || Number.isNaN(height)) continue
    const isFirst = last === ''
    last = own
    if (height > highest) doubt ??= above(height)
    else if (isFirst || memory.knows(own)) {
      const found = compare(memory, upstream, own, height, null)
      if (found?.certain) return found
      doubt ??= found
    }
  }
  return doubt
}

function above(number: number): Violation {
  return doubtful('block-number', `of block ${number}, which is far above the tip`)
}

/** A node may show so what a block to come will hold. */
function nowhere(number: number): Violation {
  return doubtful('shape', `of block ${number}, which has no hash`)
}

/** Some write a hash of zeros beside what waits for its block. */
function heightless(hash: string): Violation | null {
  if (/^0*$/.test(hash)) return null
  return doubtful('shape', `of block 0x${hash}, which has no height`)
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
