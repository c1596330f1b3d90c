// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Cancels a scheduled callback. No effect once it has run or was cancelled. */
export type Cancel = () => void

/**
 * Time, passed to everything that waits or measures, so that the whole engine can run in virtual
 * time. Code under `relay/`, `upstream/` and `subscription/` has no other time source.
 */
export interface Clock {
  /** Monotonic time in milliseconds, with fractions, from an arbitrary origin. */
  nowMs(): number
  /** Milliseconds since the Unix epoch, UTC. For epochs and dates only, never for durations. */
  wallMs(): number
  /** Runs `run` once, `delayMs` from now. A pending run does not keep the process alive. */
  after(delayMs: number, run: () => void): Cancel
}

/** Node's timers would run at once beyond this delay. */
const maxMs = 2 ** 31 - 1

/** The machine's own time. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  after(delayMs, run) {
    let timer: NodeJS.Timeout
    const wait = (leftMs: number) => {
      const later = () => wait(leftMs - maxMs)
      timer = leftMs > maxMs ? setTimeout(later, maxMs) : setTimeout(run, leftMs)
      timer.unref()
    }
    wait(Math.max(delayMs, 0))
    return () => clearTimeout(timer)
  },
}

/** Resolves after `delayMs`; rejects with the signal's reason as soon as it is aborted. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const onAbort = () => {
      cancel()
      reject(signal?.reason as Error)
    }
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** An item with a due time on the clock's monotonic scale, which may change. */
export interface Due {
  readonly dueMs: number
  /** Index among the waiting items; -1 when not waiting. Only for `DueTimes`. */
  index: number
  /** Called at the due time; sets the next time, or removes the item. */
  due(nowMs: number): void
}

/** Sums of fractional milliseconds are inexact. */
const toleranceMs = 1e-6

/**
 * One timer for all waiting items. Most calls end long before they are due, so adding or removing
 * an item costs no timer; instead each run of the timer scans all items. The items are in an array:
 * a `Set` leaves tables that retain them until a full collection, at 5 ms of scavenging instead of
 * 0.6.
 */
export class DueTimes {
  readonly #clock: Clock
  readonly #waiting: Due[] = []
  #armedMs = Infinity
  #cancel: Cancel = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Adds the item, or updates its due time. */
  add(each: Due, nowMs: number): void {
    if (each.index < 0) each.index = this.#waiting.push(each) - 1
    this.#arm(each.dueMs, nowMs)
  }

  delete(each: Due): void {
    const { index } = each
    if (index < 0) return
    const last = this.#waiting.pop() as Due
    if (last !== each) {
      this.#waiting[index] = last
      last.index = index
    }
    each.index = -1
    if (this.#waiting.length > 0) return
    this.#cancel()
    this.#armedMs = Infinity
  }

  #arm(dueMs: number, nowMs: number): void {
    if (dueMs >= this.#armedMs) return
    this.#cancel()
    this.#armedMs = dueMs
    this.#cancel = this.#clock.after(Math.max(dueMs - nowMs, 0), () => this.#run())
  }

  #run(): void {
    this.#armedMs = Infinity
    const nowMs = this.#clock.nowMs()
    for (const each of [...this.#waiting])
      if (each.dueMs <= nowMs + toleranceMs && each.index >= 0)
        each.due(Math.max(nowMs, each.dueMs))
    let soonestMs = Infinity
    for (const { dueMs } of this.#waiting) soonestMs = Math.min(soonestMs, dueMs)
    this.#arm(soonestMs, nowMs)
  }
}
