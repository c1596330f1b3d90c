// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { maxNesting } from './value.ts'

/** A member of the outermost object. Offsets are the document's. */
export interface StreamedMember {
  readonly start: number
  /** Behind the value; -1 while it goes on. */
  end: number
  /** The value's first bytes, as many as are kept. */
  first: Uint8Array
}

// What the next byte belongs to.
const inStart = 0
const inValue = 1
const inFirstName = 2
const inFirstElement = 3
const inName = 4
const inColon = 5
const inAfterValue = 6
const inString = 7
const inEscape = 8
const inHex = 9
const inWord = 10
const inMinus = 11
const inZero = 12
const inDigits = 13
const inPoint = 14
const inFraction = 15
const inExponent = 16
const inSign = 17
const inPower = 18
const inEnd = 19
const inNothing = 20

const nothing = new Uint8Array()
const space = Uint8Array.of(0x20)

/**
 * A scanner over a JSON object, or any document, that comes in pieces, cut wherever. It accepts and
 * refuses what the scanner over a whole document does (`value.ts`), and knows at each moment which of
 * the wanted members have begun and ended. Its memory does not grow with the document.
 */
export class ObjectStream {
  readonly #wanted: ReadonlySet<string>
  readonly #keepBytes: number
  readonly #isAny: boolean
  readonly #maxDepth: number
  readonly #members = new Map<string, StreamedMember>()
  /** Bytes seen so far. */
  offset = 0
  /** Behind the document's last byte; -1 until it is there. */
  completeAt = -1
  /** Of the first byte that cannot stand where it does; -1 while there is none. */
  brokenAt = -1
  /** A wanted member was there twice. */
  hasDuplicate = false
  #state = inStart
  #isName = false
  #word = ''
  /** Characters of a word or digits of an escape that were there. */
  #count = 0
  // One bit per open container, 1 for an object; full words go to `outer`.
  #open = 0
  #depth = 0
  readonly #outer: number[] = []
  #member: StreamedMember | null = null
  /** The name or the value of an outermost member, as far as it is kept. */
  #kept: Uint8Array = nothing
  /** Where it goes on in the chunk at hand; -1 when nothing is to be kept. */
  #keepFrom = -1
  /** The member whose value comes next, when it is wanted. */
  #nextName: string | null = null

  /**
   * @param wanted names of members, as JSON with their quotes
   * @param keepBytes how much of a member's value is kept
   * @param root what the document may be
   */
  constructor(wanted: readonly string[], keepBytes: number, root: 'object' | 'any' = 'object') {
    this.#wanted = new Set(wanted)
    this.#isAny = root === 'any'
    // Where a cursor walks the outermost object, that one is not counted.
    this.#maxDepth = this.#isAny ? maxNesting : maxNesting + 1
    this.#keepBytes = Math.max(keepBytes, ...wanted.map((name) => name.length + 1))
  }

  /** A wanted member that has begun; `name` with its quotes. */
  member(name: string): StreamedMember | null {
    return this.#members.get(name) ?? null
  }

  /** The outermost brace has been seen. */
  get hasBegun(): boolean {
    return this.#depth > 0 || this.completeAt >= 0
  }

  /** There is no more: only now a number that is all of the document is complete. */
  end(): void {
    this.push(space)
  }

