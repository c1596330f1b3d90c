// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { JsonTracker } from '../json/tracker.ts'
import { MalformedAnswer, type StreamJudge } from '../relay/reply.ts'
import type { BodyStream } from '../upstream/wire.ts'

/**
 * Judges a JSON document that is too long to be collected: that it is complete, and nothing comes
 * behind it. Its head is read at once, the rest while it passes.
 */
export class JsonStream implements StreamJudge {
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

  /** What is wrong as far as can be told by now; null when nothing is. */
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

  /** The bytes for the client instead of these, which stand at this offset. */
  protected forClient(chunk: Uint8Array, _from: number): readonly Uint8Array[] {
    return [chunk]
  }
}
