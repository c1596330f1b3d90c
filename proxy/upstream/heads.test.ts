// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it, test } from 'vitest'
import type { Verdict } from './block-dates.ts'
import type { Wanted } from './wanted.ts'
import { chain, latest, number, PoolFixture } from './testing/pool-fixture.ts'

describe('an upstream whose head nobody else is near to', () => {
  const pool = (heads: Readonly<Record<string, number>>): PoolFixture => {
    const fixture = new PoolFixture(Object.keys(heads).join(''))
    for (const [name, block] of Object.entries(heads)) fixture.sees(name, block)
    return fixture
  }
  const lone = { a: 1_100, b: 100, c: 100 }

  it.each<[string, Readonly<Record<string, number>>, Partial<Wanted>, string]>([
    ['gets no read of the latest block', lone, { block: latest }, 'bc'],
    ['nor of a block that is newer than what the others told', lone, { block: number(101) }, 'bc'],
    ['gets reads of blocks that the others have', lone, { block: number(100) }, 'abc'],
    ['and of what depends on no block', lone, {}, 'abc'],
    ['serves when nobody else can', lone, { block: latest, excluded: ['b', 'c'] }, 'a'],
    [
      'is as good as one that is behind: of two, nobody knows',
      { a: 110, b: 100 },
      { block: latest },
      'ab',
    ],
    ['and has blocks that the other has not', { a: 110, b: 100 }, { block: number(105) }, 'a'],
    ['is believed with a second one', { a: 110, b: 110, c: 100, d: 100 }, { block: latest }, 'ab'],
    ['may be ahead by the allowed lag', { a: 103, b: 100, c: 100 }, { block: latest }, 'abc'],
  ])('%s', (_, heads, different, names) => {
    expect(pool(heads).chosen(different)).toBe(names)
  })

  it('is not one that was only asked later', async () => {
    const fixture = pool({ a: 100, b: 100, c: 100 })
    await fixture.clock.advance(5 * chain.blockTimeMs)
    fixture.sees('a', 105)
    expect(fixture.chosen({ block: latest })).toBe('abc')
  })

  it('is one of the others again when they have caught up', () => {
    const fixture = pool(lone)
    for (const name of 'bc') fixture.sees(name, 1_100)
    expect(fixture.chosen({ block: latest })).toBe('abc')
  })
})

describe('the last upstream that keeps up', () => {
  /** The chain grows for ten minutes, and each tells its head once a block; null: it is dead. */
  async function grows(
    fixture: PoolFixture,
    headsAt: (head: number) => Readonly<Record<string, number | null>>,
    blockTimeMs = chain.blockTimeMs,
  ): Promise<string> {
    for (let head = 1_000; head < 1_050; head++) {
      for (const [name, block] of Object.entries(headsAt(head)))
        if (block === null) fixture.disable(name)
        else fixture.sees(name, block)
      await fixture.clock.advance(blockTimeMs)
    }
    return fixture.chosen({ block: latest })
  }
  const dies = (head: number, at: number) => (head < at ? head : null)

  it.each<[string, string, (head: number) => Readonly<Record<string, number | null>>, string]>([
    [
      'serves the latest state alone, beside one that lags and one that says it does by far',
      'abcd',
      (head) => ({ a: head, b: dies(head, 1_010), c: head - 10, d: head - 500 }),
      'a',
    ],
    [
      'also where another claims a head far above',
      'abcd',
      (head) => ({ a: head, b: dies(head, 1_010), c: head - 10, d: head + 1e6 }),
      'a',
    ],
    [
      'also beside one that stands still',
      'ab',
      (head) => ({ a: head, b: Math.min(head, 1_010) }),
      'a',
    ],
    [
      'is not one that claims to keep up with a chain that stands still',
      'abc',
      (head) => ({ a: head, b: Math.min(head, 1_010), c: Math.min(head, 1_010) }),
      'bc',
    ],
    [
      'is not one that grows faster than the chain',
      'ab',
      (head) => ({ a: head + Math.max(0, head - 1_010), b: Math.min(head, 1_040) }),
      'ab',
    ],
  ])('%s', async (_, names, headsAt, chosen) => {
    expect(await grows(new PoolFixture(names), headsAt)).toBe(chosen)
  })

  it('serves the latest state alone also on a chain that is much faster than its spec says', async () => {
    const stops = (head: number) => ({ a: head, b: Math.min(head, 1_020) })
    const fixture = new PoolFixture('ab')
    expect(await grows(fixture, stops, chain.blockTimeMs / 12)).toBe('a')
    expect(fixture.pool.tip).toBe(1_049)
  })
})

