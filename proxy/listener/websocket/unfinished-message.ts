// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Held } from '../../bytes/byte-budget.ts'

/** What Node.js holds of a piece of bytes, or of one that waits, beside the bytes. */
export const overheadBytes = 512
/** The bytes of a control frame beside its data, as clients send it. */
const controlBytes = 6

/** What has come of a message before its end. The library shows messages only when they are whole. */
export class UnfinishedMessage extends Held {
  /** Since when it has been coming; null: there is none. */
  sinceMs: number | null = null
  #bytes = 0

  /** Bytes came on the wire, before the library reads them. */
  came(bytes: number, nowMs: number): void {
    this.sinceMs ??= nowMs
    this.#bytes += bytes
    this.hold(bytes + overheadBytes)
    this.acted()
  }

  /** Of it, these bytes were a ping or a pong, maybe between two parts. */
  control(data: Buffer): void {
    this.#bytes -= controlBytes + data.length
    if (this.#bytes <= 0) this.release()
  }

  /** It is whole, or will not be. */
  override release(): void {
    this.sinceMs = null
    this.#bytes = 0
    super.release()
  }
}
