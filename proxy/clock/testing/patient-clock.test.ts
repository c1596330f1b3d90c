// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { patientClock as clock } from './patient-clock.ts'

function holdThread(forMs: number): void {
  const untilMs = performance.now() + forMs
  while (performance.now() < untilMs);
}

test('a suspended thread loses at most one tick', async () => {
  let ran = false
  clock.after(100, () => (ran = true))
  const beganMs = clock.nowMs()
  for (let each = 1; each <= 4; each++) {
    holdThread(150)
    await nextTurn()
    expect(clock.nowMs() - beganMs).toBeLessThanOrEqual(each * 20)
    expect(ran).toBe(false)
  }
  await expect.poll(() => ran).toBe(true)
  expect(clock.nowMs() - beganMs).toBeGreaterThanOrEqual(100)
})

test('a cancelled callback does not run', async () => {
  let ran = false
  clock.after(5, () => (ran = true))()
  await new Promise<void>((resolve) => clock.after(30, resolve))
  expect(ran).toBe(false)
})

test('time is monotonic', async () => {
  let lastMs = clock.nowMs()
  for (let each = 0; each < 100; each++) {
    if (each % 10 === 0) holdThread(12)
    await nextTurn()
    const nowMs = clock.nowMs()
    expect(nowMs).toBeGreaterThanOrEqual(lastMs)
    lastMs = nowMs
  }
})
