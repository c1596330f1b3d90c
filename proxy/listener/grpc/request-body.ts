// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteBudget, WaitsForClient } from '../../bytes/byte-budget.ts'
import { GrowingBuffer } from '../../bytes/growing-buffer.ts'
import { budgetLimits } from '../../bytes/limits.ts'
import type { Clock } from '../../clock/clock.ts'
import type { ByteStream } from '../../upstream/wire.ts'
import type { Flow } from '../../upstream/wire/reply-body.ts'

/**
 * A request body that is forwarded while it arrives, and buffered so that another attempt can
 * replay it. Beyond `bufferBytes`, or a lower limit under memory pressure, it can be read only
 * once, at the reader's speed.
 */
export class RequestBody implements ByteStream {
  readonly #flow: Flow
  readonly #bufferBytes: number
  readonly #budget: ByteBudget
  readonly #buffer: GrowingBuffer
  #isRepeatable = true
  #end: 'whole' | Error | null = null
  /** Whether it dropped bytes that were read, so nothing can replay them. */
  #isDropped = false
  /** Number of readers so far; only the newest continues. */
  #readers = 0
  #wake = () => {}
  readonly #whenWhole: (() => void)[] = []

  /** @param headBytes memory that the call takes in addition to its body */
  constructor(
    bufferBytes: number,
    flow: Flow,
    budget: ByteBudget,
    client: WaitsForClient,
    headBytes = 0,
  ) {
    this.#bufferBytes = bufferBytes
    this.#flow = flow
    this.#budget = budget
    this.#buffer = new GrowingBuffer(budget, () => client.cutOff())
    this.#buffer.hold(headBytes)
    this.#buffer.waits()
  }

  get isRepeatable(): boolean {
    return this.#isRepeatable
  }

  /** The complete body, once it has ended with every byte buffered. */
  get whole(): Uint8Array | null {
    return this.#end === 'whole' && this.isRepeatable ? this.#buffer.bytes : null
  }

  /** Waits for the condition, the end, or the buffer limit. Call this before reading. */
  until(isThere: () => boolean, withinMs: number, clock: Clock): Promise<void> {
    const isOver = () => this.#end !== null || !this.isRepeatable || isThere()
    return new Promise((resolve) => {
      if (isOver()) return resolve()
      const cancel = clock.after(withinMs, resolve)
      this.#wake = () => {
        if (!isOver()) return
        cancel()
        resolve()
      }
    })
  }

  push(piece: Uint8Array): void {
    if (this.#end) return
    this.#buffer.push(piece)
    this.#buffer.acted()
    if (this.#buffer.length > (this.#budget.isTight ? budgetLimits.shortBytes : this.#bufferBytes))
      this.#isRepeatable = false
    if (!this.isRepeatable) this.#flow.pause()
    this.#wake()
  }

  end(as: 'whole' | Error): void {
    this.#end ??= as
    this.#buffer.waits(0)
    this.#wake()
    for (const run of this.#whenWhole.splice(0)) if (this.#end === 'whole') run()
  }

  whenWhole(run: () => void): void {
    if (this.#end === 'whole') run()
    else if (this.#end === null) this.#whenWhole.push(run)
  }

  /** Releases the buffered bytes from the budget once the client's call is over. */
  release(): void {
    this.#buffer.release()
  }

  /** Drops the buffered bytes, which no reader needs any more. */
  drop(): void {
    this.#isDropped = true
    this.#buffer.take()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    if (this.#isDropped) throw new Error('the beginning of the request is gone')
    const reader = ++this.#readers
    this.#wake()
    for (let at = 0; ;) {
      // A plain return would look like the end of the request.
      if (reader !== this.#readers) throw new Error('another attempt sends the request')
      if (at < this.#buffer.length) {
        const piece = this.#buffer.bytes.subarray(at)
        at = this.#consume()
        yield piece
      } else if (this.#end instanceof Error) throw this.#end
      else if (this.#end) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** Retains the bytes for replay, or drops them and resumes. @returns the next offset */
  #consume(): number {
    if (this.isRepeatable) return this.#buffer.length
    this.drop()
    this.#flow.resume()
    return 0
  }
}
