// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keepalive } from './keepalive.ts'
import { VirtualClock } from './testing/virtual-clock.ts'

/** A connection with a peer at its other end, which answers when it is asked to. */
function connected({ answers = true }: { readonly answers?: boolean } = {}) {
  const clock = new VirtualClock()
  const seen = { received: 0, asked: 0, lostAtMs: null as number | null, answers }
  const stop = keepalive({
    clock,
    everyMs: 10_000,
    received: () => seen.received,
    ask: () => {
      seen.asked += 1
      if (seen.answers) clock.after(5, () => (seen.received += 1))
    },
    lost: () => {
      expect(seen.lostAtMs).toBeNull()
      seen.lostAtMs = clock.nowMs()
    },
  })
  return { clock, stop, seen }
}

test('who answers when asked may be silent for ever', async () => {
  const { clock, seen } = connected()
  await clock.advance(600_000)
  expect(seen.lostAtMs).toBeNull()
  expect(seen.asked).toBe(30)
})

test('who speaks is not asked', async () => {
  const { clock, seen } = connected({ answers: false })
  for (let at = 0; at < 20; at++) {
    seen.received += 1
    await clock.advance(9_000)
  }
  expect(seen).toMatchObject({ asked: 0, lostAtMs: null })
})

test('who does not answer is lost at the next look, once', async () => {
  const { clock, seen } = connected({ answers: false })
  await clock.advance(10_000)
  expect(seen).toMatchObject({ asked: 1, lostAtMs: null })
  await clock.advance(9_999)
  expect(seen.lostAtMs).toBeNull()
  await clock.advance(100_000)
  expect(seen).toMatchObject({ asked: 1, lostAtMs: 20_000 })
  expect(clock.pending).toBe(0)
})

test('an answer that is read behind the look counts: this process may have stood still', async () => {
  const { clock, stop, seen } = connected({ answers: false })
  await clock.advance(15_000)
  // It lies there when the process goes on, and the timer is run first.
  clock.after(5_000, () => queueMicrotask(() => (seen.received += 1)))
  await clock.advance(5_000)
  expect(seen.lostAtMs).toBeNull()
  stop()
})

test('nothing is left of one that was stopped', async () => {
  const { clock, stop, seen } = connected({ answers: false })
  await clock.advance(15_000)
  stop()
  expect(clock.pending).toBe(0)
  await clock.advance(100_000)
  expect(seen.lostAtMs).toBeNull()
})

test('whenever it falls silent, it is lost at the third look behind that', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 100_000 }), async (silentFromMs) => {
      const { clock, seen } = connected()
      await clock.advance(silentFromMs)
      seen.answers = false
      seen.received += 1
      await clock.advance(40_000)
      const afterMs = (seen.lostAtMs ?? Infinity) - silentFromMs
      expect(afterMs).toBeGreaterThan(20_000)
      expect(afterMs).toBeLessThanOrEqual(30_000)
    }),
  )
})
