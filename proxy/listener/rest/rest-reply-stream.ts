// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ObjectStream } from '../../json/object-stream.ts'
import type { Span } from '../../json/cursor.ts'
import { Utf8Stream } from '../../json/utf8-stream.ts'
import { spaceEnd } from '../../json/value.ts'
import { MalformedAnswer, type StreamJudge } from '../../relay/reply.ts'

/** Judges a JSON answer to a REST request that is too long to be collected: one value, whole, in UTF-8. */
export class RestReplyStream implements StreamJudge {
  readonly length: number | null
  readonly #scanner = new ObjectStream([], 0, 'any')
  readonly #text = new Utf8Stream()
  #isText = true
  #start = -1
  #givenBytes = 0

  /** @param length as the upstream declared it */
  constructor(length: number | null) {
    this.length = length
  }

  /** @returns what is wrong already; null when it begins as JSON does */
  readHead(head: readonly Uint8Array[]): string | null {
    for (const chunk of head) {
      const { offset } = this.#scanner
      const start = this.#start < 0 ? spaceEnd(chunk, 0) : chunk.length
      if (start < chunk.length) this.#start = offset + start
      this.#scan(chunk)
    }
    return this.#problem()
  }

  /** Where in the head the value is, which may go on behind it; null when it has not begun. */
  get valueSpan(): Span | null {
    if (this.#start < 0) return null
    const { completeAt, offset } = this.#scanner
    return { start: this.#start, end: this.hasWholeValue ? completeAt : offset }
  }

  /** All of the value stands in the head. */
  get hasWholeValue(): boolean {
    return this.#scanner.completeAt >= 0
  }

  push(chunk: Uint8Array): readonly Uint8Array[] {
    this.#givenBytes += chunk.length
    // The head was read before.
    if (this.#givenBytes > this.#scanner.offset) this.#scan(chunk)
    const problem = this.#problem()
    if (problem !== null) throw new MalformedAnswer(problem)
    return [chunk]
  }

  end(): void {
    this.#scanner.end()
    if (!this.#text.isWhole) throw new MalformedAnswer('bytes that are not UTF-8')
    if (this.#scanner.completeAt < 0) throw new MalformedAnswer('JSON that ends early')
  }

  #scan(chunk: Uint8Array): void {
    this.#scanner.push(chunk)
    this.#isText &&= this.#text.push(chunk)
  }

  #problem(): string | null {
    if (!this.#isText) return 'bytes that are not UTF-8'
    if (this.#scanner.brokenAt < 0) return null
    return this.#scanner.completeAt < 0 ? 'a body that is not JSON' : 'more than one JSON value'
  }
}