  push(chunk: Uint8Array): void {
    if (this.brokenAt >= 0) return
    if (this.#keepFrom >= 0) this.#keepFrom = 0
    const length = chunk.length
    let state = this.#state
    let at = 0
    for (; at < length; at++) {
      let byte = chunk[at] as number
      if (state === inString) {
        // Most of a long answer is strings. Control characters have to be found, which the search
        // for one byte cannot do.
        while (byte >= 0x20 && byte !== 0x22 && byte !== 0x5c) {
          if (++at === length) break
          byte = chunk[at] as number
        }
        if (at === length) break
        if (byte === 0x22) state = this.#stringEnded(chunk, at + 1)
        else state = byte === 0x5c ? inEscape : inNothing
      } else if (state >= inZero && state <= inPower) {
        const next = numberState(state, byte)
        if (next !== inAfterValue) state = next
        else {
          state = this.#valueEnded(chunk, at)
          at--
        }
      } else state = this.#structure(state, byte, chunk, at)
      if (state === inNothing) break
    }
    if (state === inNothing) this.brokenAt = this.offset + at
    this.offset += length
    this.#state = state
    if (this.#keepFrom >= 0) this.#keep(chunk, length)
    if (this.#member) this.#member.first = this.#kept
  }

  /** What follows a byte that is neither in a string nor in a number. */
  #structure(state: number, byte: number, chunk: Uint8Array, at: number): number {
    switch (state) {
      case inEscape:
        this.#count = 0
        if (byte === 0x75) return inHex
        return isShortEscape(byte) ? inString : inNothing
      case inHex:
        if (!isHexDigit(byte)) return inNothing
        return ++this.#count === 4 ? inString : inHex
      case inWord:
        if (byte !== this.#word.charCodeAt(this.#count)) return inNothing
        return ++this.#count === this.#word.length ? this.#valueEnded(chunk, at + 1) : inWord
      case inMinus:
        return byte === 0x30 ? inZero : isDigit(byte) ? inDigits : inNothing
    }
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return state
    switch (state) {
      case inStart:
        if (this.#isAny) return this.#valueBegins(byte, at)
        return byte === 0x7b ? this.#opened(true) : inNothing
      case inFirstElement:
        if (byte === 0x5d) return this.#closed(chunk, at + 1)
        return this.#valueBegins(byte, at)
      case inValue:
        return this.#valueBegins(byte, at)
      case inFirstName:
        if (byte === 0x7d) return this.#closed(chunk, at + 1)
        return this.#nameBegins(byte, at)
      case inName:
        return this.#nameBegins(byte, at)
      case inColon:
        return byte === 0x3a ? inValue : inNothing
      case inAfterValue: {
        const isObject = (this.#open & 1) === 1
        if (byte === 0x2c) return isObject ? inName : inValue
        return byte === (isObject ? 0x7d : 0x5d) ? this.#closed(chunk, at + 1) : inNothing
      }
    }
    return inNothing
  }

  #nameBegins(byte: number, at: number): number {
    if (byte !== 0x22) return inNothing
    if (this.#depth === 1) this.#startKeeping(at)
    this.#isName = true
    return inString
  }

  #valueBegins(byte: number, at: number): number {
    const name = this.#depth === 1 ? this.#nextName : null
    if (name !== null) {
      this.hasDuplicate ||= this.#members.has(name)
      this.#member = { start: this.offset + at, end: -1, first: nothing }
      this.#members.set(name, this.#member)
      this.#nextName = null
      this.#startKeeping(at)
    }
    switch (byte) {
      case 0x22:
        this.#isName = false
        return inString
      case 0x7b:
        return this.#opened(true)
      case 0x5b:
        return this.#opened(false)
      case 0x74:
        return this.#wordBegins('true')
      case 0x66:
        return this.#wordBegins('false')
      case 0x6e:
        return this.#wordBegins('null')
      case 0x2d:
        return inMinus
      case 0x30:
        return inZero
      default:
        return isDigit(byte) ? inDigits : inNothing
    }
  }

  #wordBegins(word: string): number {
    this.#word = word
    this.#count = 1
    return inWord
  }

  #opened(isObject: boolean): number {
    if (this.#depth >= this.#maxDepth) return inNothing
    if (this.#depth > 0 && this.#depth % 30 === 0) {
      this.#outer.push(this.#open)
      this.#open = 0
    }
    this.#open = (this.#open << 1) | (isObject ? 1 : 0)
    this.#depth++
    return isObject ? inFirstName : inFirstElement
  }

  #closed(chunk: Uint8Array, end: number): number {
    this.#open >>= 1
    this.#depth--
    if (this.#depth > 0 && this.#depth % 30 === 0) this.#open = this.#outer.pop() ?? 0
    return this.#valueEnded(chunk, end)
  }

  #stringEnded(chunk: Uint8Array, end: number): number {
    if (!this.#isName) return this.#valueEnded(chunk, end)
    if (this.#depth === 1) {
      const kept = this.#stopKeeping(chunk, end)
      const name = Buffer.from(kept).toString('latin1')
      this.#nextName = this.#wanted.has(name) ? name : null
    }
    return inColon
  }

  #valueEnded(chunk: Uint8Array, end: number): number {
    if (this.#depth === 0) {
      this.completeAt = this.offset + end
      return inEnd
    }
    if (this.#depth === 1 && this.#member) {
      this.#member.end = this.offset + end
      this.#member.first = this.#stopKeeping(chunk, end)
      this.#member = null
    }
    return inAfterValue
  }

  #startKeeping(at: number): void {
    this.#kept = nothing
    this.#keepFrom = at
  }

  #stopKeeping(chunk: Uint8Array, end: number): Uint8Array {
    if (this.#keepFrom >= 0) this.#keep(chunk, end)
    this.#keepFrom = -1
    return this.#kept
  }

  #keep(chunk: Uint8Array, end: number): void {
    const left = this.#keepBytes - this.#kept.length
    // A copy: a slice would hold the whole chunk.
    const more = chunk.subarray(this.#keepFrom, Math.min(end, this.#keepFrom + left))
    if (more.length > 0) this.#kept = Buffer.concat([this.#kept, more])
    if (more.length === left) this.#keepFrom = -1
  }
}

/** What follows in a number; `inAfterValue` when the byte is no part of it. */
function numberState(state: number, byte: number): number {
  const digit = isDigit(byte)
  switch (state) {
    case inDigits:
      if (digit) return inDigits
      break
    case inPoint:
      return digit ? inFraction : inNothing
    case inFraction:
      if (digit) return inFraction
      return byte === 0x65 || byte === 0x45 ? inExponent : inAfterValue
    case inExponent:
      if (byte === 0x2b || byte === 0x2d) return inSign
      return digit ? inPower : inNothing
    case inSign:
      return digit ? inPower : inNothing
    case inPower:
      return digit ? inPower : inAfterValue
  }
  if (byte === 0x2e) return inPoint
  return byte === 0x65 || byte === 0x45 ? inExponent : inAfterValue
}

/** " \ / b f n r t */
function isShortEscape(byte: number): boolean {
  return '"\\/bfnrt'.includes(String.fromCharCode(byte))
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

function isHexDigit(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
}
