// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Clock, systemClock } from '../../operator/kube/clock.ts'

/**
 * The machine's time, so many times faster: what waits for a second waits for a part of it. For backoffs and whatever comes
 * again by itself; not for requests, which take as long as they take.
 */
export function hastyClock(times: number): Clock {
  return {
    nowMs: () => systemClock.nowMs() * times,
    wallMs: () => systemClock.wallMs(),
    after: (delayMs, run) => systemClock.after(delayMs / times, run),
  }
}
