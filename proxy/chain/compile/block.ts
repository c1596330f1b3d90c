// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NativeBlock } from '../native/schema.ts'
import type { Place } from '../checks.ts'
import type { BlockRef, BlockTag } from '../types.ts'
import { readPoint, tagPoints } from './block-point.ts'
import type { Notation, PointSyntax } from './block-point.ts'
import { unreadable } from './places.ts'
import type { PlaceReader } from './places.ts'

/** Tells the block that a request asks about. Pure, never throws. */
type BlockReader = (...request: Parameters<PlaceReader>) => BlockRef

/** How a method's requests name blocks. */
export interface BlockSyntax {
  readonly notation: Notation
  readonly words: PointSyntax['words']
  readonly placeReader: (place: Place) => PlaceReader
}

type BlockPlace = Exclude<NativeBlock, string>

export const noBlock: BlockRef = Object.freeze({ kind: 'none' })
const invalidBlock: BlockRef = Object.freeze({ kind: 'invalid' })

/** @param headers those that name the block of a method that would be about a tag without them */
export function compileBlock(
  block: NativeBlock,
  headers: readonly string[] = [],
  syntax: BlockSyntax,
): BlockReader {
  if (typeof block === 'string') {
    const ref = absentRef(block)
    if (block === 'none' || headers.length === 0) return () => ref
    const places = headers.map((header) => ({ header }))
    return pointReader({ 'first-of': places, form: 'number', default: block }, syntax)
  }
  const isRange = block['from-param'] !== undefined || block.from !== undefined
  return (isRange ? rangeReader : pointReader)(block, syntax)
}

function pointReader(block: BlockPlace, syntax: BlockSyntax): BlockReader {
  const isVersion = block.form === 'version'
  const pointSyntax: PointSyntax = {
    notation: syntax.notation,
    words: syntax.words,
    form: block.form === 'version' ? 'number' : (block.form ?? 'any'),
    numberField: block['number-field'] ?? 'blockNumber',
    hashField: block['hash-field'] ?? 'blockHash',
  }
  const absent = absentRef(block.default)
  const places = (block['first-of'] ?? [block]).map(syntax.placeReader)
  return (question, segments) => {
    let isReadable = false
    for (const place of places) {
      const value = place(question, segments)
      if (value === unreadable) continue
      isReadable = true
      if (value === undefined || value === null) continue
      const point = readPoint(value, pointSyntax) ?? invalidBlock
      // A version is a number on a scale of its own: what it names never changes, and no tip tells of it.
      return isVersion && point.kind === 'number' ? noBlock : point
    }
    return isReadable ? absent : invalidBlock
  }
}

/** What a request without a block is about; without a default it needs one. */
function absentRef(absent: BlockTag | 'none' | undefined): BlockRef {
  if (absent === undefined) return invalidBlock
  return absent === 'none' ? noBlock : tagPoints[absent]
}

function rangeReader(
  block: BlockPlace,
  { notation, words, placeReader }: BlockSyntax,
): BlockReader {
  const syntax = { notation, words, numberField: '', hashField: '' }
  const ends: PointSyntax = { ...syntax, form: 'number' }
  const hashes: PointSyntax = { ...syntax, form: 'hash' }
  const [from, to, hash] = rangePlaces(block).map((place) => place && placeReader(place))
  const lastTag = block.default === 'none' ? undefined : block.default
  const firstTag = block['default-from'] ?? lastTag
  const absentFrom = firstTag === undefined ? null : tagPoints[firstTag]
  const absentTo = lastTag === undefined ? null : tagPoints[lastTag]

  return (...request) => {
    const fromValue = from?.(...request) ?? null
    const toValue = to?.(...request) ?? null
    const hashValue = hash?.(...request) ?? null
    if (hashValue !== null) {
      if (fromValue !== null || toValue !== null) return invalidBlock
      return readPoint(hashValue, hashes) ?? invalidBlock
    }
    const first = fromValue === null ? absentFrom : readPoint(fromValue, ends)
    const last = toValue === null ? absentTo : readPoint(toValue, ends)
    if (first === null || last === null) return invalidBlock
    if (first.kind === 'number' && last.kind === 'number' && first.number > last.number)
      return invalidBlock
    return { kind: 'range', from: first, to: last }
  }
}

/** Where both ends stand, and the one block's hash that may stand in their stead. */
function rangePlaces(block: BlockPlace): (Place | null)[] {
  if (block['from-param'] !== undefined)
    return [
      { param: block['from-param'], name: block['from-name'] },
      { param: block['to-param'], name: block['to-name'] },
      null,
    ]
  const { param, name } = block
  const at = (field: string | undefined) => (field === undefined ? null : { param, name, field })
  return [at(block.from), at(block.to), at(block.hash)]
}
