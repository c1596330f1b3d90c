// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ObjectStream, type StreamedMember } from '../../json/object-stream.ts'
import { Utf8Stream } from '../../json/utf8-stream.ts'
import { MalformedAnswer, type StreamJudge } from '../../relay/reply.ts'
import { bufferOf, parseSpan } from '../../json/text.ts'
import type { Span } from '../../json/cursor.ts'

/** An escape takes six bytes for a character; a long id must be spelled as it was sent. */
const maxSpelledOutBytes = 64 * 1024
/** For white space in an id that is no string, and an exponent. */
const spareBytes = 64

/**
 * Judges one answer that is too long to be collected, and puts the client's id into it. What the
 * head shows is found by `readHead`; the rest while it passes: that the id is the request's, that
 * there is one result or one error, that the JSON is whole and in UTF-8, and nothing comes behind it.
 */
export class JsonRpcReplyStream implements StreamJudge {
  readonly #sentId: Buffer | null
  readonly #ownId: Buffer
  readonly #declaredLength: number | null
  readonly #scanner: ObjectStream
  readonly #text = new Utf8Stream()
  #isText = true
  #isError = false
  /** The id was found to be the request's. */
  #idTaken = false
  #ownIdGiven = false
  #givenBytes = 0

  /** Ids are JSON, as in `JsonRpcReplyReader`; `declaredLength` is the upstream's. */
  constructor(sentId: Buffer | null, ownId: Buffer, declaredLength: number | null) {
    this.#sentId = sentId
    this.#ownId = ownId
    this.#declaredLength = declaredLength
    const idBytes = sentId?.length ?? 0
    const keepBytes = Math.max(idBytes, Math.min(6 * idBytes, maxSpelledOutBytes)) + spareBytes
    this.#scanner = new ObjectStream(['"id"', '"result"', '"error"'], keepBytes)
  }

  /** @returns what is wrong already; null when it begins as an answer does */
  readHead(head: readonly Uint8Array[]): string | null {
    const scanner = this.#scanner
    for (const chunk of head) this.#scan(chunk)
    this.#isError = this.#has('"error"')
    // An error of version 1.0 may come with a null result before it.
    const isAnswer = this.#isError || scanner.member('"result"') !== null
    return this.#problem() ?? (isAnswer ? null : 'neither a result nor an error in its first bytes')
  }

  /** Where in the head the error is, which may go on behind it; null when it is a result. */
  get errorSpan(): Span | null {
    const error = this.#isError ? this.#scanner.member('"error"') : null
    return error && { start: error.start, end: error.end < 0 ? this.#scanner.offset : error.end }
  }

  /** All of the error stands in the head. */
  get hasWholeError(): boolean {
    return (this.#scanner.member('"error"')?.end ?? -1) >= 0
  }

  /** The upstream's, when it is known by the head what the client's id makes of it. */
  get length(): number | null {
    const id = this.#scanner.member('"id"')
    if (this.#sentId === null) return this.#declaredLength
    if (this.#declaredLength === null || id === null || id.end < 0) return null
    return this.#declaredLength + this.#ownId.length - (id.end - id.start)
  }

  push(chunk: Uint8Array): readonly Uint8Array[] {
    const from = this.#givenBytes
    this.#givenBytes += chunk.length
    // The head was read before.
    if (this.#givenBytes > this.#scanner.offset) this.#scan(chunk)
    const problem = this.#problem()
    if (problem !== null) throw new MalformedAnswer(problem)
    return this.#withOwnId(chunk, from)
  }

  end(): void {
    // A byte that begins no character may wait for the rest of one.
    if (!this.#text.isWhole) throw new MalformedAnswer('bytes that are not UTF-8')
    if (this.#scanner.completeAt < 0) throw new MalformedAnswer('JSON that ends early')
  }

  #scan(chunk: Uint8Array): void {
    this.#scanner.push(chunk)
    this.#isText &&= this.#text.push(chunk)
  }

  #withOwnId(chunk: Uint8Array, from: number): readonly Uint8Array[] {
    const id = this.#scanner.member('"id"')
    const to = from + chunk.length
    // Of the head more has been scanned than was given.
    if (id === null || this.#sentId === null || this.#ownIdGiven || id.start >= to) return [chunk]
    // It may have begun in an earlier chunk.
    const before = chunk.subarray(0, Math.max(id.start - from, 0))
    if (id.end < 0 || id.end > to) return [before].filter(isNotEmpty)
    this.#ownIdGiven = true
    if (id.start >= from && this.#ownId.equals(id.first)) return [chunk]
    return [before, this.#ownId, chunk.subarray(id.end - from)].filter(isNotEmpty)
  }

  /** What is wrong as far as can be told by now. */
  #problem(): string | null {
    if (!this.#isText) return 'bytes that are not UTF-8'
    const { brokenAt, completeAt, hasBegun, hasDuplicate } = this.#scanner
    if (brokenAt >= 0) {
      if (completeAt >= 0) return 'more than one JSON value'
      return hasBegun ? 'a body that is not JSON' : 'a body that is not a JSON object'
    }
    if (hasDuplicate) return 'a member given twice'
    const isError = this.#has('"error"')
    if ((isError && this.#has('"result"')) || isError !== this.#isError)
      return 'both a result and an error'
    if (!this.#idTaken && !this.#takesId(completeAt >= 0)) return 'the id of another request'
    return null
  }

  #takesId(isComplete: boolean): boolean {
    const sent = this.#sentId
    if (sent === null) return true
    const id = this.#scanner.member('"id"')
    if (id === null || id.end < 0) return !isComplete
    this.#idTaken = isWhole(id) && isIdOf(id.first, sent, this.#isError)
    return this.#idTaken
  }

  /** The member has begun, and not with the null that version 1.0 puts where there is none. */
  #has(name: string): boolean {
    const member = this.#scanner.member(name)
    return member !== null && member.first[0] !== 0x6e
  }
}

function isWhole({ start, end, first }: StreamedMember): boolean {
  return first.length === end - start
}

function isNotEmpty(piece: Uint8Array): boolean {
  return piece.length > 0
}

/**
 * Whether an answer with this id is to the request that was sent under `sent`: nodes spell an id
 * anew, and leave it out of an error or make it null. Ids are JSON; `theirs` is null when absent.
 */
export function isIdOf(theirs: Uint8Array | null, sent: Buffer, isError: boolean): boolean {
  if (theirs && sent.equals(theirs)) return true
  const value = theirs ? parseSpan(bufferOf(theirs), 0, theirs.length) : null
  return value === parseSpan(sent, 0, sent.length) || (isError && value === null)
}
