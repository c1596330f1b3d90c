// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel } from '../clock/clock.ts'
import { StoreError, type StoreFault } from './store-error.ts'
import type { StoreOptions } from './store-options.ts'

/** Faults that an operator must fix. They are logged even if the store was already unreachable. */
const mistakes: readonly StoreFault[] = ['unauthorized', 'no-database']

/** Tracks whether a store answers, from the results of its commands. */
export class StoreAvailability {
  readonly #options: StoreOptions
  /** Faults since the last success. */
  readonly #faults = new Set<StoreFault>()
  #cancelSettling: Cancel | null = null

  constructor(options: StoreOptions) {
    this.#options = options
  }

  /**
   * Runs a command, and records how it ended.
   * @param timeoutMs waits in two halves, because a busy process still has to read its answer
   * @throws StoreError
   */
  async run<T>(name: string, timeoutMs: number, command: () => Promise<T>): Promise<T> {
    const { clock, onCommand } = this.#options
    const startedMs = clock.nowMs()
    const { promise: late, reject } = Promise.withResolvers<never>()
    const giveUp = () => reject(new StoreError('timeout'))
    let cancel = clock.after(timeoutMs / 2, () => {
      cancel = clock.after(timeoutMs / 2, giveUp)
    })
    let error: StoreError | null = null
    try {
      return await Promise.race([command(), late])
    } catch (cause) {
      throw (error = StoreError.from(cause))
    } finally {
      cancel()
      this.note(error)
      onCommand?.(name, error?.fault ?? 'success', clock.nowMs() - startedMs)
    }
  }

  /** Records that the connection failed; null: it is up. */
  note(error: StoreError | null): void {
    if (error) {
      this.close()
      const { fault } = error
      const isNews = mistakes.includes(fault) && !this.#faults.has(fault)
      if (isNews || this.#faults.size === 0) this.#options.onChange(error)
      this.#faults.add(fault)
    } else if (this.#faults.size > 0 && !this.#cancelSettling)
      this.#cancelSettling = this.#options.clock.after(settledMs, () => {
        this.#cancelSettling = null
        this.#faults.clear()
        this.#options.onChange(null)
      })
  }

  close(): void {
    this.#cancelSettling?.()
    this.#cancelSettling = null
  }
}

/** The store counts as up after this long without failure, so that flapping is not logged. */
const settledMs = 1_000
