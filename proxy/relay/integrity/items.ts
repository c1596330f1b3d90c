// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import type { BlockRef } from '../../chain/types.ts'
import { blockRangeOf, mayPend, shownRange } from './block-range.ts'
import { FieldReader } from './field-reader.ts'
import { ItemCursor } from './item-cursor.ts'
import { valueEnd } from '../../json/value.ts'
import { ResultDocument } from './result-document.ts'
import { contradicts } from './second-name.ts'
import { fits, isOf } from './shape.ts'
import { hashAt, isNull, numberAt, shownAt, spellsHash } from './values.ts'
import { violation, type Violation } from './violation.ts'

type ItemsRule = Extract<CheckRule, { check: 'items' }>

/** How far the items have come: an array in each of several objects goes on where the last ended. */
interface Progress {
  count: number
  highest: number
}

/**
 * Receipts of a block, transactions of a block, logs of a receipt: all of the block asked for, of
 * one block, in order. Members that are not there or null are passed over, but for those that the
 * rule wants. `wanted` is whether the request wants objects, or their hashes; anything else: either,
 * but not both.
 */
export function checkItems(
  rule: ItemsRule,
  document: ResultDocument,
  asked: BlockRef,
  wanted: unknown,
  progress: Progress = { count: document.skippedAt(rule.result), highest: -1 },
): Violation | null {
  const { bytes } = document
  const array = document.at(rule.result)
  if (array === null || isNull(bytes, array.start)) return null
  if (bytes[array.start] !== 0x5b) return violation('shape', 'the answer has no list in its place')
  const cursor = new ItemCursor(bytes, array.start, document.skippedAt(rule.result))
  if (!cursor.next()) return checkEmpty(rule, document)
  if (rule.each !== null) return checkEach(rule, rule.each, document, cursor, asked)
  const isHydrated =
    rule.place === null || (wanted === false ? false : wanted === true || cursor.isObject)
  if (!isHydrated) return checkHashes(bytes, cursor)

  const range = blockRangeOf(asked)
  const like = [...rule.like]
  const names = [
    ...new Set([
      rule.number,
      rule.hash,
      rule.counted,
      rule.rising,
      rule.distinct,
      ...rule.alike,
      ...rule.like.keys(),
      ...rule.members.keys(),
      ...[...rule.secondNames].flatMap(([second, { name, unless }]) => [second, name, ...unless]),
    ]),
  ].filter((name) => name !== null)
  const fields = new FieldReader(names)
  const placeOf = (name: string | null) => (name === null ? -1 : names.indexOf(name))
  const number = placeOf(rule.number)
  const hash = placeOf(rule.hash)
  const counted = placeOf(rule.counted)
  const rising = placeOf(rule.rising)
  const distinct = placeOf(rule.distinct)
  const members = [...rule.members].map(([name, shape]) => ({ place: placeOf(name), shape }))
  const seconds = [...rule.secondNames].map(([second, { name, unless }]) => ({
    second: placeOf(second),
    own: placeOf(name),
    strangers: unless.map(placeOf),
  }))
  const isPending = mayPend(asked)
  // What all items must say: told by the object around them, or by the first that says it.
  const outer = rule.result.slice(0, -1)
  const common = like.map(([name, member]) => {
    const span = document.at([...outer, member])
    const isTold = span !== null && !isNull(bytes, span.start)
    return new CommonValue(name, placeOf(name), isTold ? [bytes, span.start, span.end] : null)
  })
  common.push(...rule.alike.map((name) => new CommonValue(name, placeOf(name), null)))

  const seen = new Set<string>()
  do {
    const which = `item ${cursor.index}`
    if (!cursor.isObject) return violation('shape', `${which} is no object`)
    cursor.ended(fields.read(bytes, cursor.start))
    if (fields.twin !== null)
      return violation('shape', `${which} has ${fields.twin} in two spellings`)
    for (const { place, shape } of members)
      if (!fits(shape, isPending, bytes, fields.start(place), fields.end(place)))
        return violation(
          'shape',
          `${names[place]} of ${which} is ${told(place)}, not of type ${shape}`,
        )
    for (const { second, own, strangers } of seconds)
      if (
        contradicts(bytes, fields.span(own), fields.span(second)) &&
        !strangers.some((place) => fields.start(place) >= 0)
      )
        return violation(
          'shape',
          `${names[second]} of ${which} is ${told(second)}, unlike ${names[own]}`,
        )
    if (number >= 0 && fields.holds(bytes, number)) {
      const height = numberAt(bytes, fields.start(number), fields.end(number))
      if (!(height >= range.from && height <= range.to))
        return violation(
          'items-block',
          `asked for ${shownRange(range)}, ${which} is of ${told(number)}`,
        )
    }
    if (hash >= 0 && range.hash !== null && fields.holds(bytes, hash))
      if (!spellsHash(bytes, fields.start(hash), fields.end(hash), range.hash))
        return violation(
          'items-block',
          `asked for ${shownRange(range)}, ${which} is of ${told(hash)}`,
        )
    for (const value of common)
      if (fields.holds(bytes, value.place) && !value.takes(bytes, fields))
        return violation(
          'items-alike',
          `${value.name} of ${which} is ${told(value.place)}, not ${value.shown}`,
        )
    if (counted >= 0 && fields.holds(bytes, counted)) {
      const value = numberAt(bytes, fields.start(counted), fields.end(counted))
      if (progress.count < 0) progress.count = value
      if (value !== progress.count)
        return violation('items-order', `${names[counted]} of ${which} is ${told(counted)}`)
      progress.count += 1
    }
    if (rising >= 0 && fields.holds(bytes, rising)) {
      const value = numberAt(bytes, fields.start(rising), fields.end(rising))
      if (!(value > progress.highest))
        return violation(
          'items-order',
          `${names[rising]} of ${which} is ${told(rising)}, after ${progress.highest}`,
        )
      progress.highest = value
    }
    if (distinct >= 0 && fields.holds(bytes, distinct)) {
      const own = hashAt(bytes, fields.start(distinct), fields.end(distinct)) ?? ''
      if (seen.has(own)) return violation('items-order', `${which} is doubled, ${told(distinct)}`)
      seen.add(own)
    }
  } while (cursor.next())
  return null

  function told(place: number): string {
    const start = fields.start(place)
    return start < 0 ? 'nothing' : shownAt(bytes, start, fields.end(place))
  }
}

