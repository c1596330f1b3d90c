// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf, Cursor, foldedName, spaceEnd } from './scanner.ts'

/** Longer or more deeply nested params have no canonical form. */
const maxNesting = 32
export const maxCanonicalBytes = 64 * 1024

/** Bytes found only in non-canonical text: white space, objects, capitals if case is irrelevant. */
const [suspicious, suspiciousWithHex] = [' \t\r\n{', ' \t\r\n{ABCDEF'].map((bytes) => {
  const table = new Uint8Array(256)
  for (const byte of Buffer.from(bytes)) table[byte] = 1
  return table
}) as [Uint8Array, Uint8Array]

/**
 * Maps all spellings of params to equal bytes: no white space, sorted members, and lower-case hex
 * if its case is irrelevant. Numbers and escapes stay unchanged, which keeps values distinct.
 * @returns the bytes unchanged if they are too long, nest too deeply, or have names that decoders
 * match differently: with escapes or non-ASCII letters, or differing only in case
 */
export function canonicalParams(bytes: Uint8Array, hex = false): Uint8Array {
  if (bytes.length > maxCanonicalBytes) return bytes
  const table = hex ? suspiciousWithHex : suspicious
  for (let at = 0; at < bytes.length; at++)
    if (table[bytes[at] as number] === 1) {
      const text = valueText(bufferOf(bytes), spaceEnd(bytes, 0), bytes.length, 0, hex)
      return text === null ? bytes : Buffer.from(text, 'latin1')
    }
  return bytes
}

const hexText = /^"?0x[0-9A-Fa-f]*"?$/

/** Text of a hex value in lower case; other text unchanged. */
export function lowerHex(text: string): string {
  return hexText.test(text) ? text.toLowerCase() : text
}

type Text = string | null

/** @param end of the value; for the outermost value, of the bytes */
function valueText(bytes: Buffer, start: number, end: number, depth: number, hex: boolean) {
  const first = bytes[start]
  if (first !== 0x7b && first !== 0x5b) {
    const text = bytes.toString('latin1', start, end)
    return hex && first === 0x22 ? lowerHex(text) : text
  }
  if (depth === maxNesting) return null
  const cursor = new Cursor(bytes, start)
  return (first === 0x7b ? objectText : listText)(bytes, cursor, depth + 1, hex)
}

function listText(bytes: Buffer, cursor: Cursor, depth: number, hex: boolean): Text {
  let text = ''
  while (cursor.next()) {
    const item = valueText(bytes, cursor.valueStart, cursor.valueEnd, depth, hex)
    if (item === null) return null
    text += text === '' ? item : `,${item}`
  }
  return `[${text}]`
}

function objectText(bytes: Buffer, cursor: Cursor, depth: number, hex: boolean): Text {
  const members: (readonly [folded: string, text: string])[] = []
  while (cursor.next()) {
    const { name } = cursor
    const folded = foldedName(name)
    const value = valueText(bytes, cursor.valueStart, cursor.valueEnd, depth, hex)
    if (value === null || folded === null) return null
    members.push([folded, `${hex ? lowerHex(name) : name}:${value}`])
  }
  members.sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
  // Nodes disagree about which duplicate member wins, so the order matters.
  if (members.some(([name], at) => name === members[at - 1]?.[0])) return null
  return `{${members.map(([, text]) => text).join(',')}}`
}
