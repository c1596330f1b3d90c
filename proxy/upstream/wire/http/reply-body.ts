// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from '../../../clock/clock.ts'
import { TransportError } from '../../transport.ts'
import type { BodyStream } from '../../wire.ts'

/** Where the bytes come from. */
export interface ByteSource {
  /** No more bytes for now. */
  pause(): void
  resume(): void
  /** Nobody wants the rest: let the connection go. */
  abort(error: TransportError): void
}

export interface ReplyBodyLimits {
  /** A longer body is a stream. */
  readonly collectBytes: number
  /** Of a stream: bytes that wait for their reader before the source is told to pause. */
  readonly waitingBytes: number
  /**
   * Of a stream: how long its reader waits in all for the next `waitingBytes`, or for the end; null for
   * as long as it takes. The time that the reader takes itself does not count.
   */
  readonly stallMs: number | null
  /** Nothing is longer. */
  readonly maxBytes: number
}

export interface ReplyBodyOptions extends ReplyBodyLimits {
  readonly source: ByteSource
  readonly clock: Clock
  /** Hears of bytes that passed in a stream. */
  readonly streamed?: ((bytes: number) => void) | undefined
  /** All bytes, when the source says that it knows. */
  readonly length: number | null
  /** Hears once what the body turned out to be. */
  readonly ready: (body: Uint8Array | BodyStream) => void
}

type Result = IteratorResult<Uint8Array, undefined>

interface Waiter {
  readonly resolve: (result: Result) => void
  readonly reject: (error: TransportError) => void
  readonly cancelStall: Cancel
  readonly sinceMs: number
}

const done: Result = { done: true, value: undefined }

/**
 * The body of an answer while it comes in: collected when it is short, else a stream with
 * back-pressure that begins with what was collected.
 */
export class ReplyBody implements BodyStream, AsyncIterator<Uint8Array, undefined> {
  readonly length: number | null
  readonly #options: ReplyBodyOptions
  #chunks: Uint8Array[] = []
  #waitingBytes = 0
  #totalBytes = 0
  #isStream = false
  #paused = false
  #over: 'ended' | 'left' | TransportError | null = null
  #waiter: Waiter | null = null
  /** How long its reader has waited, and what has come, since it last got on. */
  #waitedMs = 0
  #slowBytes = 0

  constructor(options: ReplyBodyOptions) {
    this.#options = options
    this.length = options.length
  }

  get head(): readonly Uint8Array[] {
    return this.#chunks
  }

  // For the source.

  push(chunk: Uint8Array): void {
    if (this.#over !== null || chunk.length === 0) return
    const { maxBytes, collectBytes, waitingBytes, source } = this.#options
    this.#totalBytes += chunk.length
    if (this.#totalBytes > maxBytes)
      return source.abort(new TransportError('too-large', `answer over ${maxBytes} bytes`))
    if (this.#isStream) this.#options.streamed?.(chunk.length)
    if (this.#waiter) {
      this.#wake()?.resolve({ done: false, value: chunk })
      return this.#gotOn(chunk.length)
    }
    this.#chunks.push(chunk)
    this.#waitingBytes += chunk.length
    if (!this.#isStream) {
      if (this.#waitingBytes > collectBytes) this.#becomeStream()
    } else if (this.#waitingBytes >= waitingBytes && !this.#paused) {
      this.#paused = true
      source.pause()
    }
  }

  /** Hands on what there is, however short: more may be long in coming. */
  begin(): void {
    if (this.#over === null && !this.#isStream) this.#becomeStream()
  }

  end(): void {
    if (this.#over !== null) return
    this.#over = 'ended'
    if (!this.#isStream) this.#options.ready(joined(this.#chunks, this.#waitingBytes))
    else this.#wake()?.resolve(done)
  }

  /** What was not read yet is dropped: it is worth nothing without the rest. */
  fail(error: TransportError): void {
    if (this.#over !== null && this.#over !== 'ended') return
    this.#over = error
    this.#drop()
    this.#wake()?.reject(error)
  }

  // For the reader.

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    const chunk = this.#chunks.shift()
    if (chunk) {
      this.#waitingBytes -= chunk.length
      this.#gotOn(chunk.length)
      if (this.#paused && this.#chunks.length === 0) {
        this.#paused = false
        this.#options.source.resume()
      }
      return Promise.resolve({ done: false, value: chunk })
    }
    if (this.#over instanceof TransportError) return Promise.reject(this.#over)
    if (this.#over !== null) return Promise.resolve(done)
    const { clock, stallMs, source, waitingBytes } = this.#options
    return new Promise((resolve, reject) => {
      const stalled = () => {
        const told = `${this.#slowBytes} of the answer's next ${waitingBytes} bytes in ${stallMs} ms`
        source.abort(new TransportError('timeout', told))
      }
      const cancelStall =
        stallMs === null ? () => {} : clock.after(stallMs - this.#waitedMs, stalled)
      this.#waiter = { resolve, reject, cancelStall, sinceMs: clock.nowMs() }
    })
  }

  return(): Promise<Result> {
    if (this.#over === null) {
      this.#over = 'left'
      this.#options.source.abort(new TransportError('aborted', 'taken back'))
    }
    this.#drop()
    this.#wake()?.resolve(done)
    return Promise.resolve(done)
  }

  #gotOn(bytes: number): void {
    this.#slowBytes += bytes
    if (this.#slowBytes < this.#options.waitingBytes) return
    this.#slowBytes = 0
    this.#waitedMs = 0
  }

  #becomeStream(): void {
    this.#isStream = true
    // Whoever reads what there is lets the source go on.
    this.#paused = this.#chunks.length > 0
    if (this.#paused) this.#options.source.pause()
    this.#options.ready(this)
  }

  #drop(): void {
    this.#chunks = []
    this.#waitingBytes = 0
  }

  #wake(): Waiter | null {
    const waiter = this.#waiter
    this.#waiter = null
    if (waiter) {
      waiter.cancelStall()
      this.#waitedMs += this.#options.clock.nowMs() - waiter.sinceMs
    }
    return waiter
  }
}

function joined(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const [first = Buffer.alloc(0)] = chunks
  return chunks.length < 2 ? first : Buffer.concat(chunks, bytes)
}
