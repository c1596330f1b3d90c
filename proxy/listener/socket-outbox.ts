// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { SocketLimits } from '../config/types.ts'
import type { Body, ByteStream } from '../upstream/wire.ts'
import { closeCodes, type ClientSocket } from './client-socket.ts'

/** A client that takes nothing of its answers for this long is cut off. */
const stalledMs = 60_000
const nothing = new Uint8Array()

/** What the connections of a listener share. */
export interface SocketOutboxServing {
  readonly clock: Clock
  readonly socketLimits: Pick<SocketLimits, 'maxBufferedBytes'>
}

/**
 * What goes out on one WebSocket: answers, which wait for the client and are waited for, and
 * notifications, which nobody asked to be held back. A long answer goes out in fragments as it
 * comes; everything else stands behind it meanwhile.
 */
export class SocketOutbox {
  readonly #socket: ClientSocket
  readonly #serving: SocketOutboxServing
  /** Settles when the long answer has gone out. */
  #streaming: Promise<void> | null = null
  #drained: Promise<void> | null = null
  #wake: () => void = () => undefined
  #held: (readonly Uint8Array[])[] = []
  #heldBytes = 0
  #isClosed = false

  constructor(socket: ClientSocket, serving: SocketOutboxServing) {
    this.#socket = socket
    this.#serving = serving
  }

  /**
   * Resolves when the client has taken enough for the next answer, or is gone.
   * @throws the stream's own error, when nothing of it has gone out; when a part has, the connection
   *   is closed as well, since nothing else tells the client that it has not got all
   */
  async answer(body: Body): Promise<void> {
    while (this.#streaming) await this.#streaming
    if (body instanceof Uint8Array) {
      if (!this.#socket.send([body])) await this.#untilDrained()
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#streaming = promise
    try {
      await this.#stream(body)
    } finally {
      this.#streaming = null
      this.#release()
      resolve()
    }
  }

  /** @returns false when the client is too far behind to be sent more */
  notify(pieces: readonly Uint8Array[]): boolean {
    const socket = this.#socket
    const { maxBufferedBytes } = this.#serving.socketLimits
    if (socket.bufferedBytes + this.#heldBytes > maxBufferedBytes) return false
    if (this.#streaming) {
      this.#held.push(pieces)
      for (const { length } of pieces) this.#heldBytes += length
    } else socket.send(pieces)
    return true
  }

  closed(): void {
    this.#isClosed = true
    this.#held = []
    this.#wake()
  }

  async #stream(body: ByteStream): Promise<void> {
    const socket = this.#socket
    let isFirst = true
    try {
      for await (const part of body) {
        if (this.#isClosed) return
        const goesOn = socket.sendPart(part, isFirst, false)
        isFirst = false
        if (!goesOn) await this.#untilDrained()
      }
    } catch (error) {
      if (!isFirst) socket.close(closeCodes.brokenOff, 'the answer of the upstream broke off')
      throw error
    }
    if (!socket.sendPart(nothing, isFirst, true)) await this.#untilDrained()
  }

  #release(): void {
    for (const pieces of this.#held.splice(0)) this.#socket.send(pieces)
    this.#heldBytes = 0
  }

  /** One wait for all who wait. */
  #untilDrained(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#drained ??= new Promise((resolve) => {
      const socket = this.#socket
      const { clock } = this.#serving
      const cancelStall = clock.after(stalledMs, () => {
        socket.close(closeCodes.notRead, `nothing of the answers was read in ${stalledMs / 1000} s`)
      })
      this.#wake = () => {
        cancelStall()
        this.#drained = null
        resolve()
      }
      socket.onceDrained(this.#wake)
    })
    return this.#drained
  }
}
