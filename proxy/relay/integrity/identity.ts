// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckPath, CheckRule, Likeness } from '../../chain/check-rule.ts'
import type { Span } from '../../json/span.ts'
import type { BlockRef } from '../../chain/types.ts'
import { parseSpan } from '../../json/text.ts'
import { valueEnd } from '../../json/value.ts'
import { mayPend } from './block-range.ts'
import { shownSpan } from './block.ts'
import { ItemCursor } from './item-cursor.ts'
import { moveType } from './move-type.ts'
import { ResultDocument } from './result-document.ts'
import {
  bareHash,
  isNull,
  numberAt,
  shown,
  spellsBytes,
  spellsHash,
  spellsText,
  toNumber,
} from './values.ts'
import { violation, type Violation } from './violation.ts'

type IdentityRule = Extract<CheckRule, { check: 'identity' }>

/**
 * The answer names the thing that was asked for. A request that names none is not checked, nor what
 * has no name yet, since it is in no block.
 */
export function checkIdentity(
  rule: IdentityRule,
  document: ResultDocument,
  wanted: unknown,
  asked: BlockRef,
): Violation | null {
  const likeWanted = likeness(rule.as, wanted)
  if (likeWanted === null) return null
  if (!rule.each)
    return isUnnamed(document, rule, asked) ? null : compare(document, rule, likeWanted, wanted)
  const { bytes, span } = document
  if (bytes[span.start] !== 0x5b) return violation('shape', 'the answer is no list')
  const cursor = new ItemCursor(bytes, span.start)
  while (cursor.next()) {
    const end = valueEnd(bytes, cursor.start)
    const item = new ResultDocument(bytes, { start: cursor.start, end })
    const found = compare(item, rule, likeWanted, wanted)
    if (found) return found
    cursor.ended(end)
  }
  return null
}

/** Of a pending block, where the member is null or not there. */
function isUnnamed(document: ResultDocument, { result }: IdentityRule, asked: BlockRef): boolean {
  if (!mayPend(asked)) return false
  const span = document.at(result)
  return span === null || isNull(document.bytes, span.start)
}

type IsLike = (bytes: Uint8Array, span: Span) => boolean

function compare(
  document: ResultDocument,
  { result, optional }: IdentityRule,
  isLike: IsLike,
  wanted: unknown,
): Violation | null {
  const span = document.at(result)
  if (span === null ? optional && isOtherForm(document, result) : isLike(document.bytes, span))
    return null
  const got = shownSpan(document.bytes, span)
  return violation('identity', `asked for ${shown(String(wanted))}, got ${got}`)
}

/** Where the path leads through an object, the answer has a text or a list. */
function isOtherForm(document: ResultDocument, path: CheckPath): boolean {
  return path.some((key, index) => {
    const span = document.at(path.slice(0, index))
    const first = span && document.bytes[span.start]
    return first === 0x22 || (first === 0x5b && typeof key === 'string')
  })
}

/** Null for a request that wants something else than it may: the node says so. */
function likeness(as: Likeness, wanted: unknown): IsLike | null {
  if (as === 'number') {
    const number = toNumber(wanted)
    if (Number.isNaN(number)) return null
    return (bytes, { start, end }) => numberAt(bytes, start, end) === number
  }
  if (typeof wanted !== 'string') return null
  if (as === 'short-hex') return sameAs(shortHex, wanted)
  if (as === 'move-type') return sameAs(moveType, wanted)
  if (as === 'text') return (bytes, { start, end }) => spellsText(bytes, start, end, wanted)
  if (as === 'bytes') return (bytes, { start, end }) => spellsBytes(bytes, start, end, wanted)
  const bare = bareHash(wanted)
  return (bytes, { start, end }) => spellsHash(bytes, start, end, bare)
}

/** Both are the same in the form that `plain` gives them; null for what has none. */
function sameAs(plain: (text: string) => string | null, wanted: string): IsLike | null {
  const form = plain(wanted)
  if (form === null) return null
  return (bytes, { start, end }) =>
    bytes[start] === 0x22 && plain(parseSpan(bytes, start, end) as string) === form
}

/** Hex without the zeros before it, with or without `0x`. */
function shortHex(text: string): string | null {
  const digits = bareHash(text)
  return /^[0-9a-f]{1,64}$/.test(digits) ? digits.replace(/^0+(?=.)/, '') : null
}
