// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { plainShapes, type CheckRule, type PlainShape, type Shape } from '../../chain/check-rule.ts'
import type { BlockRef } from '../../chain/types.ts'
import { bufferOf, parseSpan } from '../../json/text.ts'
import { base58Length } from './base58.ts'
import { mayPend } from './block-range.ts'
import { shownSpan } from './block.ts'
import { ItemCursor } from './item-cursor.ts'
import type { ResultDocument } from './result-document.ts'
import { contradicts } from './second-name.ts'
import { hexAt, isHexDigit, isNull, numberAt, spellsText } from './values.ts'
import { doubtful, violation, type Violation } from './violation.ts'

const quote = 0x22
/** The opcodes that write a log are LOG0 to LOG4. */
const mostTopics = 4
const hashBytes = 32

/** What each shape is without its `?`. */
const plainOf: ReadonlyMap<Shape, PlainShape> = new Map(
  plainShapes.flatMap((plain): [Shape, PlainShape][] => [
    [plain, plain],
    [`${plain}?`, plain],
  ]),
)

/** How many hex digits each may have. Leading zeros are let pass. */
const digits = {
  quantity: [1, 64],
  height: [1, 64],
  uint64: [1, 64],
  data: [0, Infinity],
  word: [0, 64],
  hash: [64, 64],
  address: [40, 40],
  bloom: [512, 512],
} as const satisfies Partial<Record<PlainShape, readonly [number, number]>>

/**
 * The answer is of the type that the method promises, and has the members that every node gives:
 * what it says of the state nobody can tell. Of a pending block members may be missing.
 */
export function checkShape(
  { result, as, oneOf, isLenient, members, secondNames }: Extract<CheckRule, { check: 'shape' }>,
  document: ResultDocument,
  asked: BlockRef,
): Violation | null {
  const { bytes } = document
  const span = document.at(result)
  if (!fits(as, false, bytes, span?.start ?? -1, span?.end ?? -1))
    return {
      ...violation('shape', `wanted a value of type ${as}, got ${shownSpan(bytes, span)}`),
      certain: !isLenient,
    }
  if (span === null) return null
  if (isUnusual(as, bytes, span.start, span.end))
    return doubtful('shape', `an unusual ${as}, ${shownSpan(bytes, span)}`)
  if (oneOf && !oneOf.some((text) => spellsText(bytes, span.start, span.end, text)))
    return {
      ...violation('shape', `wanted ${oneOf.join(' or ')}, got ${shownSpan(bytes, span)}`),
      certain: !isLenient,
    }
  if (bytes[span.start] !== 0x7b) return null
  const isPending = mayPend(asked)
  for (const [name, shape] of members) {
    const member = document.at([...result, name])
    if (!fits(shape, isPending, bytes, member?.start ?? -1, member?.end ?? -1))
      return violation('shape', `${name} is ${shownSpan(bytes, member)}, not of type ${shape}`)
  }
  for (const [second, { name, unless }] of secondNames) {
    if (unless.some((stranger) => document.at([...result, stranger]) !== null)) continue
    const [own, other] = [document.at([...result, name]), document.at([...result, second])]
    if (contradicts(bytes, own, other))
      return violation('shape', `${second} is ${shownSpan(bytes, other)}, unlike ${name}`)
  }
  return null
}

/** Whether a member is what it must be. A negative `start` stands for a member that is not there. */
export function fits(
  shape: Shape,
  isPending: boolean,
  bytes: Uint8Array,
  start: number,
  end: number,
): boolean {
  const plain = plainOf.get(shape) as PlainShape
  if (start < 0 || isNull(bytes, start)) return isPending || plain !== shape
  return isOf(plain, bytes, start, end)
}

/**
 * It is of its type, and as no client of Ethereum's writes it now: half a byte too much, or less than
 * a word. It may be cut; or the node leaves zeros out, as some did.
 */
export function isUnusual(shape: Shape, bytes: Uint8Array, start: number, end: number): boolean {
  const plain = plainOf.get(shape)
  if (bytes[start] !== quote || (plain !== 'data' && plain !== 'word')) return false
  const count = end - start - 4
  if (bytes.subarray(start, end).includes(0x5c)) return false
  if (plain === 'word') return count < 64
  return count % 2 === 1 && !(count === 1 && bytes[start + 3] === 0x30)
}

