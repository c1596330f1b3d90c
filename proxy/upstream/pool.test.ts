// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { BlockRef } from '../chain/types.ts'
import { seededRandom } from '../clock/random.ts'
import { VirtualClock } from '../clock/virtual-clock.ts'
import type { NodeUrlConfig, Strategy } from '../config/types.ts'
import { createPool } from './create-pool.ts'
import { lagOf } from './lag.ts'
import type { Pool } from './pool.ts'
import { nodeUrlConfig } from './testing/node-url-config.ts'
import { ScriptedTransport } from './testing/scripted-transport.ts'
import type { Upstream } from './upstream.ts'
import type { Wanted } from './wanted.ts'

const chain = (await loadCatalog([])).find('ETH1')!
const iface = chain.interfaces.get('jsonrpc')!

const latest: BlockRef = { kind: 'tag', tag: 'latest' }
const number = (height: number): BlockRef => ({ kind: 'number', number: height })

/** Upstreams by their names, `z` and `y` being backups; all verified. */
class PoolFixture {
  readonly clock = new VirtualClock()
  readonly events: string[] = []
  readonly pool: Pool
  readonly tried = new Set<string>()

  constructor(names: string, urlOf: (name: string) => Partial<NodeUrlConfig> = () => ({})) {
    const { clock } = this
    const maxSessions = 10
    this.pool = createPool(
      [...names].map((name) => ({
        name,
        tier: 'yz'.includes(name) ? 'backup' : 'primary',
        chainId: chain.id,
        apiInterface: 'jsonrpc',
        groupLabel: null,
        nodeUrls: [nodeUrlConfig(`http://${name}.test`, urlOf(name))],
      })),
      {
        ...{ chain, iface, maxSessions, clock },
        strategy: 'balanced',
        random: seededRandom(1),
        observer: {
          stateChanged: (name, from, to) => this.events.push(`${name}: ${from} > ${to}`),
          heldOff: () => {},
          verificationFailed: () => {},
        },
        failureThreshold: 2,
        createTransport: () => new ScriptedTransport(clock, () => ({})),
        createSocketTransport: () => {
          throw new Error('no WebSocket URL is configured')
        },
      },
    )
    for (const upstream of this.pool.upstreams) {
      for (const url of upstream.urls) url.verified = true
      upstream.availability.verified()
    }
    this.events.length = 0
  }

  upstream(name: string): Upstream {
    return this.pool.upstreams.find((each) => each.name === name)!
  }

  /** An upstream tells its head; it was asked so long before. */
  sees(name: string, block: number, askedBeforeMs = 0): void {
    this.pool.sighted(this.upstream(name), block, this.clock.nowMs() - askedBeforeMs)
  }

  wanted(different: Partial<Wanted> = {}): Wanted {
    return {
      addons: [],
      block: { kind: 'none' },
      byHash: false,
      cost: 10,
      prefer: null,
      excluded: [],
      tried: (name) => this.tried.has(name),
      untriedOnly: false,
      ...different,
    }
  }

  /** Who is chosen in so many draws, each once, in the order of the alphabet. */
  chosen(different: Partial<Wanted> = {}, strategy: Strategy = 'balanced'): string {
    const names = new Set<string>()
    for (let each = 0; each < 300; each++)
      names.add(this.pool.choose(this.wanted(different), strategy)?.name ?? '-')
    return [...names].toSorted().join('')
  }

  /** Who has a turn, in order. */
  turns(
    count: number,
    different: Partial<Wanted> = {},
    strategy: Strategy = 'round-robin',
  ): string {
    const turn = () => this.pool.choose(this.wanted(different), strategy)?.name ?? '-'
    return Array.from({ length: count }, turn).join('')
  }

  disable(name: string): void {
    const upstream = this.upstream(name)
    for (const url of upstream.urls) upstream.failed(url, { name: 'reset', weight: 2 })
  }

  holdOff(name: string): void {
    for (const url of this.upstream(name).urls) url.holdOff.begin(30_000)
  }
}

