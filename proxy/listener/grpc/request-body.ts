// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteBudget, WaitsForClient } from '../../bytes/byte-budget.ts'
import { GrowingBuffer } from '../../bytes/growing-buffer.ts'
import { budgetLimits } from '../../bytes/limits.ts'
import type { Clock } from '../../clock/clock.ts'
import type { ByteStream } from '../../upstream/wire.ts'
import type { Flow } from '../../upstream/wire/reply-body.ts'

/**
 * A request's body that is sent while it still comes in. It is kept, so that another attempt may send
 * it from its beginning. Once it is too long for that, it can be read only once, as fast as it is sent. While
 * the budget is tight, only a short one is kept.
 */
export class RequestBody implements ByteStream {
  readonly #flow: Flow
  readonly #keepBytes: number
  readonly #budget: ByteBudget
  readonly #kept: GrowingBuffer
  #isRepeatable = true
  #end: 'whole' | Error | null = null
  /** What was read was dropped. */
  #isCut = false
  /** Only the newest reader goes on. */
  #readers = 0
  #wake = () => {}
  readonly #whenWhole: (() => void)[] = []

  /** @param headBytes memory that the call takes in addition to its body */
  constructor(
    keepBytes: number,
    flow: Flow,
    budget: ByteBudget,
    client: WaitsForClient,
    headBytes = 0,
  ) {
    this.#keepBytes = keepBytes
    this.#flow = flow
    this.#budget = budget
    this.#kept = new GrowingBuffer(budget, () => client.cutOff())
    this.#kept.hold(headBytes)
    this.#kept.waits()
  }

  get isRepeatable(): boolean {
    return this.#isRepeatable
  }

  /** All of it, when it has ended and every byte was kept. */
  get whole(): Uint8Array | null {
    return this.#end === 'whole' && this.isRepeatable ? this.#kept.bytes : null
  }

  /** Before it is read: waits for this condition, or until no more will be kept, `withinMs` at most. */
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
    this.#kept.push(piece)
    this.#kept.acted()
    if (this.#kept.length > (this.#budget.isTight ? budgetLimits.shortBytes : this.#keepBytes))
      this.#isRepeatable = false
    if (!this.isRepeatable) this.#flow.pause()
    this.#wake()
  }

  end(as: 'whole' | Error): void {
    this.#end ??= as
    this.#kept.waits(0)
    this.#wake()
    for (const run of this.#whenWhole.splice(0)) if (this.#end === 'whole') run()
  }

  whenWhole(run: () => void): void {
    if (this.#end === 'whole') run()
    else if (this.#end === null) this.#whenWhole.push(run)
  }

  /** The client's call is over: what is kept counts in the budget no more. */
  release(): void {
    this.#kept.release()
  }

  /** Nobody needs what has come of it. */
  drop(): void {
    this.#isCut = true
    this.#kept.take()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    if (this.#isCut) throw new Error('the beginning of the request is gone')
    const reader = ++this.#readers
    this.#wake()
    for (let at = 0; ;) {
      // Ending here would look like the end of the request.
      if (reader !== this.#readers) throw new Error('another attempt sends the request')
      if (at < this.#kept.length) {
        const piece = this.#kept.bytes.subarray(at)
        at = this.#taken()
        yield piece
      } else if (this.#end instanceof Error) throw this.#end
      else if (this.#end) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** Keeps what was read, or drops it and resumes the flow. @returns where the rest begins */
  #taken(): number {
    if (this.isRepeatable) return this.#kept.length
    this.drop()
    this.#flow.resume()
    return 0
  }
}
