// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
const firstRampMs = 10_000
const longestRampMs = 160_000
/** A flap that is longer ago than this is forgotten. */
const memoryMs = 10 * 60_000

/**
 * An upstream that comes back earns its share: its weight rises from nothing to the whole within
 * 10 s, and each time it comes back anew within ten minutes takes twice as long. So one that flaps
 * gets little traffic to drop.
 */
export class SlowStart {
  #beganMs = -Infinity
  #rampMs = firstRampMs

  begin(nowMs: number): void {
    const isFlapping = nowMs - this.#beganMs < memoryMs
    this.#rampMs = isFlapping ? Math.min(this.#rampMs * 2, longestRampMs) : firstRampMs
    this.#beganMs = nowMs
  }

  /** How much of its share it has earned, in [0, 1]; 1 for one that was never away. */
  share(nowMs: number): number {
    return Math.min(1, (nowMs - this.#beganMs) / this.#rampMs)
  }
}