test('of a chain that is faster than its spec says nobody lags who was only asked earlier', async () => {
  const fixture = new PoolFixture('abc')
  let lagged = 0
  for (let head = 1_000; head < 1_300; head++) {
    // Each is asked every ten blocks.
    const due = { 0: 'a', 3: 'b', 6: 'c' }[head % 10]
    if (due) fixture.sees(due, head)
    if (head > 1_100 && fixture.chosen({ block: latest }) !== 'abc') lagged += 1
    await fixture.clock.advance(chain.blockTimeMs / 12)
  }
  expect(lagged).toBe(0)
})

describe('one that is always a few blocks ahead evicts nobody, whoever is asked when', () => {
  const cases = [2, 3, 6].flatMap((upstreams) =>
    [1, 2, 3, 4, 5, 6].flatMap((lead) =>
      [0, 0.4, 1, 3.7, 5].map((slot) => [upstreams, lead, slot] as const),
    ),
  )
  it.each(cases)('of %i, by %i, with blocks that come %d slots on', async (count, lead, slot) => {
    const names = 'abcdef'.slice(0, count)
    const fixture = new PoolFixture(names)
    const slotMs = chain.blockTimeMs / 6
    const startMs = fixture.clock.nowMs()
    for (let at = 0; at < 20 * 6; at++) {
      const head = 1_000 + Math.floor((fixture.clock.nowMs() - startMs) / chain.blockTimeMs)
      const name = names[at % 6]
      if (name) fixture.sees(name, name === 'a' ? head + lead : head)
      expect(fixture.pool.tip! - head).toBeLessThanOrEqual(Math.max(lead, chain.allowedLagBlocks))
      // The blocks come at another moment than anybody is asked.
      await fixture.clock.advance(at === 0 ? slotMs * (1 + slot) : slotMs)
    }
    expect(fixture.events).toEqual([])
  })
})

test('what an upstream told before it came back is remembered when it goes again', () => {
  const fixture = new PoolFixture('a')
  fixture.sees('a', 100)
  fixture.disable('a')
  fixture.sees('a', 101)
  expect(fixture.pool.tip).toBe(100)
  fixture.upstream('a').availability.succeeded()
  fixture.disable('a')
  expect(fixture.pool.tip).toBe(101)
})

test('who lags behind what one told before it came back lags at once', () => {
  const fixture = new PoolFixture('abc')
  fixture.disable('b')
  for (const name of 'ab') fixture.sees(name, 200)
  fixture.sees('c', 100)
  expect(fixture.chosen({ block: latest })).toBe('ac')
  fixture.upstream('b').availability.succeeded()
  expect(fixture.chosen({ block: latest })).toBe('ab')
})

