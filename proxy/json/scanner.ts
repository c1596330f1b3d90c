// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isAscii, isUtf8 } from 'node:buffer'
import { clientLimits } from '../bytes/limits.ts'

/*
 * Scans JSON (RFC 8259) in bytes: it locates values, builds nothing and does not recurse. It agrees
 * with `JSON.parse` except for its limits, and does not validate UTF-8.
 *
 * Functions named `...End` return the offset after the text that they read, or `~offset` (negative)
 * of an unexpected byte.
 */

/** Delimiters of an array that is put together from its elements. */
export const arrayBytes = {
  open: Buffer.from('['),
  comma: Buffer.from(','),
  close: Buffer.from(']'),
} as const

/** Part of a text: the offset of its first byte, and the offset after its last. */
export interface Span {
  readonly start: number
  readonly end: number
}

/**
 * Iterates over the members of an object, or the elements of an array, in order and with
 * duplicates. It validates every value, so a completed iteration proves that the JSON is valid.
 */
export class Cursor {
  readonly #bytes: Uint8Array
  readonly #isObject: boolean
  /** Start of a member's name, including its quotes. */
  nameStart = 0
  nameEnd = 0
  valueStart = 0
  valueEnd = 0
  /** After `next()` returned false: the offset after the container, or `~offset` of an error. */
  end = 0
  #at: number
  readonly #maxValues: number

  /** @param at offset of the opening brace or bracket @param maxValues per member or element */
  constructor(bytes: Uint8Array, at: number, maxValues = Infinity) {
    this.#bytes = bytes
    this.#maxValues = maxValues
    this.#isObject = bytes[at] === 0x7b
    this.#at = at
  }

