// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { Pulse } from './pulse.ts'

/** Starts a pulse. @param answersAfterMs how late the worker answers; null: never */
function start(answersAfterMs: () => number | null) {
  const clock = new VirtualClock()
  const began = clock.wallMs()
  const deaths: number[] = []
  const ping = () => {
    const delayMs = answersAfterMs()
    if (delayMs !== null) clock.after(delayMs, () => pulse.answered())
  }
  const pulse = new Pulse(clock, ping, () => deaths.push(clock.wallMs() - began))
  pulse.start()
  const silent = () => pulse.silentSinceMs && pulse.silentSinceMs - began
  return { clock, pulse, deaths, silent }
}

test.each([
  ['answers at once', 0, false],
  ['starves, or collects garbage for 9 s', 9_000, false],
  ['answers after the 10 s', 10_500, true],
  ['never answers', null, true],
])('a worker that %s', async (_, delayMs, isDead) => {
  const { clock, deaths } = start(() => delayMs)
  await clock.advance(60_000)
  expect(deaths).toEqual(isDead ? [10_000] : [])
})

test('a frozen worker is silent since the first ping that it did not answer', async () => {
  let isFrozen = false
  const { clock, deaths, silent } = start(() => (isFrozen ? null : 5))
  await clock.advance(4_500)
  isFrozen = true
  await clock.advance(2_000)
  expect(silent()).toBe(null)
  await clock.advance(1_000)
  expect(silent()).toBe(5_000)
  await clock.advance(7_400)
  expect([silent(), deaths]).toEqual([5_000, []])
  await clock.advance(200)
  expect(deaths).toEqual([15_000])
})

test('a supervisor that was stalled for a minute blames no worker', async () => {
  let [now, run] = [0, () => {}]
  const deaths: number[] = []
  const clock = {
    nowMs: () => now,
    wallMs: () => now,
    after: (_: number, tick: () => void) => {
      run = tick
      return () => {}
    },
  }
  const pulse = new Pulse(
    clock,
    () => {},
    () => deaths.push(now),
  )
  pulse.start()
  for (let stall = 0; stall < 5; stall++) {
    now += 60_000
    run()
    expect(pulse.silentSinceMs).toBe(null)
    pulse.answered()
    run()
  }
  expect(deaths).toEqual([])
})

test('a stopped pulse kills no worker', async () => {
  const { clock, pulse, deaths } = start(() => null)
  await clock.advance(5_000)
  pulse.stop()
  await clock.advance(60_000)
  expect(deaths).toEqual([])
})
