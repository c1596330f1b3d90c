// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A body up to this length is short. */
export const shortBytes = 64 * 1024
/** Long bodies leave the rest of the budget to short ones, so that a few of them do not shut out everybody. */
const longShare = 3 / 4

/**
 * The bytes that the whole process holds for its clients: requests, answers, and frames that wait. Whoever
 * holds bytes says so and releases as many. The budget bounds what is taken on; what is in flight goes on.
 */
export class ByteBudget {
  readonly maxBytes: number
  #heldBytes = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** No new body is taken. */
  get isFull(): boolean {
    return this.#heldBytes >= this.maxBytes
  }

  /** No long body is taken or collected. */
  get isTight(): boolean {
    return this.#heldBytes >= this.maxBytes * longShare
  }

  /** Whether a body may grow to this length: a new one while there is room, a long one while it is not tight. */
  allows(fromBytes: number, toBytes: number): boolean {
    return toBytes > shortBytes ? !this.isTight : fromBytes > 0 || !this.isFull
  }

  hold(bytes: number): void {
    this.#heldBytes += bytes
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes
  }
}
