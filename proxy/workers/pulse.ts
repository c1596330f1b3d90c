// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from '../clock/clock.ts'

const tickMs = 1_000
/** Ticks without an answer. A busy worker may answer late. */
const ticks = { silent: 2, dead: 10 } as const
/** How long a worker may leave a ping unanswered. */
export const deadMs = ticks.dead * tickMs

/**
 * Pings a worker, which answers unless it is frozen or its event loop never returns. Silence is
 * measured in ticks of this process: on a starved machine there are fewer of them, so a worker that
 * starves too has more time.
 */
export class Pulse {
  readonly #clock: Clock
  readonly #ping: () => void
  readonly #dead: () => void
  #missed = 0
  #pingedMs: number | null = null
  #cancel: Cancel = () => {}

  /** @param dead called once a ping has no answer for 10 s; the pulse stops then */
  constructor(clock: Clock, ping: () => void, dead: () => void) {
    this.#clock = clock
    this.#ping = ping
    this.#dead = dead
  }

  /** Wall-clock time of the first ping without an answer; null while the worker answers. */
  get silentSinceMs(): number | null {
    return this.#missed < ticks.silent ? null : this.#pingedMs
  }

  readonly start = (): void => {
    if (this.#pingedMs === null) {
      this.#pingedMs = this.#clock.wallMs()
      this.#ping()
    } else if ((this.#missed += 1) === ticks.dead) return this.#dead()
    this.#cancel = this.#clock.after(tickMs, this.start)
  }

  answered(): void {
    this.#pingedMs = null
    this.#missed = 0
  }

  stop(): void {
    this.#cancel()
  }
}
