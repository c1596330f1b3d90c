// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import { Reservation } from '../../bytes/byte-budget.ts'
import {
  budgetLimits,
  controlFrames,
  httpTimes,
  nodeLimits,
  objectCosts,
  socketTimes,
} from '../../bytes/limits.ts'
import type { Cancel } from '../../clock/clock.ts'
import { floodOf } from '../../clock/flood.ts'
import type { SocketLimits } from '../../config/types.ts'
import type { Body, ByteStream } from '../../upstream/wire.ts'
import { brokenOff } from '../calls.ts'
import type { ListenerOptions } from '../listener.ts'
import { UnfinishedMessage } from './unfinished-message.ts'

/** Estimated size of a new client's answer, as a fraction of the limit. */
const firstShare = 1 / 8
const nothing = new Uint8Array()

/** Close codes of the router (RFC 6455, 7.4.1, and its registry). */
export const closeCodes = {
  /** No message has arrived for a long time. */
  idle: 1000,
  /** The router is stopping. */
  goingAway: 1001,
  /** The client does not read, so its unread answers are dropped. */
  notRead: 1008,
  /** The rest of a message never arrived. */
  notWhole: 1008,
  /** The client sent more pings, pongs or fragments than any client needs. */
  flood: 1008,
  /** An answer failed after part of it was sent. */
  brokenOff: 1011,
  /** A subscription would have a gap, or the router is full. */
  tryAgain: 1013,
} as const
export const fullReason = 'the memory budget of the router is full; try again'

type Serving = Pick<ListenerOptions, 'clock' | 'budget'> & {
  readonly socketLimits: Pick<SocketLimits, 'maxBufferedBytes'>
}

/**
 * One client WebSocket. Sends answers one at a time as the client reads them, and notifications as
 * they arrive. A long answer goes out in fragments, and everything else queues behind it. This
 * class queues messages itself, because the library uses many times the bytes of a short frame. All
 * unread bytes count against one limit. Drops messages once closed.
 */
export class ClientSocket extends Reservation {
  /** The library's socket, for pausing and liveness checks. All sends go through this class. */
  readonly ws: WebSocket
  readonly unfinished: UnfinishedMessage
  readonly #wire: Duplex
  readonly #serving: Serving
  /** When the last bytes of any kind arrived. */
  receivedMs: number
  /** When the last message arrived. */
  usedMs: number
  /** Settles when the client has read the last answer. */
  #last: Promise<unknown> = Promise.resolve()
  /** Whether part of a long answer was sent. */
  #isStreaming = false
  #emptied: () => void = () => {}
  /** Notifications in parts, which sockets share. */
  readonly #queue: (readonly Uint8Array[])[] = []
  #wireBytes = 0
  #cancelEnd: Cancel = () => {}
  /** Payload of the newest unanswered ping; older pings need no pong (RFC 6455, 5.5.3). */
  #ping: Buffer | null = null
  /** Estimated size of the next answer: the recent maximum, decaying with each shorter answer. */
  #likelyBytes: number

  constructor(ws: WebSocket, wire: Duplex, serving: Serving) {
    super(serving.budget)
    this.ws = ws
    this.#wire = wire
    this.#serving = serving
    this.unfinished = new UnfinishedMessage(serving.budget, () => this.cutOff())
    this.receivedMs = this.usedMs = serving.clock.nowMs()
    this.#likelyBytes = serving.socketLimits.maxBufferedBytes * firstShare
  }

