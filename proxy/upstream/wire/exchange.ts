// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from '../../clock/cancellation.ts'
import type { Clock } from '../../clock/clock.ts'
import { TransportError } from '../transport.ts'
import type { HeaderList, Incoming } from '../wire.ts'
import { ReplyBody, type ReplyBodyLimits } from './http/reply-body.ts'

export interface WireOptions {
  /** `rpc-router/1.2.3`. */
  readonly userAgent?: string
  readonly clock: Clock
  /** Hears of bytes that passed in a stream. */
  readonly streamed?: ((bytes: number) => void) | undefined
}

/** What bytes come through, and can be told to wait. */
interface Flow {
  pause(): unknown
  resume(): unknown
}

/** Sends one request, and settles the promise of its answer. */
type Begin = (
  resolve: (incoming: Incoming) => void,
  reject: (error: TransportError) => void,
) => void

/** The answer to a request, unless it was taken back before it began. */
export function exchange(signal: CancelSignal, begin: Begin): Promise<Incoming> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(new TransportError('aborted', 'taken back', false))
    else begin(resolve, reject)
  })
}

/** One request and its answer, whatever the wire: it ends once, with an answer or an error, or in the middle of a stream. */
export abstract class Exchange {
  protected readonly options: WireOptions
  /** 0 until the head of the answer is there. */
  protected status = 0
  protected headers: HeaderList = []
  protected trailers: HeaderList = []
  protected body: ReplyBody | null = null
  protected isOver = false
  readonly #signal: CancelSignal
  readonly #resolve: Parameters<Begin>[0]
  readonly #reject: Parameters<Begin>[1]
  readonly #onAbort = () => {
    this.fail(new TransportError('aborted', 'taken back'))
  }

  constructor(
    options: WireOptions,
    signal: CancelSignal,
    resolve: Parameters<Begin>[0],
    reject: Parameters<Begin>[1],
  ) {
    this.options = options
    this.#signal = signal
    this.#resolve = resolve
    this.#reject = reject
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Lets the wire go. */
  protected abstract reset(error: TransportError): void

  /** From now on the answer comes in through a body. */
  protected openBody(flow: Flow, length: number | null, limits: ReplyBodyLimits): ReplyBody {
    this.body = new ReplyBody({
      ...limits,
      ...this.options,
      length,
      source: {
        pause: () => void flow.pause(),
        resume: () => void flow.resume(),
        abort: (error) => {
          this.fail(error)
        },
      },
      ready: (ready) => {
        this.ready(ready)
      },
    })
    return this.body
  }

  protected ready(body: Incoming['body']): void {
    const { status, headers } = this
    this.#resolve({ status, headers, body, trailers: () => this.trailers })
  }

  protected fail(error: TransportError): void {
    if (this.isOver) return
    this.end()
    this.reset(error)
    // Harmless once it was resolved: then whoever reads the stream hears of it.
    this.#reject(error)
    this.body?.fail(error)
  }

  protected end(): void {
    this.isOver = true
    this.#signal.removeEventListener('abort', this.#onAbort)
  }
}
