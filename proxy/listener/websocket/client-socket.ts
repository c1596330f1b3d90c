// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel } from '../../clock/clock.ts'
import type { SocketLimits } from '../../config/types.ts'
import type { Body, ByteStream } from '../../upstream/wire.ts'
import { brokenOff } from '../calls.ts'
import type { ListenerOptions } from '../listener.ts'
import { closeCodes, type ClientSocket } from './websocket-server.ts'

/** A client that takes nothing of its answers for this long is cut off ... */
const stalledMs = 60_000
/** ... and one that is owed more than may be held, for this long. */
const overfullMs = 15_000
/** What a stream is taken to hold while it waits. */
const streamBytes = 1024 * 1024
/** How much of the most that an answer was counts for the next ones. */
const memory = 7 / 8
/** Of what may be held, the part that an answer of a new client is taken to need. */
const firstShare = 1 / 16
const nothing = new Uint8Array()

type Serving = Pick<ListenerOptions, 'clock'> & {
  readonly socketLimits: Pick<SocketLimits, 'maxBufferedBytes'>
}

/**
 * What goes out on one WebSocket: answers, one after the other as the client takes them, and
 * notifications, which nobody asked to be held back. A long answer goes out in fragments as it
 * comes; everything else stands behind it meanwhile. All that the client has not taken counts
 * against one bound.
 */
export class SocketOutbox {
  readonly #socket: ClientSocket
  readonly #serving: Serving
  /** Settles when the long answer has gone out. */
  #streaming: Promise<void> | null = null
  #drained: Promise<void> | null = null
  #wake: () => void = () => undefined
  #cancelOverfull: Cancel | null = null
  #held: Uint8Array[] = []
  #heldBytes = 0
  /** Of answers that wait for their turn. */
  #waitingBytes = 0
  /** Answers that have not been taken. */
  #answers = 0
  #likelyBytes: number
  #isClosed = false

  constructor(socket: ClientSocket, serving: Serving) {
    this.#socket = socket
    this.#serving = serving
    this.#likelyBytes = serving.socketLimits.maxBufferedBytes * firstShare
  }

  /**
   * Whether the answer to one more call could be held, beside those to so many calls whose answers
   * were not taken, if all are as long as the last ones were.
   */
  hasRoomBeside(calls: number): boolean {
    const { maxBufferedBytes } = this.#serving.socketLimits
    const unanswered = Math.max(0, calls - this.#answers)
    return this.#owedBytes + (unanswered + 1) * this.#likelyBytes <= maxBufferedBytes
  }

  /**
   * Resolves when the client has taken enough for the next answer, or is gone.
   * @throws the stream's own error, when nothing of it has gone out; when a part has, the connection
   *   is closed as well, since nothing else tells the client that it has not got all
   */
  async answer(body: Body): Promise<void> {
    const length = body instanceof Uint8Array ? body.length : streamBytes
    this.#likelyBytes = Math.max(length, this.#likelyBytes * memory)
    this.#answers += 1
    this.#waitingBytes += length
    this.#watchBound()
    try {
      while (!this.#isClosed && (this.#streaming ?? this.#drained) !== null)
        await (this.#streaming ?? this.#drained)
      this.#waitingBytes -= length
      if (!(body instanceof Uint8Array)) await this.#stream(body)
      else if (!this.#socket.send(body)) await this.#untilDrained()
    } finally {
      this.#answers -= 1
    }
  }

  /** @returns false when the client is too far behind to be sent more */
  notify(message: Uint8Array): boolean {
    if (this.#isOverfull) return false
    if (this.#streaming) {
      this.#held.push(message)
      this.#heldBytes += message.length
    } else this.#socket.send(message)
    return true
  }

  closed(): void {
    this.#isClosed = true
    this.#held = []
    this.#cancelOverfull?.()
    this.#wake()
  }

  get #owedBytes(): number {
    return this.#socket.bufferedBytes + this.#heldBytes + this.#waitingBytes
  }

  get #isOverfull(): boolean {
    return this.#owedBytes > this.#serving.socketLimits.maxBufferedBytes
  }

  /** Answers to calls that were under way may be too many, but not for long. */
  #watchBound(): void {
    if (this.#isClosed || this.#cancelOverfull !== null || !this.#isOverfull) return
    const { clock } = this.#serving
    this.#cancelOverfull = clock.after(overfullMs, () => {
      this.#cancelOverfull = null
      if (this.#isOverfull)
        this.#socket.close(closeCodes.notRead, 'the client does not read its answers')
    })
  }

  async #stream(body: ByteStream): Promise<void> {
    const socket = this.#socket
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#streaming = promise
    let isBegun = false
    try {
      for await (const part of body) {
        if (this.#isClosed) return
        isBegun = true
        if (!socket.send(part, false)) await this.#untilDrained()
      }
      if (!socket.send(nothing)) await this.#untilDrained()
    } catch (error) {
      if (isBegun) socket.close(closeCodes.brokenOff, brokenOff(error).message)
      throw error
    } finally {
      this.#streaming = null
      for (const message of this.#held.splice(0)) socket.send(message)
      this.#heldBytes = 0
      resolve()
    }
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
        // Who read something has time for the rest.
        this.#cancelOverfull?.()
        this.#cancelOverfull = null
        this.#drained = null
        resolve()
        this.#watchBound()
      }
      socket.onceDrained(this.#wake)
    })
    return this.#drained
  }
}