  serve(received: (message: Uint8Array) => void, closed: () => void): void {
    const { unfinished } = this
    const noteReceived = () => {
      this.receivedMs = this.#serving.clock.nowMs()
    }
    const count = floodOf(this.#serving.clock, controlFrames, () => {
      this.close(closeCodes.flood, 'too many pings and pongs')
    })
    const controlCame = () => {
      noteReceived()
      count()
    }
    this.#wire.prependListener('data', (chunk: Buffer) => {
      if (unfinished.came(chunk, this.#serving.clock.nowMs())) return
      this.close(closeCodes.flood, 'too many fragments, or messages of a few bytes')
      // The library still has to parse this chunk. No frame begins with 0xff, so it stores nothing.
      chunk.fill(0xff)
    })
    this.ws
      .on('message', (message: Buffer) => {
        noteReceived()
        if (!this.#isOpen) return
        this.usedMs = this.receivedMs
        received(message)
      })
      .on('ping', (data: Buffer) => {
        controlCame()
        // Pings that arrive in one socket read share one pong.
        if (this.#ping === null) queueMicrotask(() => this.#flushQueue())
        this.#ping = data
      })
      .on('pong', controlCame)
      // The library closes the socket with the matching code.
      .on('error', noteReceived)
      .on('close', () => {
        // A pending timer would retain all library state of this client.
        this.#cancelEnd()
        unfinished.release()
        this.finish()
        this.#emptied()
        closed()
      })
  }

  ping(): void {
    this.ws.ping(undefined, false, this.#written)
  }

  /** @param reason of at most 123 bytes */
  close(code: number, reason: string): void {
    if (!this.#isOpen) return
    this.ws.close(code, reason)
    for (const parts of this.#queue.splice(0)) this.hold(-sizeOf(parts))
    // The client's close frame may follow unread messages.
    this.ws.resume()
    this.#cancelEnd = this.#serving.clock.after(socketTimes.closeMs, () => this.ws.terminate())
  }

  override cutOff(): void {
    this.close(closeCodes.tryAgain, fullReason)
    this.ws.terminate()
    // Release now, not on close: messages read in one turn could fill the budget for everyone.
    this.unfinished.finish()
    this.finish()
  }

  /**
   * Whether one more answer would fit next to those of `calls` in flight, if all are as long as
   * recent answers.
   */
  hasRoomBeside(calls: number): boolean {
    const unread = Math.max(this.heldBytes, calls * this.#likelyBytes)
    return unread + this.#likelyBytes <= this.#serving.socketLimits.maxBufferedBytes
  }

  /**
   * Resolves when the client has read enough for the next answer, or has disconnected.
   * @throws the stream's error. If part of it was sent, the connection closes too, because nothing
   * else tells the client that its answer is incomplete.
   */
  answer(body: Body): Promise<void> {
    const isHere = body instanceof Uint8Array
    const bytes = isHere ? body.length : nodeLimits.collectedBytes
    this.#likelyBytes = Math.max(bytes, (this.#likelyBytes * 7) / 8)
    // A waiting stream has collected about this many bytes.
    const heldBytes = isHere ? body.length : budgetLimits.shortBytes
    this.hold(heldBytes)
    const sent = this.#last.then(() => {
      this.hold(-heldBytes)
      return isHere ? this.#pass(body) : this.#stream(body)
    })
    this.#last = sent.catch(() => {})
    return sent
  }

  /**
   * Sends a notification. Closes the connection if the client has too many unread bytes.
   * @param parts must not be changed afterwards
   */
  notify(parts: readonly Uint8Array[]): void {
    if (!this.#isOpen) return
    if (this.heldBytes > this.#serving.socketLimits.maxBufferedBytes)
      return this.close(closeCodes.notRead, 'the client does not read its notifications')
    this.hold(sizeOf(parts))
    this.#queue.push(parts)
    this.#flushQueue()
  }

  get #isOpen(): boolean {
    return this.ws.readyState === WebSocket.OPEN
  }

  async #stream(body: ByteStream): Promise<void> {
    try {
      for await (const part of body) {
        if (!this.#isOpen) return
        this.#isStreaming = true
        await this.#pass(part, false)
      }
      await this.#pass(nothing)
    } catch (error) {
      if (this.#isStreaming) this.close(closeCodes.brokenOff, brokenOff(error).message)
      throw error
    } finally {
      this.#isStreaming = false
      this.#flushQueue()
    }
  }

  /** Sends an answer, or part of one. Resolves once the client has read it or disconnected. */
  async #pass(bytes: Uint8Array, isLast = true): Promise<void> {
    this.#send(bytes, isLast)
    if (!this.#isOpen || this.#wire.writableLength === 0) return
    const { stalledMs } = httpTimes
    const cancel = this.#serving.clock.after(stalledMs, () => {
      this.close(closeCodes.notRead, `the client read nothing for ${stalledMs / 1000} s`)
    })
    await new Promise<void>((resolve) => (this.#emptied = resolve))
    cancel()
  }

  /** No other message may be sent before the last part. The bytes must not change afterwards. */
  #send(bytes: Uint8Array, isLast = true): void {
    if (!this.#isOpen) return
    this.ws.send(bytes, { binary: false, fin: isLast }, this.#written)
    this.#countWire()
  }

  /** Runs when a frame has been written out. */
  readonly #written = (): void => {
    this.#countWire()
    if (this.#wire.writableLength > 0) return
    this.acted()
    this.#flushQueue()
    this.#emptied()
  }

  /** Sends queued notifications while the connection accepts them immediately. */
  #flushQueue(): void {
    if (this.#ping !== null && this.#wire.writableLength === 0) {
      this.ws.pong(this.#ping, false, this.#written)
      this.#ping = null
    }
    let sent = 0
    for (const parts of this.#queue) {
      if (this.#isStreaming || this.#wire.writableLength > 0) break
      sent += 1
      this.hold(-sizeOf(parts))
      this.#send(Buffer.concat(parts))
    }
    this.#queue.splice(0, sent)
  }

  #countWire(): void {
    const bytes = this.#wire.writableLength
    this.hold(bytes - this.#wireBytes)
    this.#wireBytes = bytes
  }

  override hold(bytes: number): void {
    super.hold(bytes)
    this.waits()
  }

  override waits(): void {
    super.waits(this.#isOpen ? this.heldBytes : 0)
  }
}

function sizeOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, objectCosts.pieceBytes)
}
