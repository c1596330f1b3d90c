// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from './clock.ts'

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
