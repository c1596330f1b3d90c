// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckPath } from '../../chain/check-rule.ts'
import { plainEnd } from '../../json/text.ts'
import { keyOf, ResultDocument } from './result-document.ts'
import { WantedNames } from './wanted-names.ts'

/** Of a text, which is no hash or height when it is longer. */
const keptTextBytes = 2_048
/** The longest escape, twice: no text is cut within one. */
const spareBytes = 12
/** Items of a long list are handed on when they take so much. */
export const usualWindowBytes = 256 * 1024
/** From here on lists within items are not kept any more. */
const fullBytes = 4 * 1024 * 1024
/** More than this is kept of no honest answer. */
const mostBytes = 2 * fullBytes

const [quote, comma, colon] = [0x22, 0x2c, 0x3a]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]

/** In the place of a word that is none of those that are compared. */
const noNumber = Buffer.from('true')

/** A list whose items are handed on as they pass. Offsets are those of what is kept. */
interface LongList {
  readonly path: CheckPath
  readonly start: number
  /** The last item. */
  itemStart: number
  itemEnd: number
  /** How many are kept. */
  items: number
}

interface Container {
  readonly isObject: boolean
  readonly isKept: boolean
  /** Null below a list. */
  readonly path: CheckPath | null
  readonly list: LongList | null
  hasKept: boolean
}

type Awaits = 'structure' | 'text' | 'escape' | 'word'
/** What becomes of the bytes at hand. `cut`: as much was kept as is, and the value is closed. */
type Fate = 'name' | 'kept' | 'cut' | 'dropped'

/**
 * What checks look at of a result that is too long to be held, written down while it passes: of all
 * objects only members with wanted names, of long texts the beginning, and of long lists some items
 * at a time, the last of which stays for comparison with the next. What is kept is JSON, and does
 * not grow with the result. What comes in must be valid JSON.
 */
export class AbridgedResult {
  readonly #names: WantedNames
  readonly #lists: readonly CheckPath[]
  readonly #windowBytes: number
  readonly #window: (part: ResultDocument) => void
  readonly #skipped = new Map<string, number>()
  readonly #containers: Container[] = []
  isComplete = false
  /** Of a list within an item not all was kept. */
  hasLost = false
  /** The result itself has members that were not kept. */
  hasStrangers = false
  #kept = Buffer.allocUnsafe(16 * 1024)
  #length = 0
  /** Up to where whole values are kept, and how many containers are open there. */
  #wholeLength = 0
  #wholeDepth = 0
  #awaits: Awaits = 'structure'
  #awaitsName = false
  #fate: Fate = 'dropped'
  #isText = false
  #tokenStart = 0
  /** How long the text or word at hand is by now. */
  #tokenBytes = 0
  /** The result itself is a text or a word of which not all is kept. */
  #isCut = false
  #room = 0
  #spelling: Buffer[] = []
  #spellingBytes = 0
  /** With its quotes; null for one that is not wanted. */
  #name: string | null = null

  /**
   * @param names wanted members
   * @param lists where the lists stand that may be long
   * @param windowBytes how much of a list is kept before its items are handed on
   * @param window takes items of a long list with all that is kept around them
   */
  constructor(
    names: ReadonlySet<string>,
    lists: readonly CheckPath[],
    windowBytes: number,
    window: (part: ResultDocument) => void,
  ) {
    this.#names = new WantedNames(names)
    this.#lists = lists
    this.#windowBytes = windowBytes
    this.#window = window
  }

  get isTooLong(): boolean {
    return this.#length > mostBytes
  }

  /** All that is kept by now, without an item of a long list that is not whole; null for nothing. */
  get document(): ResultDocument | null {
    const at = this.#containers.findIndex(({ list }) => list !== null)
    const list = this.#containers[at]?.list ?? null
    const length = list ? list.itemEnd : this.#wholeLength
    const depth = list ? at + 1 : this.#wholeDepth
    if (length === 0) return null
    const closers = this.#closers(depth)
    return this.#documentOf(Buffer.concat([this.#kept.subarray(0, length), closers]))
  }

  push(bytes: Uint8Array, start = 0): void {
    let at = start
    while (at < bytes.length && !this.isComplete) {
      const byte = bytes[at] as number
      switch (this.#awaits) {
        case 'text':
          at = this.#pushText(bytes, at)
          break
        case 'escape':
          this.#take(bytes, at, at + 1)
          this.#awaits = 'text'
          at++
          break
        case 'word':
          if (isWordEnd(byte)) this.#wordEnded()
          else this.#take(bytes, at, ++at)
          break
        case 'structure':
          if (byte === quote) at = this.#pushQuote(bytes, at)
          else {
            if (byte > 0x20) this.#pushStructure(byte)
            at++
          }
      }
    }
  }

