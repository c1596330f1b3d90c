// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { Cooldown } from './health.ts'
import { parseRetryAfter } from './wire.ts'

const noJitter = { next: () => 0.5 }

/** @returns the duration */
function begin(cooldown: Cooldown, retryAfterMs: number | null): number {
  cooldown.begin(retryAfterMs)
  return cooldown.leftMs
}

describe('Cooldown', () => {
  it('doubles from 30 s to 30 min, and a success resets it', async () => {
    const clock = new VirtualClock()
    const cooldown = new Cooldown(clock, noJitter)
    const lengths: number[] = []
    for (let round = 0; round < 8; round++) {
      lengths.push(begin(cooldown, null) / 1000)
      await clock.advance(30 * 60_000)
    }
    expect(lengths).toEqual([30, 60, 120, 240, 480, 960, 1800, 1800])
    cooldown.end()
    expect(begin(cooldown, null)).toBe(30_000)
  })

  it.each([
    ['no time', [null, null, null, null], [30, 60, 120, 240]],
    ['zero', [0, 0, 0, 0], [1, 1, 1, 1]],
    ['a time, then none', [5_000, 0, null], [5, 1, 30]],
  ])('has the right length when Retry-After gives %s', async (_, delaysMs, seconds) => {
    const clock = new VirtualClock()
    const cooldown = new Cooldown(clock, noJitter)
    const lengths: number[] = []
    for (const retryAfterMs of delaysMs) {
      lengths.push(begin(cooldown, retryAfterMs) / 1_000)
      await clock.advance(30 * 60_000)
    }
    expect(lengths).toEqual(seconds)
    cooldown.end()
    expect([begin(cooldown, 0), cooldown.active]).toEqual([1_000, true])
  })

  it('does not begin for an unavailable node without Retry-After', () => {
    const cooldown = new Cooldown(new VirtualClock(), noJitter)
    cooldown.pause(0)
    expect(cooldown.active).toBe(false)
  })

  it('lasts exactly as long as requested', async () => {
    const clock = new VirtualClock()
    const cooldown = new Cooldown(clock, noJitter)
    cooldown.begin(2_000)
    await clock.advance(1_999)
    expect(cooldown.active).toBe(true)
    await clock.advance(1)
    expect(cooldown.active).toBe(false)
  })

  it('is not extended by rate limits of earlier calls', () => {
    const cooldown = new Cooldown(new VirtualClock(), noJitter)
    expect([begin(cooldown, null), begin(cooldown, null), begin(cooldown, 60_000)]).toEqual([
      30_000, 30_000, 30_000,
    ])
  })

  it('is reported once', () => {
    const begun: number[] = []
    const cooldown = new Cooldown(new VirtualClock(), noJitter, (forMs) => begun.push(forMs))
    cooldown.begin(1_000)
    cooldown.begin(5_000)
    expect(begun).toEqual([1_000])
  })

  it('is not ended by the answer to an earlier call', async () => {
    const clock = new VirtualClock()
    const cooldown = new Cooldown(clock, noJitter)
    cooldown.begin(null)
    cooldown.end()
    expect(cooldown.active).toBe(true)
    await clock.advance(30_000)
    cooldown.end()
    expect(begin(cooldown, null)).toBe(30_000)
  })

  it('spreads replicas by up to a tenth', () => {
    const cooldown = new Cooldown(new VirtualClock(), { next: () => 0.999 })
    expect(begin(cooldown, null)).toBeCloseTo(32_994)
  })

  it('follows an unavailable node up to 30 s without doubling', async () => {
    const clock = new VirtualClock()
    const cooldown = new Cooldown(clock, noJitter)
    const left: number[] = []
    for (const retryAfterMs of [2_000, 86_400_000]) {
      cooldown.pause(retryAfterMs)
      left.push(cooldown.leftMs)
      await clock.advance(30_000)
    }
    expect([left, cooldown.active]).toEqual([[2_000, 30_000], false])
    expect(begin(cooldown, null)).toBe(30_000)
    // A pause does not shorten a rate-limit cooldown either.
    cooldown.pause(1_000)
    expect(cooldown.leftMs).toBe(30_000)
  })

  it('reports the reason', async () => {
    const clock = new VirtualClock()
    const said: unknown[] = []
    const cooldown = new Cooldown(clock, noJitter, (...began) => said.push(began))
    cooldown.begin(null)
    await clock.advance(30_000)
    cooldown.begin(5_000)
    await clock.advance(5_000)
    cooldown.pause(2_000)
    expect(said).toEqual([
      [30_000, 'rate limited'],
      [5_000, 'rate limited, Retry-After'],
      [2_000, 'unavailable, Retry-After'],
    ])
  })

  it('follows Retry-After up to a day', () => {
    const lasts = (ms: number) => begin(new Cooldown(new VirtualClock(), noJitter), ms)
    expect([lasts(7_200_000), lasts(864_000_000)]).toEqual([7_200_000, 86_400_000])
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
    ['Thu Jan 1 00:01:00 2026', null],
    ['2030-01-01T00:00:00Z', null],
    ['2030', 2_030_000],
    ['soon', null],
    ['-5', null],
    ['', null],
  ])('%s', (value, ms) => {
    expect(parseRetryAfter(value, now)).toBe(ms)
  })
})
