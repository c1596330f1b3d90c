// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../../clock/clock.ts'
import type { ByteStream } from '../../upstream/wire.ts'

/** Where the pieces come from. */
interface Flow {
  pause(): unknown
  resume(): unknown
}

/**
 * A request's body that is sent while it still comes in. It is kept, so that another attempt may send
 * it from its beginning. Once it is too long for that, it can be read only once, as fast as it is sent.
 */
export class RequestBody implements ByteStream {
  readonly #flow: Flow
  readonly #keepBytes: number
  readonly #pieces: Uint8Array[] = []
  #bytes = 0
  #end: 'whole' | Error | null = null
  /** Pieces were dropped. */
  #isCut = false
  /** Only the newest reader goes on. */
  #readers = 0
  #wake = () => {}

  constructor(keepBytes: number, flow: Flow) {
    this.#keepBytes = keepBytes
    this.#flow = flow
  }

  get isRepeatable(): boolean {
    return this.#bytes <= this.#keepBytes
  }

  /** All of it, when it has ended and every byte was kept. */
  get whole(): Uint8Array | null {
    if (this.#end !== 'whole' || !this.isRepeatable) return null
    const [first = Buffer.alloc(0)] = this.#pieces
    return this.#pieces.length < 2 ? first : Buffer.concat(this.#pieces)
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
    this.#pieces.push(piece)
    this.#bytes += piece.length
    if (!this.isRepeatable) this.#flow.pause()
    this.#wake()
  }

  end(as: 'whole' | Error): void {
    this.#end ??= as
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    if (this.#isCut) throw new Error('the beginning of the request is gone')
    const reader = ++this.#readers
    this.#wake()
    for (let at = 0; ;) {
      // Ending here would look like the end of the request.
      if (reader !== this.#readers) throw new Error('another attempt sends the request')
      const piece = this.#pieces[at]
      if (piece) {
        at = this.#taken(at + 1)
        yield piece
      } else if (this.#end instanceof Error) throw this.#end
      else if (this.#end) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** Keeps the pieces that were read, or drops them and resumes the flow. @returns the index of the next one */
  #taken(pieces: number): number {
    if (this.isRepeatable) return pieces
    this.#isCut = true
    this.#pieces.splice(0, pieces)
    if (this.#pieces.length === 0) this.#flow.resume()
    return 0
  }
}
