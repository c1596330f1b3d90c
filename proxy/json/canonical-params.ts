// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf, Cursor, foldedName, spaceEnd } from './scanner.ts'

/** Nested deeper, or longer, it has no canonical form. */
const maxNesting = 32
export const maxCanonicalBytes = 64 * 1024

/** Bytes after which a text may not be canonical: white space, objects, capitals (of hex). */
const suspicious = new Uint8Array(256)
for (const byte of Buffer.from(' \t\r\n{ABCDEF')) suspicious[byte] = 1

/**
 * JSON in the same bytes for all its spellings: without white space, members in the order of their names, and
 * hex with `0x` in lower case. Numbers and escapes stay as they are, so that different values never have the same bytes.
 * @returns the bytes as they are when they are too many or nested too deep, and when nodes may differ on names of members:
 * one repeats, also in another case, or has escapes or letters beyond ASCII
 */
export function canonicalParams(bytes: Uint8Array): Uint8Array {
  if (bytes.length > maxCanonicalBytes) return bytes
  for (let at = 0; at < bytes.length; at++)
    if (suspicious[bytes[at] as number] === 1) {
      const text = valueText(bufferOf(bytes), spaceEnd(bytes, 0), bytes.length, 0)
      return text === null ? bytes : Buffer.from(text, 'latin1')
    }
  return bytes
}

/** @param end of the value; of the outermost, of the bytes */
function valueText(bytes: Buffer, start: number, end: number, depth: number): string | null {
  const first = bytes[start]
  if (first === 0x22) return stringText(bytes.toString('latin1', start, end))
  if (first !== 0x7b && first !== 0x5b) return bytes.toString('latin1', start, end)
  if (depth === maxNesting) return null
  const cursor = new Cursor(bytes, start)
  return first === 0x7b ? objectText(bytes, cursor, depth) : listText(bytes, cursor, depth)
}

const hexText = /^"0x[0-9a-f]*"$/i

function stringText(text: string): string {
  return hexText.test(text) ? text.toLowerCase() : text
}

function listText(bytes: Buffer, cursor: Cursor, depth: number): string | null {
  let text = '['
  while (cursor.next()) {
    const item = valueText(bytes, cursor.valueStart, cursor.valueEnd, depth + 1)
    if (item === null) return null
    text += text.length === 1 ? item : `,${item}`
  }
  return `${text}]`
}

function objectText(bytes: Buffer, cursor: Cursor, depth: number): string | null {
  const members: (readonly [name: string, text: string])[] = []
  while (cursor.next()) {
    const { name } = cursor
    const folded = foldedName(name)
    const value = valueText(bytes, cursor.valueStart, cursor.valueEnd, depth + 1)
    if (value === null || folded === null) return null
    members.push([folded, `${name}:${value}`])
  }
  members.sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
  // Nodes differ in which of two members of one name they take, so their order counts.
  if (members.some(([name], at) => name === members[at - 1]?.[0])) return null
  return `{${members.map(([, text]) => text).join(',')}}`
}
