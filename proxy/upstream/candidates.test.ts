// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { latest, number, PoolFixture } from './testing/pool-fixture.ts'
import type { Candidate } from './candidates.ts'
import type { Wanted } from './wanted.ts'

/** Record of a selection: `a 0` for a candidate, `b 1 backup` for an excluded upstream. */
function seen(fixture: PoolFixture, different: Partial<Wanted> = {}): string {
  const journal: { considered: readonly Candidate[] | null } = { considered: null }
  fixture.pool.pick.next(fixture.wanted(different), 'balanced', journal)
  const each = journal.considered?.map(({ name, rank, exclusionReason, amount }) =>
    [name, rank ?? '-', exclusionReason, amount].filter((part) => part !== null).join(' '),
  )
  return each?.join('; ') ?? 'none'
}

function lagging(fixture: PoolFixture): void {
  fixture.sees('a', 1_000)
  fixture.sees('b', 1_000)
  fixture.sees('c', 900)
}

const old = { data: 'logs' } as const

function pruned(fixture: PoolFixture): void {
  fixture.upstream('c').urls[0]!.history.reported('blocks', 900_000)
}

test.each<[string, (fixture: PoolFixture) => void, Partial<Wanted>, string]>([
  ['all are candidates', () => {}, {}, 'a 0; b 0; c 0'],
  ['selected by name', () => {}, { prefer: 'b' }, 'none'],
  ['excluded', () => {}, { excluded: ['a'] }, 'a - excluded; b 0; c 0'],
  ['not in the allowed set', () => {}, { only: ['b', 'c'] }, 'a - excluded; b 0; c 0'],
  ['tried and excluded', ({ tried }) => tried.add('a'), { excluded: ['a'] }, 'a - tried; b 0; c 0'],
  ['tried', ({ tried }) => tried.add('a'), {}, 'a 4 tried; b 0; c 0'],
  ['disabled', (fixture) => fixture.disable('b'), {}, 'a 0; b 2 disabled; c 0'],
  [
    'all disabled',
    (fixture) => 'abc'.split('').forEach((name) => fixture.disable(name)),
    {},
    'a 2; b 2; c 2',
  ],
  [
    'in cooldown',
    (fixture) => fixture.upstream('a').urls[0]?.cooldown.begin(2_000),
    {},
    'a - cooldown 2000; b 0; c 0',
  ],
  ['full', (fixture) => (fixture.upstream('c').usedSlots = 10), {}, 'a 0; b 0; c - full'],
  ['lagging', lagging, { block: latest }, 'a 0; b 0; c 0 lagging 100'],
  ['lagging, for an old block', lagging, { block: number(800) }, 'a 0; b 0; c 0'],
  ['without the block', lagging, { block: number(950) }, 'a 0; b 0; c 0 lacks-block 100'],
  ['pruned', pruned, { ...old, block: number(899_999) }, 'a 0; b 0; c 8 pruned 900000'],
  ['pruned, for a block that it has', pruned, { ...old, block: number(900_000) }, 'a 0; b 0; c 0'],
  ['pruned, for a call without a block', pruned, {}, 'a 0; b 0; c 0'],
  [
    'pruned everywhere',
    (fixture) => {
      pruned(fixture)
      for (const name of 'ab') fixture.upstream(name).urls[0]!.history.lacked('logs', 899_999)
    },
    { ...old, block: number(5) },
    'a 8; b 8; c 8',
  ],
  [
    'pruned, with the others tried',
    (fixture) => {
      pruned(fixture)
      for (const name of 'ab') fixture.tried.add(name)
    },
    { ...old, block: number(5) },
    'a 4; b 4; c 8 pruned 900000',
  ],
  [
    'without the add-on',
    () => {},
    { addons: ['trace'] },
    'a - no-addon trace; b - no-addon trace; c - no-addon trace',
  ],
  [
    'without an invented add-on',
    () => {},
    { addons: ['x'.repeat(65)], excluded: ['a', 'b'] },
    'a - excluded; b - excluded; c - no-addon (a long name)',
  ],
  [
    'not verified yet',
    (fixture) => (fixture.upstream('a').urls[0]!.verified = null),
    {},
    'a - unverified; b 0; c 0',
  ],
  [
    'rejected',
    (fixture) => {
      fixture.upstream('a').urls[0]!.verified = false
      fixture.upstream('a').availability.rejected('another chain')
    },
    {},
    'a - rejected; b 0; c 0',
  ],
  [
    'a hedge without another upstream',
    (fixture) => 'abc'.split('').forEach((name) => fixture.tried.add(name)),
    { untriedOnly: true },
    'a 4 tried; b 4 tried; c 4 tried',
  ],
])('a selection records why each upstream is excluded: %s', (_, prepare, wanted, what) => {
  const fixture = new PoolFixture('abc')
  prepare(fixture)
  expect(seen(fixture, wanted)).toBe(what)
})

test('the record of backups and nodes without old blocks', () => {
  expect(seen(new PoolFixture('az'))).toBe('a 0; z 1 backup')
  const fixture = new PoolFixture('ab', (name) => (name === 'a' ? { addons: ['archive'] } : {}))
  for (const name of 'ab') fixture.sees(name, 1_000)
  expect(seen(fixture, { block: number(1) })).toBe('a 0; b 0 no-archive')
})

test('equal selections share one record, and a different one does not change it', async () => {
  const fixture = new PoolFixture('abc')
  const look = (different: Partial<Wanted> = {}) => {
    const journal: { considered: readonly Candidate[] | null } = { considered: null }
    fixture.pool.pick.next(fixture.wanted(different), 'balanced', journal)
    return journal.considered
  }
  const first = look()
  expect(look()).toBe(first)
  expect(look({ excluded: ['a'] })).not.toBe(first)
  expect(first?.map(({ exclusionReason }) => exclusionReason)).toEqual([null, null, null])
  await fixture.clock.advance(100)
  expect(look()).not.toBe(first)
  expect(look()).toEqual(first)
})
