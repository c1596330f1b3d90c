// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { Cancellation, within } from './cancellation.ts'
import { VirtualClock } from './testing/virtual-clock.ts'

/** Never ends by itself; rejects when aborted. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(new Error('aborted'))
    signal.addEventListener('abort', () => {
      reject(new Error('aborted'))
    })
  })
}

const tooLate = () => new Error('too late')

describe('work within a deadline', () => {
  it('is aborted at the deadline, and fails with the given error', async () => {
    const clock = new VirtualClock()
    const failed: unknown[] = []
    const outer = new Cancellation()
    for (const said of [tooLate, undefined])
      within(clock, outer, 100, untilAborted, said).catch((error: unknown) => failed.push(error))
    await clock.advance(99)
    expect(failed).toEqual([])
    await clock.advance(1)
    expect(failed).toEqual([new Error('too late'), new Error('aborted')])
  })

  it('is aborted with its caller, even one that left earlier, and is not late', async () => {
    const clock = new VirtualClock()
    const outer = new Cancellation()
    const taken = within(clock, outer, 100, untilAborted, tooLate)
    outer.abort()
    await expect(taken).rejects.toThrow('aborted')
    await expect(within(clock, outer, 100, untilAborted, tooLate)).rejects.toThrow('aborted')
  })

  it('leaves no timer or listener behind', async () => {
    const clock = new VirtualClock()
    const outer = new Cancellation()
    let given: AbortSignal | undefined
    const work = (signal: AbortSignal) => {
      given = signal
      return Promise.resolve('done')
    }
    await expect(within(clock, outer, 100, work)).resolves.toBe('done')
    expect(clock.pending).toBe(0)
    outer.abort()
    expect(given?.aborted).toBe(false)
  })
})