  /** There are no more bytes: only now a number that is all of the result is whole. */
  end(): void {
    if (this.#awaits === 'word') this.#wordEnded()
  }

  /** A name or a text begins. Nearly all are here as a whole, short and without an escape. */
  #pushQuote(bytes: Uint8Array, start: number): number {
    const end = plainEnd(bytes, start + 1) + 1
    const isHere = end <= bytes.length && bytes[end - 1] === quote
    if (this.#awaitsName && isHere) this.#name = this.#names.usual(bytes, start, end)
    else if (isHere && end - start <= keptTextBytes) this.#pushWholeText(bytes, start, end)
    else {
      this.#pushStructure(quote)
      return start + 1
    }
    return end
  }

  #pushWholeText(bytes: Uint8Array, start: number, end: number): void {
    const isKept = this.#memberBegins()
    if (isKept) this.#copy(bytes, start, end)
    this.#valueEnded(isKept)
  }

  #pushText(bytes: Uint8Array, start: number): number {
    const end = plainEnd(bytes, start)
    this.#take(bytes, start, end)
    if (end === bytes.length) return end
    if (bytes[end] === quote) this.#textEnded()
    else {
      if (this.#fate === 'kept' && this.#room < spareBytes) this.#cut()
      this.#take(bytes, end, end + 1)
      this.#awaits = 'escape'
    }
    return end + 1
  }

  #pushStructure(byte: number): void {
    if (byte === comma) this.#awaitsName = this.#containers.at(-1)?.isObject ?? false
    else if (byte === colon) this.#awaitsName = false
    else if (byte === closeBrace || byte === closeBracket) this.#containerEnded()
    else if (this.#awaitsName) this.#nameBegins()
    else this.#valueBegins(byte)
  }

