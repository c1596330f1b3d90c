// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spells } from './text.ts'
import { spaceEnd, stringEnd, valueEnd } from './value.ts'

/** A part of a text by the offsets of its first byte and of the byte behind its last one. */
export interface Span {
  readonly start: number
  readonly end: number
}

/**
 * Walks the members of one object, or the elements of one array, one `next()` each, in their order and
 * with duplicates. All values are checked on the way, so what is walked to its end is valid JSON.
 */
export class Cursor {
  readonly #bytes: Uint8Array
  readonly #isObject: boolean
  /** A member's name with its quotes. */
  nameStart = 0
  nameEnd = 0
  valueStart = 0
  valueEnd = 0
  /** Once `next()` gave false: the offset behind the container, or `~offset` of what is wrong. */
  end = 0
  #at: number

  /** `at` is the offset of the opening brace or bracket. */
  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
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
    const end = valueEnd(bytes, at)
    if (end < 0) return this.#stop(end)
    this.valueStart = at
    this.valueEnd = end
    this.#at = end
    return true
  }

  /** Whether the member has this name, which is plain ASCII and not written with escapes. */
  isNamed(name: string): boolean {
    return spells(this.#bytes, this.nameStart + 1, this.nameEnd - 1, name)
  }

  #stop(end: number): false {
    this.end = end
    return false
  }
}

/**
 * Finds members of the object whose opening brace is at `start`: where they stand, of those that are there twice
 * the first; the first name that was there twice; and the offset behind the object, or `~offset` of what is wrong.
 */
export function membersOf<Name extends string>(
  bytes: Uint8Array,
  start: number,
  names: readonly Name[],
): { at: Readonly<Partial<Record<Name, Span>>>; twice: Name | null; end: number } {
  const at: Partial<Record<Name, Span>> = {}
  let twice: Name | null = null
  const cursor = new Cursor(bytes, start)
  while (cursor.next()) {
    for (const name of names) {
      if (!cursor.isNamed(name)) continue
      if (at[name]) twice ??= name
      else at[name] = { start: cursor.valueStart, end: cursor.valueEnd }
    }
  }
  return { at, twice, end: cursor.end }
}

/** Where a member of the object stands that a document is; null where it has none. What is behind it is not looked at. */
export function memberOf(document: Uint8Array, name: string): Span | null {
  const start = spaceEnd(document, 0)
  if (document[start] !== 0x7b) return null
  const cursor = new Cursor(document, start)
  while (cursor.next())
    if (cursor.isNamed(name)) return { start: cursor.valueStart, end: cursor.valueEnd }
  return null
}
