// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { Availability, type AvailabilityState } from './health.ts'

type Event = 'verified' | 'rejected' | 'succeeded' | 'failed' | 'refused' | 'epoch'

/** Every row of service.md's table and what must not happen besides. */
const rows: readonly (readonly [name: string, events: readonly Event[], AvailabilityState])[] = [
  ['nothing is known at first', [], 'unverified'],
  ['a verified upstream serves', ['verified'], 'eligible'],
  ['a success before verification proves nothing', ['succeeded'], 'unverified'],
  ['an epoch does not verify', ['epoch'], 'unverified'],
  ['failures before verification change nothing', Array(9).fill('failed'), 'unverified'],
  ['the wrong chain never serves', ['rejected', 'succeeded', 'epoch'], 'rejected'],
  ['a rejected one may prove itself', ['rejected', 'verified'], 'eligible'],
  ['a serving one may turn out wrong', ['verified', 'rejected'], 'rejected'],
  ['four failures are borne', ['verified', 'failed', 'failed', 'failed', 'failed'], 'eligible'],
  ['five in a row are not', ['verified', ...Array<Event>(5).fill('failed')], 'disabled'],
  ['a refused connection counts double', ['verified', 'refused', 'refused', 'refused'], 'disabled'],
  [
    'a success ends the row',
    ['verified', 'failed', 'failed', 'failed', 'failed', 'succeeded', 'failed'],
    'eligible',
  ],
  [
    'a success brings it back',
    ['verified', 'refused', 'refused', 'refused', 'succeeded'],
    'eligible',
  ],
  ['an epoch brings it back', ['verified', 'refused', 'refused', 'refused', 'epoch'], 'eligible'],
  [
    'after an epoch the count starts anew',
    ['verified', 'refused', 'refused', 'refused', 'epoch', 'refused', 'refused'],
    'eligible',
  ],
  [
    'verification after a rejection lets the count start anew',
    ['verified', 'refused', 'refused', 'refused', 'rejected', 'verified', 'refused', 'refused'],
    'eligible',
  ],
  [
    'so does the first verification',
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

it('a failure that is excused after a success gives nothing in advance', () => {
  const availability = new Availability(5, () => {})
  availability.verified()
  availability.failed(1, 'late')
  availability.succeeded()
  availability.excused(1)
  for (let each = 0; each < 5; each++) availability.failed(1, 'reset')
  expect(availability.standing).toBe('disabled')
})
