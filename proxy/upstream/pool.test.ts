// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import type { BlockPoint, BlockRef } from '../chain/types.ts'
import { latest, number, PoolFixture } from './testing/pool-fixture.ts'
import type { Upstream } from './upstream.ts'
import type { Wanted } from './pick.ts'

describe('the snapshot', () => {
  it('counts the URLs in cooldown', async () => {
    const { clock, pool } = new PoolFixture('a')
    const inCooldown = () => pool.snapshot().upstreams[0]!.urlsInCooldown
    expect(inCooldown()).toBe(0)
    pool.upstreams[0]!.urls[0]!.cooldown.begin(2_000)
    expect(inCooldown()).toBe(1)
    await clock.advance(2_000)
    expect(inCooldown()).toBe(0)
  })

  it('says what is wrong with one that serves: how often, since when, and no more once it is over', async () => {
    const fixture = new PoolFixture('ab')
    const { clock, pool } = fixture
    const time = (beforeMs = 0) => new Date(clock.wallMs() - beforeMs).toISOString().slice(11, 19)
    const fault = () => pool.snapshot().upstreams[0]!.fault
    expect(fault()).toBeNull()
    for (let votes = 0; votes < 1_200; votes++) fixture.upstream('a').faulted('# votes lost', 5_000)
    await clock.advance(4_000)
    fixture.upstream('a').faulted('# votes lost', 5_000)
    fixture.upstream('a').usedSlots = 10
    pool.pick.next(fixture.wanted(), 'balanced')
    const full = 'all 10 sessions are taken (max-sessions-per-provider)'
    expect(fault()).toBe(`1,201 votes lost since ${time(4_000)}; ${full} since ${time()}`)
    await clock.advance(10_000)
    expect(fault()).toBeNull()
    fixture.upstream('a').faulted('# votes lost', 5_000)
    expect(fault()).toBe(`1 votes lost since ${time()}`)
  })
})

describe('the score of the snapshot', () => {
  const scores = ({ pool }: PoolFixture) => pool.snapshot().upstreams.map(({ score }) => score)

  it('is unknown of one that fails its verification, which lowers nobody else', () => {
    const fixture = new PoolFixture('abc')
    for (const name of 'ab') fixture.sees(name, 100)
    fixture.upstream('a').score.failed(0)
    fixture.upstream('c').availability.rejected('another chain')
    fixture.disable('b')
    expect(scores(fixture)).toEqual([1, 1, null])
  })

  it('is the whole of all that come back at one instant', () => {
    const fixture = new PoolFixture('ab')
    for (const upstream of fixture.pool.upstreams) upstream.rejoined()
    expect(scores(fixture)).toEqual([1, 1])
  })
})