describe('a head that nobody else is near to', () => {
  /** What the dates tell of each that is lower. */
  const rule = (fixture: PoolFixture, name: string, verdict: Verdict): void => {
    const dispute = fixture.pool.disputeOf(fixture.upstream(name))!
    const verdicts = dispute.lower.map(() => verdict)
    fixture.pool.settled(dispute, verdicts)
  }
  const claims = (heads: Readonly<Record<string, number>>, shows: Verdict | null) => {
    const fixture = new PoolFixture(Object.keys(heads).join(''))
    for (const [name, block] of Object.entries(heads)) fixture.sees(name, block)
    const a = fixture.upstream('a')
    const isAsked = fixture.pool.disputeOf(a) !== null
    if (isAsked && shows !== null) rule(fixture, 'a', shows)
    return { isAsked, tip: fixture.pool.tip, chosen: fixture.chosen({ block: latest }) }
  }

  it.each<[string, Readonly<Record<string, number>>, Verdict | null, object]>([
    [
      'of two is believed when the blocks show it',
      { a: 1_026, b: 526 },
      'behind',
      { isAsked: true, tip: 1_026, chosen: 'a' },
    ],
    [
      'and not when they refute it',
      { a: 1_026, b: 526 },
      'refuted',
      { isAsked: true, tip: 526, chosen: 'b' },
    ],
    [
      'nobody knows before it was asked',
      { a: 1_026, b: 526 },
      null,
      { isAsked: true, tip: 526, chosen: 'ab' },
    ],
    [
      'beside two that are behind, each in its way',
      { a: 1_026, b: 1_016, c: 1_006 },
      'behind',
      { isAsked: true, tip: 1_026, chosen: 'a' },
    ],
    [
      'is asked about also where two others agree, of whom nobody knows yet whether they go on',
      { a: 1_026, b: 526, c: 525 },
      'behind',
      { isAsked: true, tip: 1_026, chosen: 'a' },
    ],
    [
      'nor where another is near',
      { a: 1_026, b: 1_025, c: 525 },
      'behind',
      { isAsked: false, tip: 1_026, chosen: 'ab' },
    ],
    [
      'is asked about also by one below that is heard first',
      { a: 526, b: 1_026 },
      'behind',
      { isAsked: true, tip: 1_026, chosen: 'b' },
    ],
    ['nor where it is alone', { a: 526 }, 'behind', { isAsked: false, tip: 526, chosen: 'a' }],
    [
      'nor when the other is as new',
      { a: 1_026, b: 526 },
      'keeps-up',
      { isAsked: true, tip: 526, chosen: 'ab' },
    ],
  ])('%s', (_, heads, shows, expected) => {
    expect(claims(heads, shows)).toEqual(expected)
  })

  it('is asked about by one below once for each time that it is told', () => {
    const fixture = new PoolFixture('ab')
    const disputed = () => fixture.pool.disputeOf(fixture.upstream('b'))
    fixture.sees('a', 1_026)
    fixture.sees('b', 526)
    fixture.pool.settled(disputed()!, ['unknown'])
    expect(disputed()).toBe(null)
    fixture.sees('b', 527)
    expect(disputed()).toBe(null)
  })

  it('is gone with its upstream, and at once when two others agree on less', () => {
    const fixture = new PoolFixture('abc')
    fixture.sees('a', 1_026)
    fixture.sees('b', 526)
    rule(fixture, 'a', 'behind')
    expect(fixture.pool.tip).toBe(1_026)
    fixture.sees('c', 526)
    expect(fixture.pool.tip).toBe(526)
    expect(fixture.chosen({ block: latest })).toBe('bc')
  })

  describe('that was believed', () => {
    const believed = () => {
      const fixture = new PoolFixture('abc')
      fixture.sees('a', 1_026)
      fixture.sees('b', 526)
      rule(fixture, 'a', 'behind')
      return fixture
    }
    const asked = (fixture: PoolFixture, name: string) =>
      fixture.pool.disputeOf(fixture.upstream(name))?.lower.map((each) => each.name) ?? []

    it('is asked about again when another one speaks that it was not compared with', () => {
      const fixture = believed()
      expect([...'ab'].map((name) => asked(fixture, name))).toEqual([[], []])
      fixture.sees('c', 1_000)
      expect([...'abc'].map((name) => asked(fixture, name).join(''))).toEqual(['bc', 'bc', 'bc'])
    })

    it.each<[Verdict, number]>([
      ['keeps-up', 1_000],
      ['refuted', 1_000],
      ['unknown', 1_026],
      ['behind', 1_026],
    ])('and when the dates of that one say %j, the tip is %i', (verdict, tip) => {
      const fixture = believed()
      fixture.sees('c', 1_000)
      rule(fixture, 'c', verdict)
      expect(fixture.pool.tip).toBe(tip)
      // What was withdrawn is in dispute for the one that is above all others.
      const isOpen = verdict === 'keeps-up' || verdict === 'refuted'
      expect(asked(fixture, 'a')).toEqual(isOpen ? ['b', 'c'] : [])
    })

    it('is asked about again after a minute', async () => {
      const fixture = believed()
      await fixture.clock.advance(60_001)
      fixture.sees('a', 1_031)
      fixture.sees('b', 526)
      expect(asked(fixture, 'a')).toEqual(['b'])
      rule(fixture, 'a', 'behind')
      expect([...'ab'].map((name) => asked(fixture, name))).toEqual([[], []])
      expect(fixture.pool.tip).toBe(1_031)
    })
  })

  it('is forgiven once the others have reached it', () => {
    const fixture = new PoolFixture('ab')
    fixture.sees('a', 1_026)
    fixture.sees('b', 526)
    rule(fixture, 'a', 'refuted')
    fixture.sees('b', 1_026)
    fixture.sees('a', 1_036)
    expect(fixture.chosen({ block: latest })).toBe('ab')
  })
})

