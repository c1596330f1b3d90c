// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from '../clock/cancellation.ts'
import type { Clock } from '../clock/clock.ts'
import { TransportError } from '../upstream/transport.ts'
import type { BodyStream } from '../upstream/wire.ts'
import { MalformedAnswer, type StreamJudge } from './reply.ts'

/** A reader that takes longer than this over what it was given may have cost the rest. */
const slowReaderMs = 5_000

/** It broke off, or turned out to be no answer. */
export interface StreamBroken {
  readonly kind: 'broken'
  readonly cause: TransportError | MalformedAnswer
  /** The upstream had to wait for whoever reads. */
  readonly isReaderSlow: boolean
}

/** How a stream ended. `left`: nobody wants the rest; `defect`: the router itself failed at it. */
export type StreamEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'left' }
  | { readonly kind: 'defect'; readonly cause: unknown }
  | StreamBroken

/**
 * An answer on its way to the client. It is judged while it passes, and its last piece is held back
 * until the whole is known to be an answer; if it is none, the stream fails.
 */
export class StreamedAnswer implements BodyStream, AsyncIterator<Uint8Array, undefined> {
  /** It was judged before; whoever reads has no use for it. */
  readonly head: readonly Uint8Array[] = []
  readonly length: number | null
  readonly #source: AsyncIterator<Uint8Array, unknown>
  readonly #judge: StreamJudge | null
  readonly #signal: CancelSignal
  readonly #clock: Clock
  readonly #ended: (end: StreamEnd) => void
  #ready: Uint8Array[] = []
  #held: readonly Uint8Array[] = []
  #end: StreamEnd | null = null
  #givenMs: number
  #readerMs = 0
  readonly #leave = () => {
    void this.return()
  }

  /**
   * @param signal aborted when nobody wants the answer any more
   * @param ended hears once how it ended
   */
  constructor(
    body: BodyStream,
    judge: StreamJudge | null,
    signal: CancelSignal,
    clock: Clock,
    ended: (end: StreamEnd) => void,
  ) {
    this.length = judge ? judge.length : (body.length ?? null)
    this.#source = body[Symbol.asyncIterator]()
    this.#judge = judge
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
        if (this.#end?.kind === 'complete') return { done: true, value: undefined }
        if (this.#end?.kind === 'broken' || this.#end?.kind === 'defect') throw this.#end.cause
        if (this.#end) throw new TransportError('aborted', 'taken back')
        await this.#advance()
      }
    } finally {
      this.#givenMs = this.#clock.nowMs()
    }
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#finish({ kind: 'left' })
    return Promise.resolve({ done: true, value: undefined })
  }

  async #advance(): Promise<void> {
    try {
      const result = await this.#source.next()
      if (this.#end) return
      this.#ready.push(...this.#held)
      this.#held = []
      if (result.done) {
        this.#judge?.end()
        this.#finish({ kind: 'complete' })
      } else this.#take(this.#judge ? this.#judge.push(result.value) : [result.value])
    } catch (error) {
      this.#finish(this.#endOf(error))
    }
  }

  #endOf(cause: unknown): StreamEnd {
    if (!isUpstreamsDoing(cause)) return { kind: 'defect', cause }
    if (cause instanceof TransportError && cause.fault === 'aborted') return { kind: 'left' }
    return { kind: 'broken', cause, isReaderSlow: this.#readerMs > slowReaderMs }
  }

  #take(pieces: readonly Uint8Array[]): void {
    if (this.#judge?.isLive) this.#ready.push(...pieces)
    else this.#held = pieces
  }

  #finish(end: StreamEnd): void {
    if (this.#end) return
    this.#end = end
    this.#held = []
    if (end.kind !== 'complete') {
      this.#ready = []
      void this.#source.return?.()
    }
    this.#signal.removeEventListener('abort', this.#leave)
    this.#ended(end)
  }
}

/** Whether a stream failed for what its upstream sent; else it is a defect of the router. */
export function isUpstreamsDoing(cause: unknown): cause is StreamBroken['cause'] {
  return cause instanceof TransportError || cause instanceof MalformedAnswer
}
