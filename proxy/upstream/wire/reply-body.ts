// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { GrowingBuffer } from '../../bytes/growing-buffer.ts'
import { nodeLimits } from '../../bytes/limits.ts'
import type { Cancel, Clock } from '../../clock/clock.ts'
import { aborted, type BodyStream, TransportError } from '../wire.ts'

/** A source of bytes that can be paused. */
export interface Flow {
  pause(): unknown
  resume(): unknown
}

export interface ReplyBodyOptions {
  readonly clock: Clock
  readonly flow: Flow
  /** The bytes received so far. */
  readonly collected: GrowingBuffer
  /** Total bytes, if the source declares them. */
  readonly length: number | null
  /**
   * Limit on the reader's wait for the next bytes or the end; null for no limit. Pauses of the
   * reader itself do not count.
   */
  readonly stallMs: number | null
  /** Bytes that the source buffers while paused. */
  readonly behindBytes: number
  /** Releases the connection when the rest is not needed, or when nothing arrives any more. */
  readonly abort: (error: TransportError) => void
}

type Result = IteratorResult<Uint8Array, undefined>

const done: Result = { done: true, value: undefined }

/** The body of a long answer: a stream with back-pressure, starting with the collected bytes. */
export class ReplyBody implements BodyStream, AsyncIterator<Uint8Array, undefined> {
  readonly length: number | null
  readonly behindBytes: number
  readonly #options: ReplyBodyOptions
  /** Received bytes that wait for the reader. */
  readonly #waiting: GrowingBuffer
  #paused: boolean
  #over: 'ended' | 'left' | TransportError | null = null
  #waiter: PromiseWithResolvers<Result> | null = null
  #cancelStall: Cancel = () => {}

  constructor(options: ReplyBodyOptions) {
    const { collected, length, flow } = options
    this.#options = options
    this.length = length
    this.behindBytes = options.behindBytes
    this.#waiting = collected
    // The source resumes when the reader has read what is there.
    this.#paused = collected.length > 0
    if (this.#paused) flow.pause()
  }

  get head(): readonly Uint8Array[] {
    return this.#waiting.length > 0 ? [this.#waiting.bytes] : []
  }

  // Methods for the source.

  push(chunk: Uint8Array): void {
    if (this.#over !== null || chunk.length === 0) return
    if (this.#waiter) return this.#wake()?.resolve({ done: false, value: chunk })
    this.#waiting.push(chunk)
    if (this.#waiting.length >= nodeLimits.unreadBytes && !this.#paused) {
      this.#paused = true
      this.#options.flow.pause()
    }
  }

  end(): void {
    if (this.#over !== null) return
    this.#over = 'ended'
    this.#wake()?.resolve(done)
  }

  /** Drops unread bytes, which are useless without the rest. */
  fail(error: TransportError): void {
    if (this.#over !== null && this.#over !== 'ended') return
    this.#over = error
    this.#waiting.take()
    this.#wake()?.reject(error)
  }

  // Methods for the reader.

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    if (this.#waiting.length > 0) {
      const chunk = this.#waiting.take()
      if (this.#paused) {
        this.#paused = false
        this.#options.flow.resume()
      }
      return Promise.resolve({ done: false, value: chunk })
    }
    if (this.#over instanceof TransportError) return Promise.reject(this.#over)
    if (this.#over !== null) return Promise.resolve(done)
    const { clock, stallMs, abort } = this.#options
    if (stallMs !== null)
      this.#cancelStall = clock.after(stallMs, () => {
        abort(new TransportError('timeout', `nothing more of the answer in ${stallMs} ms`))
      })
    this.#waiter = Promise.withResolvers()
    return this.#waiter.promise
  }

  return(): Promise<Result> {
    if (this.#over === null) {
      this.#over = 'left'
      this.#options.abort(aborted())
    }
    this.#waiting.take()
    this.#wake()?.resolve(done)
    return Promise.resolve(done)
  }

  #wake(): PromiseWithResolvers<Result> | null {
    const waiter = this.#waiter
    this.#waiter = null
    this.#cancelStall()
    return waiter
  }
}
