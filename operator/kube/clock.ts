// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
export { type Cancel, type Clock, sleep } from '../../proxy/clock/clock.ts'
export { type Random, systemRandom } from '../../proxy/clock/random.ts'
export { systemClock } from '../../proxy/clock/clock.ts'
import type { Clock } from '../../proxy/clock/clock.ts'

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

/** A signal that is aborted with its parent, or by its own time. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal
  /** Starts the time anew: what is watched has shown life. */
  renew(): void
}

/**
 * A signal that follows `parent`, and that is aborted with `late()` when `timeoutMs` pass without
 * `renew`. Dispose of it, or its timer goes on.
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
