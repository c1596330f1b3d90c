// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { WaitsForClient } from '../../bytes/byte-budget.ts'
import type { ListenerOptions } from '../listener.ts'

/** What Node.js holds of a piece of bytes, or of one that waits, beside the bytes. */
export const overheadBytes = 512
/** The bytes of a control frame beside its data, as clients send it. */
export const controlBytes = 6

/** What has come of a message before its end. The library shows messages only when they are whole. */
export class UnfinishedMessage implements WaitsForClient {
  /** Since when it has been coming; null: there is none. */
  sinceMs: number | null = null
  readonly #serving: Pick<ListenerOptions, 'clock' | 'budget'>
  readonly #socket: WaitsForClient
  #bytes = 0
  #heldBytes = 0

  constructor(serving: Pick<ListenerOptions, 'clock' | 'budget'>, socket: WaitsForClient) {
    this.#serving = serving
    this.#socket = socket
  }

  cutOff(): void {
    this.#socket.cutOff()
  }

  /** Bytes came on the wire, before the library reads them. */
  came(bytes: number): void {
    const { budget, clock } = this.#serving
    this.sinceMs ??= clock.nowMs()
    this.#bytes += bytes
    this.#heldBytes += bytes + overheadBytes
    budget.hold(bytes + overheadBytes)
    budget.acted(this)
    budget.waits(this, this.#heldBytes)
  }

  /** @param bytes of it that were something else: a ping or a pong, maybe between two parts */
  ended(bytes = Infinity): void {
    this.#bytes = Math.max(this.#bytes - bytes, 0)
    if (this.#bytes > 0) return
    this.sinceMs = null
    this.#serving.budget.release(this.#heldBytes)
    this.#serving.budget.waits(this, 0)
    this.#heldBytes = 0
  }
}
