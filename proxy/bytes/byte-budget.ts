// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { budgetLimits } from './limits.ts'
import { EventLoopPacer } from './event-loop-pacer.ts'

const { shortBytes, longShare, tightShare, waitingShare } = budgetLimits

/** Holds bytes until its client sends or reads the rest. */
export interface WaitsForClient {
  /** Releases the bytes and disconnects the client. */
  cutOff(): void
}

/**
 * Counts the bytes that the process buffers for its clients: requests, answers and queued frames.
 * Every holder reports and releases its bytes. A full budget accepts no body. Bytes that wait for
 * clients may take half of it; beyond that, the client idle for longest is cut off.
 */
export class ByteBudget {
  readonly maxBytes: number
  /** Limits the work per event-loop turn. */
  readonly turns = new EventLoopPacer()
  /** Number of clients that were cut off. */
  cutOffs = 0
  heldBytes = 0
  /** Waiting bytes by client; the first has been idle longest. */
  readonly #waiting = new Map<WaitsForClient, number>()
  #waitingBytes = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** The budget accepts no new body. */
  get isFull(): boolean {
    return this.heldBytes >= this.maxBytes
  }

  /** The router collects no long answers, and each connection has few calls in flight. */
  get isTight(): boolean {
    return this.heldBytes >= this.maxBytes * tightShare
  }

  /** Whether a body may grow to this length. Long bodies must leave room for short ones. */
  allows(fromBytes: number, toBytes: number): boolean {
    if (toBytes > shortBytes) return this.heldBytes < this.maxBytes * longShare
    return fromBytes > 0 || !this.isFull
  }

  hold(bytes: number): void {
    this.heldBytes += bytes
  }

  release(bytes: number): void {
    this.heldBytes -= bytes
  }

  /** Sets how many bytes wait for this client; 0: none. May cut clients off. */
  waits(client: WaitsForClient, bytes: number): void {
    this.#waitingBytes += bytes - (this.#waiting.get(client) ?? 0)
    if (bytes > 0) this.#waiting.set(client, bytes)
    else this.#waiting.delete(client)
    if (this.#waitingBytes <= this.maxBytes * waitingShare) return
    for (const [idlest, bytes] of this.#waiting) {
      this.#waiting.delete(idlest)
      this.#waitingBytes -= bytes
      this.cutOffs += 1
      idlest.cutOff()
      if (this.#waitingBytes <= this.maxBytes * waitingShare) return
    }
  }

  /** Records that the client has sent or read something. */
  acted(client: WaitsForClient): void {
    const bytes = this.#waiting.get(client)
    if (bytes === undefined) return
    this.#waiting.delete(client)
    this.#waiting.set(client, bytes)
  }
}

/** Bytes that count against the budget until released, some of which may wait for a client. */
export class Reservation implements WaitsForClient {
  readonly budget: ByteBudget
  heldBytes = 0
  #isOver = false

  /** @param cutOff replaces the subclass method */
  constructor(budget: ByteBudget, cutOff?: () => void) {
    this.budget = budget
    if (cutOff) this.cutOff = cutOff
  }

  cutOff(): void {}

  /** Adds bytes; a negative number subtracts, down to zero. */
  hold(bytes: number): void {
    if (this.#isOver) return
    const change = Math.max(bytes, -this.heldBytes)
    this.heldBytes += change
    this.budget.hold(change)
  }

  /** Sets how many bytes wait for the client; 0: none. */
  waits(bytes = this.heldBytes): void {
    this.budget.waits(this, this.#isOver ? 0 : bytes)
  }

  /** Records that the client has sent or read something. All remaining bytes wait for it. */
  acted(): void {
    this.budget.acted(this)
    this.waits()
  }

  /** Releases all bytes. Idempotent. */
  release(): void {
    this.waits(0)
    this.hold(-this.heldBytes)
  }

  /** Releases all bytes, and ignores later ones. */
  finish(): void {
    this.release()
    this.#isOver = true
  }
}
