// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { StoreAvailability } from './store-availability.ts'
import type { StoreError } from './store-error.ts'

/** Runs commands, each followed by a pause, and lists the reported changes. */
async function changesOf(steps: readonly Step[]) {
  const clock = new VirtualClock()
  const changes: (string | null)[] = []
  const onChange = (error: StoreError | null) => void changes.push(error?.fault ?? null)
  const options = { clock, random: seededRandom(1), commandTimeoutMs: 50, onChange }
  const store = new StoreAvailability(options)
  for (const [kind, reply, pauseMs] of steps) {
    const error = Object.assign(new Error(reply), { name: 'ReplyError' })
    const command = () => (reply === 'OK' ? Promise.resolve() : Promise.reject(error))
    await store.run('test', kind === 'write', 50, command).catch(() => {})
    await clock.advance(pauseMs)
  }
  store.close()
  return changes
}
type Step = readonly [kind: 'read' | 'write', reply: string, pauseMs: number]

const misconf = 'MISCONF Redis is configured to save RDB snapshots'
const again = (steps: readonly Step[]) => Array.from({ length: 5 }, () => steps).flat()

test.each<[string, readonly Step[], readonly (string | null)[]]>([
  [
    'refused writes among reads are one failure',
    again([...again([['read', 'OK', 2_000]]), ['write', misconf, 0]]),
    ['cannot-save'],
  ],
  [
    'a write that succeeds ends it, also between reads',
    [
      ...again([['write', misconf, 2_000]]),
      ['read', 'OK', 500],
      ['write', 'OK', 0],
      ['read', 'OK', 999],
    ],
    ['cannot-save'],
  ],
  [
    'a write that succeeds ends it after a second',
    [
      ['write', misconf, 0],
      ['read', 'OK', 500],
      ['write', 'OK', 0],
      ['read', 'OK', 1_000],
    ],
    ['cannot-save', null],
  ],
  [
    'without further writes it ends after five minutes',
    [['write', misconf, 0], ...again([['read', 'OK', 60_000]])],
    ['cannot-save', null],
  ],
  [
    'a failure that passes ends with a read',
    [
      ['write', 'LOADING', 0],
      ['read', 'OK', 1_000],
    ],
    ['loading', null],
  ],
  [
    'a lasting reason follows one that passes',
    [
      ['write', 'LOADING', 0],
      ['write', misconf, 0],
      ['write', 'LOADING', 0],
      ['write', misconf, 0],
    ],
    ['loading', 'cannot-save'],
  ],
])('%s', async (_, steps, changes) => {
  expect(await changesOf(steps)).toEqual(changes)
})
