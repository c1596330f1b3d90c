// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Reservation } from '../../bytes/byte-budget.ts'
import { clientLimits, objectCosts } from '../../bytes/limits.ts'

const { fragments, messagesAtOnce } = clientLimits

/** The received part of a client's message, because the library exposes only complete messages. */
export class UnfinishedMessage extends Reservation {
  /** When the message began; null if there is none. */
  sinceMs: number | null = null
  readonly #frames = new ClientFrames()
  #chunks = 0

  /**
   * Takes all received bytes before the library reads them.
   * @returns false if there are more fragments or messages than allowed
   */
  came(chunk: Uint8Array, nowMs: number): boolean {
    const frames = this.#frames
    if (frames.push(chunk)) this.release()
    if (frames.isTooFine) {
      this.finish()
      return false
    }
    if (frames.isBetween) {
      this.release()
      return true
    }
    this.sinceMs ??= nowMs
    this.#chunks += 1
    const { pieceBytes, fragmentBytes } = objectCosts
    const objects = this.#chunks * pieceBytes + frames.fragments * fragmentBytes
    this.hold(frames.bytes + objects - this.heldBytes)
    this.acted()
    return true
  }

  override release(): void {
    this.sinceMs = null
    this.#chunks = 0
    super.release()
  }
}

/** Tracks a client's frames (RFC 6455, 5.2) without reading their payload. */
class ClientFrames {
  /** Payload bytes of the unfinished message so far. */
  bytes = 0
  /** Frames of that message so far, each of which the library stores. */
  fragments = 0
  /** Whether a message had more fragments, or a chunk more messages, than any client sends. */
  isTooFine = false
  /** Whether the last complete frame ended its message. */
  #isEnded = true
  readonly #head = Buffer.alloc(14)
  #headLength = 0
  #missing = 0

  /** Whether neither a message nor a frame has begun. */
  get isBetween(): boolean {
    return this.#isEnded && this.#headLength === 0
  }

  /** @returns whether a message ended in this chunk */
  push(chunk: Uint8Array): boolean {
    let messages = 0
    for (let at = 0; at < chunk.length && !this.isTooFine;) {
      if (this.#missing === 0) {
        this.#head[this.#headLength++] = chunk[at++] as number
        if (!this.#readHead()) continue
      }
      const first = this.#head[0] as number
      const isControl = (first & 0x08) !== 0
      const consumed = Math.min(this.#missing, chunk.length - at)
      this.#missing -= consumed
      at += consumed
      if (!isControl) this.bytes += consumed
      if (this.#missing > 0) break
      this.#headLength = 0
      if (isControl) continue
      this.#isEnded = (first & 0x80) !== 0
      this.fragments += 1
      this.isTooFine = this.fragments > fragments.count + this.bytes / fragments.bytes
      if (!this.#isEnded) continue
      messages += 1
      this.isTooFine ||= messages > messagesAtOnce
      this.bytes = this.fragments = 0
    }
    return messages > 0
  }

  /**
   * @returns whether the head is complete: two bytes, up to eight more for a long length, and a
   * mask
   */
  #readHead(): boolean {
    const short = (this.#head[1] as number) & 0x7f
    const more = short === 127 ? 8 : short === 126 ? 2 : 0
    if (this.#headLength < 2 || this.#headLength < 6 + more) return false
    if (more === 8) this.#missing = Number(this.#head.readBigUInt64BE(2))
    else this.#missing = more === 2 ? this.#head.readUInt16BE(2) : short
    return true
  }
}
