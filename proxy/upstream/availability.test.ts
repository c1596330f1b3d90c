// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { Availability, type AvailabilityState } from './health.ts'

type Event = 'verified' | 'rejected' | 'succeeded' | 'failed' | 'refused' | 'epoch'

/** Every transition of an upstream's state, and those that must not happen. */
const rows: readonly (readonly [name: string, events: readonly Event[], AvailabilityState])[] = [
  ['the initial state', [], 'unverified'],
  ['a verified upstream serves', ['verified'], 'eligible'],
  ['a success before verification proves nothing', ['succeeded'], 'unverified'],
  ['an epoch does not verify', ['epoch'], 'unverified'],
  ['failures before verification change nothing', Array(9).fill('failed'), 'unverified'],
  ['the wrong chain never serves', ['rejected', 'succeeded', 'epoch'], 'rejected'],
  ['a rejected upstream may pass later', ['rejected', 'verified'], 'eligible'],
  ['a serving upstream may be rejected', ['verified', 'rejected'], 'rejected'],
  ['four failures in a row', ['verified', 'failed', 'failed', 'failed', 'failed'], 'eligible'],
  ['five failures in a row', ['verified', ...Array<Event>(5).fill('failed')], 'disabled'],
  ['a refused connection counts double', ['verified', 'refused', 'refused', 'refused'], 'disabled'],
  [
    'a success resets the count',
    ['verified', 'failed', 'failed', 'failed', 'failed', 'succeeded', 'failed'],
    'eligible',
  ],
  [
    'a success ends the disabling',
    ['verified', 'refused', 'refused', 'refused', 'succeeded'],
    'eligible',
  ],
  [
    'an epoch ends the disabling',
    ['verified', 'refused', 'refused', 'refused', 'epoch'],
    'eligible',
  ],
  [
    'an epoch resets the count',
    ['verified', 'refused', 'refused', 'refused', 'epoch', 'refused', 'refused'],
    'eligible',
  ],
  [
    'verification after a rejection resets the count',
    ['verified', 'refused', 'refused', 'refused', 'rejected', 'verified', 'refused', 'refused'],
    'eligible',
  ],
  [
    'the first verification resets the count',
    [...Array<Event>(9).fill('failed'), 'verified', 'failed'],
    'eligible',
  ],
  [
    'verification does not end a disabling',
    ['verified', 'refused', 'refused', 'refused', 'verified'],
    'disabled',
  ],
]

describe('availability', () => {
  it.each(rows)('%s', (_name, events, standing) => {
    const availability = new Availability(5, () => {})
    for (const event of events)
      ({
        verified: () => availability.verified(),
        rejected: () => availability.rejected('wrong chain'),
        succeeded: () => availability.succeeded(),
        failed: () => availability.failed(1, 'reset'),
        refused: () => availability.failed(2, 'refused'),
        epoch: () => availability.epochBegan(),
      })[event]()
    expect(availability.standing).toBe(standing)
  })

  it('reports each change once, with its reason', () => {
    const changes: string[] = []
    const availability = new Availability(2, (from, to, why) =>
      changes.push(`${from} > ${to}: ${why}`),
    )
    availability.verified()
    availability.verified()
    availability.failed(2, 'refused')
    availability.failed(2, 'refused')
    availability.succeeded()
    availability.succeeded()
    expect(changes).toEqual([
      'unverified > eligible: verified',
      'eligible > disabled: refused',
      'disabled > eligible: answered again',
    ])
  })
})

it('reverting a failure after a success earns no credit', () => {
  const availability = new Availability(5, () => {})
  availability.verified()
  availability.failed(1, 'late')
  availability.succeeded()
  availability.excused(1)
  for (let each = 0; each < 5; each++) availability.failed(1, 'reset')
  expect(availability.standing).toBe('disabled')
})
