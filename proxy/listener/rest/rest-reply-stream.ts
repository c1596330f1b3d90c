// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ObjectStream } from '../../json/object-stream.ts'
import { Utf8Stream } from '../../json/utf8-stream.ts'
import { MalformedAnswer, type StreamJudge } from '../../relay/reply.ts'

/** Judges a JSON answer to a REST request that is too long to be collected: one value, whole, in UTF-8. */
export class RestReplyStream implements StreamJudge {
  readonly length: number | null
  readonly #scanner = new ObjectStream([], 0, 'any')
  readonly #text = new Utf8Stream()
  #isText = true
  #givenBytes = 0

  /** @param length as the upstream declared it */
  constructor(length: number | null) {
    this.length = length
  }

  /** @returns what is wrong already; null when it begins as JSON does */
  readHead(head: readonly Uint8Array[]): string | null {
    for (const chunk of head) this.#scan(chunk)
    return this.#problem()
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
