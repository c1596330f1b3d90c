// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { graceMs } from '../store/shared-store.ts'
import { StoreError } from '../store/store-error.ts'
import { FakeKeys } from '../store/testing/fake-keys.ts'
import { expectSessionContract } from '../store/testing/session-contract.ts'
import { Sessions, type StickyOutcome } from './sessions.ts'

const lifetimeMs = 100_000

class Replica {
  readonly sessions: Sessions
  readonly outcomes: StickyOutcome[] = []
  losses = 0

  constructor(clock: VirtualClock, keys: FakeKeys | null, maxSessions?: number) {
    this.sessions = new Sessions({
      ...{ clock, keys, lifetimeMs },
      ...(maxSessions !== undefined && { maxSessions }),
      count: (outcome) => this.outcomes.push(outcome),
      storeLost: () => (this.losses += 1),
    })
  }

  /** The node of a session. This replica chooses `own`, or `other` if `own` has failed. */
  async find(own: string | null, other = own, key = 'k'): Promise<string | null> {
    return this.sessions.find(key, (avoid) => (avoid === own ? other : own))
  }

  /** Outcomes since the last call. */
  counted(): readonly StickyOutcome[] {
    return this.outcomes.splice(0)
  }
}

/** Replicas that started long ago, and their open store. */
async function fleet(replicas = 2) {
  const clock = new VirtualClock()
  const store = new FakeKeys(clock)
  const all = Array.from({ length: replicas }, () => new Replica(clock, store))
  await clock.advance(60_000)
  store.requests = 0
  return { clock, store, all }
}

/** Restarts the store without its data. */
function restart(store: FakeKeys): void {
  store.connect(false)
  store.forget()
  store.connect(true)
}

test('the store in these tests has the contract of a real one', async () => {
  const [open, closed] = [new FakeKeys(new VirtualClock()), new FakeKeys(new VirtualClock())]
  closed.forget()
  await expectSessionContract(open, closed)
})

