// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from '../clock/clock.ts'
import type { StoreError } from './store-error.ts'

/** It answers again when it has done so for this long without a failure: the log shall not grow with flapping. */
const settledMs = 1_000

/** Whether a store answers, from how its commands end. */
export class Availability {
  readonly #clock: Clock
  readonly #onChange: (error: StoreError | null) => void
  #isDown = false
  #cancelSettling: Cancel | null = null

  /** @param onChange the store fails, or answers again */
  constructor(clock: Clock, onChange: (error: StoreError | null) => void) {
    this.#clock = clock
    this.#onChange = onChange
  }

  /** A command failed; null: it was answered. */
  note(error: StoreError | null): void {
    if (error) {
      this.close()
      if (!this.#isDown) this.#onChange(error)
      this.#isDown = true
    } else if (this.#isDown && !this.#cancelSettling)
      this.#cancelSettling = this.#clock.after(settledMs, () => {
        this.#cancelSettling = null
        this.#isDown = false
        this.#onChange(null)
      })
  }

  close(): void {
    this.#cancelSettling?.()
    this.#cancelSettling = null
  }
}
