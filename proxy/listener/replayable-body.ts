// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteStream } from '../upstream/wire.ts'

/**
 * A request's body that is sent while it still comes in, and can be sent again from its beginning as
 * long as what came of it is short enough to be kept. Each reader gets all of it.
 */
export class ReplayableBody implements ByteStream {
  readonly #keepBytes: number
  readonly #flow: Flow
  readonly #kept: Uint8Array[] = []
  #keptBytes = 0
  /** How many pieces were let go of, since they are too many to keep. */
  #dropped = 0
  #end: 'whole' | Error | null = null
  #wake: (() => void)[] = []

  constructor(keepBytes: number, flow: Flow) {
    this.#keepBytes = keepBytes
    this.#flow = flow
  }

  get isRepeatable(): boolean {
    return this.#dropped === 0 && this.#keptBytes <= this.#keepBytes
  }

  /** All of it, when it has ended and every byte was kept. */
  get whole(): Uint8Array | null {
    if (this.#end !== 'whole' || !this.isRepeatable) return null
    const [only, ...others] = this.#kept
    return only !== undefined && others.length === 0 ? only : Buffer.concat(this.#kept)
  }

  /** Calls `run` once, when it has ended, and at once when it has already. */
  ended(run: () => void): void {
    const look = () => {
      if (this.#end) run()
      else this.#wake.push(look)
    }
    look()
  }

  push(chunk: Uint8Array): void {
    this.#kept.push(chunk)
    this.#keptBytes += chunk.length
    if (!this.isRepeatable) this.#flow.pause()
    this.#tell()
  }

  end(): void {
    this.#end ??= 'whole'
    this.#tell()
  }

  fail(cause: Error): void {
    this.#end ??= cause
    this.#tell()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    for (let at = 0; ;) {
      const piece = this.#kept[at - this.#dropped]
      if (piece) {
        at += 1
        if (!this.isRepeatable) this.#drop(at)
        yield piece
      } else if (this.#end === 'whole') return
      else if (this.#end) throw this.#end
      else await new Promise<void>((resolve) => this.#wake.push(resolve))
    }
  }

  /** Too long to be kept: what its one reader has taken goes, and more may come. */
  #drop(before: number): void {
    const gone = this.#kept.splice(0, before - this.#dropped)
    for (const { length } of gone) this.#keptBytes -= length
    this.#dropped = before
    if (this.#kept.length === 0) this.#flow.resume()
  }

  #tell(): void {
    const waiting = this.#wake
    this.#wake = []
    for (const wake of waiting) wake()
  }
}

/** Where the pieces come from. */
export interface Flow {
  pause(): void
  resume(): void
}
