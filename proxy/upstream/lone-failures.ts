// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'

/** For so long after an answer nothing is concluded from a method that fails alone. */
const memoryMs = 60_000

/**
 * Tells trouble with a method from trouble of an upstream. A heavy query may have every node drop its
 * connection, as often as a client repeats it; whoever was taken out of service for that, and answers
 * another method then, is well. From then on the methods that failed say nothing of it, as long as it
 * answers anything: a light query of the same method does not make the heavy one the node's fault.
 */
export class LoneFailures {
  readonly #clock: Clock
  /** What failed since the last answer; of methods that the spec names, so there are few. */
  readonly #row = new Set<string>()
  /** What fails alone. */
  readonly #lone = new Set<string>()
  #answeredMs = -Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @returns whether it says something of the upstream */
  failed(method: string): boolean {
    if (this.#clock.nowMs() - this.#answeredMs >= memoryMs) this.#lone.clear()
    if (this.#lone.has(method)) return false
    this.#row.add(method)
    return true
  }

  /** @param wasDisabled the upstream was out of service until now */
  answered(method: string, wasDisabled: boolean): void {
    this.#answeredMs = this.#clock.nowMs()
    if (this.#row.size === 0) return
    this.#row.delete(method)
    if (wasDisabled) for (const each of this.#row) this.#lone.add(each)
    this.#row.clear()
  }
}
