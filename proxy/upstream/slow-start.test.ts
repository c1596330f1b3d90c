// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { SlowStart } from './score.ts'

describe('SlowStart', () => {
  it('gives one that was never away its whole share', () => {
    expect(new SlowStart().share(0)).toBe(1)
  })

  it('lets the share of one that came back rise evenly within 10 s', () => {
    const slowStart = new SlowStart()
    slowStart.begin(1_000)
    expect([1_000, 6_000, 11_000, 60_000].map((ms) => slowStart.share(ms))).toEqual([0, 0.5, 1, 1])
  })

  it('doubles with each flap, up to 160 s, and forgets flaps after ten minutes', () => {
    const slowStart = new SlowStart()
    const rampsMs: number[] = []
    for (let flap = 0, nowMs = 0; flap < 6; flap++, nowMs += 30_000) {
      slowStart.begin(nowMs)
      rampsMs.push(Math.round(1_000 / slowStart.share(nowMs + 1_000)))
    }
    expect(rampsMs).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 160_000])
    slowStart.begin(3_600_000)
    expect(slowStart.share(3_605_000)).toBe(0.5)
  })
})
