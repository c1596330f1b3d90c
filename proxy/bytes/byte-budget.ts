// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { budgetLimits } from './limits.ts'
import { EventLoopPacer } from './event-loop-pacer.ts'

const { shortBytes, longShare, tightShare, waitingShare } = budgetLimits

/** What waits until its client has sent the rest of it, or has read it. */
export interface WaitsForClient {
  /** Lets the bytes go, and the client with them. */
  cutOff(): void
}

/**
 * The bytes that the whole process holds for its clients: requests, answers, and frames that wait. Whoever
 * holds bytes says so and releases as many. Two rules keep it: no body is taken on while it is full, and what
 * waits for clients may take half of it; beyond that, whoever has done nothing for the longest is cut off.
 */
export class ByteBudget {
  readonly maxBytes: number
  /** How much of them is worked on at a time. */
  readonly turns = new EventLoopPacer()
  /** Clients that were cut off. */
  cutOffs = 0
  heldBytes = 0
  /** With their bytes; the first has done nothing for the longest. */
  readonly #waiting = new Map<WaitsForClient, number>()
  #waitingBytes = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** No new body is taken. */
  get isFull(): boolean {
    return this.heldBytes >= this.maxBytes
  }

  /** No long answer is collected, and a connection has few calls at a time. */
  get isTight(): boolean {
    return this.heldBytes >= this.maxBytes * tightShare
  }

  /** Whether a body may grow to this length: a new one while there is room, a long one while that leaves room. */
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

  /** So many of the bytes that are held wait for this client; 0: none do any more. May cut it off. */
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

  /** The client has sent or read something. */
  acted(client: WaitsForClient): void {
    const bytes = this.#waiting.get(client)
    if (bytes === undefined) return
    this.#waiting.delete(client)
    this.#waiting.set(client, bytes)
  }
}

/** What counts in the budget until it is released, or what a client keeps waiting of it. */
export class Reservation implements WaitsForClient {
  readonly budget: ByteBudget
  heldBytes = 0
  #isOver = false

  /** @param cutOff where something waits, and no class says how it is cut off */
  constructor(budget: ByteBudget, cutOff?: () => void) {
    this.budget = budget
    if (cutOff) this.cutOff = cutOff
  }

  cutOff(): void {}

  /** So many more, or fewer where they are negative; never fewer than none. */
  hold(bytes: number): void {
    if (this.#isOver) return
    const change = Math.max(bytes, -this.heldBytes)
    this.heldBytes += change
    this.budget.hold(change)
  }

  /** So many of them wait for the client; 0: it has done its part. */
  waits(bytes = this.heldBytes): void {
    this.budget.waits(this, this.#isOver ? 0 : bytes)
  }

  /** The client has sent or read something, and all that is left waits for it. */
  acted(): void {
    this.budget.acted(this)
    this.waits()
  }

  /** All of them, once or again. */
  release(): void {
    this.waits(0)
    this.hold(-this.heldBytes)
  }

  /** Releases all, and holds nothing from now on. */
  finish(): void {
    this.release()
    this.#isOver = true
  }
}
