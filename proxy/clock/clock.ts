// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Takes back what was scheduled. Harmless when it already ran or was taken back. */
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
const longestMs = 2 ** 31 - 1

/** The machine's own time. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  after(delayMs, run) {
    let timer: NodeJS.Timeout
    const wait = (leftMs: number) => {
      const later = () => {
        wait(leftMs - longestMs)
      }
      timer = leftMs > longestMs ? setTimeout(later, longestMs) : setTimeout(run, leftMs)
      timer.unref()
    }
    wait(delayMs)
    return () => {
      clearTimeout(timer)
    }
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
