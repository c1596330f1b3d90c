// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
export { type Cancel, type Clock, sleep } from '../../proxy/clock/clock.ts'
export { type Random, systemRandom } from '../../proxy/clock/random.ts'
export { systemClock } from '../../proxy/clock/clock.ts'
import type { Clock } from '../../proxy/clock/clock.ts'

/** Resolves in the next turn of the event loop. */
export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => void clock.after(0, resolve))
}

/** Formats an instant for a status, RFC 3339 without fractions: `2026-01-01T00:00:00Z`. */
export function rfc3339(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** Formats an instant as Kubernetes' MicroTime, with six digits: `2026-01-01T00:00:00.000000Z`. */
export function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace('Z', '000Z')
}

/** A signal that aborts with its parent or after a timeout. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal
  /** Restarts the timeout. */
  renew(): void
}

/**
 * Returns a signal that follows `parent`, and aborts with `late()` after `timeoutMs` without a
 * `renew`. Callers must dispose of it, or its timer keeps running.
 */
export function deadline(
  clock: Clock,
  timeoutMs: number,
  parent: AbortSignal,
  late: () => Error,
): Deadline {
  const own = new AbortController()
  const schedule = () => clock.after(timeoutMs, () => own.abort(late()))
  let cancel = schedule()
  return {
    signal: AbortSignal.any([parent, own.signal]),
    renew() {
      cancel()
      cancel = schedule()
    },
    [Symbol.dispose]() {
      cancel()
    },
  }
}