describe('one that is above two that agree with each other', () => {
  const verdict = (fixture: PoolFixture, ...verdicts: readonly Verdict[]) => {
    const dispute = fixture.pool.disputeOf(fixture.upstream('a'))
    if (dispute) fixture.pool.settled(dispute, verdicts)
    return dispute?.isOutvoted ?? null
  }
  /** All tell their heads once a block, so many times. */
  const follow = async (
    fixture: PoolFixture,
    headsAt: (turn: number) => Readonly<Record<string, number>>,
    turns = 3,
  ) => {
    for (let turn = 0; turn < turns; turn++) {
      for (const [name, block] of Object.entries(headsAt(turn))) fixture.sees(name, block)
      await fixture.clock.advance(chain.blockTimeMs)
    }
  }
  const farBehind = (turn: number) => ({ a: 1_000 + turn, b: 990 + turn, c: 988 + turn })

  it('is believed when these follow the chain far behind it', async () => {
    const fixture = new PoolFixture('abc')
    await follow(fixture, farBehind)
    expect(fixture.pool.tip).toBe(992)
    expect(verdict(fixture, 'behind', 'behind')).toBe(true)
    expect(fixture.pool.tip).toBe(1_002)
    expect(fixture.chosen({ block: latest })).toBe('a')
    // And stays so.
    await follow(fixture, (turn) => farBehind(turn + 3), 10)
    expect(fixture.chosen({ block: latest })).toBe('a')
  })

  it.each<[string, readonly Verdict[]]>([
    ['keeps up by the clock', ['behind', 'keeps-up']],
    ['refutes it', ['refuted', 'behind']],
    ['shows nothing', ['behind', 'unknown']],
  ])('is not when one of them %s, and is not asked about all the time', async (_, verdicts) => {
    const fixture = new PoolFixture('abc')
    await follow(fixture, farBehind)
    expect(verdict(fixture, ...verdicts)).toBe(true)
    expect(fixture.chosen({ block: latest })).toBe('bc')
    expect(verdict(fixture)).toBeNull()
    await follow(fixture, (turn) => farBehind(turn + 3), 8)
    expect(verdict(fixture, ...verdicts)).toBe(true)
  })

  it('is asked about whoever speaks last', () => {
    for (const order of ['abc', 'bca', 'bac']) {
      const fixture = new PoolFixture('abc')
      for (const name of order) fixture.sees(name, farBehind(0)[name as 'a'])
      const dispute = fixture.pool.disputeOf(fixture.upstream(order[2]!))
      expect(dispute?.higher.name).toBe('a')
    }
  })

  it('is believed as well when one of them stands still, as long as the other goes on', async () => {
    const fixture = new PoolFixture('abc')
    await follow(fixture, (turn) => ({ a: 1_000 + turn, b: 990, c: 988 + turn }))
    expect(verdict(fixture, 'behind', 'behind')).toBe(true)
    expect(fixture.chosen({ block: latest })).toBe('a')
  })

  it('is not when these stand still: then the chain does', async () => {
    const fixture = new PoolFixture('abc')
    await follow(fixture, (turn) => ({ a: 1_000 + turn, b: 990, c: 988 }), 11)
    expect(verdict(fixture)).toBeNull()
    expect(fixture.chosen({ block: latest })).toBe('bc')
  })

  it('is believed at the start, before it can be known whether these go on, and no longer when they do not', async () => {
    const fixture = new PoolFixture('abc')
    await follow(fixture, farBehind, 1)
    expect(verdict(fixture, 'behind', 'behind')).toBe(true)
    expect(fixture.chosen({ block: latest })).toBe('a')
    await follow(fixture, (turn) => ({ a: 1_001 + turn, b: 990, c: 988 }), 9)
    expect(fixture.chosen({ block: latest })).toBe('a')
    await follow(fixture, (turn) => ({ a: 1_010 + turn, b: 990, c: 988 }), 2)
    expect(fixture.chosen({ block: latest })).toBe('bc')
    expect(verdict(fixture)).toBeNull()
  })

  it('is believed on when these stop after they had followed the chain', async () => {
    const fixture = new PoolFixture('abc')
    await follow(fixture, farBehind)
    verdict(fixture, 'behind', 'behind')
    await follow(fixture, (turn) => ({ a: 1_003 + turn, b: 992, c: 990 }), 20)
    expect(fixture.chosen({ block: latest })).toBe('a')
  })

  it('nor when they stood still after they had followed', async () => {
    const fixture = new PoolFixture('abc')
    await follow(fixture, farBehind)
    await follow(fixture, (turn) => ({ a: 1_003 + turn, b: 992, c: 990 }), 10)
    expect(verdict(fixture)).toBeNull()
  })

  it('is not believed against a third one that was not heard', async () => {
    const fixture = new PoolFixture('abcd')
    await follow(fixture, farBehind)
    verdict(fixture, 'behind', 'behind')
    fixture.sees('d', 991)
    expect(fixture.pool.tip).toBe(992)
  })
})

