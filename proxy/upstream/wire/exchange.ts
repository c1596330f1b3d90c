// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteBudget } from '../../bytes/byte-budget.ts'
import { GrowingBuffer } from '../../bytes/growing-buffer.ts'
import { budgetLimits, nodeLimits } from '../../bytes/limits.ts'
import type { CancelSignal, Progress } from '../../clock/cancellation.ts'
import type { Clock } from '../../clock/clock.ts'
import { aborted, type HeaderList, type Incoming, TransportError } from '../wire.ts'
import { ReplyBody, type Flow } from './reply-body.ts'

const { collectedBytes, tightBytes, interims } = nodeLimits
const { pacedBytes, shortBytes } = budgetLimits

export interface WireOptions {
  /** `rpc-router/1.2.3`. */
  readonly userAgent?: string
  readonly clock: Clock
  readonly budget: ByteBudget
}

type Resolve = (incoming: Incoming) => void
type Reject = (error: TransportError) => void

/**
 * Returns the answer to a request, unless the request was aborted before it began.
 * @param begin sends the request, and settles the promise of its answer
 */
export function exchange(
  signal: CancelSignal,
  begin: (resolve: Resolve, reject: Reject) => void,
): Promise<Incoming> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(aborted(false))
    else begin(resolve, reject)
  })
}

/**
 * One request and its answer on any wire. It ends once: with an answer, an error, or an error in
 * the middle of a stream. A short body is collected; a long one becomes a `ReplyBody`.
 */
export abstract class Exchange implements Progress {
  protected readonly options: WireOptions
  /** 0 until the head of the answer has arrived. */
  protected status = 0
  protected headers: HeaderList = []
  protected trailers: HeaderList = []
  /** Source of the body; null before it begins. */
  protected flow: Flow | null = null
  protected isOver = false
  /** For a stream, see `ReplyBodyOptions`. */
  protected abstract readonly stallMs: number | null
  /** Bytes that the wire buffers for a paused stream. */
  protected readonly behindBytes: number = 0
  readonly #collected: GrowingBuffer
  #interims = 0
  #body: ReplyBody | null = null
  readonly #signal: CancelSignal
  readonly #resolve: Resolve
  readonly #reject: Reject
  readonly #onAbort = () => this.fail(aborted())

  constructor(options: WireOptions, signal: CancelSignal, resolve: Resolve, reject: Reject) {
    this.options = options
    this.#collected = new GrowingBuffer(options.budget)
    this.#signal = signal
    this.#resolve = resolve
    this.#reject = reject
    signal.underWay = this
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Releases the wire. */
  protected abstract reset(error: TransportError): void

  /** Length of the body, if known in advance. */
  announcedBytes(): number | null {
    return null
  }

  /** Counts an interim answer, which has no other use. */
  protected interim(): void {
    if (++this.#interims <= interims) return
    this.fail(new TransportError('protocol', `over ${interims} interim answers`))
  }

  get progress(): string {
    if (this.status === 0) return 'no headers had come'
    return `headers had come (HTTP ${this.status}), then ${this.#collected.length} bytes`
  }

  /** Receives a piece of the body. */
  protected push(piece: Uint8Array): void {
    if (this.isOver) return
    if (this.#body) return this.#body.push(piece)
    const { isTight } = this.options.budget
    this.#collected.push(piece, isTight ? undefined : this)
    const { length } = this.#collected
    // Keys are masked only in whole errors of up to 64 KiB.
    const mostBytes = this.status < 300 ? tightBytes : shortBytes
    if (length > (isTight ? mostBytes : collectedBytes)) this.handOn()
    else if (piece.length > pacedBytes) this.#pace(piece.length)
  }

  #pace(bytes: number): void {
    const { flow } = this
    const { turns } = this.options.budget
    if (turns.spend(bytes) || !flow) return
    flow.pause()
    turns.run(0, () => {
      if (!this.isOver && !this.#body) flow.resume()
    })
  }

  /** Answers with a stream at once, however short the body is so far: the rest may take long. */
  protected handOn(): void {
    const { flow, stallMs, behindBytes } = this
    if (this.isOver || this.#body || !flow) return
    const { clock } = this.options
    const abort = this.fail.bind(this)
    const [collected, length] = [this.#collected, this.announcedBytes()]
    const known = { clock, flow, stallMs, behindBytes, collected, length, abort }
    this.#body = new ReplyBody(known)
    this.#answer(this.#body)
  }

  /** The answer is complete. */
  protected complete(): void {
    this.end()
    if (this.#body) return this.#body.end()
    const answer = () => this.#answer(this.#collected.take())
    // Answers long bodies right away, since many of them together would delay a turn.
    if (this.#collected.length > pacedBytes) answer()
    else this.options.budget.turns.together(answer)
  }

  protected fail(error: TransportError): void {
    if (this.isOver) return
    this.end()
    this.reset(error)
    // Has no effect after the answer; the reader of the stream then gets the error.
    this.#reject(error)
    if (this.#body) this.#body.fail(error)
    else this.#collected.take()
  }

  protected end(): void {
    this.isOver = true
    this.#signal.removeEventListener('abort', this.#onAbort)
  }

  #answer(body: Incoming['body']): void {
    const { status, headers } = this
    this.#resolve({ status, headers, body, trailers: () => this.trailers })
  }
}
