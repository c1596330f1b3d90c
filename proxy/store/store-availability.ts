// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel } from '../clock/clock.ts'
import { StoreError, type StoreFault } from './store-error.ts'
import type { StoreOptions } from './store-options.ts'

/** Faults that often end by themselves. Others are logged even if the store already fails. */
const passing: readonly StoreFault[] = ['timeout', 'unreachable', 'loading', 'recovering']

/** Tracks whether a store answers, from the results of its commands. */
export class StoreAvailability {
  readonly #options: StoreOptions
  /** Faults since the last success. */
  readonly #faults = new Set<StoreFault>()
  /** Whether it refused the latest write. Reads that succeed do not show that it takes writes. */
  #refusesWrites = false
  #settlesMs = Infinity
  #cancelSettling: Cancel = () => {}

  constructor(options: StoreOptions) {
    this.#options = options
  }

  /**
   * Runs a command, and records how it ended.
   * @param isWrite whether it fails if the store takes no writes
   * @param timeoutMs waits in two halves, because a busy process still has to read its answer
   * @throws StoreError
   */
  async run<T>(
    name: string,
    isWrite: boolean,
    timeoutMs: number,
    command: () => Promise<T>,
  ): Promise<T> {
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
      this.note(error, isWrite)
      onCommand?.(name, error?.fault ?? 'success', clock.nowMs() - startedMs)
    }
  }

  /** Records that the connection failed; null: it is up. */
  note(error: StoreError | null, isWrite = false): void {
    if (error) {
      this.close()
      const { fault } = error
      const isLasting = !passing.includes(fault)
      this.#refusesWrites ||= isWrite && isLasting
      const isNews = isLasting && !this.#faults.has(fault)
      if (isNews || this.#faults.size === 0) this.#options.onChange(error)
      this.#faults.add(fault)
    } else if (this.#faults.size > 0) {
      if (isWrite) this.#refusesWrites = false
      this.#settle(this.#refusesWrites ? noWriteMs : settledMs)
    }
  }

  #settle(delayMs: number): void {
    const { clock, onChange } = this.#options
    const atMs = clock.nowMs() + delayMs
    if (atMs >= this.#settlesMs) return
    this.close()
    this.#settlesMs = atMs
    this.#cancelSettling = clock.after(delayMs, () => {
      this.#settlesMs = Infinity
      this.#refusesWrites = false
      this.#faults.clear()
      onChange(null)
    })
  }

  close(): void {
    this.#cancelSettling()
    this.#settlesMs = Infinity
  }
}

/** The store counts as up after this long without failure, so that flapping is not logged. */
const settledMs = 1_000
/** The same after a refused write if only reads have followed. */
const noWriteMs = 300_000
