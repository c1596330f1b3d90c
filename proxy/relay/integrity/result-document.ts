// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckPath } from '../../chain/check-rule.ts'
import { ObjectCursor } from '../../json/object-cursor.ts'
import { bufferOf, foldedName, isNamed } from '../../json/text.ts'
import type { Span } from '../../json/span.ts'
import { ItemCursor } from './item-cursor.ts'
import { valueEnd } from '../../json/value.ts'

/** By which a path is looked up. */
export function keyOf(path: CheckPath): string {
  return JSON.stringify(path)
}

/** How many items of a list came before those at hand, by the `keyOf` of the list's path. */
export type SkippedItems = ReadonlyMap<string, number>

const noItems: SkippedItems = new Map()

/** A name with its quotes, without escapes that it can do without. */
function withoutEscapes(name: string): string {
  return name.includes('\\') ? JSON.stringify(JSON.parse(name)) : name
}

/**
 * The result of one answer, as the checks look into it: by paths, in bytes that are known to be
 * valid JSON. The members of the result itself are found once, in one pass, for all checks.
 */
export class ResultDocument {
  readonly bytes: Uint8Array
  readonly span: Span
  /**
   * How long the text is of which the result is the beginning, in bytes between its quotes; NaN as long
   * as it goes on. Null: the result is no text, or a whole one.
   */
  readonly longTextBytes: number | null
  readonly #skipped: SkippedItems
  #members: { readonly names: readonly Span[]; readonly values: readonly Span[] } | null = null

  /** @param skipped items that a part of a long result does not show */
  constructor(
    bytes: Uint8Array,
    span: Span,
    skipped: SkippedItems = noItems,
    longTextBytes: number | null = null,
  ) {
    this.bytes = bytes
    this.span = span
    this.longTextBytes = longTextBytes
    this.#skipped = skipped
  }

  /** How many items of the list at a path came before those that the document shows. */
  skippedAt(path: CheckPath): number {
    return this.#skipped.size === 0 ? 0 : (this.#skipped.get(keyOf(path)) ?? 0)
  }

  /** It is what is kept of a long result, with its texts cut. */
  get isAbridged(): boolean {
    return this.#skipped !== noItems
  }

  get isNull(): boolean {
    return this.bytes[this.span.start] === 0x6e
  }

  /** Where the value at the end of a path stands; null where there is nothing. */
  at(path: CheckPath): Span | null {
    const [first, ...rest] = path
    if (first === undefined) return this.span
    let span = typeof first === 'string' ? this.#member(first) : this.#step(this.span, first)
    for (const key of rest) span = span && this.#step(span, key)
    return span
  }

  /** The names of the result's own members with their quotes, as often as they stand there. */
  names(): readonly string[] {
    if (this.bytes[this.span.start] !== 0x7b) return []
    const { names } = (this.#members ??= this.#readMembers())
    return names.map(({ start, end }) =>
      withoutEscapes(bufferOf(this.bytes).toString('utf8', start, end)),
    )
  }

  /**
   * A member that the result has twice, once in other letters or with other escapes: some clients
   * read the one and some the other. Null where there is none.
   */
  get twin(): string | null {
    if (this.bytes[this.span.start] !== 0x7b) return null
    const { names } = (this.#members ??= this.#readMembers())
    const written = new Map<string, string>()
    for (const { start, end } of names) {
      const text = bufferOf(this.bytes).toString('utf8', start, end)
      const name = withoutEscapes(text)
      const key = foldedName(name)
      if ((written.get(key) ?? text) !== text) return name
      written.set(key, text)
    }
    return null
  }

  #member(name: string): Span | null {
    if (this.bytes[this.span.start] !== 0x7b) return null
    const { names, values } = (this.#members ??= this.#readMembers())
    const quoted = JSON.stringify(name)
    const at = names.findLastIndex(({ start, end }) => isNamed(this.bytes, start, end, quoted))
    return values[at] ?? null
  }

  #readMembers() {
    const names: Span[] = []
    const values: Span[] = []
    const cursor = new ObjectCursor(this.bytes, this.span.start)
    while (cursor.next()) {
      names.push({ start: cursor.nameStart, end: cursor.nameEnd })
      values.push({ start: cursor.valueStart, end: cursor.valueEnd })
    }
    return { names, values }
  }

  #step({ start }: Span, key: string | number): Span | null {
    const first = this.bytes[start]
    if (typeof key === 'number') return first === 0x5b ? this.#item(start, key) : null
    if (first !== 0x7b) return null
    const quoted = JSON.stringify(key)
    const cursor = new ObjectCursor(this.bytes, start)
    let found: Span | null = null
    while (cursor.next())
      if (isNamed(this.bytes, cursor.nameStart, cursor.nameEnd, quoted))
        found = { start: cursor.valueStart, end: cursor.valueEnd }
    return found
  }

  #item(start: number, index: number): Span | null {
    const cursor = new ItemCursor(this.bytes, start)
    while (cursor.next()) {
      if (cursor.index === index)
        return { start: cursor.start, end: valueEnd(this.bytes, cursor.start) }
      cursor.skip()
    }
    return null
  }
}
