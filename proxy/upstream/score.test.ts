// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { Score } from './health.ts'

describe('Score', () => {
  it('treats a new upstream as available with unknown latency', () => {
    const score = new Score()
    expect(score.availability(0)).toBe(1)
    expect(score.latencyMs(0)).toBeNull()
  })

  it('decays: after ten idle minutes a dead upstream counts as new', () => {
    const score = new Score()
    for (let each = 0; each < 50; each++) score.failed(0)
    expect(score.availability(0)).toBeLessThan(0.03)
    expect(score.availability(600_000)).toBeGreaterThan(0.9)
  })

  it('counts a losing attempt with at least its running time', () => {
    const score = new Score()
    score.succeeded(10, 0)
    score.recordCensoredLatency(5, 0)
    expect(score.latencyMs(0)).toBe(10)
    score.recordCensoredLatency(990, 0)
    expect(score.latencyMs(0)).toBe(500)
  })

  it('weights recent samples more', () => {
    const score = new Score()
    score.succeeded(100, 0)
    score.succeeded(10, 60_000)
    expect(score.latencyMs(60_000)).toBeCloseTo(40)
  })
})
