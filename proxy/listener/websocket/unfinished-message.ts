// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Held, type WaitsForClient } from '../../bytes/byte-budget.ts'
import type { Clock } from '../../clock/clock.ts'
import type { ListenerOptions } from '../listener.ts'

/** What Node.js holds of a piece of bytes, or of one that waits, beside the bytes. */
export const overheadBytes = 512
/** The bytes of a control frame beside its data, as clients send it. */
const controlBytes = 6

/** What has come of a message before its end. The library shows messages only when they are whole. */
export class UnfinishedMessage extends Held {
  /** Since when it has been coming; null: there is none. */
  sinceMs: number | null = null
  readonly #clock: Clock
  readonly #socket: WaitsForClient
  #bytes = 0

  constructor(
    { clock, budget }: Pick<ListenerOptions, 'clock' | 'budget'>,
    socket: WaitsForClient,
  ) {
    super(budget)
    this.#clock = clock
    this.#socket = socket
  }

  override cutOff(): void {
    this.#socket.cutOff()
  }

  /** Bytes came on the wire, before the library reads them. */
  came(bytes: number): void {
    this.sinceMs ??= this.#clock.nowMs()
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
