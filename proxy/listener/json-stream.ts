// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Span } from '../json/scanner.ts'
import { JsonTracker, type TrackedMember } from '../json/tracker.ts'
import { MalformedAnswer, type StreamValidator } from '../relay/reply.ts'
import type { BodyStream } from '../upstream/wire.ts'
import { isIdOf } from './jsonrpc/jsonrpc-request.ts'

/**
 * Judges a JSON document that is too long to be collected: it must be complete, with nothing behind it.
 * Its head is read at once, the remainder while it is passed on.
 */
export class JsonStream implements StreamValidator {
  protected readonly tracker: JsonTracker
  readonly #declaredLength: number | null
  #passedBytes = 0

  constructor({ head, length = null }: BodyStream, tracker = new JsonTracker([])) {
    this.tracker = tracker
    this.#declaredLength = length
    for (const chunk of head) tracker.push(chunk)
  }

  get length(): number | null {
    return this.#declaredLength
  }

  /** What is wrong in the bytes so far; null when nothing is. */
  get problem(): string | null {
    return this.tracker.problem
  }

  push(chunk: Uint8Array): readonly Uint8Array[] {
    const from = this.#passedBytes
    this.#passedBytes += chunk.length
    // The head was read before.
    if (this.#passedBytes > this.tracker.offset) this.tracker.push(chunk)
    const { problem } = this
    if (problem !== null) throw new MalformedAnswer(problem)
    return this.forClient(chunk, from)
  }

  end(): void {
    if (!this.tracker.isComplete) throw new MalformedAnswer('JSON that ends early')
  }

  /** The bytes for the client in place of these, which begin at this offset. */
  protected forClient(chunk: Uint8Array, _from: number): readonly Uint8Array[] {
    return [chunk]
  }
}

/** A node may write an id with more bytes than were sent: with escapes, white space, an exponent. */
const spareIdBytes = 64 * 1024

/**
 * Judges one answer that is too long to be collected, and puts the client's id into it. There must be
 * one result or one error, which shows in the head, and the id must be that of the request.
 */
export class JsonRpcReplyStream extends JsonStream {
  readonly #sentId: Buffer | null
  readonly #ownId: Buffer
  readonly #isError: boolean
  ownId: Span | null

  /** Ids are JSON, as in `JsonRpcReplyReader`. */
  constructor(sentId: Buffer | null, ownId: Buffer, body: BodyStream) {
    const keepBytes = sentId ? sentId.length + spareIdBytes : 0
    super(body, new JsonTracker(['"id"', '"result"', '"error"'], keepBytes))
    this.#sentId = sentId
    this.ownId = sentId === null ? { start: 0, end: 0 } : null
    this.#ownId = ownId
    this.#isError = this.#has('"error"')
  }

  /** The error, which may go on behind the head; null when it is a result. */
  get error(): TrackedMember | null {
    return this.#isError ? (this.tracker.members.get('"error"') ?? null) : null
  }

  /** The upstream's length, corrected by the client's id; null when the head does not show the id. */
  override get length(): number | null {
    const declared = super.length
    if (this.#sentId === null) return declared
    const id = this.#id
    if (declared === null || id === null) return null
    return declared + this.#ownId.length - (id.end - id.start)
  }

  override get problem(): string | null {
    const { tracker } = this
    if (tracker.problem !== null) return tracker.problem
    const hasResult = this.#has('"result"')
    if (this.#has('"error"') !== this.#isError || (this.#isError && hasResult))
      return 'both a result and an error'
    // An error of version 1.0 may come with a null result before it.
    if (!this.#isError && !tracker.members.has('"result"'))
      return 'neither a result nor an error in its first bytes'
    const id = this.#id
    return (id || tracker.isComplete) && !this.#takesId(id) ? 'the id of another request' : null
  }

  protected override forClient(chunk: Uint8Array, from: number): readonly Uint8Array[] {
    const id = this.tracker.members.get('"id"')
    const to = from + chunk.length
    // More of the head was read than was passed on.
    if (!id || this.ownId !== null || id.start >= to) return [chunk]
    // It may have begun in an earlier chunk.
    const before = chunk.subarray(0, Math.max(id.start - from, 0))
    if (id.end < 0 || id.end > to) return [before].filter(isNotEmpty)
    this.ownId = { start: id.start, end: id.start + this.#ownId.length }
    return [before, this.#ownId, chunk.subarray(id.end - from)].filter(isNotEmpty)
  }

  /** Null until all of it was read. */
  get #id(): TrackedMember | null {
    const id = this.tracker.members.get('"id"')
    return id && id.end >= 0 ? id : null
  }

  #takesId(id: TrackedMember | null): boolean {
    if (this.#sentId === null) return true
    if (id === null || id.text.length < id.end - id.start) return false
    return isIdOf(Buffer.from(id.text, 'latin1'), this.#sentId, this.#isError)
  }

  /** The member has begun, and not with the null of version 1.0 for an absent one. */
  #has(name: string): boolean {
    const member = this.tracker.members.get(name)
    return member !== undefined && !member.text.startsWith('n')
  }
}

function isNotEmpty(piece: Uint8Array): boolean {
  return piece.length > 0
}
