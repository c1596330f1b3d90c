// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Cursor, foldedName, parseSpan, spaceEnd, type Span, valueEnd } from './scanner.ts'

/** Stands for a value of an unexpected type, or beyond the length limit. */
export const unreadable = Symbol('unreadable')

/**
 * Stands for a value that nodes may read differently: its name repeats, differs from the known name
 * only in case, or has escapes or non-ASCII letters. Some nodes ignore case, or use the last one.
 */
export const misspelt = Symbol('misspelt')

/** Longer values are not parsed. A log filter has a few thousand addresses. */
const maxListBytes = 256 * 1024
const maxTextBytes = 4 * 1024 * 1024
/** No object that the router interprets has more members. */
const maxNames = 64

/** Validated JSON, identified by the offset of its first byte. */
export class FoundJson {
  readonly bytes: Uint8Array
  readonly start: number

  constructor(bytes: Uint8Array, start: number) {
    this.bytes = bytes
    this.start = start
  }
}

/** The value at a path; undefined if absent. Scans the path, and parses only that value. */
export function valueIn(found: FoundJson, path: readonly (string | number)[]): unknown {
  const { bytes, start } = found
  let at = start
  for (const key of path) {
    const next = childOf(bytes, at, key)
    if (typeof next !== 'number') return next
    at = next
  }
  const end = bytes[at] === 0x7b ? objectEnd(bytes, at) : valueEnd(bytes, at)
  if (end === null) return misspelt
  const isText = bytes[at] === 0x22
  return end - at > (isText ? maxTextBytes : maxListBytes) ? unreadable : parseSpan(bytes, at, end)
}

/** The end of the object at `start`; null if nodes may read its members differently. */
function objectEnd(bytes: Uint8Array, start: number): number | null {
  const names: string[] = []
  const cursor = new Cursor(bytes, start)
  while (cursor.next()) {
    const name = foldedName(cursor.name)
    if (name === null || names.includes(name) || names.length === maxNames) return null
    names.push(name)
  }
  return cursor.end
}

/** Offset of an element or a member in the list or object at `start`. */
function childOf(bytes: Uint8Array, start: number, key: string | number) {
  // A null value has no children.
  if (bytes[start] === 0x6e) return undefined
  if (bytes[start] !== (typeof key === 'number' ? 0x5b : 0x7b)) return unreadable
  if (typeof key === 'number') return elementOf(bytes, start, key)
  const cursor = new Cursor(bytes, start)
  let found: number | typeof misspelt | undefined
  while (cursor.next()) {
    const isExact = cursor.isNamed(key)
    if (!isExact && !mayMean(bytes, cursor, key)) continue
    found = isExact && found === undefined ? cursor.valueStart : misspelt
  }
  return found
}

function elementOf(bytes: Uint8Array, start: number, index: number): number | undefined {
  let at = spaceEnd(bytes, start + 1)
  if (bytes[at] === 0x5d) return undefined
  for (let left = index; left > 0; left--) {
    at = spaceEnd(bytes, valueEnd(bytes, at))
    if (bytes[at] !== 0x2c) return undefined
    at = spaceEnd(bytes, at + 1)
  }
  return at
}

/** Whether some node may match a name to this one: by case, escapes or non-ASCII letters. */
function mayMean(bytes: Uint8Array, { nameStart, nameEnd }: Cursor, name: string): boolean {
  let isAlike = nameEnd - nameStart - 2 === name.length
  for (let at = nameStart + 1; at < nameEnd - 1; at++) {
    const byte = bytes[at] as number
    if (byte === 0x5c || byte > 0x7f) return true
    isAlike &&= ((byte ^ name.charCodeAt(at - nameStart - 1)) & 0xdf) === 0
  }
  return isAlike
}

/** Separators that only some servers recognise, and parameter names with encoded letters. */
const ambiguousQuery = /;|(?:^|&)[^=&]*[%+]/

/** Whether servers may split a query differently, or read other parameter names. */
export function isAmbiguous(query: string): boolean {
  return ambiguousQuery.test(query)
}

/** Query parameters as a JSON object of strings, so that the same rules apply to both. */
export function jsonOfQuery(query: string, valueOf = (text: string) => text): FoundJson {
  const members = [...new URLSearchParams(query)].map(
    ([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(valueOf(text))}`,
  )
  // The escaped name may match any name, so every parameter becomes `misspelt`.
  if (isAmbiguous(query)) members.push(String.raw`"\u0020":0`)
  return new FoundJson(Buffer.from(`{${members.join()}}`), 0)
}

/** Replaces the bytes of a span. */
export function spliced(bytes: Uint8Array, { start, end }: Span, by: Uint8Array): Uint8Array {
  return Buffer.concat([bytes.subarray(0, start), by, bytes.subarray(end)])
}