describe('the choice', () => {
  it.each<[string, (pool: PoolFixture) => void, Partial<Wanted>, string]>([
    ['any primary', () => {}, {}, 'ab'],
    ['never one that is excluded', () => {}, { excluded: ['a'] }, 'b'],
    ['these alone', () => {}, { only: ['b', 'z'] }, 'b'],
    ['a backup where it alone is wanted', () => {}, { only: ['z'] }, 'z'],
    ['none where these are excluded', () => {}, { only: ['a'], excluded: ['a'] }, '-'],
    ['not by name where others alone are wanted', () => {}, { only: ['a'], prefer: 'b' }, 'a'],
    ['the one asked for by name', () => {}, { prefer: 'b' }, 'b'],
    ['a backup by name', () => {}, { prefer: 'z' }, 'z'],
    ['not by name when it was tried', ({ tried }) => tried.add('b'), { prefer: 'b' }, 'a'],
    ['an untried one first', ({ tried }) => tried.add('a'), {}, 'b'],
    ['a backup before one that was tried', ({ tried }) => tried.add('a').add('b'), {}, 'z'],
    ['tried ones last', ({ tried }) => tried.add('a').add('b').add('z'), {}, 'ab'],
    [
      'nobody, if it must be untried',
      (pool) => 'abz'.split('').forEach((name) => pool.tried.add(name)),
      { untriedOnly: true },
      '-',
    ],
    ['not one that is in cooldown', (pool) => pool.cooldown('a'), {}, 'b'],
    ['not a disabled one', (pool) => pool.disable('a'), {}, 'b'],
    [
      'a backup before disabled ones',
      (pool) => 'ab'.split('').forEach((name) => pool.disable(name)),
      {},
      'z',
    ],
    [
      'disabled primaries on trial',
      (pool) => 'abz'.split('').forEach((name) => pool.disable(name)),
      {},
      'ab',
    ],
    ['not one that is full', (pool) => (pool.upstream('a').usedSlots = 10), {}, 'b'],
    ['nobody without the add-on', () => {}, { addons: ['trace'] }, '-'],
  ])('is of %s', (_, prepare, different, names) => {
    const fixture = new PoolFixture('abz')
    prepare(fixture)
    expect(fixture.chosen(different)).toBe(names)
  })

  it('is in turns by round-robin, and a turn counts where only one fits', () => {
    const fixture = new PoolFixture('abc')
    expect(fixture.turns(5)).toBe('abcab')
    expect(fixture.turns(2, { excluded: ['a', 'b'] })).toBe('cc')
    expect(fixture.turns(4)).toBe('abca')
  })

  it('is by latency', () => {
    const fixture = new PoolFixture('ab')
    fixture.upstream('a').score.succeeded(10, fixture.clock.nowMs())
    fixture.upstream('b').score.succeeded(500, fixture.clock.nowMs())
    expect(fixture.turns(100, {}, 'latency').split('a').length).toBeGreaterThan(80)
  })

  it('says how near each one is to the tip, and draws by that', () => {
    const fixture = new PoolFixture('ab')
    fixture.sees('a', 99)
    fixture.sees('b', 100)
    const story = { considered: null }
    fixture.pool.pick.next(fixture.wanted(), 'sync-freshness', story)
    expect(story.considered).toMatchObject([
      { name: 'a', sync: 1 / 2, weight: 1 / 8 },
      { name: 'b', sync: 1, weight: 1 },
    ])
  })

  it('says whether it would be a repetition', () => {
    const fixture = new PoolFixture('ab')
    expect(fixture.pool.pick.repeats(fixture.wanted())).toBe(false)
    fixture.tried.add('a')
    expect(fixture.pool.pick.repeats(fixture.wanted())).toBe(false)
    fixture.tried.add('b')
    expect(fixture.pool.pick.repeats(fixture.wanted())).toBe(true)
    expect(fixture.pool.pick.repeats(fixture.wanted({ untriedOnly: true }))).toBe(false)
  })
})

/** A read of a range. */
const from = (first: number, to: BlockPoint): Partial<Wanted> => ({
  block: { kind: 'range', from: { kind: 'number', number: first }, to },
})

