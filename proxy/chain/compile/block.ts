// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../../config/types.ts'
import { FoundJson, jsonOfQuery, misspelt, unreadable, valueIn } from '../../json/place.ts'
import { type NativeBlock, type ValuePlace, blockTags } from '../native/schema.ts'
import { fieldAt } from '../proto-field.ts'
import type { BlockPlaces, BlockPoint, BlockRef, BlockTag, Family, Question } from '../types.ts'
import { isWildcard, segmentsOf } from './path-tree.ts'

/*
 * Finds the block that a request asks about. The spec says where a method's requests name a block.
 */

/** Returns the block that a request asks about. Pure; never throws. */
type BlockReader = (...request: Parameters<PlaceReader>) => BlockRef

/** How a method's requests name blocks. */
export interface BlockSyntax {
  readonly notation: Notation
  /** Tags, and the chain's names for them. */
  readonly words: ReadonlyMap<string, BlockPoint>
  readonly placeReader: (place: ValuePlace) => PlaceReader
  /** Whether a height can replace the block. JSON-RPC outside Ethereum has too many formats. */
  readonly writesHeights: boolean
}

type BlockPlace = Exclude<NativeBlock, string>

export const noBlock: BlockRef = Object.freeze({ kind: 'none' })
const invalidBlock: BlockRef = Object.freeze({ kind: 'invalid' })

/** @param headers headers that name the block; a method without any asks about a tag */
export function compileBlock(
  block: NativeBlock,
  headers: readonly string[] = [],
  syntax: BlockSyntax,
): BlockReader {
  if (typeof block === 'string') {
    const ref = absentRef(block)
    if (block === 'none' || headers.length === 0) return () => ref
    return pointReader({ form: 'number', default: block }, syntax, [headersReader(headers)])
  }
  const isRange = block['from-param'] !== undefined || block.from !== undefined
  return (isRange ? rangeReader : pointReader)(block, syntax)
}

function pointReader(
  block: BlockPlace,
  syntax: BlockSyntax,
  places = (block['first-of'] ?? [block]).map(syntax.placeReader),
): BlockReader {
  const isVersion = block.form === 'version'
  const pointSyntax: PointSyntax = {
    notation: syntax.notation,
    words: syntax.words,
    form: block.form === 'version' ? 'number' : (block.form ?? 'any'),
    numberField: block['number-field'] ?? 'blockNumber',
    hashField: block['hash-field'] ?? 'blockHash',
  }
  const absent = absentRef(block.default)
  return (question, segments) => {
    let isReadable = false
    for (const place of places) {
      const value = place(question, segments)
      if (value === unreadable) continue
      isReadable = true
      if (value === undefined || value === null) continue
      const point = readPoint(value, pointSyntax) ?? invalidBlock
      // Versions count on a scale without a tip, and the data of a version never changes.
      return isVersion && point.kind === 'number' ? noBlock : point
    }
    return isReadable ? absent : invalidBlock
  }
}

/** The block of a request that names none. Without a default, a block is mandatory. */
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

/** Both ends of a range, and the block hash that may replace them. */
function rangePlaces(block: BlockPlace): (ValuePlace | null)[] {
  if (block['from-param'] !== undefined)
    return [
      { param: block['from-param'], name: block['from-name'] },
      block['to-param'] === undefined ? null : { param: block['to-param'], name: block['to-name'] },
      null,
    ]
  const { param, name } = block
  const at = (field: string | undefined) => (field === undefined ? null : { param, name, field })
  return [at(block.from), at(block.to), at(block.hash)]
}

/** Where a method's requests accept a height; null: nowhere. */
export function blockPlaces(
  block: NativeBlock = 'none',
  headers: readonly string[] = [],
  { notation, writesHeights }: BlockSyntax,
): BlockPlaces | null {
  if (!writesHeights) return null
  const isHex = notation === 'ethereum'
  if (typeof block === 'string') {
    const [header] = headers
    return block === 'none' || header === undefined ? null : { places: [{ header }], isHex }
  }
  if (block.form === 'version' || block.form === 'hash') return null
  const isRange = block['from-param'] !== undefined || block.from !== undefined
  // A field of the options is a commitment, and so a word.
  if (!isRange && block.field !== undefined) return null
  const places = isRange ? rangePlaces(block).slice(0, 2) : [block['first-of']?.[0] ?? block]
  return { places: places.filter((place) => place !== null), isHex }
}

/** Ethereum writes heights and hashes as `0x` and hex digits; most other chains use decimal. */
export type Notation = 'ethereum' | 'plain'

/** How a chain's methods write blocks. */
export function notationOf(
  family: Family | undefined,
  apiInterface: ApiInterface,
  method: string,
): Notation {
  if (family !== 'evm' || apiInterface !== 'jsonrpc') return 'plain'
  // Ethereum's namespaces end in `_`; others, such as `platform.getBlock`, do not.
  return method.includes('.') && !method.includes('.Eth') ? 'plain' : 'ethereum'
}

/** One frozen point per tag, shared by all calls. */
export const tagPoints = Object.freeze(
  Object.fromEntries(blockTags.map((tag) => [tag, Object.freeze({ kind: 'tag', tag })])),
) as Readonly<Record<BlockTag, BlockPoint>>

/** How a chain writes blocks at one place of a request. */
interface PointSyntax extends Pick<BlockSyntax, 'notation' | 'words'> {
  readonly form: 'any' | 'number' | 'hash'
  readonly numberField: string
  readonly hashField: string
}

