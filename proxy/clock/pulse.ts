// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from './clock.ts'

export interface PulseOptions {
  readonly clock: Clock
  /** How often is looked whether anything came. */
  readonly everyMs: number
  /** How much has come from the other end so far, of whatever kind. */
  readonly received: () => number
  /** Nothing came since it was looked before: the other end is to give a sign of life. */
  readonly ask: () => void
  /** It was asked, and nothing came since. Called once, and then nothing any more. */
  readonly lost: () => void
}

/**
 * Notices when nobody is at the other end of a connection any more, though it was never closed: a host
 * without power, an address translation that forgot it. One that falls silent is asked within two looks,
 * and counts as lost at the next one.
 */
export class Pulse {
  readonly #options: PulseOptions
  #received: number
  #isAsked = false
  #cancel: Cancel = () => {}

  constructor(options: PulseOptions) {
    this.#options = options
    this.#received = options.received()
    this.#lookLater()
  }

  stop(): void {
    this.#cancel()
  }

  #lookLater(): void {
    const { clock, everyMs } = this.#options
    this.#cancel = clock.after(everyMs, () => {
      // What came while this process stood still is read before the second timer.
      if (this.#isAsked && !this.#hasCome) this.#cancel = clock.after(0, () => this.#look())
      else this.#look()
    })
  }

  #look(): void {
    const isSilent = !this.#hasCome
    if (isSilent && this.#isAsked) return this.#options.lost()
    this.#received = this.#options.received()
    this.#isAsked = isSilent
    if (isSilent) this.#options.ask()
    this.#lookLater()
  }

  get #hasCome(): boolean {
    return this.#options.received() !== this.#received
  }
}