describe('one that was caught in a lie', () => {
  /** It claims to be a little ahead, so that the honest one seems to lag beside one that does. */
  const pool = (names = 'abc') => {
    const fixture = new PoolFixture(names)
    for (const [index, name] of [...names].entries())
      fixture.sees(name, [1_003, 1_000, 985][index] ?? 0)
    return fixture
  }

  it('has no say about the tip for ten minutes', async () => {
    const fixture = pool()
    expect(fixture.pool.tip).toBe(1_003)
    fixture.pool.caught(fixture.upstream('a'))
    await fixture.clock.advance(60_001)
    for (const [name, block] of Object.entries({ a: 1_008, b: 1_005, c: 990 }))
      fixture.sees(name, block)
    expect(fixture.pool.tip).toBe(1_005)
    await fixture.clock.advance(540_000)
    for (const [name, block] of Object.entries({ a: 1_053, b: 1_050, c: 1_035 }))
      fixture.sees(name, block)
    expect(fixture.pool.tip).toBe(1_053)
  })

  it('has no say at once: who had seemed as good lags', () => {
    const fixture = new PoolFixture('ab')
    fixture.sees('a', 1_000)
    fixture.sees('b', 1_500)
    expect(fixture.chosen({ block: latest })).toBe('ab')
    fixture.pool.caught(fixture.upstream('a'))
    expect(fixture.chosen({ block: latest })).toBe('b')
  })

  it('is off the tip with every block above it', () => {
    const fixture = new PoolFixture('abc')
    for (const name of 'abc') fixture.sees(name, 1_000)
    const a = fixture.upstream('a')
    const off = () => [1_000, 1_001, 1_003].map((block) => fixture.pool.blocksOff(a, block, 1_000))
    expect(off()).toEqual([0, 0, 0])
    fixture.pool.caught(a)
    expect(off()).toEqual([0, 1, 3])
  })

  it('is believed when nobody else is heard', () => {
    const fixture = pool('a')
    fixture.pool.caught(fixture.upstream('a'))
    fixture.sees('a', 1_004)
    expect(fixture.pool.tip).toBe(1_004)
    expect(fixture.pool.blocksOff(fixture.upstream('a'), 1_005, 1_004)).toBe(0)
  })
})

test('of two, an answer that leaps above what was agreed on is off the tip', async () => {
  const fixture = new PoolFixture('ab')
  const a = fixture.upstream('a')
  for (const name of 'ab') fixture.sees(name, 1_000)
  await fixture.clock.advance(2 * chain.blockTimeMs)
  const off = (block: number) => {
    fixture.sees('a', block)
    return fixture.pool.blocksOff(a, block, 1_000)
  }
  expect([1_000, 1_005, 2_000].map(off)).toEqual([0, 0, 1_000])
})

