// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../../config/types.ts'
import { blockTags } from '../native/schema.ts'
import type { BlockPoint, BlockTag, Family } from '../types.ts'
import { member } from './places.ts'

/** Ethereum writes heights as `0x` digits and hashes as `0x` and 64 digits; others mostly in decimal. */
export type Notation = 'ethereum' | 'plain'

/** How the methods of a chain write blocks. */
export function notationOf(
  family: Family | undefined,
  apiInterface: ApiInterface,
  method: string,
): Notation {
  if (family !== 'evm' || apiInterface !== 'jsonrpc') return 'plain'
  // Ethereum's own namespaces end in `_`; a chain's further ones, such as `platform.getBlock`, do not.
  return method.includes('.') && !method.includes('.Eth') ? 'plain' : 'ethereum'
}

/** The one frozen point of each tag. */
export const tagPoints = Object.freeze(
  Object.fromEntries(blockTags.map((tag) => [tag, Object.freeze({ kind: 'tag', tag })])),
) as Readonly<Record<BlockTag, BlockPoint>>

/** How blocks are written on one chain, at one place. */
export interface PointSyntax {
  readonly notation: Notation
  readonly form: 'any' | 'number' | 'hash'
  /** The tags and the chain's own words for them. */
  readonly words: ReadonlyMap<string, BlockPoint>
  readonly numberField: string
  readonly hashField: string
}

/** All tags, and the words of a chain for them. */
export function pointWords(
  own: Readonly<Record<string, BlockTag>> = {},
): ReadonlyMap<string, BlockPoint> {
  const words = new Map<string, BlockPoint>()
  for (const tag of blockTags) words.set(tag, tagPoints[tag])
  for (const [word, tag] of Object.entries(own)) words.set(word, tagPoints[tag])
  return words
}

// Longer texts are not looked at: no tag, height or hash of any chain is longer.
const longestPoint = 128
const ethereumHash = /^0x[0-9a-f]{64}$/i
const quantity = /^0x0*([0-9a-f]{1,14})$/i
const decimal = /^\d{1,16}$/
const foreignHash = /^(?:0x)?[0-9a-z+/=_-]{32,96}$/i

/** Reads a value that is there (neither undefined nor null). Null: it is no block. */
export function readPoint(value: unknown, syntax: PointSyntax): BlockPoint | null {
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
  if (text.length > longestPoint) return null
  if (syntax.form === 'hash') return readHash(text, syntax.notation)
  const word = syntax.words.get(text)
  if (word !== undefined) return word
  const number = readNumber(text, syntax.notation)
  if (number !== null) return { kind: 'number', number }
  return syntax.form === 'any' ? readHash(text, syntax.notation) : null
}

function readNumber(text: string, notation: Notation): number | null {
  if (notation === 'plain' && decimal.test(text)) return safe(Number(text))
  // 32 bytes are a hash, however many of them are zeros.
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

/** `{ blockNumber }` or `{ blockHash }` (EIP-1898), under the chain's own names for them. */
function readObject(value: object, syntax: PointSyntax): BlockPoint | null {
  if (Array.isArray(value)) return null
  const number = member(value, syntax.numberField) ?? null
  const hash = member(value, syntax.hashField) ?? null
  if ((number === null) === (hash === null)) return null
  if (typeof hash === 'string')
    return hash.length <= longestPoint ? readHash(hash, syntax.notation) : null
  return typeof number === 'object' ? null : readPoint(number, { ...syntax, form: 'number' })
}
