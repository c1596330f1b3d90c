// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { WaitsForClient } from '../../bytes/byte-budget.ts'
import { GrowingBuffer } from '../../bytes/growing-buffer.ts'
import { clientLimits } from '../../bytes/limits.ts'
import { type RelayError, overloaded } from '../../relay/errors.ts'
import type { HeaderList } from '../../upstream/wire.ts'
import type { ListenerOptions } from '../listener.ts'
import { listOf } from '../request-head.ts'
import { tooLarge } from './compression.ts'

const { tinyPieces } = clientLimits

/** The body of a request while it comes in. What is refused is dropped, and so is all that comes after it. */
export class Upload implements WaitsForClient {
  refusal: RelayError | null
  readonly #limits: Pick<ListenerOptions, 'maxRequestBytes' | 'budget'>
  readonly #collected: GrowingBuffer
  #pieces = 0
  #bytes = 0

  readonly #headers: HeaderList

  constructor(
    { fault, headers }: { readonly fault: RelayError | null; readonly headers: HeaderList },
    limits: Pick<ListenerOptions, 'maxRequestBytes' | 'budget'>,
  ) {
    this.refusal = fault
    this.#headers = headers
    this.#limits = limits
    this.#collected = new GrowingBuffer(limits.budget, this)
  }

  get body(): Uint8Array {
    return this.#collected.bytes
  }

  /** Once in so many pieces: they have a few bytes each, and would take the time of all others. */
  get isTiny(): boolean {
    return this.#pieces % tinyPieces.count === 0 && this.#bytes < this.#pieces * tinyPieces.bytes
  }

  push(piece: Uint8Array): void {
    const { maxRequestBytes, budget } = this.#limits
    const from = this.#bytes
    this.#pieces += 1
    this.#bytes += piece.length
    if (this.refusal) return
    if (this.#bytes > maxRequestBytes) this.#refuse(tooLarge(maxRequestBytes))
    else if (!budget.allows(from, this.#bytes)) this.cutOff()
    else this.#collected.push(piece, this)
  }

  /** As the client says. */
  length(): number | null {
    return Number(listOf(this.#headers, 'content-length')) || null
  }

  /** All of it is here. */
  complete(): void {
    this.#collected.complete()
  }

  cutOff(): void {
    this.#refuse(overloaded())
  }

  /** The request is answered. */
  release(): void {
    this.#collected.release()
  }

  #refuse(error: RelayError): void {
    this.refusal = error
    this.#collected.take()
  }
}