  next(): boolean {
    const bytes = this.#bytes
    const isFirst = this.valueEnd === 0
    let at = spaceEnd(bytes, isFirst ? this.#at + 1 : this.#at)
    if (bytes[at] === (this.#isObject ? 0x7d : 0x5d)) return this.#stop(at + 1)
    if (!isFirst) {
      if (bytes[at] !== 0x2c) return this.#stop(~at)
      at = spaceEnd(bytes, at + 1)
    }
    if (this.#isObject) {
      if (bytes[at] !== 0x22) return this.#stop(~at)
      this.nameStart = at
      at = stringEnd(bytes, at)
      if (at < 0) return this.#stop(at)
      this.nameEnd = at
      at = spaceEnd(bytes, at)
      if (bytes[at] !== 0x3a) return this.#stop(~at)
      at = spaceEnd(bytes, at + 1)
    }
    const end = valueEnd(bytes, at, this.#maxValues)
    if (end < 0) return this.#stop(end)
    this.valueStart = at
    this.valueEnd = end
    this.#at = end
    return true
  }

  /** Whether the member has this ASCII name, without escapes. */
  isNamed(name: string): boolean {
    return spells(this.#bytes, this.nameStart + 1, this.nameEnd - 1, name)
  }

  /** The raw name, including its quotes. */
  get name(): string {
    return bufferOf(this.#bytes).toString('latin1', this.nameStart, this.nameEnd)
  }

  #stop(end: number): false {
    this.end = end
    return false
  }
}

/** A name in lower case; null if escapes or non-ASCII letters could make it equal any name. */
export function foldedName(name: string): string | null {
  return /^[ -[\]-~]*$/.test(name) ? name.toLowerCase() : null
}

/**
 * Finds members of the object whose opening brace is at `start`.
 * @returns `at`: the first member of each name, in the order of `names`; `twice`: the first
 * duplicate; `hasOthers`: the object has other names, or a known name with escapes; `end`: the
 * offset after the object, or `~offset` of an unexpected byte
 */
export function membersOf<Name extends string>(
  bytes: Uint8Array,
  start: number,
  names: readonly Name[],
  maxValues?: number,
): {
  at: readonly (Span | undefined)[]
  twice: Name | null
  hasOthers: boolean
  end: number
} {
  const at: (Span | undefined)[] = []
  let twice: Name | null = null
  let hasOthers = false
  const cursor = new Cursor(bytes, start, maxValues)
  while (cursor.next()) {
    let index = 0
    while (index < names.length && !cursor.isNamed(names[index] as Name)) index++
    if (index === names.length) hasOthers = true
    else if (at[index]) twice ??= names[index] as Name
    else at[index] = { start: cursor.valueStart, end: cursor.valueEnd }
  }
  return { at, twice, hasOthers, end: cursor.end }
}

/** A member's span in a document that is an object; null if absent. Ignores later bytes. */
export function memberOf(document: Uint8Array, name: string): Span | null {
  const start = spaceEnd(document, 0)
  if (document[start] !== 0x7b) return null
  const cursor = new Cursor(document, start)
  while (cursor.next())
    if (cursor.isNamed(name)) return { start: cursor.valueStart, end: cursor.valueEnd }
  return null
}

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** The first offset from `start` that is not white space. */
export function spaceEnd(bytes: Uint8Array, start: number): number {
  let at = start
  for (let byte = bytes[at] as number; byte <= 0x20; byte = bytes[++at] as number)
    if (!isSpace(byte)) return at
  return at
}

/** The end of the string whose opening quote is at `start`. */
function stringEnd(bytes: Uint8Array, start: number): number {
  const length = bytes.length
  let wordsFrom = start + longBytes
  for (let at = start + 1; at < length; at++) {
    if (at === wordsFrom) {
      if (((bytes.byteOffset + at) & 3) === 0) at = plainEnd(bytes, at)
      else wordsFrom++
    }
    const byte = bytes[at] as number
    if (byte === 0x22) return at + 1
    if (byte < 0x20) return ~at
    if (byte === 0x5c) {
      at = escapeEnd(bytes, at)
      if (at < 0) return at
      wordsFrom = at + longBytes
    }
  }
  return ~length
}

/** Longer strings are read four bytes at a time, which is three times as fast. */
const longBytes = 64

/** Start of the first four bytes with a quote, backslash or control character, or of the rest. */
function plainEnd(bytes: Uint8Array, start: number): number {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + start, (bytes.length - start) >> 2)
  let at = 0
  for (; at < words.length; at++) {
    const word = words[at] as number
    const quote = word ^ 0x22222222
    const slash = word ^ 0x5c5c5c5c
    // The top bit of a byte is set if its subtraction went below 0.
    const found =
      ((quote - 0x01010101) & ~quote) |
      ((slash - 0x01010101) & ~slash) |
      ((word - 0x20202020) & ~word)
    if ((found & 0x80808080) !== 0) break
  }
  return start + at * 4
}

/** Indexed by byte: whether a backslash and this byte form a complete escape. */
const shortEscapes = new Uint8Array(0x80)
for (const byte of Buffer.from('"\\/bfnrt')) shortEscapes[byte] = 1

/** The last byte of the escape whose backslash is at `start`. */
function escapeEnd(bytes: Uint8Array, start: number): number {
  const at = start + 1
  const byte = bytes[at] as number
  if (shortEscapes[byte] === 1) return at
  // Only `u` takes hex digits.
  if (byte !== 0x75) return ~at
  for (let digit = at + 1; digit <= at + 4; digit++) if (!isHexDigit(bytes[digit])) return ~digit
  return at + 4
}

/** The end of the value after optional white space at `start`. Refuses more than `maxValues`. */
export function valueEnd(bytes: Uint8Array, start: number, maxValues = Infinity): number {
  let at = start
  let values = 0
  // One bit per open container, 1 for an object. Full words move to `outer`.
  let open = 0
  let depth = 0
  let outer: number[] | null = null
  for (;;) {
    at = spaceEnd(bytes, at)
    if (++values > maxValues) return ~at
    const first = bytes[at]
    if (first === 0x22) at = stringEnd(bytes, at)
    else if (first === 0x7b || first === 0x5b) {
      if (depth === clientLimits.nesting) return ~at
      if (depth > 0 && depth % 30 === 0) {
        outer ??= []
        outer.push(open)
        open = 0
      }
      const isObject = first === 0x7b
      open = (open << 1) | (isObject ? 1 : 0)
      depth++
      at = spaceEnd(bytes, at + 1)
      if (bytes[at] !== (isObject ? 0x7d : 0x5d)) {
        if (isObject && (at = nameEnd(bytes, at)) < 0) return at
        continue
      }
      // An empty container closes in the loop below.
    } else at = scalarEnd(bytes, at, first)
    if (at < 0) return at

    for (;;) {
      if (depth === 0) return at
      at = spaceEnd(bytes, at)
      const next = bytes[at]
      const isObject = (open & 1) === 1
      if (next === 0x2c) {
        at++
        if (isObject && (at = nameEnd(bytes, spaceEnd(bytes, at))) < 0) return at
        break
      }
      if (next !== (isObject ? 0x7d : 0x5d)) return ~at
      at++
      open >>= 1
      depth--
      if (depth > 0 && depth % 30 === 0) open = outer?.pop() ?? 0
    }
  }
}

/** The end of a member's name and its colon. The quote of the name must be at `start`. */
function nameEnd(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== 0x22) return ~start
  const end = stringEnd(bytes, start)
  if (end < 0) return end
  const at = spaceEnd(bytes, end)
  return bytes[at] === 0x3a ? at + 1 : ~at
}

function scalarEnd(bytes: Uint8Array, at: number, first: number | undefined): number {
  if (first === 0x74) return wordEnd(bytes, at, 'true')
  if (first === 0x66) return wordEnd(bytes, at, 'false')
  if (first === 0x6e) return wordEnd(bytes, at, 'null')
  return numberEnd(bytes, at)
}

function wordEnd(bytes: Uint8Array, start: number, word: string): number {
  for (let index = 0; index < word.length; index++)
    if (bytes[start + index] !== word.charCodeAt(index)) return ~(start + index)
  return start + word.length
}

function numberEnd(bytes: Uint8Array, start: number): number {
  let at = start
  if (bytes[at] === 0x2d) at++
  if (bytes[at] === 0x30) at++
  else if ((at = digitsEnd(bytes, at)) < 0) return at
  if (bytes[at] === 0x2e && (at = digitsEnd(bytes, at + 1)) < 0) return at
  const exponent = bytes[at]
  if (exponent === 0x65 || exponent === 0x45) {
    const sign = bytes[at + 1]
    at = digitsEnd(bytes, sign === 0x2b || sign === 0x2d ? at + 2 : at + 1)
  }
  return at
}

/** The end of one or more digits. */
function digitsEnd(bytes: Uint8Array, start: number): number {
  let at = start
  for (let byte = bytes[at] as number; byte >= 0x30 && byte <= 0x39; byte = bytes[at] as number)
    at++
  return at > start ? at : ~at
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

function isHexDigit(byte: number | undefined): boolean {
  if (byte === undefined) return false
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
}

/** The same bytes as a Buffer, without a copy. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Whether the bytes from `start` to `end` are exactly this ASCII text. */
export function spells(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  if (end - start !== text.length) return false
  for (let index = 0; index < text.length; index++)
    if (bytes[start + index] !== text.charCodeAt(index)) return false
  return true
}

/**
 * Parses a span that a scanner found to be valid JSON.
 * @throws SyntaxError if it is not
 */
export function parseSpan(bytes: Uint8Array, start: number, end: number): unknown {
  return JSON.parse(bufferOf(bytes).toString('utf8', start, end)) as unknown
}

/** The value of a whole document; undefined if the bytes are not JSON in UTF-8. */
export function parseJson(bytes: Uint8Array): unknown {
  const isPlain = isAscii(bytes)
  if (!isPlain && !isUtf8(bytes)) return undefined
  try {
    return JSON.parse(bufferOf(bytes).toString(isPlain ? 'latin1' : 'utf8')) as unknown
  } catch {
    return undefined
  }
}
