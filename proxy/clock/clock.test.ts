// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemClock } from './clock.ts'

const dayMs = 86_400_000

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test.each([1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 5, 365 * dayMs])(
  'a timer of %s ms runs on time, once',
  (delayMs) => {
    const ran: number[] = []
    const beginMs = Date.now()
    systemClock.after(delayMs, () => ran.push(Date.now() - beginMs))
    vi.advanceTimersByTime(delayMs - 1)
    expect(ran).toEqual([])
    vi.advanceTimersByTime(1)
    expect(ran).toEqual([delayMs])
    vi.advanceTimersByTime(60 * dayMs)
    expect(ran).toHaveLength(1)
  },
)

test('a timer at infinity, or in 400 centuries, does not run and can be cancelled', () => {
  let runs = 0
  const cancels = [Infinity, 3.6e14].map((delayMs) => systemClock.after(delayMs, () => (runs += 1)))
  vi.advanceTimersByTime(100 * dayMs)
  expect(runs).toBe(0)
  for (const cancel of cancels) cancel()
  expect(vi.getTimerCount()).toBe(0)
})

test('an overdue callback runs at once, and Node prints no warning', async () => {
  vi.useRealTimers()
  const warn = vi.spyOn(process, 'emitWarning')
  await new Promise<void>((resolve) => systemClock.after(-5, resolve))
  expect(warn).not.toHaveBeenCalled()
})
