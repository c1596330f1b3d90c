// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import type { Span } from '../../json/span.ts'
import type { ResultDocument } from './result-document.ts'
import { checkRawBlock, isText } from './bitcoin-block.ts'
import type { HeightAsked } from './block-range.ts'
import { isNull, numberAt, shownAt, spellsBytes } from './values.ts'
import { doubtful, violation, type Violation } from './violation.ts'

/**
 * The answer is about the block asked for, where that has a height or a hash. What a tag stands for
 * is the node's to say, but it stands for some block, which has a height.
 */
export function checkBlock(
  rule: Extract<CheckRule, { check: 'block' }>,
  document: ResultDocument,
  { block: asked, horizon }: HeightAsked,
): Violation | null {
  const { bytes } = document
  const absent = rule.absent && document.at(rule.absent)
  if (absent && isNull(bytes, absent.start)) return null
  if (asked.kind === 'number' && rule.number !== null) {
    const span = document.at(rule.number)
    const number = span === null ? NaN : numberAt(bytes, span.start, span.end)
    // Whatever its own height, the first block of a chain has nothing older: 0 says so.
    if (rule.optional && (span === null || (rule.older > 0 && number === 0))) return null
    const age = asked.number - number
    // The first block of a chain is its own parent.
    const isFirst = asked.number === 0 && number === 0
    const fits = rule.older === 0 ? age === 0 : (age >= 1 && age <= rule.older) || isFirst
    if (fits) return null
    return violation('block-number', `asked for ${asked.number}, got ${shownSpan(bytes, span)}`)
  }
  if (asked.kind === 'hash' && rule.raw !== null && isText(document))
    return checkRawBlock(document, rule.raw, asked.hash)
  if (asked.kind === 'hash' && rule.hash !== null) {
    const span = document.at(rule.hash)
    if (span === null && rule.optional) return null
    if (span !== null && spellsBytes(bytes, span.start, span.end, asked.hash)) return null
    return violation('block-hash', `asked for ${asked.hash}, got ${shownSpan(bytes, span)}`)
  }
  if (asked.kind === 'tag' && asked.tag !== 'pending' && rule.number !== null && rule.older === 0) {
    const span = document.at(rule.number)
    const number = span === null ? NaN : numberAt(bytes, span.start, span.end)
    if (Number.isNaN(number))
      return violation('shape', `the height of ${asked.tag} is ${shownSpan(bytes, span)}`)
    // A node that has cut its history off takes the first block that is left for the earliest.
    const isOff = asked.tag === 'earliest' && number !== (rule.earliest ?? number)
    // What `latest` stands for is compared with the tip.
    const isAbove = asked.tag !== 'latest' && number > (horizon() ?? Infinity)
    if (isOff || isAbove) return doubtful('block-number', `asked for ${asked.tag}, got ${number}`)
  }
  return null
}

/** What stands where something was wanted. */
export function shownSpan(bytes: Uint8Array, span: Span | null): string {
  return span === null ? 'nothing' : shownAt(bytes, span.start, span.end)
}
