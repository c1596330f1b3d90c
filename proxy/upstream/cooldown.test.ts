// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../clock/virtual-clock.ts'
import { HoldOff, parseRetryAfter, type Refusal } from './cooldown.ts'

const noJitter = { next: () => 0.5 }

describe('HoldOff', () => {
  it('doubles from 30 s to 30 min, and a success starts it anew', async () => {
    const clock = new VirtualClock()
    const holdOff = new HoldOff(clock, noJitter)
    const lengths: number[] = []
    for (let round = 0; round < 8; round++) {
      lengths.push(holdOff.begin(null) / 1000)
      await clock.advance(30 * 60_000)
    }
    expect(lengths).toEqual([30, 60, 120, 240, 480, 960, 1800, 1800])
    holdOff.end()
    expect(holdOff.begin(null)).toBe(30_000)
  })

  it.each([
    ['says nothing', [null, null, null, null], [30, 60, 120, 240]],
    ['says "at once"', [0, 0, 0, 0], [1, 2, 4, 8]],
    [
      'says "at once" for ever',
      Array<number>(13).fill(0),
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_800, 1_800],
    ],
    ['names a time, then none', [5_000, 0, null], [5, 1, 30]],
  ])('lasts the longer the more often one that %s refuses', async (_, told, seconds) => {
    const clock = new VirtualClock()
    const holdOff = new HoldOff(clock, noJitter)
    const lengths: number[] = []
    for (const retryAfterMs of told) {
      lengths.push(holdOff.begin(retryAfterMs) / 1_000)
      await clock.advance(30 * 60_000)
    }
    expect(lengths).toEqual(seconds)
    holdOff.end()
    expect([holdOff.begin(0), holdOff.active]).toEqual([1_000, true])
  })

  it('leaves one in trouble that names no time alone for none', () => {
    const holdOff = new HoldOff(new VirtualClock(), noJitter)
    holdOff.pause(0, null)
    expect(holdOff.active).toBe(false)
  })

  it('leaves the URL alone exactly that long', async () => {
    const clock = new VirtualClock()
    const holdOff = new HoldOff(clock, noJitter)
    holdOff.begin(2_000)
    await clock.advance(1_999)
    expect(holdOff.active).toBe(true)
    await clock.advance(1)
    expect(holdOff.active).toBe(false)
  })

  it('is not prolonged by answers to calls that were under way', () => {
    const holdOff = new HoldOff(new VirtualClock(), noJitter)
    expect([holdOff.begin(null), holdOff.begin(null), holdOff.begin(60_000)]).toEqual([
      30_000, 30_000, 30_000,
    ])
  })

  it('is told of once, and passes on the words of who asked for this one only', async () => {
    const clock = new VirtualClock()
    const begun: number[] = []
    const holdOff = new HoldOff(clock, noJitter, (holdOffMs) => begun.push(holdOffMs))
    const words = { incoming: { status: 429 }, failure: { name: 'limited' } } as Refusal
    holdOff.begin(1_000, words)
    holdOff.begin(5_000)
    expect([begun, holdOff.refusal]).toEqual([[1_000], words])
    await clock.advance(1_000)
    expect(holdOff.refusal).toBeNull()
    // A question of our own: nobody gets the answer to an earlier call.
    holdOff.begin(2_000)
    expect([begun, holdOff.refusal]).toEqual([[1_000, 2_000], null])
  })

  it('is not cut short by an answer to a call that was under way', async () => {
    const clock = new VirtualClock()
    const holdOff = new HoldOff(clock, noJitter)
    holdOff.begin(null)
    holdOff.end()
    expect(holdOff.active).toBe(true)
    await clock.advance(30_000)
    holdOff.end()
    expect(holdOff.begin(null)).toBe(30_000)
  })

  it('spreads replicas by up to a tenth', () => {
    const holdOff = new HoldOff(new VirtualClock(), { next: () => 0.999 })
    expect(holdOff.begin(null)).toBeCloseTo(32_994)
  })

  it('pauses for as long as one in trouble says, up to 30 s, and doubles nothing', async () => {
    const clock = new VirtualClock()
    const holdOff = new HoldOff(clock, noJitter)
    const words = { incoming: { status: 503 }, failure: { name: 'down' } } as Refusal
    const left: number[] = []
    for (const retryAfterMs of [2_000, 86_400_000]) {
      holdOff.pause(retryAfterMs, words)
      left.push(holdOff.leftMs)
      expect(holdOff.refusal).toBe(words)
      await clock.advance(30_000)
    }
    expect([left, holdOff.active]).toEqual([[2_000, 30_000], false])
    expect(holdOff.begin(null)).toBe(30_000)
    // Nor does it end before its time what was asked for as a limit.
    holdOff.pause(1_000, words)
    expect([holdOff.leftMs, holdOff.refusal]).toEqual([30_000, null])
  })

  it('does what a provider says, up to a day', () => {
    const begin = (ms: number) => new HoldOff(new VirtualClock(), noJitter).begin(ms)
    expect([begin(7_200_000), begin(864_000_000)]).toEqual([7_200_000, 86_400_000])
  })
})

describe('parseRetryAfter', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  it.each([
    [null, null],
    ['7', 7_000],
    ['1.5', 1_500],
    ['0.25', 250],
    ['0.0', 0],
    ['1.5.5', null],
    ['1e3', null],
    ['9'.repeat(400), Infinity],
    [' 0 ', 0],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['Thursday, 01-Jan-26 00:01:00 GMT', 60_000],
    ['Thu Jan  1 00:01:00 2026', 60_000],
    ['Sun Jan 11 00:00:00 2026', 864_000_000],
    ['Sun Nov  6 08:49:37 1994', 0],
    ['Thu Jan 1 00:01:00 2026', null],
    ['Thu Foo  1 00:01:00 2026', null],
    ['Thu Jan  1 00:01:00 2026 +0900', null],
    ['2030-01-01T00:00:00Z', null],
    ['2030', 2_030_000],
    ['soon', null],
    ['-5', null],
    ['', null],
  ])('%s', (value, ms) => {
    expect(parseRetryAfter(value, now)).toBe(ms)
  })
})