describe('a store that lost its data', () => {
  const keys250 = Array.from({ length: 250 }, (_, at) => `k${at}`)
  const closed = 'it restarted or lost its data'

  test.each([
    ['restarted: no session is served until it opens', restart, true],
    ['was flushed: memory serves its own sessions', (store: FakeKeys) => store.forget(), false],
  ])('%s; new ones fail, and none moves', async (_, lose, isGap) => {
    const { clock, store, all } = await fleet()
    const [one, other] = all as [Replica, Replica]
    for (const key of keys250) await one.find('a', 'a', key)
    lose(store)
    await expect(other.find('b', 'b', 'k0')).rejects.toThrow(closed)
    await clock.advance(graceMs - 1)
    await expect(other.find('b', 'b', 'new')).rejects.toThrow(closed)
    if (isGap) await expect(one.find('a')).rejects.toThrow(closed)
    else expect(await one.find('b', 'b', 'k7')).toBe('a')
    await clock.advance(1)
    other.counted()
    for (const key of keys250) expect(await other.find('b', 'b', key)).toBe('a')
    expect(new Set(other.counted())).toEqual(new Set(['adopted']))
    expect(await other.find('b', 'b', 'new')).toBe('b')
    expect([one.losses, other.losses]).toEqual([1, 1])
  })

  test('a second loss before it opens closes it for the same time, and all choices are restored again', async () => {
    const { clock, store, all } = await fleet()
    const [one, other] = all as [Replica, Replica]
    for (const key of keys250) await one.find('a', 'a', key)
    store.forget()
    await expect(other.find('b')).rejects.toThrow(closed)
    await clock.advance(graceMs - 1)
    store.forget()
    await expect(other.find('b')).rejects.toThrow(closed)
    await clock.advance(graceMs - 1)
    await expect(other.find('b')).rejects.toThrow(closed)
    await clock.advance(1)
    for (const key of keys250) expect(await other.find('b', 'b', key)).toBe('a')
  })

  test('a late restore delays its opening', async () => {
    const { clock, store } = await fleet(0)
    const [early, late] = [new Replica(clock, store.another()), new Replica(clock, store)]
    await clock.advance(60_000)
    for (const key of keys250) await late.find('a', 'a', key)
    store.connect(false)
    store.forget()
    await expect(early.find('b')).rejects.toThrow(closed)
    await clock.advance(graceMs - 1)
    store.connect(true)
    await clock.advance(graceMs - 1)
    await expect(early.find('b', 'b', 'new')).rejects.toThrow(closed)
    await clock.advance(1)
    for (const key of keys250) expect(await early.find('b', 'b', key)).toBe('a')
  })

  test('the newer of two choices wins: the other replica missed the drop', async () => {
    const { clock, store } = await fleet(0)
    const connections = [store, store.another()] as const
    const [one, other] = connections.map((each) => new Replica(clock, each)) as [Replica, Replica]
    await clock.advance(60_000)
    expect([await one.find('a'), await other.find('b')]).toEqual(['a', 'a'])
    connections[1].connect(false)
    await clock.advance(10)
    await one.sessions.drop('k', 'a')
    expect(await one.find('a', 'c')).toBe('c')
    connections[0].connect(false)
    store.forget()
    // The replica that missed the drop restores first.
    connections[1].connect(true)
    await clock.advance(10)
    connections[0].connect(true)
    await clock.advance(graceMs)
    expect([await other.find('b'), await one.find('a')]).toEqual(['c', 'c'])
  })

  /** A replica with session `k` at `a`, and a replica without it. */
  async function two() {
    const { clock, store } = await fleet(0)
    const keys = store.another()
    const [holder, other] = [new Replica(clock, keys), new Replica(clock, store)]
    await clock.advance(60_000)
    expect(await holder.find('a')).toBe('a')
    return { clock, store, keys, holder, other }
  }

  test('a replica that learns of the loss after the store has opened verifies each session with the store', async () => {
    const { clock, store, keys, holder, other } = await two()
    keys.isSlow = true
    store.forget()
    await expect(other.find('b')).rejects.toThrow(closed)
    await clock.advance(graceMs)
    expect(await other.find('b')).toBe('b')
    keys.deliver()
    await clock.advance(1_000)
    expect(await holder.find('c')).toBe('b')
  })

  test('a replica does not serve choices that it has yet to restore', async () => {
    const { clock, store, keys, holder, other } = await two()
    keys.session = () => Promise.reject(new StoreError('timeout'))
    store.forget()
    await expect(other.find('b')).rejects.toThrow(closed)
    await clock.advance(graceMs)
    expect(await other.find('b')).toBe('b')
    await expect(holder.find('c')).rejects.toThrow('it did not answer in time')
    Reflect.deleteProperty(keys, 'session')
    await clock.advance(1_000)
    expect(await holder.find('c')).toBe('b')
  })

  test('a choice dropped meanwhile is not restored', async () => {
    const { clock, store, keys, holder, other } = await two()
    for (const key of keys250) await holder.find('a', 'a', key)
    keys.delayMs = () => 10
    store.forget()
    await expect(other.find('b')).rejects.toThrow(closed)
    // The first hundred are in flight.
    await clock.advance(25)
    await other.sessions.drop('k200', 'a')
    await clock.advance(graceMs)
    expect(Object.keys(store.texts)).toHaveLength(250)
    expect(store.texts).not.toHaveProperty('sticky:k200')
  })

  test('a reply from before the loss is not used after it', async () => {
    const { clock, store, keys, holder, other } = await two()
    await other.find('b', 'b', 'new')
    const delays = [1, 100, 1, 1]
    keys.delayMs = () => delays.shift() ?? 1
    const late = holder.find('c', 'c', 'new').catch(String)
    await clock.advance(1)
    store.forget()
    await expect(other.find('b', 'b', 'other')).rejects.toThrow(closed)
    await clock.advance(200)
    expect(await late).toContain(closed)
    expect(holder.sessions.size).toBe(1)
  })

  test('a new replica finds a new store: its first requests wait until the store opens', async () => {
    const clock = new VirtualClock()
    const store = new FakeKeys(clock)
    store.forget()
    const one = new Replica(clock, store)
    const found = one.find('a')
    await clock.advance(graceMs - 1)
    expect(one.outcomes).toEqual([])
    await clock.advance(1_000)
    expect(await found).toBe('a')
    expect([one.losses, one.counted()]).toEqual([0, ['claimed']])
  })
})

