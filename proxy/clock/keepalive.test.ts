// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keepalive } from './keepalive.ts'
import { VirtualClock } from './testing/virtual-clock.ts'

/** A connection whose peer answers pings, if `answers` is set. */
function connected({ answers = true }: { readonly answers?: boolean } = {}) {
  const clock = new VirtualClock()
  const state = { received: 0, asked: 0, lostAtMs: null as number | null, answers }
  const stop = keepalive({
    clock,
    everyMs: 10_000,
    received: () => state.received,
    ask: () => {
      state.asked += 1
      if (state.answers) clock.after(5, () => (state.received += 1))
    },
    lost: () => {
      expect(state.lostAtMs).toBeNull()
      state.lostAtMs = clock.nowMs()
    },
  })
  return { clock, stop, state }
}

test('a peer that answers may stay silent forever', async () => {
  const { clock, state } = connected()
  await clock.advance(600_000)
  expect(state.lostAtMs).toBeNull()
  expect(state.asked).toBe(30)
})

test('a peer that sends is not pinged', async () => {
  const { clock, state } = connected({ answers: false })
  for (let at = 0; at < 20; at++) {
    state.received += 1
    await clock.advance(9_000)
  }
  expect(state).toMatchObject({ asked: 0, lostAtMs: null })
})

test('an unresponsive peer is lost at the next check, once', async () => {
  const { clock, state } = connected({ answers: false })
  await clock.advance(10_000)
  expect(state).toMatchObject({ asked: 1, lostAtMs: null })
  await clock.advance(9_999)
  expect(state.lostAtMs).toBeNull()
  await clock.advance(100_000)
  expect(state).toMatchObject({ asked: 1, lostAtMs: 20_000 })
  expect(clock.pending).toBe(0)
})

test('an answer read after the check counts, since the process may have been suspended', async () => {
  const { clock, stop, state } = connected({ answers: false })
  await clock.advance(15_000)
  // The answer is in the socket when the process resumes, but the timer runs first.
  clock.after(5_000, () => queueMicrotask(() => (state.received += 1)))
  await clock.advance(5_000)
  expect(state.lostAtMs).toBeNull()
  stop()
})

test('a stopped keepalive leaves nothing behind', async () => {
  const { clock, stop, state } = connected({ answers: false })
  await clock.advance(15_000)
  stop()
  expect(clock.pending).toBe(0)
  await clock.advance(100_000)
  expect(state.lostAtMs).toBeNull()
})

test('a peer is lost at the third check after it falls silent, whenever that is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 100_000 }), async (silentFromMs) => {
      const { clock, state } = connected()
      await clock.advance(silentFromMs)
      state.answers = false
      state.received += 1
      await clock.advance(40_000)
      const afterMs = (state.lostAtMs ?? Infinity) - silentFromMs
      expect(afterMs).toBeGreaterThan(20_000)
      expect(afterMs).toBeLessThanOrEqual(30_000)
    }),
  )
})
