// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from '../clock/cancellation.ts'
import type { Clock } from '../clock/clock.ts'
import { type BodyStream, TransportError } from '../upstream/wire.ts'
import { MalformedAnswer, type StreamValidator } from './reply.ts'

/** Total delay by the reader after which an upstream may close the connection. */
const slowReaderMs = 5_000

/**
 * A long answer that is validated while the client reads it. Its last chunk is withheld until the
 * whole is known to be well-formed; otherwise the stream fails.
 */
export class StreamedAnswer implements BodyStream, AsyncIterator<Uint8Array, undefined> {
  /** Empty, since the head was validated before. */
  readonly head: readonly Uint8Array[] = []
  readonly length: number | null
  readonly behindBytes: number
  passedBytes = 0
  readonly validator: StreamValidator | null
  /** Gets each chunk that the reader gets, then null or the error. */
  copy: ((piece: Uint8Array | Error | null) => void) | null = null
  readonly #source: AsyncIterator<Uint8Array, unknown>
  readonly #signal: CancelSignal
  readonly #clock: Clock
  readonly #ended: (cause: unknown) => void
  #ready: Uint8Array[] = []
  #pending: readonly Uint8Array[] = []
  #isOver = false
  /** Error that ended it early; null if it is complete. */
  #cause: Error | null = null
  #deliveredMs: number
  #readerMs = 0
  readonly #leave = () => void this.return()

  /**
   * @param signal aborted when the answer is no longer needed
   * @param ended called once: with null when the answer is complete, else with a `TransportError`
   * (`aborted` if the reader stops), a `MalformedAnswer`, or an unexpected exception
   */
  constructor(
    body: BodyStream,
    validator: StreamValidator | null,
    signal: CancelSignal,
    clock: Clock,
    ended: (cause: unknown) => void,
  ) {
    this.length = validator ? validator.length : (body.length ?? null)
    this.behindBytes = body.behindBytes ?? 0
    this.#source = body[Symbol.asyncIterator]()
    this.validator = validator
    this.#signal = signal
    this.#clock = clock
    this.#ended = ended
    this.#deliveredMs = clock.nowMs()
    if (signal.aborted) this.#leave()
    else signal.addEventListener('abort', this.#leave, { once: true })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#readerMs += this.#clock.nowMs() - this.#deliveredMs
    try {
      for (;;) {
        const piece = this.#ready.shift()
        if (piece) {
          this.passedBytes += piece.length
          return { done: false, value: piece }
        }
        if (!this.#isOver) await this.#advance()
        else if (this.#cause === null) return { done: true, value: undefined }
        else throw this.#cause
      }
    } finally {
      this.#deliveredMs = this.#clock.nowMs()
    }
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (!this.#isOver) this.#finish(new TransportError('aborted', 'the reader left'))
    return Promise.resolve({ done: true, value: undefined })
  }

  async #advance(): Promise<void> {
    try {
      const result = await this.#source.next()
      if (this.#isOver) return
      this.#ready.push(...this.#pending)
      this.#pending = []
      if (result.done) {
        this.validator?.end()
        this.#finish(null)
      } else this.#take(this.validator ? this.validator.push(result.value) : [result.value])
    } catch (cause) {
      this.#finish(cause)
    }
  }

  /** Whether the reader delayed the upstream for long. */
  get isReaderSlow(): boolean {
    return this.#readerMs > slowReaderMs
  }

  #take(pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) this.copy?.(piece)
    if (this.validator?.isLive) this.#ready.push(...pieces)
    else this.#pending = pieces
  }

  #finish(cause: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cause = cause as Error | null
    this.#pending = []
    if (cause !== null) {
      this.#ready = []
      void this.#source.return?.()
    }
    this.#signal.removeEventListener('abort', this.#leave)
    this.#ended(cause)
    this.copy?.(this.#cause)
  }
}

export type StreamFailure = TransportError | MalformedAnswer

/** Whether the upstream caused the failure of a stream; otherwise the router did. */
export function isStreamFailure(cause: unknown): cause is StreamFailure {
  return cause instanceof TransportError || cause instanceof MalformedAnswer
}
