// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Calls `attempt` until it neither throws nor returns false, for `timeoutMs` at most, and returns its
 * result. When time is up, its last error is thrown. Rejects at once when the signal is aborted.
 */
export async function eventually<T>(
  attempt: () => T | false | Promise<T | false>,
  timeoutMs = 60_000,
  signal?: AbortSignal,
): Promise<T> {
  const untilMs = performance.now() + timeoutMs
  for (;;) {
    signal?.throwIfAborted()
    try {
      const value = await attempt()
      if (value !== false) return value
      throw new Error('it gave false')
    } catch (error) {
      if (performance.now() > untilMs) throw error
    }
    await pause(20, undefined, signal && { signal })
  }
}

/** The same for a probe. When time is up, the error names what was waited for. */
export async function waitUntil(
  what: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  probe: () => boolean | Promise<boolean>,
): Promise<void> {
  await eventually(probe, timeoutMs, signal).catch((cause: unknown) => {
    signal?.throwIfAborted()
    throw new Error(`${what}: not so within ${timeoutMs / 1000} s`, { cause })
  })
}
