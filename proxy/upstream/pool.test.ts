// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import type { BlockPoint, BlockRef } from '../chain/types.ts'
import { settle } from './outcome.ts'
import { latest, number, PoolFixture } from './testing/pool-fixture.ts'
import type { Upstream } from './upstream.ts'
import type { Wanted } from './wanted.ts'

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

  it('reports faults of a serving upstream with count and start until they expire', async () => {
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

describe('a cooldown that another process reports', () => {
  it('holds the URL back for as long, teaches its limit, and is not reported again', async () => {
    const [there, here] = [new PoolFixture('a'), new PoolFixture('a')]
    const reported: Parameters<typeof here.pool.adopt>[] = []
    for (const { pool } of [there, here])
      pool.onCooldown = (...cooldown) => void reported.push(cooldown)
    const [from, to] = [there.upstream('a').urls[0]!, here.upstream('a').urls[0]!]
    for (const each of [from, to]) settle('limited', null, each)
    await here.clock.advance(2_000)
    for (let answer = 0; answer < 50; answer++) settle('answered', null, to)
    await there.clock.advance(2_000)
    reported.length = 0
    settle('limited', null, from, { retryAfterMs: 5_000, reason: 'rate-limit (HTTP 429)' })
    const [cooldown] = reported
    here.pool.adopt(...cooldown!)
    expect(reported).toHaveLength(1)
    expect([to.cooldown.leftMs, to.limit?.learnedPerSecond]).toEqual([5_000, 40])
    expect(here.pool.snapshot().upstreams[0]).toMatchObject({
      state: 'cooldown',
      why: `${from.cooldown.last.why} at http://a.test`,
    })
    here.pool.adopt('a', 'http://other.test', from.cooldown.last)
    here.pool.adopt('b', from.printable, from.cooldown.last)
  })
})

describe('the score of the snapshot', () => {
  const scores = ({ pool }: PoolFixture) => pool.snapshot().upstreams.map(({ score }) => score)

  it('is unknown for a rejected upstream, which does not affect others', () => {
    const fixture = new PoolFixture('abc')
    for (const name of 'ab') fixture.sees(name, 100)
    fixture.upstream('a').score.failed(0)
    fixture.upstream('c').availability.rejected('another chain')
    fixture.disable('b')
    expect(scores(fixture)).toEqual([1, 1, null])
  })

  it('is 1 for all upstreams that recover at the same time', () => {
    const fixture = new PoolFixture('ab')
    for (const upstream of fixture.pool.upstreams) upstream.rejoined()
    expect(scores(fixture)).toEqual([1, 1])
  })
})

describe('the selection', () => {
  it.each<[string, (pool: PoolFixture) => void, Partial<Wanted>, string]>([
    ['any primary', () => {}, {}, 'ab'],
    ['no excluded upstream', () => {}, { excluded: ['a'] }, 'b'],
    ['only allowed upstreams', () => {}, { only: ['b', 'z'] }, 'b'],
    ['a backup if only that is allowed', () => {}, { only: ['z'] }, 'z'],
    [
      'nothing if the allowed upstream is excluded',
      () => {},
      { only: ['a'], excluded: ['a'] },
      '-',
    ],
    ['no named upstream outside the allowed set', () => {}, { only: ['a'], prefer: 'b' }, 'a'],
    ['the named upstream', () => {}, { prefer: 'b' }, 'b'],
    ['a backup by name', () => {}, { prefer: 'z' }, 'z'],
    ['no named upstream that was tried', ({ tried }) => tried.add('b'), { prefer: 'b' }, 'a'],
    ['an untried upstream first', ({ tried }) => tried.add('a'), {}, 'b'],
    ['a backup before a tried primary', ({ tried }) => tried.add('a').add('b'), {}, 'z'],
    ['tried upstreams last', ({ tried }) => tried.add('a').add('b').add('z'), {}, 'ab'],
    [
      'nothing for a hedge if all were tried',
      (pool) => 'abz'.split('').forEach((name) => pool.tried.add(name)),
      { untriedOnly: true },
      '-',
    ],
    ['no upstream in cooldown', (pool) => pool.cooldown('a'), {}, 'b'],
    ['no disabled upstream', (pool) => pool.disable('a'), {}, 'b'],
    [
      'a backup before disabled primaries',
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
    ['no full upstream', (pool) => (pool.upstream('a').usedSlots = 10), {}, 'b'],
    ['nothing without the add-on', () => {}, { addons: ['trace'] }, '-'],
  ])('returns %s', (_, prepare, different, names) => {
    const fixture = new PoolFixture('abz')
    prepare(fixture)
    expect(fixture.chosen(different)).toBe(names)
  })

  it('alternates by round-robin, and counts a turn with a single candidate', () => {
    const fixture = new PoolFixture('abc')
    expect(fixture.turns(5)).toBe('abcab')
    expect(fixture.turns(2, { excluded: ['a', 'b'] })).toBe('cc')
    expect(fixture.turns(4)).toBe('abca')
  })

  it('prefers low latency', () => {
    const fixture = new PoolFixture('ab')
    fixture.upstream('a').score.succeeded(10, fixture.clock.nowMs())
    fixture.upstream('b').score.succeeded(500, fixture.clock.nowMs())
    expect(fixture.turns(100, {}, 'latency').split('a').length).toBeGreaterThan(80)
  })

  it('records and uses the distance to the tip', () => {
    const fixture = new PoolFixture('ab')
    fixture.sees('a', 99)
    fixture.sees('b', 100)
    const journal = { considered: null }
    fixture.pool.pick.next(fixture.wanted(), 'sync-freshness', journal)
    expect(journal.considered).toMatchObject([
      { name: 'a', sync: 1 / 2, weight: 1 / 8 },
      { name: 'b', sync: 1, weight: 1 },
    ])
  })

  it('reports whether it would repeat an upstream', () => {
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
    ['gets no read of a block that it lacks', { block: number(91) }, 'bc'],
    ['gets no read of a block that no node is known to have', { block: number(102) }, 'bc'],
    ['gets no read by hash, which may be new', { byHash: true }, 'bc'],
    ['gets no read of a block by its hash', { block: { kind: 'hash', hash: '0x' } }, 'bc'],
    ['gets no read of a range up to the latest block', from(5, latest as BlockPoint), 'bc'],
    ['gets no read of a range that starts above its head', from(101, latest as BlockPoint), 'c'],
    [
      'gets no such read even if no node has the end',
      from(101, { kind: 'number', number: 106 }),
      'c',
    ],
    ['gets no read of a range that no node has', from(105, { kind: 'number', number: 106 }), 'bc'],
    ['gets reads of blocks that it has', { block: number(90) }, 'abc'],
    ['gets calls without a block', {}, 'abc'],
    ['gets reads of the first block', { block: { kind: 'tag', tag: 'earliest' } }, 'abc'],
    ['gets every read when the others are excluded', { block: latest, excluded: ['b', 'c'] }, 'a'],
  ])('%s', (_, different, names) => {
    expect(pool().chosen(different)).toBe(names)
  })

  it.each<[string, Partial<Wanted>, string]>([
    ['for a read of the latest block', { block: latest }, '-'],
    ['for a read of a block that it lacks', { block: number(95) }, '-'],
    ['for a read by hash', { byHash: true }, '-'],
    ['except for a read of a block that it has', { block: number(90) }, 'a'],
  ])('gets no hedge %s', (_, different, names) => {
    const fixture = pool()
    for (const name of 'bc') fixture.tried.add(name)
    expect(fixture.chosen({ untriedOnly: true, ...different })).toBe(names)
  })

  it('gets no hedge if it lacks the block, even within the allowed lag', () => {
    const fixture = pool()
    fixture.tried.add('c')
    const hedged = (block: number) =>
      fixture.chosen({ untriedOnly: true, excluded: ['a'], block: number(block) })
    expect([hedged(101), hedged(100)]).toEqual(['-', 'b'])
  })

  it.each<[string, Partial<Wanted>]>([
    ['that it lacks', { block: number(95) }],
    ['that it has', { block: number(90) }],
    ['that is the latest', { block: latest }],
    ['that is given by its hash', { block: { kind: 'hash', hash: '0x' } }],
  ])('ranks before upstreams that failed a read of a block %s', (_, different) => {
    const fixture = pool()
    for (const name of 'bc') fixture.tried.add(name)
    expect(fixture.pool.pick.repeats(fixture.wanted(different))).toBe(false)
    expect(fixture.chosen(different)).toBe('a')
  })

  it.each<[string, Partial<Wanted>]>([
    ['the latest block', { block: latest }],
    ['a block that it lacks', { block: number(95) }],
  ])('ranks before a backup for %s', (_, different) => {
    const fixture = new PoolFixture('abz')
    for (const [name, block] of Object.entries({ a: 90, b: 100, z: 100 })) fixture.sees(name, block)
    fixture.tried.add('b')
    expect(fixture.chosen(different)).toBe('a')
  })

  it.each<[string, heads: number[], fault: string | null]>([
    ['falls behind again and again', [91, 100, 91, 101, 92], '3 times'],
    ['falls behind twice', [91, 100, 91, 101], null],
    ['is behind by what the chain allows', [99, 100, 99, 101, 100, 102, 101], null],
    ['stays behind', [91, 92, 93, 94], null],
  ])('whose head %s', async (_case, heads, times) => {
    const fixture = new PoolFixture('ab')
    fixture.sees('b', 100)
    fixture.sees('a', 100)
    const since = new Date(fixture.clock.wallMs() + 4_000).toISOString().slice(11, 19)
    const [a] = fixture.pool.upstreams
    for (const block of heads) {
      await fixture.clock.advance(4_000)
      fixture.sees('a', block)
    }
    const fault =
      times && `its head jumped back ${times}: several nodes behind one URL? since ${since}`
    expect(a?.fault).toBe(fault)
    await fixture.clock.advance(120_000)
    expect(a?.fault).toBeNull()
  })

  it('is detected as soon as others report the tip, even if it reported first', () => {
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
  ['an older block', number(871), 'b'],
  ['the first block', { kind: 'tag', tag: 'earliest' }, 'b'],
  [
    'a range that starts with an older block',
    { kind: 'range', from: { kind: 'number', number: 871 }, to: { kind: 'number', number: 999 } },
    'b',
  ],
  [
    'a range of the last 128',
    { kind: 'range', from: { kind: 'number', number: 872 }, to: { kind: 'number', number: 999 } },
    'ab',
  ],
])('with one archive node, %s goes to a suitable upstream', (_, block, names) => {
  const fixture = new PoolFixture('ab', (name) => (name === 'b' ? { addons: ['archive'] } : {}))
  for (const name of 'ab') fixture.sees(name, 1_000)
  expect(fixture.chosen({ block })).toBe(names)
  fixture.cooldown('b')
  expect(fixture.chosen({ block })).toBe('a')
})

describe('nextInCooldown', () => {
  it('returns the upstream whose cooldown ends first', async () => {
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
])('an upstream that %s starts with the right share', (_name, happens, share) => {
  const pool = new PoolFixture('a')
  happens(pool.upstream('a'))
  expect(pool.upstream('a').earned(pool.clock.nowMs())).toBe(share)
})
