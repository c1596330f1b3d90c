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
})
