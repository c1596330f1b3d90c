// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../../proxy/clock/virtual-clock.ts'
import type { Clock } from '../kube/clock.ts'
import { takeTurns } from './take-turns.ts'

/** A clock that has moved on by so much each time it is looked at. */
function busyClock(stepMs: number): Clock {
  let nowMs = 0
  return {
    nowMs: () => (nowMs += stepMs),
    wallMs: () => nowMs,
    after: (_, run) => {
      queueMicrotask(run)
      return () => {}
    },
  }
}

test('long work is done to its end, with turns of others in it', async () => {
  function* steps() {
    for (let step = 0; step < 5; step += 1) yield
    return 'done'
  }
  const { signal } = new AbortController()
  expect(await takeTurns(steps(), busyClock(15), signal)).toBe('done')
  expect(await takeTurns(steps(), new VirtualClock(), signal)).toBe('done')
})

test('work is given up when nobody waits for it any more', async () => {
  const stop = new AbortController()
  let done = 0
  function* steps() {
    for (; done < 100; done += 1) {
      if (done === 3) stop.abort(new Error('the time is up'))
      yield
    }
    return 'done'
  }
  await expect(takeTurns(steps(), busyClock(25), stop.signal)).rejects.toThrow('the time is up')
  expect(done).toBe(3)
})
