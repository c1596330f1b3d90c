// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteStream } from '../../upstream/wire.ts'

/** Where the pieces come from. */
interface Flow {
  pause(): void
  resume(): void
}

const done: IteratorResult<Uint8Array, undefined> = { done: true, value: undefined }

/**
 * A request's body that is sent while it still comes in, and can be sent again from its beginning as
 * long as what came of it is short enough to be kept. Each reader gets all of it or fails: what is
 * too long to be kept goes when a reader has taken it, and who comes after that fails.
 */
export class ReplayableBody implements ByteStream {
  readonly #flow: Flow
  readonly #kept: Uint8Array[] = []
  readonly #keepBytes: number
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

  get isWhole(): boolean {
    return this.#end === 'whole' && this.isRepeatable
  }

  /** All of it, when it has ended and every byte was kept. */
  get whole(): Uint8Array | null {
    if (!this.isWhole) return null
    const [only, ...others] = this.#kept
    return only !== undefined && others.length === 0 ? only : Buffer.concat(this.#kept)
  }

  /** Calls `run` once, when it is known whether all of it is kept, and at once when it is already. */
  settled(run: () => void): void {
    const look = () => {
      if (this.#end || !this.isRepeatable) run()
      else this.#wake.push(look)
    }
    look()
  }

  push(chunk: Uint8Array): void {
    if (this.#end) return
    this.#kept.push(chunk)
    this.#keptBytes += chunk.length
    if (!this.isRepeatable) this.#flow.pause()
    this.#tell()
  }

  end(as: 'whole' | Error): void {
    this.#end ??= as
    this.#tell()
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    let taken = 0
    let hasLeft = false
    return {
      next: async () => {
        while (!hasLeft) {
          if (taken < this.#dropped) throw new Error('the beginning of the request is gone')
          const piece = this.#kept[taken - this.#dropped]
          if (piece) {
            taken += 1
            this.#drop(taken)
            return { done: false, value: piece }
          }
          if (this.#end instanceof Error) throw this.#end
          if (this.#end) break
          await new Promise<void>((resolve) => this.#wake.push(resolve))
        }
        return done
      },
      return: () => {
        hasLeft = true
        this.#tell()
        return Promise.resolve(done)
      },
    }
  }

  /** Too long to be kept: the first pieces go, which were taken, and more may come. */
  #drop(pieces: number): void {
    if (this.isRepeatable) return
    const gone = this.#kept.splice(0, pieces - this.#dropped)
    for (const { length } of gone) this.#keptBytes -= length
    this.#dropped = pieces
    if (this.#kept.length === 0) this.#flow.resume()
  }

  #tell(): void {
    const waiting = this.#wake
    this.#wake = []
    for (const wake of waiting) wake()
  }
}
