// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

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

  /** No body is taken, or collected, beyond 64 KiB. */
  get isTight(): boolean {
    return this.#heldBytes >= this.maxBytes * longShare
  }

  hold(bytes: number): void {
    this.#heldBytes += bytes
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes
  }
}
