// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Takes back what was scheduled. Harmless when it already ran or was taken back. */
export type Cancel = () => void

/** Time, handed to everything that waits or measures, so that all of it can run in virtual time. */
export interface Clock {
  /** Monotonic time in milliseconds, with fractions, from an arbitrary origin. */
  nowMs(): number
  /** Milliseconds since the Unix epoch, UTC. For dates that are shown, never for durations. */
  wallMs(): number
  /** Runs `run` once, `delayMs` from now. A pending run does not keep the process alive. */
  after(delayMs: number, run: () => void): Cancel
}

/** Chance, handed to everything that draws lots. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
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

/** Keeps the process alive until it is taken back, whatever else there is: what waits on the clock alone does not. */
export function stayAlive(): Cancel {
  const timer = setInterval(() => {}, longestMs)
  return () => {
    clearInterval(timer)
  }
}

/** The machine's own chance. Not for secrets. */
export const systemRandom: Random = { next: () => Math.random() }

/** Resolves after `delayMs`; rejects with the signal's reason as soon as it is aborted. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    const onAbort = () => {
      cancel()
      reject(signal.reason as Error)
    }
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** Resolves when the event loop has had its turn. */
export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => void clock.after(0, resolve))
}

/** The instant as statuses have it, RFC 3339 without fractions: `2026-01-01T00:00:00Z`. */
export function rfc3339(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** The instant in the form of Kubernetes' MicroTime, which wants six digits: `2026-01-01T00:00:00.000000Z`. */
export function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace('Z', '000Z')
}