describe('the choice', () => {
  it.each<[string, (pool: PoolFixture) => void, Partial<Wanted>, string]>([
    ['any primary', () => {}, {}, 'ab'],
    ['never one that is excluded', () => {}, { excluded: ['a'] }, 'b'],
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
    ['not one that is held off', (pool) => pool.holdOff('a'), {}, 'b'],
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
    ['not one that is full', (pool) => (pool.upstream('a').sessions = 10), {}, 'b'],
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

  it.each([
    ['light', 20, 'a'],
    ['middle', 21, 'b'],
    ['heavy', 101, 'a'],
  ] as const)('is by latency among calls of similar cost: a %s one', (_, cost, quick) => {
    const fixture = new PoolFixture('ab')
    const nowMs = fixture.clock.nowMs()
    for (const [name, light, middle, heavy] of [
      ['a', 10, 500, 20],
      ['b', 500, 10, 900],
    ] as const) {
      const { score } = fixture.upstream(name)
      score.succeeded(light, 10, nowMs)
      score.succeeded(middle, 50, nowMs)
      score.succeeded(heavy, 500, nowMs)
    }
    expect(fixture.turns(100, { cost }, 'latency').split(quick).length).toBeGreaterThan(80)
  })

  it('tells how near each one is to the tip, and draws by that', () => {
    const fixture = new PoolFixture('ab')
    fixture.sees('a', 99)
    fixture.sees('b', 100)
    let told: unknown
    fixture.pool.choose(fixture.wanted(), 'sync-freshness', (candidates) => (told = candidates))
    expect(told).toMatchObject([
      { name: 'a', sync: 1 / 2, weight: 1 / 8 },
      { name: 'b', sync: 1, weight: 1 },
    ])
  })

  it('tells whether it would be a repetition', () => {
    const fixture = new PoolFixture('ab')
    expect(fixture.pool.repeats(fixture.wanted())).toBe(false)
    fixture.tried.add('a')
    expect(fixture.pool.repeats(fixture.wanted())).toBe(false)
    fixture.tried.add('b')
    expect(fixture.pool.repeats(fixture.wanted())).toBe(true)
    expect(fixture.pool.repeats(fixture.wanted({ untriedOnly: true }))).toBe(false)
  })
})

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
    ['gets reads of old blocks', lone, { block: number(99) }, 'abc'],
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
  ): Promise<string> {
    for (let head = 1_000; head < 1_050; head++) {
      for (const [name, block] of Object.entries(headsAt(head)))
        if (block === null) fixture.disable(name)
        else fixture.sees(name, block)
      await fixture.clock.advance(chain.blockTimeMs)
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
    [
      'nor of a range up to the latest block',
      {
        block: {
          kind: 'range',
          from: { kind: 'number', number: 5 },
          to: { kind: 'tag', tag: 'latest' },
        },
      },
      'bc',
    ],
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

  it.each<[string, Partial<Wanted>, string]>([
    ['that it has not got, who failed is asked again', { block: number(95) }, 'bc'],
    ['that it has, it comes before them', { block: number(90) }, 'a'],
    ['that is the latest, who failed is asked again', { block: latest }, 'bc'],
    ['that its hash names, it comes before them', { block: { kind: 'hash', hash: '0x' } }, 'a'],
    ['that holds what a hash names, it comes before them', { byHash: true }, 'a'],
  ])('when the others have failed a read of a block %s', (_, different, names) => {
    const fixture = pool()
    for (const name of 'bc') fixture.tried.add(name)
    expect(fixture.pool.repeats(fixture.wanted(different))).toBe(names !== 'a')
    expect(fixture.chosen(different)).toBe(names)
  })

  it.each<[string, (pool: PoolFixture) => void, Partial<Wanted>, string]>([
    ['the tried ones while they are in service', () => {}, { block: latest }, 'bc'],
    ['of the tried ones one is in service', (pool) => pool.disable('b'), { block: latest }, 'c'],
    [
      'all tried ones are disabled',
      (pool) => [...'bc'].forEach((name) => pool.disable(name)),
      { block: latest },
      'a',
    ],
  ])(
    'is asked for the latest block last of all but disabled ones: %s',
    (_, arrange, different, names) => {
      const fixture = pool()
      for (const name of 'bc') fixture.tried.add(name)
      arrange(fixture)
      expect(fixture.chosen(different)).toBe(names)
    },
  )

  it('comes after tried backups for the latest block, and before tried ones on trial', () => {
    const fixture = new PoolFixture('abz')
    for (const [name, block] of Object.entries({ a: 90, b: 100, z: 100 })) fixture.sees(name, block)
    for (const name of 'bz') fixture.tried.add(name)
    expect(fixture.chosen({ block: latest, excluded: ['b'] })).toBe('a')
    expect(fixture.chosen({ block: latest })).toBe('b')
    expect(fixture.chosen({ byHash: true })).toBe('a')
  })

  it('may lack what a hash names while another in service does not lag', () => {
    const fixture = pool()
    const mayLack = (different: Partial<Wanted>) =>
      fixture.pool.mayLack('a', fixture.wanted(different))
    expect(mayLack({ byHash: true })).toBe(true)
    expect(mayLack({ block: { kind: 'hash', hash: '0x' } })).toBe(true)
    expect(mayLack({ byHash: true, excluded: ['b', 'c'] })).toBe(false)
    expect(mayLack({ block: latest })).toBe(false)
    expect(fixture.pool.mayLack('b', fixture.wanted({ byHash: true }))).toBe(false)
    for (const name of 'bc') fixture.disable(name)
    expect(mayLack({ byHash: true })).toBe(false)
  })

  it('serves the latest block when those that failed are out of service', () => {
    const fixture = pool()
    for (const name of 'bc') {
      fixture.tried.add(name)
      fixture.upstream(name).availability.failed(2, 'refused')
    }
    expect(fixture.chosen({ block: latest })).toBe('a')
    expect(fixture.chosen({ block: number(95) })).toBe('bc')
  })

  it('comes after a backup for a block that it has not got', () => {
    const fixture = new PoolFixture('abz')
    for (const [name, block] of Object.entries({ a: 90, b: 100, z: 100 })) fixture.sees(name, block)
    fixture.tried.add('b')
    expect(fixture.chosen({ block: number(95) })).toBe('z')
  })

  it('serves when all lag, the nearest to the tip first', () => {
    const fixture = pool()
    expect(fixture.chosen({ block: latest, excluded: ['b', 'c'] })).toBe('a')
    fixture.sees('b', 95)
    expect(fixture.chosen({ block: latest, excluded: ['c'] })).toBe('b')
  })

  it('is known as such as soon as others tell the tip, though it was heard first', () => {
    const fixture = new PoolFixture('abc')
    fixture.sees('a', 90)
    expect(fixture.pool.stateOf(fixture.upstream('a'))).toBe('eligible')
    fixture.sees('b', 100)
    fixture.sees('c', 100)
    expect(fixture.events).toEqual(['a: eligible > lagging'])
    fixture.sees('a', 100)
    expect(fixture.events).toEqual(['a: eligible > lagging', 'a: lagging > eligible'])
  })

  it('is not one that was asked a while ago, while the chain kept its pace', async () => {
    const fixture = new PoolFixture('ab')
    fixture.sees('a', 100)
    for (let block = 100; block < 110; block++) {
      fixture.sees('b', block)
      await fixture.clock.advance(chain.blockTimeMs)
    }
    expect(fixture.upstream('a').lagBlocks).toBe(0)
  })
})

it.each<[string, number, number | null, number, number]>([
  ['at the tip', 100, 100, 100, 0],
  ['as far behind as when it told its block', 95, 100, 100, 5],
  ['and by as much more as the tip has grown since', 95, 100, 103, 8],
  ['but no further than a tip that has gone back', 95, 100, 97, 2],
  ['never ahead', 105, 100, 100, 0],
  ['heard of before the others', 90, null, 100, 10],
])('an upstream is %s', (_, block, tipThen, tip, lag) => {
  const latest = { block, atMs: 0 }
  expect(lagOf({ latest, tipThen }, tip, chain.blockTimeMs - 1, chain.blockTimeMs)).toBe(lag)
})

it('an upstream that lags makes nothing up while the chain stands still', async () => {
  const fixture = new PoolFixture('abc')
  for (const name of 'bc') fixture.sees(name, 100)
  fixture.sees('a', 90)
  await fixture.clock.advance(4 * chain.blockTimeMs)
  for (const name of 'bc') fixture.sees(name, 100)
  expect(fixture.upstream('a').lagBlocks).toBe(10)
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
  fixture.holdOff('b')
  expect(fixture.chosen({ block })).toBe('a')
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

describe('who is held off', () => {
  it('is told by who comes back first', async () => {
    const fixture = new PoolFixture('ab')
    expect(fixture.pool.nextHeldOff(fixture.wanted())).toBeNull()
    fixture.holdOff('b')
    await fixture.clock.advance(1_000)
    fixture.holdOff('a')
    expect(fixture.pool.nextHeldOff(fixture.wanted())?.upstream.name).toBe('b')
    expect(fixture.pool.nextHeldOff(fixture.wanted({ excluded: ['b'] }))?.upstream.name).toBe('a')
    expect(fixture.pool.nextHeldOff(fixture.wanted({ addons: ['trace'] }))).toBeNull()
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
  expect(pool.upstream('a').slowStart.share(pool.clock.nowMs())).toBe(share)
})
