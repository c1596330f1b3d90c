// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as sleep } from 'node:timers/promises'

const intervalMs = 20

/**
 * Calls `probe` repeatedly until it returns true. An error of the probe counts as false; the last one
 * is the cause when time is up. Rejects at once when the signal is aborted.
 */
export async function waitUntil(
  what: string,
  timeoutMs: number,
  signal: AbortSignal,
  probe: () => Promise<boolean>,
): Promise<void> {
  const untilMs = performance.now() + timeoutMs
  let cause: unknown
  do {
    signal.throwIfAborted()
    try {
      if (await probe()) return
    } catch (error) {
      cause = error
    }
    await sleep(intervalMs, undefined, { signal })
  } while (performance.now() < untilMs)
  throw new Error(`${what}: not so within ${timeoutMs / 1000} s`, { cause })
}