  #nameBegins(): void {
    this.#fate = 'name'
    this.#awaits = 'text'
    this.#spelling = [Buffer.from('"')]
    this.#spellingBytes = 1
  }

  /** @returns whether what begins is kept */
  #memberBegins(): boolean {
    const outer = this.#containers.at(-1)
    if (!outer) return true
    if (!this.#keeps(outer)) {
      if (this.#containers.length === 1) this.hasStrangers = true
      return false
    }
    if (outer.hasKept) this.#writeByte(comma)
    outer.hasKept = true
    if (outer.isObject) {
      const name = this.#names.written(this.#name)
      this.#copy(name, 0, name.length)
    }
    if (outer.list) outer.list.itemStart = this.#length
    return true
  }

  #valueBegins(byte: number): void {
    const isKept = this.#memberBegins()
    if (byte === openBrace || byte === openBracket) return this.#containerBegins(byte, isKept)
    this.#isText = byte === quote
    this.#fate = isKept ? 'kept' : 'dropped'
    this.#room = keptTextBytes
    this.#tokenStart = this.#length
    this.#tokenBytes = 0
    this.#awaits = this.#isText ? 'text' : 'word'
    if (isKept) this.#writeByte(byte)
  }

  #keeps(outer: Container): boolean {
    if (!outer.isKept) return false
    if (outer.isObject) return this.#name !== null
    if (outer.list !== null || this.#length < fullBytes) return true
    this.hasLost = true
    return false
  }

  #containerBegins(byte: number, isKept: boolean): void {
    const isObject = byte === openBrace
    const path = this.#pathHere()
    if (isKept) this.#writeByte(byte)
    const listPath = isKept && !isObject ? this.#longListAt(path) : undefined
    const start = this.#length
    const list = listPath && { path: listPath, start, itemStart: start, itemEnd: start, items: 0 }
    this.#containers.push({ isObject, isKept, path, list: list ?? null, hasKept: false })
    this.#awaitsName = isObject
    if (isKept) this.#markWhole()
  }

  #pathHere(): CheckPath | null {
    const outer = this.#containers.at(-1)
    if (!outer) return []
    if (!outer.isObject || outer.path === null || this.#name === null) return null
    return [...outer.path, JSON.parse(this.#name) as string]
  }

  #longListAt(path: CheckPath | null): CheckPath | undefined {
    const key = path && keyOf(path)
    return this.#lists.find((each) => keyOf(each) === key)
  }

  #containerEnded(): void {
    const container = this.#containers.pop()
    if (container?.isKept) this.#writeByte(container.isObject ? closeBrace : closeBracket)
    this.#valueEnded(container?.isKept ?? false)
  }

  #textEnded(): void {
    this.#awaits = 'structure'
    if (this.#fate !== 'name') {
      if (this.#fate === 'kept') this.#writeByte(quote)
      return this.#valueEnded(this.#fate !== 'dropped')
    }
    const isShort = this.#spellingBytes < this.#names.mostBytes
    const spelling = isShort ? Buffer.concat([...this.#spelling, Buffer.from('"')]) : null
    this.#name = spelling && this.#names.spelled(spelling)
  }

  #wordEnded(): void {
    this.#awaits = 'structure'
    this.#valueEnded(this.#fate !== 'dropped')
  }

  #valueEnded(isKept: boolean): void {
    const outer = this.#containers.at(-1)
    if (!outer) this.isComplete = true
    if (!isKept) return
    this.#markWhole()
    const { list } = outer ?? {}
    if (!list) return
    list.items += 1
    list.itemEnd = this.#length
    if (this.#length - list.start > this.#windowBytes) this.#handOn(list)
  }

  /** A list that is open is the innermost container when its item has ended. */
  #handOn(list: LongList): void {
    // In place: who is handed it does not keep it.
    const length = this.#length
    this.#write(this.#closers(this.#containers.length))
    this.#window(this.#documentOf(this.#kept.subarray(0, this.#length)))
    this.#length = length
    this.#kept.copyWithin(list.start, list.itemStart, list.itemEnd)
    this.#length = list.start + list.itemEnd - list.itemStart
    const key = keyOf(list.path)
    this.#skipped.set(key, (this.#skipped.get(key) ?? 0) + list.items - 1)
    list.items = 1
    list.itemStart = list.start
    list.itemEnd = this.#length
    this.#markWhole()
  }

  #markWhole(): void {
    this.#wholeLength = this.#length
    this.#wholeDepth = this.#containers.length
  }

  /** What closes the outermost containers. */
  #closers(depth: number): Buffer {
    const open = this.#containers.slice(0, depth).filter(({ isKept }) => isKept)
    const closers = open.map(({ isObject }) => (isObject ? '}' : ']')).toReversed()
    return Buffer.from(closers.join(''))
  }

  #documentOf(bytes: Uint8Array): ResultDocument {
    const cutBytes = this.isComplete ? this.#tokenBytes : NaN
    const longTextBytes = this.#isCut ? cutBytes : null
    const span = { start: 0, end: bytes.length }
    return new ResultDocument(bytes, span, new Map(this.#skipped), longTextBytes)
  }

  #take(bytes: Uint8Array, start: number, end: number): void {
    this.#tokenBytes += end - start
    if (this.#fate === 'name') {
      this.#spellingBytes += end - start
      // A copy: a slice would hold the whole chunk.
      if (this.#spellingBytes < this.#names.mostBytes)
        this.#spelling.push(Buffer.from(bytes.subarray(start, end)))
    } else if (this.#fate === 'kept') {
      const last = Math.min(end, start + this.#room)
      this.#room -= last - start
      this.#copy(bytes, start, last)
      if (last < end) this.#cut()
    }
  }

  /** The value is longer than anything that is compared. */
  #cut(): void {
    if (this.#isText) this.#writeByte(quote)
    else {
      // Half a number might be none; no number is so long.
      this.#length = this.#tokenStart
      this.#write(noNumber)
    }
    this.#fate = 'cut'
    this.#isCut = this.#containers.length === 0
    this.#markWhole()
  }

  #writeByte(byte: number): void {
    if (this.#length === this.#kept.length) this.#grow(this.#length + 1)
    this.#kept[this.#length++] = byte
  }

  #write(bytes: Uint8Array): void {
    this.#copy(bytes, 0, bytes.length)
  }

  /** Byte by byte: most of it is too short for anything else to pay. */
  #copy(bytes: Uint8Array, start: number, end: number): void {
    const length = this.#length + end - start
    if (length > this.#kept.length) this.#grow(length)
    const kept = this.#kept
    let to = this.#length
    for (let at = start; at < end; at++) kept[to++] = bytes[at] as number
    this.#length = length
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#kept.length))
    this.#kept.copy(larger, 0, 0, this.#length)
    this.#kept = larger
  }
}

function isWordEnd(byte: number): boolean {
  return byte <= 0x20 || byte === comma || byte === closeBrace || byte === closeBracket
}