/** All tags, and the chain's names for them. */
export function pointWords(
  own: Readonly<Record<string, BlockTag>> = {},
): ReadonlyMap<string, BlockPoint> {
  const words = new Map<string, BlockPoint>()
  for (const tag of blockTags) words.set(tag, tagPoints[tag])
  for (const [word, tag] of Object.entries(own)) words.set(word, tagPoints[tag])
  return words
}

// No tag, height or hash of any chain is longer than this.
const maxPointLength = 128
const ethereumHash = /^0x[0-9a-f]{64}$/i
const quantity = /^0x0*([0-9a-f]{1,14})$/i
const decimal = /^\d{1,16}$/
const foreignHash = /^(?:0x)?[0-9a-z+/=_-]{32,96}$/i

/** Parses a value other than undefined and null. Null if it is not a block. */
function readPoint(value: unknown, syntax: PointSyntax): BlockPoint | null {
  if (typeof value === 'string') return readText(value, syntax)
  if (typeof value === 'number') {
    if (syntax.form === 'hash' || !Number.isSafeInteger(value) || value < 0) return null
    return syntax.words.get(String(value)) ?? { kind: 'number', number: value }
  }
  if (typeof value === 'object' && value !== null && syntax.form === 'any')
    return readObject(value, syntax)
  return null
}

function readText(text: string, syntax: PointSyntax): BlockPoint | null {
  if (text.length > maxPointLength) return null
  if (syntax.form === 'hash') return readHash(text, syntax.notation)
  const word = syntax.words.get(text)
  if (word !== undefined) return word
  const number = readNumber(text, syntax.notation)
  if (number !== null) return { kind: 'number', number }
  return syntax.form === 'any' ? readHash(text, syntax.notation) : null
}

function readNumber(text: string, notation: Notation): number | null {
  if (notation === 'plain' && decimal.test(text)) return safe(Number(text))
  // A text of 32 bytes is a hash, even if most of the bytes are zero.
  if (text.length === 66) return null
  const digits = quantity.exec(text)?.[1]
  return digits === undefined ? null : safe(Number.parseInt(digits, 16))
}

function safe(number: number): number | null {
  return Number.isSafeInteger(number) ? number : null
}

function readHash(text: string, notation: Notation): BlockPoint | null {
  const hash = notation === 'ethereum' ? ethereumHash : foreignHash
  return hash.test(text) ? { kind: 'hash', hash: text } : null
}

/** Parses `{ blockNumber }` or `{ blockHash }` (EIP-1898), with the chain's names for them. */
function readObject(value: object, syntax: PointSyntax): BlockPoint | null {
  if (Array.isArray(value)) return null
  const number = member(value, syntax.numberField) ?? null
  const hash = member(value, syntax.hashField) ?? null
  if ((number === null) === (hash === null)) return null
  if (typeof hash === 'string')
    return hash.length <= maxPointLength ? readHash(hash, syntax.notation) : null
  return typeof number === 'object' ? null : readPoint(number, { ...syntax, form: 'number' })
}

/**
 * Reads the value at one place of a request; undefined or null if there is none.
 * @param segments path segments of a REST call; empty for other calls
 */
export type PlaceReader = (question: Question, segments: readonly string[]) => unknown

/** Reads the header that names a block. Ignores several such headers, because nodes differ. */
function headersReader(headers: readonly string[]): PlaceReader {
  return (question) => {
    if (!('header' in question)) return unreadable
    const values = headers.map(question.header).filter((value) => value !== null)
    return values.length === 0 ? null : values.join(', ')
  }
}

/** @param pattern path pattern of a REST call */
export function placeReader(place: ValuePlace, pattern: string): PlaceReader {
  const { header, query, message, 'path-parameter': parameter } = place
  if (header !== undefined)
    return (question) => ('header' in question ? question.header(header) : unreadable)
  if (query !== undefined)
    return (question) => {
      if (question.apiInterface !== 'rest') return unreadable
      return question.query === '' ? null : valueIn(jsonOfQuery(question.query), [query])
    }
  if (message !== undefined)
    return (question) => {
      if (question.apiInterface !== 'grpc' || question.message === undefined) return unreadable
      const value = fieldAt(question.message, message)
      return value === null ? unreadable : value
    }
  if (parameter === undefined) return paramReader(place)
  const parts = segmentsOf(pattern)
  const at = parts.indexOf(`{${parameter}}`)
  const isBehindWildcard = parts.slice(0, at).some(isWildcard)
  return at < 0 || isBehindWildcard ? () => unreadable : (_, segments) => segments[at]
}

/** Reads a place in the params, which are a list or an object. */
function paramReader({ param: position, name, field = [] }: ValuePlace): PlaceReader {
  const at = position ?? (name === undefined ? 0 : null)
  const path = typeof field === 'string' ? [field] : field
  const inList = at === null ? null : [at, ...path]
  const inObject = name === undefined ? null : [name, ...path]
  return (question) => {
    if (question.apiInterface === 'rest' || question.apiInterface === 'grpc') return unreadable
    const { params = null } = question
    const found =
      params instanceof FoundJson ? params : new FoundJson(Buffer.from(JSON.stringify(params)), 0)
    const first = found.bytes[found.start]
    if (first === 0x5b) return inList === null ? undefined : valueIn(found, inList)
    if (first === 0x6e) return undefined
    return inObject === null ? unreadable : valueIn(found, inObject)
  }
}

/** The member with this name; `misspelt` if only a similar name exists; undefined otherwise. */
function member(object: object, name: string): unknown {
  if (Object.hasOwn(object, name)) return (object as Record<string, unknown>)[name]
  const folded = name.toLowerCase()
  return Object.keys(object).some((each) => each.toLowerCase() === folded) ? misspelt : undefined
}
