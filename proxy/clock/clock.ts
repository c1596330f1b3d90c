// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Cancels what was scheduled. Harmless when it already ran or was cancelled. */
export type Cancel = () => void

/**
 * Time, handed to everything that waits or measures, so that the whole engine can run in virtual
 * time. Nothing under `relay/`, `upstream/` or `subscription/` reads the time in another way.
 */
export interface Clock {
  /** Monotonic time in milliseconds, with fractions, from an arbitrary origin. */
  nowMs(): number
  /** Milliseconds since the Unix epoch, UTC. For epochs and dates only, never for durations. */
  wallMs(): number
  /** Runs `run` once, `delayMs` from now. A pending run does not keep the process alive. */
  after(delayMs: number, run: () => void): Cancel
}

/** What is later than this, Node's timers would run at once. */
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

/** Something that is due at a time, on the clock's monotonic scale, which may change. */
export interface Due {
  readonly dueMs: number
  /** Its index among those that wait; -1 while it does not. For `DueTimes` alone. */
  index: number
  /** Called when the time has come; it sets the next time, or has itself removed. */
  due(nowMs: number): void
}

/** Sums of fractions of milliseconds are not exact. */
const toleranceMs = 1e-6

/**
 * One timer for everything that waits. Most calls end long before anything is due: while others wait,
 * adding and removing one costs no timer, but a look at all each time the timer runs. It is an array, since
 * a `Set` leaves tables behind that keep what was in them alive until a full collection: 5 ms of scavenging
 * instead of 0.6.
 */
export class DueTimes {
  readonly #clock: Clock
  readonly #waiting: Due[] = []
  #armedMs = Infinity
  #cancel: Cancel = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Adds it, or notes that it is due at another time. */
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
