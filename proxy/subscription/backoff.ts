// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

const waitMs = { least: 250, most: 10_000 }

/** The waits between tries of what failed: 250 ms, doubling to 10 s. */
export class Backoff {
  #nextMs = waitMs.least

  /** How long to wait before the next try, in milliseconds. */
  next(): number {
    const ms = this.#nextMs
    this.#nextMs = Math.min(ms * 2, waitMs.most)
    return ms
  }

  /** It has succeeded: what fails next is waited for as briefly as at first. */
  reset(): void {
    this.#nextMs = waitMs.least
  }
}