test('how high a block may be that an upstream shows follows from what it and the others told lately', async () => {
  const fixture = new PoolFixture('abc')
  const horizon = () => fixture.pool.horizonOf(fixture.upstream('a'))
  expect(horizon()).toBeNull()
  for (const name of 'bc') fixture.sees(name, 105)
  expect(horizon()).toBeNull()
  fixture.sees('a', 100)
  // The chain grows by five blocks in the minute for which a head counts, and heads may differ by three.
  expect(horizon()).toBe(105 + 5 + chain.allowedLagBlocks)
  fixture.sees('a', 120)
  expect(horizon()).toBe(120 + 5 + chain.allowedLagBlocks)
  await fixture.clock.advance(60_001)
  for (const name of 'bc') fixture.sees(name, 110)
  expect(horizon()).toBeNull()
})

describe('the head of an upstream', () => {
  it('is not lowered by an answer that was overtaken', async () => {
    const fixture = new PoolFixture('ab')
    await fixture.clock.advance(1_000)
    fixture.sees('a', 100)
    await fixture.clock.advance(50)
    fixture.sees('a', 98, 200)
    expect(fixture.upstream('a').latest?.block).toBe(100)
  })

  it('is lowered by one that was asked for since: a reorganisation, or another machine', async () => {
    const fixture = new PoolFixture('ab')
    fixture.sees('a', 100)
    await fixture.clock.advance(50)
    fixture.sees('a', 98, 10)
    expect(fixture.upstream('a').latest?.block).toBe(98)
  })
})

describe('the tip', () => {
  it.each<[string, string, (pool: PoolFixture) => void, number]>([
    [
      'is not what one of several said alone, once the others speak',
      'abc',
      (pool) => {
        pool.sees('a', 200)
        expect(pool.pool.tip).toBe(200)
        for (const name of 'bc') pool.sees(name, 100)
      },
      100,
    ],
    [
      'is what two of them say, and stays it when they are disabled',
      'abc',
      (pool) => {
        for (const name of 'ab') pool.sees(name, 200)
        for (const name of 'ab') pool.disable(name)
        pool.sees('c', 100)
      },
      200,
    ],
    [
      'is not what disabled ones say',
      'abc',
      (pool) => {
        for (const name of 'ab') pool.disable(name)
        for (const name of 'ab') pool.sees(name, 200)
        pool.sees('c', 100)
      },
      100,
    ],
    [
      'is what the only one says, and stays it when that one is disabled',
      'a',
      (pool) => {
        pool.sees('a', 200)
        pool.disable('a')
        pool.sees('a', 100)
      },
      200,
    ],
  ])('%s', (_, names, happens, tip) => {
    const fixture = new PoolFixture(names)
    happens(fixture)
    expect(fixture.pool.tip).toBe(tip)
  })

  it('is not what was told more than a minute ago', async () => {
    const fixture = new PoolFixture('abc')
    for (const name of 'ab') fixture.sees(name, 200)
    await fixture.clock.advance(60_001)
    expect(fixture.pool.tip).toBeNull()
    fixture.sees('c', 100)
    expect(fixture.pool.tip).toBe(100)
  })
})

describe('one that was believed, on a chain that is faster than was known', () => {
  const believed = () => {
    const fixture = new PoolFixture('ab')
    fixture.sees('b', 1_000)
    fixture.sees('a', 1_012)
    settle(fixture)
    expect(fixture.pool.tip).toBe(1_012)
    return fixture
  }
  const settle = ({ pool }: PoolFixture) => {
    const dispute = pool.disputeOf(pool.upstreams[0]!)
    pool.settled(dispute!, ['behind'])
  }

  it('is asked again when it has left the pace, and believed again', async () => {
    const fixture = believed()
    await fixture.clock.advance(chain.blockTimeMs / 2)
    fixture.sees('b', 1_006)
    fixture.sees('a', 1_018)
    settle(fixture)
    expect(fixture.pool.tip).toBe(1_018)
    expect(fixture.chosen({ block: latest })).toBe('a')
  })

  it('is believed without that as soon as it is in pace', async () => {
    const fixture = believed()
    await fixture.clock.advance(chain.blockTimeMs / 2)
    fixture.sees('a', 1_018)
    fixture.sees('b', 1_006)
    await fixture.clock.advance(3 * chain.blockTimeMs)
    fixture.sees('a', 1_018)
    expect(fixture.pool.tip).toBe(1_018)
  })
})
