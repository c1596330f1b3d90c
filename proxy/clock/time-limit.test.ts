// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { TimeLimit } from './time-limit.ts'
import { VirtualClock } from './testing/virtual-clock.ts'

describe('a time limit', () => {
  it('aborts when its time is over, and tells how much that was', async () => {
    const clock = new VirtualClock()
    const limit = new TimeLimit(clock, new AbortController().signal, 100)
    await clock.advance(99)
    expect([limit.signal.aborted, limit.spentMs]).toEqual([false, null])
    await clock.advance(1)
    expect([limit.signal.aborted, limit.spentMs]).toEqual([true, 100])
  })

  it('aborts with who waits, also with one that has left already, which spends no time', () => {
    const clock = new VirtualClock()
    const outer = new AbortController()
    const limit = new TimeLimit(clock, outer.signal, 100)
    outer.abort()
    expect([limit.signal.aborted, limit.spentMs]).toEqual([true, null])
    expect(new TimeLimit(clock, outer.signal, 100).signal.aborted).toBe(true)
  })

  it('leaves nothing behind when it has ended', async () => {
    const clock = new VirtualClock()
    const outer = new AbortController()
    const limit = new TimeLimit(clock, outer.signal, 100)
    limit.end()
    expect(clock.pending).toBe(0)
    await clock.advance(200)
    outer.abort()
    expect([limit.signal.aborted, limit.spentMs]).toEqual([false, null])
  })
})
