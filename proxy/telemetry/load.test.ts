// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { Load } from './load.ts'

const usual = { busy: 0.3, turned: 0.95, collecting: 0.02, heldBytes: 0 }

test.each<[string, Partial<typeof usual>, string[]]>([
  ['in good health', {}, []],
  [
    'that is busy all the time',
    { busy: 0.98 },
    ['cpu: its event loop was busy 98 % and stalled 5 % of the time'],
  ],
  [
    'that gets no CPU',
    { turned: 0.32 },
    ['cpu: its event loop was busy 30 % and stalled 68 % of the time'],
  ],
  ['without memory', { collecting: 0.34 }, ['memory: garbage collection took 34 %']],
  ['full of bytes', { heldBytes: 95 }, ['buffered-bytes: 95 of 100 are in use']],
])('a router %s', async (_name, more, expected) => {
  const { busy, turned, collecting, heldBytes } = { ...usual, ...more }
  const clock = new VirtualClock()
  const said = new Set<string>()
  const strained = (resource: string, how: string) => void said.add(`${resource}: ${how}`)
  const load = new Load(clock, { strained }, { heldBytes, maxBytes: 100 }, () => {
    const ms = clock.nowMs()
    return { busyMs: ms * busy, turnedMs: ms * turned, gcMs: ms * collecting }
  })
  load.start()
  await clock.advance(20_000)
  load.stop()
  expect([...said]).toEqual(expected)
})
