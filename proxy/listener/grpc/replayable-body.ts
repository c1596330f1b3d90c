// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteStream } from '../../upstream/wire.ts'

/** Where a reader stands: how many pieces it has taken. */
interface Place {
  taken: number
}

const done: IteratorResult<Uint8Array, undefined> = { done: true, value: undefined }

/**
 * A request's body that is sent while it still comes in, and can be sent again from its beginning as
 * long as what came of it is short enough to be kept. Each reader gets all of it or fails: what is
 * too long to be kept goes when the slowest reader has taken it, and who begins after that fails.
 */
export class ReplayableBody implements ByteStream {
  readonly #flow: Flow
  readonly #kept: Uint8Array[] = []
  readonly #readers = new Set<Place>()
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

  end(): void {
    this.#end ??= 'whole'
    this.#tell()
  }

  fail(cause: Error): void {
    this.#end ??= cause
    this.#tell()
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    const place: Place = { taken: 0 }
    const isLate = this.#dropped > 0
    if (!isLate) this.#readers.add(place)
    return {
      next: () => {
        if (isLate) return Promise.reject(new Error('the beginning of the request is gone'))
        return this.#next(place)
      },
      return: () => {
        this.#leave(place)
        return Promise.resolve(done)
      },
    }
  }

  async #next(place: Place): Promise<IteratorResult<Uint8Array, undefined>> {
    while (this.#readers.has(place)) {
      const piece = this.#kept[place.taken - this.#dropped]
      if (piece) {
        place.taken += 1
        this.#drop()
        return { done: false, value: piece }
      }
      if (this.#end instanceof Error) throw this.#end
      if (this.#end) break
      await new Promise<void>((resolve) => this.#wake.push(resolve))
    }
    return done
  }

  /** The others no longer wait for it. */
  #leave(place: Place): void {
    this.#readers.delete(place)
    this.#drop()
    this.#tell()
  }

  /** Too long to be kept: what all readers have taken goes, and more may come. */
  #drop(): void {
    if (this.isRepeatable || this.#readers.size === 0) return
    const taken = Math.min(...[...this.#readers].map((place) => place.taken))
    const gone = this.#kept.splice(0, taken - this.#dropped)
    for (const { length } of gone) this.#keptBytes -= length
    this.#dropped = taken
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
