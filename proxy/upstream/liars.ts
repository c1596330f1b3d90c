// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { Upstream } from './upstream.ts'

/** For so long after a lie nobody believes what an upstream says of the tip. */
const lieLifeMs = 600_000

/** Who was caught in a lie lately. */
export class Liars {
  readonly #clock: Clock
  /** When each was caught last. */
  readonly #caughtMs = new Map<Upstream, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @returns whether nobody knew */
  caught(upstream: Upstream): boolean {
    const isNews = !this.has(upstream)
    this.#caughtMs.set(upstream, this.#clock.nowMs())
    return isNews
  }

  has(upstream: Upstream): boolean {
    const atMs = this.#caughtMs.get(upstream)
    return atMs !== undefined && this.#clock.nowMs() - atMs < lieLifeMs
  }

  /** All of them where none is left. */
  without<T extends Upstream>(heard: readonly T[]): readonly T[] {
    if (this.#caughtMs.size === 0) return heard
    const honest = heard.filter((each) => !this.has(each))
    return honest.length > 0 ? honest : heard
  }
}