/** Whether a value is of this type. */
export function isOf(as: PlainShape, bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] as number
  switch (as) {
    case 'any':
      return !isNull(bytes, start)
    case 'object':
      return first === 0x7b
    case 'list':
      return first === 0x5b
    case 'structure':
      return first === 0x7b || first === 0x5b
    case 'syncing':
      return first === 0x7b || isOf('boolean', bytes, start, end)
    case 'data-list':
      return first === 0x5b && areAll(isData, bytes, start)
    case 'boolean':
      return first === 0x74 || first === 0x66
    case 'number':
      return isDigit(first)
    case 'integer':
      return (
        isDigit(first) && Number.isInteger(Number(bufferOf(bytes).toString('latin1', start, end)))
      )
    case 'bare-hash':
      return isBareHash(bytes, start, end)
    case 'bare-hashes':
      return first === 0x5b && areAll(isBareHash, bytes, start)
    case 'mempool':
      return first === 0x7b || isOf('bare-hashes', bytes, start, end)
    case 'base58-32':
      return base58Length(bytes, start, end) === 32
    case 'base58-64':
      return base58Length(bytes, start, end) === 64
    case 'text':
      return first === quote && end - start > 2
    case 'decimal':
      return isDecimal(bytes, start, end)
    case 'false':
      return first === 0x66
    case 'hashes':
      return first === 0x5b && areHashes(bytes, start, Infinity)
    case 'topics':
      return first === 0x5b && areHashes(bytes, start, mostTopics)
    case 'base64-hash':
      return isBase64Hash(bytes, start, end)
    case 'height':
      return isHex(as, bytes, start, end) && !Number.isNaN(numberAt(bytes, start, end))
    case 'uint64':
      return isHex(as, bytes, start, end) && significantDigits(bytes, start, end) <= 16
    default:
      return isHex(as, bytes, start, end) || isEscapedHex(as, bytes, start, end)
  }
}

function isHex(as: keyof typeof digits, bytes: Uint8Array, start: number, end: number): boolean {
  const [fewest, most] = digits[as]
  const first = start + 3
  const count = end - 1 - first
  if (bytes[start] !== quote || bytes[start + 1] !== 0x30) return false
  if (((bytes[start + 2] as number) | 0x20) !== 0x78 || count < fewest || count > most) return false
  for (let at = first; at < end - 1; at++) if (!isHexDigit(bytes[at] as number)) return false
  return true
}

/** 32 bytes; escaped or not, it is the same text. */
function isBase64Hash(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] !== quote || end - start > 6 * 44 + 2) return false
  const text: unknown = parseSpan(bytes, start, end)
  return typeof text === 'string' && /^[0-9A-Za-z+/]{42}[048AEIMQUYcgkosw]=$/.test(text)
}

/** Nobody escapes the digits of a value, but it would be the same. */
function isEscapedHex(
  as: keyof typeof digits,
  bytes: Uint8Array,
  start: number,
  end: number,
): boolean {
  if (bytes[start] !== quote || !bytes.subarray(start, end).includes(0x5c)) return false
  const plain = Buffer.from(JSON.stringify(parseSpan(bytes, start, end)))
  return isHex(as, plain, 0, plain.length)
}

/** Those of a value in hex, without the zeros before them. */
function significantDigits(bytes: Uint8Array, start: number, end: number): number {
  let first = start + 3
  while (first < end - 1 && bytes[first] === 0x30) first++
  return end - 1 - first
}

function areHashes(bytes: Uint8Array, start: number, most: number): boolean {
  const cursor = new ItemCursor(bytes, start)
  while (cursor.next()) {
    if (cursor.index >= most) return false
    cursor.skip()
    if (!isHex('hash', bytes, cursor.start, cursor.end)) return false
  }
  return true
}

type IsOne = (bytes: Uint8Array, start: number, end: number) => boolean

function areAll(isOne: IsOne, bytes: Uint8Array, start: number): boolean {
  const cursor = new ItemCursor(bytes, start)
  while (cursor.next()) {
    cursor.skip()
    if (!isOne(bytes, cursor.start, cursor.end)) return false
  }
  return true
}

function isBareHash(bytes: Uint8Array, start: number, end: number): boolean {
  return hexAt(bytes, start, end)?.length === hashBytes
}

function isData(bytes: Uint8Array, start: number, end: number): boolean {
  return isOf('data', bytes, start, end)
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

function isDecimal(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start + 1; at < end - 1; at++) if (!isDigit(bytes[at] as number)) return false
  return bytes[start] === quote && end - start > 2
}
