// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { LongResult } from './integrity/long-result.ts'
import type { Violation } from './integrity/violation.ts'
import { MalformedAnswer, type StreamJudge } from './reply.ts'

/** Checks the result of a long answer while it passes, once its form was judged. */
export class CheckedStream implements StreamJudge {
  readonly length: number | null
  readonly isLive: boolean
  readonly #form: StreamJudge
  readonly #result: LongResult
  /** Bytes that the result has not to be given: those before it, and those that it has seen. */
  #leftOut: number

  /** @param seenBytes up to where of the answer `result` has seen all that concerns it */
  constructor(form: StreamJudge, result: LongResult, seenBytes: number) {
    this.length = form.length
    this.isLive = form.isLive ?? false
    this.#form = form
    this.#result = result
    this.#leftOut = seenBytes
  }

  push(chunk: Uint8Array): readonly Uint8Array[] {
    const pieces = this.#form.push(chunk)
    const known = Math.min(this.#leftOut, chunk.length)
    this.#leftOut -= known
    if (known < chunk.length) refuse(this.#result.push(chunk.subarray(known)))
    return pieces
  }

  end(): void {
    this.#form.end()
    refuse(this.#result.end())
  }
}

function refuse(found: Violation | null): void {
  if (found) throw new MalformedAnswer(found.check, found)
}