/** The same of an array in each of the items. */
function checkEach(
  rule: ItemsRule,
  member: string,
  outer: ResultDocument,
  cursor: ItemCursor,
  asked: BlockRef,
): Violation | null {
  const inner: ItemsRule = { ...rule, result: [member], each: null }
  const { bytes } = outer
  // Of lists that have passed nobody knows how far they counted.
  const count = outer.skippedAt(rule.result) > 0 ? -1 : 0
  const progress = { count, highest: -1 }
  do {
    const end = valueEnd(bytes, cursor.start)
    const document = new ResultDocument(bytes, { start: cursor.start, end })
    const found = checkItems(inner, document, asked, undefined, progress)
    if (found) return { ...found, evidence: `${member} ${cursor.index}: ${found.evidence}` }
    cursor.ended(end)
  } while (cursor.next())
  return null
}

/** No item: then none can have used anything. */
function checkEmpty({ used, result }: ItemsRule, document: ResultDocument): Violation | null {
  const span = used === null ? null : document.at([...result.slice(0, -1), used])
  const amount = span === null ? NaN : numberAt(document.bytes, span.start, span.end)
  if (span === null || !(amount > 0)) return null
  const shown = shownAt(document.bytes, span.start, span.end)
  return violation('items-order', `no item, though ${used} is ${shown}`)
}

/** Hashes in the place of whole objects: each once. */
function checkHashes(bytes: Uint8Array, cursor: ItemCursor): Violation | null {
  const seen = new Set<string>()
  do {
    const { start, index } = cursor
    cursor.skip()
    const told = () => shownAt(bytes, start, cursor.end)
    if (!isOf('hash', bytes, start, cursor.end))
      return violation('shape', `item ${index} is no hash, ${told()}`)
    const hash = hashAt(bytes, start, cursor.end) ?? ''
    if (seen.has(hash)) return violation('items-order', `item ${index} is doubled, ${told()}`)
    seen.add(hash)
  } while (cursor.next())
  return null
}

/** A value that all items have in common. Numbers are compared as numbers, hashes as hashes. */
class CommonValue {
  readonly name: string
  readonly place: number
  #value: string | number | null = null
  shown = ''

  constructor(name: string, place: number, told: readonly [Uint8Array, number, number] | null) {
    this.name = name
    this.place = place
    if (told) this.#set(...told)
  }

  takes(bytes: Uint8Array, fields: FieldReader): boolean {
    const start = fields.start(this.place)
    const end = fields.end(this.place)
    if (this.#value === null) {
      this.#set(bytes, start, end)
      return true
    }
    return typeof this.#value === 'number'
      ? numberAt(bytes, start, end) === this.#value
      : spellsHash(bytes, start, end, this.#value)
  }

  #set(bytes: Uint8Array, start: number, end: number): void {
    const number = numberAt(bytes, start, end)
    this.#value = Number.isNaN(number) ? hashAt(bytes, start, end) : number
    this.shown = shownAt(bytes, start, end)
  }
}
