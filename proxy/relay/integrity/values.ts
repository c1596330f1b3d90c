// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf, parseSpan } from '../../json/text.ts'

/*
 * Values of an answer, read where they stand. A span is of one JSON value in a document that is
 * known to be valid.
 */

const quote = 0x22
const backslash = 0x5c
/** A longer string is neither a height nor a hash. */
const longestText = 1_024
const shownText = 80

export function isNull(bytes: Uint8Array, start: number): boolean {
  return bytes[start] === 0x6e
}

/**
 * A height or an index: `0x` digits with or without leading zeros, decimal digits, or a number.
 * @returns NaN when it is none, or too large to be told exactly
 */
export function numberAt(bytes: Uint8Array, start: number, end: number): number {
  const isText = bytes[start] === quote
  const first = isText ? start + 1 : start
  const last = isText ? end - 1 : end
  if (last <= first || last - first > 66) return NaN
  const isHex = isText && bytes[first] === 0x30 && ((bytes[first + 1] as number) | 0x20) === 0x78
  let value = 0
  for (let at = isHex ? first + 2 : first; at < last; at++) {
    const digit = digitOf(bytes[at] as number)
    if (digit >= (isHex ? 16 : 10)) return NaN
    value = value * (isHex ? 16 : 10) + digit
  }
  return (isHex && last === first + 2) || !Number.isSafeInteger(value) ? NaN : value
}

export function isHexDigit(byte: number): boolean {
  return digitOf(byte) < 16
}

/** Above 15 for what is no hex digit. */
function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : 99
}

/** The same for what a request wants. */
export function toNumber(wanted: unknown): number {
  if (typeof wanted === 'number') return Number.isSafeInteger(wanted) ? wanted : NaN
  if (typeof wanted !== 'string' || wanted.length > 66) return NaN
  const form = /^(?:0x[0-9a-f]+|[0-9]+)$/i
  const value = form.test(wanted) ? Number(wanted) : NaN
  return Number.isSafeInteger(value) ? value : NaN
}

/** A hash or address in the form in which `spellsHash` compares: lower case, without `0x`. */
export function bareHash(text: string): string {
  return text.toLowerCase().replace(/^0x/, '')
}

/** Whether a value is a string with this hash, whatever the case of its letters. */
export function spellsHash(bytes: Uint8Array, start: number, end: number, bare: string): boolean {
  if (bytes[start] !== quote) return false
  const hasPrefix = bytes[start + 1] === 0x30 && ((bytes[start + 2] as number) | 0x20) === 0x78
  const first = start + (hasPrefix ? 3 : 1)
  if (end - 1 - first === bare.length && sameLetters(bytes, first, bare)) return true
  // Nobody escapes the letters of a hash, but it would be the same string.
  const text = textAt(bytes, start, end)
  return text !== null && text.hasEscapes && bareHash(text.value) === bare
}

/** Whether a value is a string with these bytes in hex, which a request names in hex or in base64. */
export function spellsBytes(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  if (spellsHash(bytes, start, end, bareHash(text))) return true
  if (text.length > longestText || !/^[0-9a-z+/]+=*$/i.test(text)) return false
  return spellsHash(bytes, start, end, Buffer.from(text, 'base64').toString('hex'))
}

function sameLetters(bytes: Uint8Array, first: number, bare: string): boolean {
  for (let index = 0; index < bare.length; index++) {
    const byte = bytes[first + index] as number
    const lower = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
    if (lower !== bare.charCodeAt(index)) return false
  }
  return true
}

/** Whether a value is a string with exactly this text. */
export function spellsText(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  return textAt(bytes, start, end)?.value === text
}

/** A hash or address as `spellsHash` compares it; null for what is no string. */
export function hashAt(bytes: Uint8Array, start: number, end: number): string | null {
  const text = textAt(bytes, start, end)
  return text === null ? null : bareHash(text.value)
}

/**
 * The digits of a value in hex without their `0x`, however many; null for what does not begin so.
 * Whether all are digits is left to who reads them.
 */
export function digitsAt(bytes: Uint8Array, start: number, end: number): string | null {
  if (bytes[start] !== quote) return null
  const hasPrefix = bytes[start + 1] === 0x30 && ((bytes[start + 2] as number) | 0x20) === 0x78
  const text = bufferOf(bytes).toString('latin1', start + 1, end - 1)
  if (hasPrefix && !text.includes('\\')) return text.slice(2)
  const parsed = text.includes('\\') ? String(parseSpan(bytes, start, end)) : ''
  return /^0x/i.test(parsed) ? parsed.slice(2) : null
}

/** The bytes of a value that is hex without `0x` from its first letter to its last; null for others. */
export function hexAt(bytes: Uint8Array, start: number, end: number): Buffer | null {
  if (bytes[start] !== quote) return null
  const spelled = bufferOf(bytes).toString('latin1', start + 1, end - 1)
  const text = spelled.includes('\\') ? String(parseSpan(bytes, start, end)) : spelled
  const hex = Buffer.from(text, 'hex')
  return 2 * hex.length === text.length ? hex : null
}

function textAt(bytes: Uint8Array, start: number, end: number) {
  if (bytes[start] !== quote || end - start > longestText) return null
  for (let at = start; at < end; at++)
    if (bytes[at] === backslash)
      return { value: parseSpan(bytes, start, end) as string, hasEscapes: true }
  return { value: bufferOf(bytes).toString('utf8', start + 1, end - 1), hasEscapes: false }
}

/** A value for a line of the log: a few printable characters of it. */
export function shownAt(bytes: Uint8Array, start: number, end: number): string {
  return shown(bufferOf(bytes).toString('latin1', start, Math.min(end, start + shownText + 1)))
}

/** Text of a stranger for a line of the log. */
export function shown(text: string): string {
  const cut = text.length > shownText ? `${text.slice(0, shownText)}...` : text
  return cut.replaceAll(/[^\x20-\x7e]/g, '?')
}