describe('the states of a session', () => {
  test('no choice, first request: chosen and stored; memory then answers without the store', async () => {
    const { store, all } = await fleet()
    const [one] = all as [Replica, Replica]
    expect(await one.find('a')).toBe('a')
    expect([one.counted(), store.texts]).toEqual([['claimed'], { 'sticky:k': 'a' }])
    const { requests } = store
    expect(await one.find('b')).toBe('a')
    expect([one.counted(), store.requests, one.sessions.size]).toEqual([['local_hit'], requests, 1])
  })

  test('no choice, and another replica has stored one: adopted for its remaining time', async () => {
    const { clock, all } = await fleet()
    const [one, other] = all as [Replica, Replica]
    await one.find('a')
    await clock.advance(60_000)
    expect(await other.find('b')).toBe('a')
    expect(other.counted()).toEqual(['adopted'])
    await clock.advance(39_999)
    expect([one.sessions.size, other.sessions.size]).toEqual([1, 1])
    await clock.advance(1)
    expect([one.sessions.size, other.sessions.size]).toEqual([0, 0])
    expect(await other.find('b')).toBe('b')
    expect(other.counted()).toEqual(['claimed'])
  })

  test('no choice, and another replica writes at the same moment: the first one wins', async () => {
    const { all } = await fleet()
    const [one, other] = all as [Replica, Replica]
    expect(await Promise.all([other.find('b'), one.find('a')])).toEqual(['b', 'b'])
    expect([other.counted(), one.counted()]).toEqual([['claimed'], ['lost_race']])
    expect(await one.find('a')).toBe('b')
    expect(await other.find('c')).toBe('b')
  })

  test('no choice, and no node: no candidate, and nothing is stored', async () => {
    const { store, all } = await fleet()
    const [one, other] = all as [Replica, Replica]
    expect(await one.find(null)).toBe(null)
    expect([one.counted(), store.texts]).toEqual([['no_candidate'], {}])
    expect(await other.find('a')).toBe('a')
  })

  test('chosen, and the node cannot serve: dropped in every replica, and another is chosen', async () => {
    const { store, all } = await fleet()
    const [one, other] = all as [Replica, Replica]
    await one.find('a')
    await other.find('a')
    await one.sessions.drop('k', 'a')
    expect([one.outcomes.at(-1), store.texts]).toEqual(['invalidated', {}])
    expect([one.sessions.size, other.sessions.size]).toEqual([0, 0])
    // The replica with the next request does not choose the failed node.
    expect(await other.find('a', 'b')).toBe('b')
    expect(await one.find('a', 'b')).toBe('b')
    // The only node is chosen again.
    await one.sessions.drop('k', 'b')
    expect(await one.find('b')).toBe('b')
  })

  test('a late drop does not remove a newer choice of another replica', async () => {
    const { store, all } = await fleet()
    const [one, other] = all as [Replica, Replica]
    await one.find('a')
    await one.sessions.drop('k', 'a')
    await one.find('b')
    await other.sessions.drop('k', 'a')
    expect(store.texts).toEqual({ 'sticky:k': 'b' })
    expect(await other.find('a', 'c')).toBe('b')
  })

  test('chosen, and the store is down: an error, even with the choice in memory; then the same node', async () => {
    const { store, all } = await fleet()
    const [one, other] = all as [Replica, Replica]
    await one.find('a')
    store.connect(false)
    one.counted()
    await expect(one.find('b')).rejects.toThrow('the store failed')
    await expect(other.find('b')).rejects.toThrow('the store failed')
    expect([one.counted(), other.counted()]).toEqual([['error'], ['error']])
    store.connect(true)
    expect(await one.find('b')).toBe('a')
    expect(one.counted()).toEqual(['adopted'])
  })

  test('the store lost its data: the replica that knows the node stores it again, for the remaining time', async () => {
    const { clock, store, all } = await fleet()
    const [one, other] = all as [Replica, Replica]
    await one.find('a')
    await clock.advance(70_000)
    restart(store)
    await clock.advance(10_000)
    expect(await one.find('b')).toBe('a')
    expect(await other.find('b')).toBe('a')
    await clock.advance(20_000)
    expect([one.sessions.size, other.sessions.size]).toEqual([0, 0])
  })

  test('the store lost its data: all agree on the choice that one of them knows', async () => {
    const { clock, store, all } = await fleet(5)
    const [one, ...others] = all as [Replica, ...Replica[]]
    await one.find('a')
    restart(store)
    await clock.advance(10_000)
    const nodes = []
    for (const each of [...others, one]) nodes.push(await each.find('b'))
    expect(nodes).toEqual(['a', 'a', 'a', 'a', 'a'])
  })

  test('a drop without access to the store retains the choice', async () => {
    const { store, all } = await fleet()
    const [one] = all as [Replica, Replica]
    await one.find('a')
    store.connect(false)
    await expect(one.sessions.drop('k', 'a')).rejects.toThrow('the store failed')
    expect(one.outcomes.at(-1)).toBe('error')
    store.connect(true)
    expect(await one.find('b')).toBe('a')
  })

  test('a store reply from before a drop is not trusted twice', async () => {
    const { store, all } = await fleet()
    const [one, other] = all as [Replica, Replica]
    await one.find('a')
    const found = other.find('b')
    await one.sessions.drop('k', 'a')
    await found
    await one.find('a', 'c')
    expect(await other.find('b')).toBe('c')
    expect(store.texts).toEqual({ 'sticky:k': 'c' })
  })
})

