// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sleep } from '../clock.ts'
import { VirtualClock } from './virtual-clock.ts'

test('timers run by instant, and in order of creation at the same one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ delayMs: fc.nat(50), isCancelled: fc.boolean() }), { maxLength: 60 }),
      async (timers) => {
        const clock = new VirtualClock()
        const ran: number[] = []
        const cancels = timers.map(({ delayMs }, index) =>
          clock.after(delayMs, () => {
            expect(clock.nowMs()).toBe(delayMs)
            ran.push(index)
          }),
        )
        for (const [index, { isCancelled }] of timers.entries()) if (isCancelled) cancels[index]!()
        const left = timers.map((_, index) => index).filter((index) => !timers[index]!.isCancelled)
        expect(clock.pending).toBe(left.length)
        await clock.advance(50)
        expect(ran).toEqual(left.toSorted((a, b) => timers[a]!.delayMs - timers[b]!.delayMs))
        expect(clock.pending).toBe(0)
        expect(clock.nowMs()).toBe(50)
      },
    ),
  )
})

test('promises settle between two timers, however long their chain', async () => {
  const clock = new VirtualClock()
  const seen: string[] = []
  const chain = async (length: number) => {
    for (let each = 0; each < length; each++) await Promise.resolve()
    seen.push(`settled at ${clock.nowMs()}`)
  }
  clock.after(1, () => void chain(10_000))
  clock.after(2, () => seen.push('timer at 2'))
  await clock.advance(5)
  expect(seen).toEqual(['settled at 1', 'timer at 2'])
})

test('a timer set during an advance runs in the same advance when due', async () => {
  const clock = new VirtualClock()
  const woken: number[] = []
  const wake = async () => {
    for (let each = 0; each < 3; each++) {
      await sleep(clock, 10, new AbortController().signal)
      woken.push(clock.nowMs())
    }
  }
  void wake()
  await clock.advance(25)
  expect(woken).toEqual([10, 20])
  await clock.advance(5)
  expect(woken).toEqual([10, 20, 30])
})

test('cancelling a timer twice, or after it ran, is harmless', async () => {
  const clock = new VirtualClock()
  const cancel = clock.after(1, () => {})
  const other = clock.after(2, () => {})
  await clock.advance(1)
  cancel()
  expect(clock.pending).toBe(1)
  other()
  other()
  expect(clock.pending).toBe(0)
})
