// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Calls `attempt` until it neither throws nor returns false, for `timeoutMs` at most, and returns its
 * result. When time is up, its last error is thrown.
 */
export async function eventually<T>(
  attempt: () => T | false | Promise<T | false>,
  timeoutMs = 10_000,
): Promise<T> {
  const untilMs = performance.now() + timeoutMs
  for (;;) {
    try {
      const value = await attempt()
      if (value !== false) return value
      throw new Error('it gave false')
    } catch (error) {
      if (performance.now() > untilMs) throw error
    }
    await pause(20)
  }
}
