// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { Cooldown, type CooldownKind } from './health.ts'

const noJitter = { next: () => 0.5 }

/** @returns the duration */
function begin(cooldown: Cooldown, retryAfterMs: number | null): number {
  cooldown.begin(retryAfterMs)
  return cooldown.leftMs
}

describe('Cooldown', () => {
  it.each<[CooldownKind, number[]]>([
    ['rate', [1, 2, 4, 8, 16, 32, 60, 60]],
    ['quota', [300, 600, 1200, 2400, 4800, 9600, 19200, 21600, 21600]],
  ])('after a %s grows while it repeats, and a success resets it', async (kind, seconds) => {
    const clock = new VirtualClock()
    const cooldown = new Cooldown(clock, noJitter)
    const lengths: number[] = []
    for (const _ of seconds) {
      cooldown.begin(null, kind)
      lengths.push(cooldown.leftMs / 1000)
      await clock.advance(cooldown.leftMs)
    }
    expect(lengths).toEqual(seconds)
    cooldown.end()
    cooldown.begin(null, kind)
    expect(cooldown.leftMs / 1000).toBe(seconds[0])
  })

  it('starts small again after a minute without limits', async () => {
    const clock = new VirtualClock()
    const cooldown = new Cooldown(clock, noJitter)
    expect(begin(cooldown, null)).toBe(1_000)
    await clock.advance(61_000)
    expect(begin(cooldown, null)).toBe(1_000)
  })

  it.each([
    ['no time', [null, null, null, null], [1, 2, 4, 8]],
    ['zero', [0, 0, 0, 0], [1, 1, 1, 1]],
    ['a time, then none', [5_000, 0, null], [5, 1, 1]],
  ])('has the right length when Retry-After gives %s', async (_, delaysMs, seconds) => {
    const clock = new VirtualClock()
    const cooldown = new Cooldown(clock, noJitter)
    const lengths: number[] = []
    for (const retryAfterMs of delaysMs) {
      lengths.push(begin(cooldown, retryAfterMs) / 1_000)
      await clock.advance(cooldown.leftMs)
    }
    expect(lengths).toEqual(seconds)
    cooldown.end()
    expect([begin(cooldown, 0), cooldown.active]).toEqual([1_000, true])
  })

  it('of one method leaves the others alone, and ends', async () => {
    const clock = new VirtualClock()
    const cooldown = new Cooldown(clock, noJitter)
    cooldown.beginOf('eth_getLogs', 10_000, 'busy')
    expect([cooldown.active, cooldown.leftMsOf('eth_getLogs')]).toEqual([false, 10_000])
    expect(cooldown.leftMsOf('eth_call')).toBe(0)
    await clock.advance(10_000)
    expect(cooldown.leftMsOf('eth_getLogs')).toBe(0)
  })

  it('is known for the latest 256 methods', () => {
    const cooldown = new Cooldown(new VirtualClock(), noJitter)
    for (let each = 0; each < 300; each++) cooldown.beginOf(`m${each}`, 1_000, '')
    expect([cooldown.leftMsOf('m0'), cooldown.leftMsOf('m299')]).toEqual([0, 1_000])
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
      1_000, 1_000, 1_000,
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
    await clock.advance(1_000)
    cooldown.end()
    expect(begin(cooldown, null)).toBe(1_000)
  })

  it('spreads replicas by up to a tenth', () => {
    const cooldown = new Cooldown(new VirtualClock(), { next: () => 0.999 })
    expect(begin(cooldown, null)).toBeCloseTo(1_099.8)
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
    expect(begin(cooldown, null)).toBe(1_000)
    // A pause does not shorten a rate-limit cooldown either.
    cooldown.pause(500)
    expect(cooldown.leftMs).toBe(1_000)
  })

  it('reports the reason', async () => {
    const clock = new VirtualClock()
    const said: unknown[] = []
    const cooldown = new Cooldown(clock, noJitter, (...began) => said.push(began))
    cooldown.begin(null)
    await clock.advance(1_000)
    cooldown.begin(5_000, 'quota')
    await clock.advance(300_000)
    cooldown.pause(2_000)
    expect(said).toEqual([
      [1_000, 'rate limited'],
      [300_000, 'quota exceeded, wait requested by the node'],
      [2_000, 'unavailable, wait requested by the node'],
    ])
  })

  it('follows Retry-After up to a day', () => {
    const lasts = (ms: number) => begin(new Cooldown(new VirtualClock(), noJitter), ms)
    expect([lasts(7_200_000), lasts(864_000_000)]).toEqual([7_200_000, 86_400_000])
  })
})
