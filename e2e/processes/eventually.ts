// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as pause } from 'node:timers/promises'

const maxPauseMs = 100

/**
 * Calls `attempt` until it neither throws nor returns false, and returns its result. Rejects with
 * the last error after `timeoutMs`, and at once when the signal is aborted. Pauses grow with the
 * time that has passed, since attempts cost the CPU that the awaited work needs.
 */
export async function eventually<T>(
  attempt: () => T | false | Promise<T | false>,
  timeoutMs = 60_000,
  signal?: AbortSignal,
): Promise<T> {
  const beganMs = performance.now()
  for (;;) {
    signal?.throwIfAborted()
    try {
      const value = await attempt()
      if (value !== false) return value
      throw new Error('the last attempt returned false')
    } catch (error) {
      if (performance.now() - beganMs > timeoutMs) throw error
    }
    const pauseMs = Math.min(5 + (performance.now() - beganMs) / 10, maxPauseMs)
    await pause(pauseMs, undefined, signal && { signal })
  }
}

/** Waits until the probe returns true. On a timeout the error names the condition. */
export async function waitUntil(
  what: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  probe: () => boolean | Promise<boolean>,
): Promise<void> {
  await eventually(probe, timeoutMs, signal).catch((cause: unknown) => {
    signal?.throwIfAborted()
    throw new Error(`timed out after ${timeoutMs / 1000} s: ${what}`, { cause })
  })
}
