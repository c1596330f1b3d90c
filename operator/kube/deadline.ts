// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from './clock.ts'

/** A signal that is aborted with its parent, or by its own time. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal
  /** Starts the time anew: what is watched has shown life. */
  renew(): void
}

/**
 * A signal that follows `parent`, and that is aborted with `late()` when `timeoutMs` pass without
 * `renew`. Dispose of it: it listens to its parent until then.
 */
export function deadline(
  clock: Clock,
  timeoutMs: number,
  parent: AbortSignal,
  late: () => Error,
): Deadline {
  const controller = new AbortController()
  const onAbort = () => {
    controller.abort(parent.reason)
  }
  const schedule = () =>
    clock.after(timeoutMs, () => {
      controller.abort(late())
    })
  let cancel = schedule()
  if (parent.aborted) onAbort()
  else parent.addEventListener('abort', onAbort, { once: true })
  return {
    signal: controller.signal,
    renew() {
      cancel()
      cancel = schedule()
    },
    [Symbol.dispose]() {
      cancel()
      parent.removeEventListener('abort', onAbort)
    },
  }
}
