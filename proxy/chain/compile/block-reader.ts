// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockRule, Place } from '../chain-spec.ts'
import type { BlockPoint, BlockRef, BlockTag } from '../types.ts'
import { readPoint, tagPoints } from './block-point.ts'
import type { Notation, PointSyntax } from './block-point.ts'

/** Gives what stands at one place of a request; undefined or null when nothing does. */
export type PlaceReader<Request> = (request: Request) => unknown

/** Tells the block that a request asks about. Pure, never throws. */
export type BlockReader<Request> = (request: Request) => BlockRef

/** Given by a `PlaceReader` where the request is not of the shape that the place is in. */
export const unreadable = Symbol('unreadable')

export const noBlock: BlockRef = Object.freeze({ kind: 'none' })
export const invalidBlock: BlockRef = Object.freeze({ kind: 'invalid' })

const tagRanges: ReadonlyMap<BlockPoint, ReadonlyMap<BlockPoint, BlockRef>> = new Map(
  Object.values(tagPoints).map((from) => [
    from,
    new Map(Object.values(tagPoints).map((to) => [to, Object.freeze({ kind: 'range', from, to })])),
  ]),
)

/** Compiles a rule; a `BlockRef` when the answer is always the same. */
export function compileBlockRule<Request>(
  rule: BlockRule,
  notation: Notation,
  words: PointSyntax['words'],
  placeReader: (place: Place) => PlaceReader<Request>,
): BlockRef | BlockReader<Request> {
  if (rule.kind === 'fixed') return absentRef(rule.block)
  if (rule.kind === 'range') return rangeReader(rule, notation, words, placeReader)
  const isVersion = rule.form === 'version'
  const syntax: PointSyntax = {
    notation,
    words,
    form: isVersion ? 'number' : rule.form,
    numberField: rule.numberField,
    hashField: rule.hashField,
  }
  const absent = absentRef(rule.absent)
  const places = rule.places.map(placeReader)
  const read = (value: unknown): BlockRef => {
    const point = readPoint(value, syntax) ?? invalidBlock
    return isVersion && point.kind === 'number' ? noBlock : point
  }
  const [first] = places
  if (first !== undefined && places.length === 1)
    return (request) => {
      const value = first(request)
      return value === undefined || value === null ? absent : read(value)
    }
  return (request) => {
    let applies = false
    for (const place of places) {
      const value = place(request)
      if (value === unreadable) continue
      if (value !== undefined && value !== null) return read(value)
      applies = true
    }
    return applies ? absent : invalidBlock
  }
}

function absentRef(absent: BlockTag | 'none' | null): BlockRef {
  if (absent === null) return invalidBlock
  return absent === 'none' ? noBlock : tagPoints[absent]
}

function rangeReader<Request>(
  rule: Extract<BlockRule, { kind: 'range' }>,
  notation: Notation,
  words: PointSyntax['words'],
  placeReader: (place: Place) => PlaceReader<Request>,
): BlockReader<Request> {
  const syntax = { notation, words, numberField: '', hashField: '' }
  const ends: PointSyntax = { ...syntax, form: 'number' }
  const hashes: PointSyntax = { ...syntax, form: 'hash' }
  const from = placeReader(rule.from)
  const to = placeReader(rule.to)
  const hash = rule.hash === null ? null : placeReader(rule.hash)
  const absentFrom = rule.absentFrom === null ? null : tagPoints[rule.absentFrom]
  const absentTo = rule.absentTo === null ? null : tagPoints[rule.absentTo]

  return (request) => {
    const fromValue = from(request) ?? null
    const toValue = to(request) ?? null
    const hashValue = hash === null ? null : (hash(request) ?? null)
    if (hashValue !== null) {
      if (fromValue !== null || toValue !== null) return invalidBlock
      return readPoint(hashValue, hashes) ?? invalidBlock
    }
    const first = fromValue === null ? absentFrom : readPoint(fromValue, ends)
    const last = toValue === null ? absentTo : readPoint(toValue, ends)
    if (first === null || last === null) return invalidBlock
    if (first.kind === 'number' && last.kind === 'number' && first.number > last.number)
      return invalidBlock
    return tagRanges.get(first)?.get(last) ?? { kind: 'range', from: first, to: last }
  }
}