describe('a lagging upstream', () => {
  const pool = (): PoolFixture => {
    const fixture = new PoolFixture('abc')
    for (const [name, block] of [
      ['a', 90],
      ['b', 100],
      ['c', 101],
    ] as const)
      fixture.sees(name, block)
    return fixture
  }

  it.each<[string, Partial<Wanted>, string]>([
    ['gets no read of the latest block', { block: latest }, 'bc'],
    ['nor of one that it has not got', { block: number(91) }, 'bc'],
    ['nor of one that nobody is known to have', { block: number(102) }, 'bc'],
    ['nor of what a hash names, which may be new', { byHash: true }, 'bc'],
    ['nor of a block by its hash', { block: { kind: 'hash', hash: '0x' } }, 'bc'],
    ['nor of a range up to the latest block', from(5, latest as BlockPoint), 'bc'],
    ['and below the start of a range, any other', from(101, latest as BlockPoint), 'c'],
    ['also if nobody has its end', from(101, { kind: 'number', number: 106 }), 'c'],
    ['nor of a range that nobody has', from(105, { kind: 'number', number: 106 }), 'bc'],
    ['gets reads of blocks that it has', { block: number(90) }, 'abc'],
    ['and of what depends on no block', {}, 'abc'],
    ['and of the first one', { block: { kind: 'tag', tag: 'earliest' } }, 'abc'],
    ['and all else when the others are out', { block: latest, excluded: ['b', 'c'] }, 'a'],
  ])('%s', (_, different, names) => {
    expect(pool().chosen(different)).toBe(names)
  })

  it.each<[string, Partial<Wanted>, string]>([
    ['no company to a read of the latest block', { block: latest }, '-'],
    ['nor to one of a block that it has not got', { block: number(95) }, '-'],
    ['nor to one that a hash names', { byHash: true }, '-'],
    ['but to one of a block that it has', { block: number(90) }, 'a'],
  ])('is %s', (_, different, names) => {
    const fixture = pool()
    for (const name of 'bc') fixture.tried.add(name)
    expect(fixture.chosen({ untriedOnly: true, ...different })).toBe(names)
  })

  it('no company either where it is not behind, and has not the block that the other one has', () => {
    const fixture = pool()
    fixture.tried.add('c')
    const company = (block: number) =>
      fixture.chosen({ untriedOnly: true, excluded: ['a'], block: number(block) })
    expect([company(101), company(100)]).toEqual(['-', 'b'])
  })

  it.each<[string, Partial<Wanted>]>([
    ['that it has not got', { block: number(95) }],
    ['that it has', { block: number(90) }],
    ['that is the latest', { block: latest }],
    ['that its hash names', { block: { kind: 'hash', hash: '0x' } }],
  ])('comes before those that have failed a read of a block %s', (_, different) => {
    const fixture = pool()
    for (const name of 'bc') fixture.tried.add(name)
    expect(fixture.pool.pick.repeats(fixture.wanted(different))).toBe(false)
    expect(fixture.chosen(different)).toBe('a')
  })

  it.each<[string, Partial<Wanted>]>([
    ['the latest block', { block: latest }],
    ['a block that it has not got', { block: number(95) }],
  ])('comes before a backup for %s', (_, different) => {
    const fixture = new PoolFixture('abz')
    for (const [name, block] of Object.entries({ a: 90, b: 100, z: 100 })) fixture.sees(name, block)
    fixture.tried.add('b')
    expect(fixture.chosen(different)).toBe('a')
  })

  it('is known as such as soon as others show the tip, though it reported first', () => {
    const fixture = new PoolFixture('abc')
    fixture.sees('a', 90)
    expect(fixture.upstream('a').state).toBe('eligible')
    fixture.sees('b', 100)
    fixture.sees('c', 100)
    expect(fixture.events).toEqual(['a: eligible > lagging'])
    fixture.sees('a', 100)
    expect(fixture.events).toEqual(['a: eligible > lagging', 'a: lagging > eligible'])
  })
})

it.each<[string, BlockRef, string]>([
  ['the latest block', latest, 'ab'],
  ['one of the last 128', number(872), 'ab'],
  ['an older one', number(871), 'b'],
  ['the first one', { kind: 'tag', tag: 'earliest' }, 'b'],
  [
    'a range that begins with an older one',
    { kind: 'range', from: { kind: 'number', number: 871 }, to: { kind: 'number', number: 999 } },
    'b',
  ],
  [
    'a range of the last 128',
    { kind: 'range', from: { kind: 'number', number: 872 }, to: { kind: 'number', number: 999 } },
    'ab',
  ],
])('where one keeps an archive, %s is asked of whom it suits', (_, block, names) => {
  const fixture = new PoolFixture('ab', (name) => (name === 'b' ? { addons: ['archive'] } : {}))
  for (const name of 'ab') fixture.sees(name, 1_000)
  expect(fixture.chosen({ block })).toBe(names)
  fixture.cooldown('b')
  expect(fixture.chosen({ block })).toBe('a')
})

describe('who is in cooldown', () => {
  it('is reported by the upstream that comes back first', async () => {
    const fixture = new PoolFixture('ab')
    expect(fixture.pool.nextInCooldown(fixture.wanted())).toBeNull()
    fixture.cooldown('b')
    await fixture.clock.advance(1_000)
    fixture.cooldown('a')
    expect(fixture.pool.nextInCooldown(fixture.wanted())?.upstream.name).toBe('b')
    expect(fixture.pool.nextInCooldown(fixture.wanted({ excluded: ['b'] }))?.upstream.name).toBe(
      'a',
    )
    expect(fixture.pool.nextInCooldown(fixture.wanted({ addons: ['trace'] }))).toBeNull()
  })
})

it.each<[string, (upstream: Upstream) => void, number]>([
  ['was verified for the first time', () => {}, 1],
  [
    'was disabled',
    ({ availability }) => {
      availability.failed(2, 'reset')
      availability.succeeded()
    },
    0,
  ],
  [
    'was rejected',
    ({ availability }) => {
      availability.rejected('wrong chain')
      availability.verified()
    },
    0,
  ],
])('one that %s has this share of its traffic at first', (_name, happens, share) => {
  const pool = new PoolFixture('a')
  happens(pool.upstream('a'))
  expect(pool.upstream('a').earned(pool.clock.nowMs())).toBe(share)
})
