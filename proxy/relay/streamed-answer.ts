// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from '../clock/cancellation.ts'
import type { Clock } from '../clock/clock.ts'
import { type BodyStream, TransportError } from '../upstream/wire.ts'
import { MalformedAnswer, type StreamValidator } from './reply.ts'

/** An upstream may give up on a reader that keeps it waiting longer than this in total. */
const slowReaderMs = 5_000

/**
 * A long answer that is judged while it is passed on. Its last piece is held back until the whole is
 * known to be well-formed; else the stream fails.
 */
export class StreamedAnswer implements BodyStream, AsyncIterator<Uint8Array, undefined> {
  /** Empty: the reader does not need it, since the head was judged before. */
  readonly head: readonly Uint8Array[] = []
  readonly length: number | null
  readonly behindBytes: number
  readonly judge: StreamValidator | null
  /** Gets what the reader gets; at last null, or why it failed. */
  copy: ((piece: Uint8Array | Error | null) => void) | null = null
  readonly #source: AsyncIterator<Uint8Array, unknown>
  readonly #signal: CancelSignal
  readonly #clock: Clock
  readonly #ended: (cause: unknown) => void
  #ready: Uint8Array[] = []
  #held: readonly Uint8Array[] = []
  #isOver = false
  /** Why it ended before its end; null when it is complete. */
  #cause: Error | null = null
  #givenMs: number
  #readerMs = 0
  readonly #leave = () => void this.return()

  /**
   * @param signal aborted when the answer is not wanted any more
   * @param ended is called once: with null when the answer is complete, else with a `TransportError`
   * (`aborted` when the rest is not wanted), a `MalformedAnswer`, or a defect of the router
   */
  constructor(
    body: BodyStream,
    judge: StreamValidator | null,
    signal: CancelSignal,
    clock: Clock,
    ended: (cause: unknown) => void,
  ) {
    this.length = judge ? judge.length : (body.length ?? null)
    this.behindBytes = body.behindBytes ?? 0
    this.#source = body[Symbol.asyncIterator]()
    this.judge = judge
    this.#signal = signal
    this.#clock = clock
    this.#ended = ended
    this.#givenMs = clock.nowMs()
    if (signal.aborted) this.#leave()
    else signal.addEventListener('abort', this.#leave, { once: true })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#readerMs += this.#clock.nowMs() - this.#givenMs
    try {
      for (;;) {
        const piece = this.#ready.shift()
        if (piece) return { done: false, value: piece }
        if (!this.#isOver) await this.#advance()
        else if (this.#cause === null) return { done: true, value: undefined }
        else throw this.#cause
      }
    } finally {
      this.#givenMs = this.#clock.nowMs()
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
      this.#ready.push(...this.#held)
      this.#held = []
      if (result.done) {
        this.judge?.end()
        this.#finish(null)
      } else this.#take(this.judge ? this.judge.push(result.value) : [result.value])
    } catch (cause) {
      this.#finish(cause)
    }
  }

  /** The upstream had to wait for the reader. */
  get isReaderSlow(): boolean {
    return this.#readerMs > slowReaderMs
  }

  #take(pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) this.copy?.(piece)
    if (this.judge?.isLive) this.#ready.push(...pieces)
    else this.#held = pieces
  }

  #finish(cause: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cause = cause as Error | null
    this.#held = []
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

/** Whether the upstream caused the failure of a stream; else it is a defect of the router. */
export function isStreamFailure(cause: unknown): cause is StreamFailure {
  return cause instanceof TransportError || cause instanceof MalformedAnswer
}