test('1,000 first requests at five replicas: one node, and one store request per replica', async () => {
  const { store, all } = await fleet(5)
  const work = Array.from({ length: 1_000 }, async (_, at) => all[at % 5]?.find('same'))
  expect(new Set(await Promise.all(work)).size).toBe(1)
  expect(store.requests).toBeLessThanOrEqual(10)
  const outcomes = all.flatMap(({ outcomes: each }) => each)
  expect(outcomes.filter((each) => each === 'claimed')).toHaveLength(1)
  expect(outcomes.filter((each) => each === 'local_hit')).toHaveLength(995)
})

type Step =
  | { readonly do: 'find' | 'drop'; readonly at: number; readonly own: string }
  | { readonly do: 'down' | 'up' | 'forget' | 'deliver' | 'wait' | 'settle' }

test('in any order of events, memory answers what the store has', async () => {
  const replica = fc.nat({ max: 2 })
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ do: fc.constant('find' as const), at: replica, own: fc.constantFrom('a', 'b') }),
    fc.record({ do: fc.constant('drop' as const), at: replica, own: fc.constantFrom('a', 'b') }),
    fc.record({
      do: fc.constantFrom('down' as const, 'up', 'forget', 'deliver', 'wait', 'settle'),
    }),
  )
  const run = async (steps: readonly Step[]) => {
    const { clock, store, all } = await fleet(3)
    store.isSlow = true
    const work: Promise<unknown>[] = []
    for (const each of steps) {
      if ('at' in each) {
        const { sessions } = all[each.at] as Replica
        const found =
          each.do === 'find'
            ? (all[each.at] as Replica).find(each.own)
            : sessions.drop('k', each.own)
        work.push(Promise.resolve(found).catch(() => {}))
      } else if (each.do === 'down' || each.do === 'up') {
        store.connect(each.do === 'up')
      } else if (each.do === 'forget') {
        restart(store)
      } else if (each.do === 'deliver') store.deliver()
      else if (each.do === 'wait') await clock.advance(300)
      else await Promise.all(work.splice(0))
    }
    await Promise.all(work)
    store.deliver()
    store.connect(true)
    await clock.advance(2 * graceMs)
    // Afterwards, two rounds of requests: memory answers the second one.
    const rounds = []
    for (let round = 0; round < 2; round++)
      for (const each of all) rounds.push(await each.find('c'))
    expect(new Set(rounds).size).toBe(1)
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30 }), run), { numRuns: 500 })
})

test('without a store each replica chooses for itself, and never fails for a store', async () => {
  const clock = new VirtualClock()
  const [one, other] = [new Replica(clock, null), new Replica(clock, null)]
  expect([await one.find('a'), await other.find('b'), await one.find('b')]).toEqual(['a', 'b', 'a'])
  expect(one.counted()).toEqual(['claimed', 'local_hit'])
  await one.sessions.drop('k', 'a')
  expect(await one.find('a', 'b')).toBe('b')
  expect(one.counted()).toEqual(['invalidated', 'claimed'])
  await clock.advance(lifetimeMs)
  expect(await one.find('c')).toBe('c')
})

test('memory is limited: the oldest choices are evicted first', async () => {
  const clock = new VirtualClock()
  const one = new Replica(clock, new FakeKeys(clock), 3)
  await one.find('a', 'a', '1')
  await clock.advance(lifetimeMs)
  for (const key of ['2', '3', '4', '5']) await one.find(`node-${key}`, null, key)
  expect(one.sessions.size).toBe(3)
  one.counted()
  await one.find('x', 'x', '5')
  expect(await one.find('x', 'x', '2')).toBe('node-2')
  expect(one.counted()).toEqual(['local_hit', 'adopted'])
})

test('a hundredth of many sessions is evicted at once, and expired ones do not count', async () => {
  const clock = new VirtualClock()
  const one = new Replica(clock, null, 1_000)
  for (let each = 0; each < 1_001; each++) await one.find('a', 'a', String(each))
  expect(one.sessions.size).toBe(991)
  await clock.advance(lifetimeMs - 1)
  await one.find('a', 'a', 'new')
  await clock.advance(1)
  expect(one.sessions.size).toBe(1)
})
