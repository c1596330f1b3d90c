// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Span } from '../json/scanner.ts'
import { JsonTracker, type TrackedMember } from '../json/tracker.ts'
import { MalformedAnswer, type StreamValidator } from '../relay/reply.ts'
import type { BodyStream } from '../upstream/wire.ts'
import { isIdOf } from './jsonrpc/jsonrpc-request.ts'

/**
 * Validates a JSON document that is too long to collect: it must be complete, with nothing after
 * it. Validates its head immediately, and the rest as it is forwarded.
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

  /** What is wrong with the bytes so far; null if they are valid. */
  get problem(): string | null {
    return this.tracker.problem
  }

  push(chunk: Uint8Array): readonly Uint8Array[] {
    const from = this.#passedBytes
    this.#passedBytes += chunk.length
    // The constructor already read the head.
    if (this.#passedBytes > this.tracker.offset) this.tracker.push(chunk)
    const { problem } = this
    if (problem !== null) throw new MalformedAnswer(problem)
    return this.forClient(chunk, from)
  }

  end(): void {
    if (!this.tracker.isComplete) throw new MalformedAnswer('JSON that ends early')
  }

  /** Returns the bytes to send in place of `chunk`, which starts at this offset. */
  protected forClient(chunk: Uint8Array, _from: number): readonly Uint8Array[] {
    return [chunk]
  }
}

/** A node may write an id with more bytes than it got: escapes, white space or an exponent. */
const spareIdBytes = 64 * 1024

/**
 * Validates an answer that is too long to collect, and inserts the client's id. Its head must show
 * one result or one error, and the id must match the request.
 */
export class JsonRpcReplyStream extends JsonStream {
  readonly #sentId: Buffer | null
  readonly #ownId: Buffer
  readonly #isError: boolean
  ownId: Span | null

  /** Ids are JSON, as in `JsonRpcReplyReader`. */
  constructor(sentId: Buffer | null, ownId: Buffer, body: BodyStream) {
    const maxIdBytes = sentId ? sentId.length + spareIdBytes : 0
    super(body, new JsonTracker(['"id"', '"result"', '"error"'], maxIdBytes))
    this.#sentId = sentId
    this.ownId = sentId === null ? { start: 0, end: 0 } : null
    this.#ownId = ownId
    this.#isError = this.#has('"error"')
  }

  /** The error, which may continue after the head; null for a result. */
  get error(): TrackedMember | null {
    return this.#isError ? (this.tracker.members.get('"error"') ?? null) : null
  }

  /** The upstream's length, adjusted for the client's id; null until the id is known. */
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
    // An error of version 1.0 may follow a null result.
    if (!this.#isError && !tracker.members.has('"result"'))
      return 'neither a result nor an error in its first bytes'
    const id = this.#id
    return (id || tracker.isComplete) && !this.#takesId(id) ? 'the id of another request' : null
  }

  protected override forClient(chunk: Uint8Array, from: number): readonly Uint8Array[] {
    const id = this.tracker.members.get('"id"')
    const to = from + chunk.length
    // The head may have been read further than it was forwarded.
    if (!id || this.ownId !== null || id.start >= to) return [chunk]
    // The id may have begun in an earlier chunk.
    const before = chunk.subarray(0, Math.max(id.start - from, 0))
    if (id.end < 0 || id.end > to) return [before].filter(isNotEmpty)
    this.ownId = { start: id.start, end: id.start + this.#ownId.length }
    return [before, this.#ownId, chunk.subarray(id.end - from)].filter(isNotEmpty)
  }

  /** Null until the whole id has arrived. */
  get #id(): TrackedMember | null {
    const id = this.tracker.members.get('"id"')
    return id && id.end >= 0 ? id : null
  }

  #takesId(id: TrackedMember | null): boolean {
    if (this.#sentId === null) return true
    if (id === null || id.text.length < id.end - id.start) return false
    return isIdOf(Buffer.from(id.text, 'latin1'), this.#sentId, this.#isError)
  }

  /** Whether the member has begun. Version 1.0 writes null for an absent one. */
  #has(name: string): boolean {
    const member = this.tracker.members.get(name)
    return member !== undefined && !member.text.startsWith('n')
  }
}

function isNotEmpty(piece: Uint8Array): boolean {
  return piece.length > 0
}
