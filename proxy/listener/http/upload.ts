// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { GrowingBuffer } from '../../bytes/growing-buffer.ts'
import { clientLimits } from '../../bytes/limits.ts'
import { type RelayError, overloaded } from '../../relay/errors.ts'
import type { HeaderList } from '../../upstream/wire.ts'
import type { ListenerOptions } from '../listener.ts'
import { listOf } from '../request-head.ts'
import { tooLarge } from './compression.ts'

const { tinyPieces } = clientLimits

/** A request body as it arrives. After a refusal, all its bytes are dropped, past and future. */
export class Upload extends GrowingBuffer {
  refusal: RelayError | null
  readonly #maxBytes: number
  readonly #headers: HeaderList
  #pieces = 0
  #bytes = 0

  constructor(
    { fault, headers }: { readonly fault: RelayError | null; readonly headers: HeaderList },
    { maxRequestBytes, budget }: Pick<ListenerOptions, 'maxRequestBytes' | 'budget'>,
  ) {
    super(budget)
    this.refusal = fault
    this.#headers = headers
    this.#maxBytes = maxRequestBytes
  }

  /** Tiny chunks take CPU time from all other clients. Sampled once per `tinyPieces.count`. */
  get isTiny(): boolean {
    return this.#pieces % tinyPieces.count === 0 && this.#bytes < this.#pieces * tinyPieces.bytes
  }

  override push(piece: Uint8Array): void {
    const from = this.#bytes
    this.#pieces += 1
    this.#bytes += piece.length
    if (this.refusal) return
    if (this.#bytes > this.#maxBytes) return this.#refuse(tooLarge(this.#maxBytes))
    if (!this.budget.allows(from, this.#bytes)) return this.cutOff()
    super.push(piece, this)
    this.acted()
  }

  /** The `Content-Length` that the client announced. */
  announcedBytes(): number | null {
    return Number(listOf(this.#headers, 'content-length')) || null
  }

  override cutOff(): void {
    this.#refuse(overloaded())
  }

  #refuse(error: RelayError): void {
    this.refusal = error
    this.take()
  }
}
