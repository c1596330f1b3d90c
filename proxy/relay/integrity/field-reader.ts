// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ObjectCursor } from '../../json/object-cursor.ts'
import type { Span } from '../../json/span.ts'
import { isNamed, isNamedInAnyCase } from '../../json/text.ts'

/**
 * Finds a few members of many objects of the same kind, each object in one pass. What was found of
 * one is forgotten when the next is read.
 */
export class FieldReader {
  readonly #names: readonly string[]
  readonly #spans: number[]
  /** Which of the names another member has in other letters; -1 for none. */
  #twin = -1
  /** Which of the names were written with escapes, which no honest node does. */
  readonly #escaped = new Set<number>()

  constructor(names: readonly string[]) {
    this.#names = names.map((name) => JSON.stringify(name))
    this.#spans = names.flatMap(() => [-1, -1])
  }

  /**
   * Reads the object whose brace is at `at`. Of a member given twice the last counts, as for nearly
   * every parser.
   * @returns the offset behind the object
   */
  read(bytes: Uint8Array, at: number): number {
    const names = this.#names
    const spans = this.#spans
    spans.fill(-1)
    this.#twin = -1
    this.#escaped.clear()
    const cursor = new ObjectCursor(bytes, at)
    while (cursor.next()) {
      const { nameStart, nameEnd } = cursor
      let index = 0
      while (index < names.length && !isNamed(bytes, nameStart, nameEnd, names[index] as string))
        index++
      if (index < names.length) {
        if (nameEnd - nameStart > (names[index] as string).length) this.#escaped.add(index)
        if ((spans[2 * index] as number) >= 0 && this.#escaped.has(index)) this.#twin = index
        spans[2 * index] = cursor.valueStart
        spans[2 * index + 1] = cursor.valueEnd
      } else if (this.#twin < 0)
        this.#twin = names.findIndex((name) => isNamedInAnyCase(bytes, nameStart, nameEnd, name))
    }
    return cursor.end
  }

  /** By the name's place in the list; -1 for a member that the object has not got. */
  start(index: number): number {
    return this.#spans[2 * index] as number
  }

  end(index: number): number {
    return this.#spans[2 * index + 1] as number
  }

  /** Null for a member that the object has not got. */
  span(index: number): Span | null {
    const start = this.start(index)
    return start < 0 ? null : { start, end: this.end(index) }
  }

  /**
   * A member that the object has twice, once in other letters or with escapes: some clients read the
   * one and some the other. Null where there is none.
   */
  get twin(): string | null {
    const at = this.#twin
    return at >= 0 && this.start(at) >= 0 ? (this.#names[at] as string) : null
  }

  /** It is there and not null. */
  holds(bytes: Uint8Array, index: number): boolean {
    const start = this.start(index)
    return start >= 0 && bytes[start] !== 0x6e
  }
}
