// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { JsonPlace } from './json-place.ts'
import { maskBytes } from './mask-bytes.ts'
import type { SecretPattern } from './secret-pattern.ts'
import type { BodyStream } from './wire.ts'

/**
 * A stream without the secrets that stand in it, in the same pieces. As much is held back as a secret may be long, since
 * it may go on in the next piece.
 */
export class MaskedStream implements BodyStream, AsyncIterator<Uint8Array, undefined> {
  readonly length: number | null
  readonly #body: BodyStream
  readonly #secrets: SecretPattern
  #source: AsyncIterator<Uint8Array, unknown> | null = null
  #held: Uint8Array[] = []
  #ready: Uint8Array[] = []
  /** Where the held pieces begin. */
  readonly #place = new JsonPlace()
  #isOver = false

  constructor(body: BodyStream, secrets: SecretPattern) {
    this.length = body.length ?? null
    this.#body = body
    this.#secrets = secrets
  }

  /** What ends within a secret shows the beginning of it: it is there to be judged, not to be passed on. */
  get head(): readonly Uint8Array[] {
    const { head } = this.#body
    return piecesOf(masked(head, this.#secrets, Infinity, new JsonPlace()), head)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#source ??= this.#body[Symbol.asyncIterator]()
    for (;;) {
      const piece = this.#ready.shift()
      if (piece) return { done: false, value: piece }
      if (this.#isOver) return { done: true, value: undefined }
      const result = await this.#source.next()
      if (result.done) this.#isOver = true
      else this.#held.push(result.value)
      this.#pass()
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#source ??= this.#body[Symbol.asyncIterator]()
    this.#isOver = true
    this.#held = []
    this.#ready = []
    await this.#source.return?.()
    return { done: true, value: undefined }
  }

  /** Readies the pieces behind which enough has come. */
  #pass(): void {
    const bytes = this.#held.reduce((sum, piece) => sum + piece.length, 0)
    // What begins before this is all here.
    const sureBefore = this.#isOver ? Infinity : bytes - this.#secrets.longest
    const told = masked(this.#held, this.#secrets, sureBefore, this.#place)
    const pieces = piecesOf(told, this.#held)
    let end = 0
    const sure = pieces.filter((piece) => (end += piece.length) <= sureBefore)
    for (const piece of sure) this.#place.pass(piece, 0, piece.length)
    this.#ready.push(...sure)
    this.#held = pieces.slice(sure.length)
  }
}

/** All of the pieces, with asterisks for the secrets that begin before an offset. */
function masked(
  pieces: readonly Uint8Array[],
  secrets: SecretPattern,
  before: number,
  start: JsonPlace,
): Uint8Array {
  const bytes = Buffer.concat(pieces)
  maskBytes(bytes, secrets, before, start)
  return bytes
}

/** Cut as others are. */
function piecesOf(bytes: Uint8Array, like: readonly Uint8Array[]): Uint8Array[] {
  let at = 0
  return like.map(({ length }) => bytes.subarray(at, (at += length)))
}
