// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import type { SocketLimits } from '../../config/types.ts'
import type { Body, ByteStream } from '../../upstream/wire.ts'
import { brokenOff } from '../calls.ts'
import { drained, type ListenerOptions, stalledMs } from '../listener.ts'

/** How long a client may take to answer a goodbye, and to read what is left. */
const closeTimeoutMs = 5_000
/** The estimated size of a stream while it waits. */
const streamBytes = 1024 * 1024
/** The estimated size of a new client's answer, as a part of the bound. */
const firstShare = 1 / 16
const nothing = new Uint8Array()

/** Why the router closes a WebSocket (RFC 6455, 7.4.1, and its registry). */
export const closeCodes = {
  /** No message came for a long time. */
  idle: 1000,
  /** The router stops. */
  goingAway: 1001,
  /** The client does not read, and its answers are not kept any longer. */
  notRead: 1008,
  /** An answer broke off when a part of it was sent. */
  brokenOff: 1011,
  /** A subscription cannot go on without a gap. */
  tryAgain: 1013,
} as const

type Serving = Pick<ListenerOptions, 'clock'> & {
  readonly socketLimits: Pick<SocketLimits, 'maxBufferedBytes'>
}

/**
 * One WebSocket of a client. Answers are sent one after the other as the client reads them, and
 * notifications as they come. A long answer is sent in fragments, and everything else waits behind it.
 * All that the client has not read counts against one bound. Once it is closed, messages are dropped.
 */
export class ClientSocket {
  /** The library's socket, to pause it and to check that it lives. All sending goes through this class. */
  readonly ws: WebSocket
  readonly #wire: Duplex
  readonly #serving: Serving
  /** When anything last came from the client. */
  receivedMs: number
  /** When its last message came. */
  usedMs: number
  /** Settles when the long answer was sent. */
  #streaming: Promise<void> | null = null
  #drained: Promise<void> | null = null
  readonly #held: Uint8Array[] = []
  #heldBytes = 0
  /** Of answers that wait for others. */
  #waitingBytes = 0
  /** The estimated size of the next answer: that of the last ones, and less with each shorter one. */
  #likelyBytes: number

  constructor(ws: WebSocket, wire: Duplex, serving: Serving) {
    this.ws = ws
    this.#wire = wire
    this.#serving = serving
    this.receivedMs = this.usedMs = serving.clock.nowMs()
    this.#likelyBytes = serving.socketLimits.maxBufferedBytes * firstShare
  }

  serve(received: (message: Uint8Array) => void, closed: () => void): void {
    const noteReceived = () => {
      this.receivedMs = this.#serving.clock.nowMs()
    }
    this.ws
      .on('message', (message: Buffer) => {
        noteReceived()
        if (!this.#isOpen) return
        this.usedMs = this.receivedMs
        received(message)
      })
      .on('ping', noteReceived)
      .on('pong', noteReceived)
      // The library closes it with the code that says what is wrong.
      .on('error', noteReceived)
      .on('close', closed)
  }

  /** @param reason of at most 123 bytes */
  close(code: number, reason: string): void {
    if (!this.#isOpen) return
    this.ws.close(code, reason)
    // The answer to the goodbye may be behind messages that were not read.
    this.ws.resume()
    this.#serving.clock.after(closeTimeoutMs, () => {
      this.ws.terminate()
    })
  }

  /**
   * Whether the answer to one more call could be held, beside the answers to `calls` in flight, if all
   * are as long as the last ones.
   */
  hasRoomBeside(calls: number): boolean {
    const unread = Math.max(this.#unreadBytes, calls * this.#likelyBytes)
    return unread + this.#likelyBytes <= this.#serving.socketLimits.maxBufferedBytes
  }

  /**
   * Resolves when the client has read enough for the next answer, or is gone.
   * @throws the stream's error. If a part of it was sent, the connection is closed as well: nothing else
   *   shows the client that its answer is not complete.
   */
  async answer(body: Body): Promise<void> {
    const length = body instanceof Uint8Array ? body.length : streamBytes
    this.#likelyBytes = Math.max(length, (this.#likelyBytes * 7) / 8)
    this.#waitingBytes += length
    while ((this.#streaming ?? this.#drained) !== null) await (this.#streaming ?? this.#drained)
    this.#waitingBytes -= length
    if (!(body instanceof Uint8Array)) await this.#stream(body)
    else if (!this.#send(body)) await this.#untilDrained()
  }

  /** Sends a notification. The connection of a client that has too much to read is closed. */
  notify(message: Uint8Array): void {
    if (this.#unreadBytes > this.#serving.socketLimits.maxBufferedBytes)
      this.close(closeCodes.notRead, 'the client does not read what it subscribed to')
    else if (this.#streaming) {
      this.#held.push(message)
      this.#heldBytes += message.length
    } else this.#send(message)
  }

  get #isOpen(): boolean {
    return this.ws.readyState === WebSocket.OPEN
  }

  get #unreadBytes(): number {
    return this.#wire.writableLength + this.#heldBytes + this.#waitingBytes
  }

  async #stream(body: ByteStream): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#streaming = promise
    let isBegun = false
    try {
      for await (const part of body) {
        if (!this.#isOpen) return
        isBegun = true
        if (!this.#send(part, false)) await this.#untilDrained()
      }
      if (!this.#send(nothing)) await this.#untilDrained()
    } catch (error) {
      if (isBegun) this.close(closeCodes.brokenOff, brokenOff(error).message)
      throw error
    } finally {
      this.#streaming = null
      for (const message of this.#held.splice(0)) this.#send(message)
      this.#heldBytes = 0
      resolve()
    }
  }

  /**
   * Sends a message, or a part of one; nothing else may be sent before its last part. Its bytes must
   * not be changed afterwards.
   * @returns false when the caller should wait until it is drained
   */
  #send(bytes: Uint8Array, isLast = true): boolean {
    if (!this.#isOpen) return true
    this.ws.send(bytes, { binary: false, fin: isLast })
    return !this.#wire.writableNeedDrain
  }

  /** One wait for all callers: until the client has read everything, or is gone. */
  #untilDrained(): Promise<void> {
    return (this.#drained ??= this.#drain())
  }

  async #drain(): Promise<void> {
    const cancelStall = this.#serving.clock.after(stalledMs, () => {
      const reason = `nothing of the answers was read in ${stalledMs / 1000} s`
      this.close(closeCodes.notRead, reason)
    })
    await drained(this.#wire)
    cancelStall()
    this.#drained = null
  }
}
