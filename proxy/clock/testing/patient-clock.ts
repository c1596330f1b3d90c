// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock.ts'

const tickMs = 5
const maxStepMs = 2 * tickMs
const maxTimerMs = 2 ** 31 - 1

let atMs = 0
let tickedMs = performance.now()
const sinceTickMs = () => Math.min(performance.now() - tickedMs, maxStepMs)
const nowMs = () => atMs + sinceTickMs()

setInterval(() => {
  atMs += sinceTickMs()
  tickedMs = performance.now()
}, tickMs).unref()

/**
 * The machine's clock, except that it advances by at most 10 ms per event-loop turn. For tests with
 * a router and its nodes in one thread: if the machine suspends the thread, no deadline passes.
 */
export const patientClock: Clock = {
  nowMs,
  wallMs: () => Date.now(),
  after(delayMs, run) {
    const dueMs = nowMs() + delayMs
    let timer: NodeJS.Timeout
    const wait = () => {
      const leftMs = Math.ceil(dueMs - nowMs())
      timer = setTimeout(check, Math.min(Math.max(leftMs, 0), maxTimerMs)).unref()
    }
    const check = () => {
      if (nowMs() < dueMs) wait()
      else run()
    }
    wait()
    return () => clearTimeout(timer)
  },
}
