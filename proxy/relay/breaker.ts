// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RelayError, errorKinds } from './errors.ts'
import type { RelayObserver } from './observer.ts'
import type { Step } from './step.ts'

/** Empty-pool errors in a row that open the breaker. */
const threshold = 2

/**
 * Fails calls at once after two in a row met an empty pool, until any upstream may be asked again.
 * A call that excluded or demanded too much itself does not count.
 */
export function breaker(hasAny: () => boolean, observer: RelayObserver): Step {
  let emptyPools = 0
  const set = (count: number) => {
    const wasOpen = emptyPools >= threshold
    emptyPools = count
    if (wasOpen !== count >= threshold) observer.breakerChanged(count >= threshold)
  }
  return (next) => async (call) => {
    if (emptyPools >= threshold) {
      if (!hasAny())
        throw new RelayError(
          errorKinds.breakerOpen,
          'no upstream is up; calls fail at once until one is',
        )
      set(0)
    }
    try {
      const reply = await next(call)
      set(0)
      return reply
    } catch (error) {
      if (error instanceof RelayError && error.kind === errorKinds.noUpstream && !hasAny())
        set(emptyPools + 1)
      throw error
    }
  }
}
