// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf, isSpace } from './scanner.ts'

/** A requested member of the outermost object. Offsets are relative to the document. */
export interface TrackedMember {
  readonly start: number
  /** Offset after the value; -1 while it continues. */
  end: number
  /** First bytes as latin1, up to the retention limit; for an object or array, only its bracket. */
  text: string
}

const quote = 0x22
/** Up to this distance, a loop finds a quote sooner than the native search. */
const nearBytes = 80

/**
 * Tracks a JSON document that arrives in arbitrary chunks: where strings and brackets end, where
 * requested members of the outermost object are, and that nothing follows the document. It does not
 * validate numbers, words, escapes, UTF-8 or inner commas, so each byte costs one comparison, and
 * far less in a long string.
 */
export class JsonTracker {
  /** Members that have begun, by quoted name. */
  readonly members = new Map<string, TrackedMember>()
  /** Bytes read so far. */
  offset = 0
  /** What is wrong; null if nothing is. */
  problem: string | null = null
  readonly #names: readonly string[]
  readonly #retainBytes: number
  /** Expected or unfinished token while only the outermost object is open. */
  #next: 'document' | 'name' | 'colon' | 'value' | 'scalar' | 'comma' | 'nothing' = 'document'
  /** Open brackets inside the outermost object. */
  #depth = 0
  #isInString = false
  /** Whether an escape spans into the next chunk. */
  #isEscaped = false
  #name = ''
  /** Retained beginning of the unfinished name or value. */
  #text = ''
  #member: TrackedMember | null = null

  /**
   * @param names quoted names of members; empty: any document except a lone number or word
   * @param retainBytes how much of a member's value to retain
   */
  constructor(names: readonly string[], retainBytes = 0) {
    this.#names = names
    this.#retainBytes = Math.max(retainBytes, ...names.map(({ length }) => length + 1))
  }

  get isComplete(): boolean {
    return this.#next === 'nothing'
  }

  push(chunk: Uint8Array): void {
    const bytes = bufferOf(chunk)
    let at = 0
    while (at < bytes.length && this.problem === null) {
      if (this.#isInString) at = this.#string(bytes, at)
      else if (this.#depth > 0) at = this.#inside(bytes, at)
      else this.#outermost(bytes[at] as number, at++)
    }
    if (this.#member) this.#member.text = this.#text
    this.offset += bytes.length
  }

  /** @returns the offset after the consumed bytes */
  #string(bytes: Buffer, start: number): number {
    const from = this.#isEscaped ? start + 1 : start
    const found = stringEnd(bytes, from)
    const end = found < 0 ? bytes.length : found
    this.#isInString = found < 0
    this.#isEscaped = found < 0 && isEscaped(bytes, from, end)
    if (this.#depth > 0) return end
    const left = this.#retainBytes - this.#text.length
    if (left > 0) this.#text += bytes.toString('latin1', start, Math.min(end, start + left))
    if (this.#isInString) return end
    if (this.#next === 'name') {
      this.#name = this.#text
      this.#next = 'colon'
    } else this.#valueEnded(end)
    return end
  }

  /** @returns the offset after the consumed bytes */
  #inside(bytes: Buffer, start: number): number {
    let depth = this.#depth
    let at = start
    while (at < bytes.length && depth > 0) {
      const byte = bytes[at++] as number
      if (byte === quote) {
        const end = stringEnd(bytes, at)
        this.#isInString = end < 0
        if (end < 0) break
        at = end
      } else if (byte >= 0x5b) {
        if (isOpening(byte)) depth++
        // A bracket differs from a brace in this bit.
        else if ((byte | 0x20) === 0x7d) depth--
      }
    }
    this.#depth = depth
    if (depth === 0) this.#valueEnded(at)
    return at
  }

  #outermost(byte: number, at: number): void {
    if (this.#next === 'scalar') {
      if (byte !== 0x2c && byte !== 0x7d && !isSpace(byte)) {
        if (this.#text.length < this.#retainBytes) this.#text += String.fromCharCode(byte)
        return
      }
      this.#valueEnded(at)
    }
    if (isSpace(byte)) return
    const next = this.#next
    const isObject = this.#names.length > 0
    if (next === 'value') this.#valueBegins(byte, at)
    else if (next === 'document' && isObject && byte === 0x7b) this.#next = 'name'
    else if (next === 'document' && !isObject && (byte === quote || isOpening(byte)))
      this.#valueBegins(byte, at)
    else if (next === 'name' && byte === quote) {
      this.#isInString = true
      this.#text = '"'
    } else if (next === 'colon' && byte === 0x3a) this.#next = 'value'
    else if (next === 'comma' && byte === 0x2c) this.#next = 'name'
    else if ((next === 'comma' || next === 'name') && byte === 0x7d) this.#next = 'nothing'
    else this.problem = this.isComplete ? 'more than one JSON value' : 'a body that is not JSON'
  }

  #valueBegins(byte: number, at: number): void {
    this.#text = String.fromCharCode(byte)
    if (this.#names.includes(this.#name)) {
      if (this.members.has(this.#name)) this.problem = 'a duplicate member'
      this.#member = { start: this.offset + at, end: -1, text: this.#text }
      this.members.set(this.#name, this.#member)
    }
    if (byte === quote) this.#isInString = true
    else if (isOpening(byte)) this.#depth = 1
    else this.#next = 'scalar'
  }

  #valueEnded(end: number): void {
    this.#next = this.#names.length > 0 ? 'comma' : 'nothing'
    if (!this.#member) return
    this.#member.end = this.offset + end
    this.#member.text = this.#text
    this.#member = null
  }
}

function isOpening(byte: number): boolean {
  return (byte | 0x20) === 0x7b
}

/** The offset after the closing quote; -1 if these bytes do not contain it. */
function stringEnd(bytes: Buffer, start: number): number {
  for (let from = start; ; from++) {
    const near = Math.min(from + nearBytes, bytes.length)
    while (from < near && bytes[from] !== quote) from++
    if (from === near && (from = bytes.indexOf(quote, from)) < 0) return -1
    if (!isEscaped(bytes, start, from)) return from + 1
  }
}

/** Whether an odd number of backslashes precedes this offset. */
function isEscaped(bytes: Buffer, start: number, at: number): boolean {
  let from = at
  while (from > start && bytes[from - 1] === 0x5c) from--
  return (at - from) % 2 === 1
}
