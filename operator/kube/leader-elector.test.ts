// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import type { Clock } from './clock.ts'
import { LeaderElector, LeaseLostError } from './leader-elector.ts'
import { LeaseKeeper } from './testing/lease-keeper.ts'

const lease = { namespace: 'ns', name: 'operator' }

/** Starts a process that campaigns for the lease, and records its outcome. */
function candidate(
  clock: Clock,
  keeper: LeaseKeeper,
  identity: string,
  wire: { delayMs: number; isCut?: boolean; losesAnswers?: boolean } = { delayMs: 5 },
) {
  const reported: unknown[] = []
  const elector = new LeaderElector({
    client: keeper.connect(wire),
    lease,
    identity,
    clock,
    random: seededRandom(identity.length + 7),
    observer: {
      leading: (leads) => reported.push(leads),
      leaseFailed: () => reported.push('failed'),
      waiting: ({ namespace, name }, leader) =>
        reported.push(`waits for ${leader} of ${namespace}/${name}`),
    },
  })
  const stop = new AbortController()
  const state = { outcome: 'running', leadEnded: false, windDownMs: 0 }
  const lead = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      signal.addEventListener('abort', () =>
        clock.after(state.windDownMs, () => {
          state.leadEnded = true
          resolve()
        }),
      )
    })
  void elector.run(stop.signal, lead).then(
    () => (state.outcome = 'stopped'),
    (error: unknown) => (state.outcome = error instanceof LeaseLostError ? 'lost' : String(error)),
  )
  return { elector, stop, wire, reported, state }
}

test('a waiting process reports the leader once, and again when it changes', async () => {
  const clock = new VirtualClock()
  const keeper = new LeaseKeeper(clock)
  const a = candidate(clock, keeper, 'a')
  await clock.advance(100)
  const b = candidate(clock, keeper, 'b')
  await clock.advance(60_000)
  expect(b.reported).toEqual(['waits for a of ns/operator'])
  const c = candidate(clock, keeper, 'c')
  await clock.advance(100)
  a.stop.abort()
  await clock.advance(60_000)
  const all = [...b.reported, ...c.reported]
  expect(all).toContain(true)
  const [last] = b.elector.isLeading ? [c] : [b]
  const leader = b.elector.isLeading ? 'b' : 'c'
  expect(last.reported).toEqual([
    'waits for a of ns/operator',
    `waits for ${leader} of ns/operator`,
  ])
  expect(a.reported).toEqual([true, false])
})

describe('one candidate', () => {
  test('leads within a round trip, and renews', async () => {
    const clock = new VirtualClock()
    const keeper = new LeaseKeeper(clock)
    const { elector, reported } = candidate(clock, keeper, 'a')
    expect(elector.isLeading).toBe(false)
    await clock.advance(20)
    expect([elector.isLeading, elector.leader, reported]).toEqual([true, 'a', [true]])
    const first = keeper.lease?.spec
    expect(first).toMatchObject({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
      renewTime: expect.stringMatching(/\.\d{6}Z$/),
    })
    await clock.advance(60_000)
    expect(elector.isLeading).toBe(true)
    expect(keeper.lease?.spec?.acquireTime).toBe(first?.acquireTime)
    expect(keeper.lease?.spec?.renewTime).not.toBe(first?.renewTime)
  })

  test('that is stopped keeps the lease until its work ends, and then releases it', async () => {
    const clock = new VirtualClock()
    const keeper = new LeaseKeeper(clock)
    const { elector, stop, state, reported } = candidate(clock, keeper, 'a')
    state.windDownMs = 30_000
    await clock.advance(20)
    stop.abort()
    await clock.advance(29_000)
    expect([state.outcome, elector.isLeading, keeper.lease?.spec?.holderIdentity]).toEqual([
      'running',
      true,
      'a',
    ])
    await clock.advance(2_000)
    expect(state).toMatchObject({ outcome: 'stopped', leadEnded: true })
    expect(keeper.lease?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 })
    expect([elector.isLeading, elector.isHealthy, reported]).toEqual([false, true, [true, false]])
    expect(clock.pending).toBe(0)
  })

  test('that is stopped before it leads leaves the lease as it was', async () => {
    const clock = new VirtualClock()
    const keeper = new LeaseKeeper(clock)
    candidate(clock, keeper, 'a')
    await clock.advance(20)
    const second = candidate(clock, keeper, 'bb')
    await clock.advance(5_000)
    second.stop.abort()
    await clock.advance(100)
    expect(second.state.outcome).toBe('stopped')
    expect(keeper.lease?.spec?.holderIdentity).toBe('a')
  })

  test('that cannot renew in time loses, and reports it before another can lead', async () => {
    const clock = new VirtualClock()
    const keeper = new LeaseKeeper(clock)
    const { elector, wire, state, reported } = candidate(clock, keeper, 'a')
    await clock.advance(20)
    wire.isCut = true
    await clock.advance(9_900)
    expect([elector.isLeading, state.outcome]).toEqual([true, 'running'])
    await clock.advance(2_200)
    expect([elector.isLeading, state.outcome]).toEqual([false, 'lost'])
    expect(reported).toContain('failed')
    expect(reported.at(-1)).toBe(false)
  })

  test('whose renewal is late loses the lease, even if the server stored the renewal', async () => {
    const clock = new VirtualClock()
    const keeper = new LeaseKeeper(clock)
    const { elector, wire, state, reported } = candidate(clock, keeper, 'a')
    await clock.advance(20)
    wire.isCut = true
    // The answer to the attempt at 8 s arrives after the renew deadline of 10 s but before its own.
    await clock.advance(7_000)
    Object.assign(wire, { isCut: false, delayMs: 2_000 })
    const led: boolean[] = []
    for (let passed = 0; passed < 30_000; passed += 50) {
      await clock.advance(50)
      led.push(elector.isLeading)
    }
    expect(keeper.lease?.spec?.holderIdentity).toBe('a')
    expect(led.lastIndexOf(true)).toBeLessThan(led.indexOf(false))
    expect([state.outcome, reported.at(-1)]).toEqual(['lost', false])
  })

  test('that slept through its lease sends no request when it wakes', async () => {
    const clock = new VirtualClock()
    const keeper = new LeaseKeeper(clock)
    let isAsleep = false
    const held: (() => void)[] = []
    const sleepy: Clock = {
      nowMs: () => clock.nowMs(),
      wallMs: () => clock.wallMs(),
      after: (delayMs, run) => clock.after(delayMs, () => (isAsleep ? held.push(run) : run())),
    }
    const { state } = candidate(sleepy, keeper, 'a')
    await clock.advance(20)
    isAsleep = true
    await clock.advance(12_000)
    const before = keeper.lease
    isAsleep = false
    for (const run of held) run()
    await clock.advance(5_000)
    expect(state.outcome).toBe('lost')
    expect(keeper.lease).toEqual(before)
  })

  test('survives a short disconnection', async () => {
    const clock = new VirtualClock()
    const keeper = new LeaseKeeper(clock)
    const { elector, wire, state } = candidate(clock, keeper, 'a')
    await clock.advance(20)
    wire.isCut = true
    await clock.advance(6_000)
    wire.isCut = false
    await clock.advance(30_000)
    expect([elector.isLeading, state.outcome]).toEqual([true, 'running'])
  })

  test('whose answers are lost for a while stays the leader', async () => {
    const clock = new VirtualClock()
    const keeper = new LeaseKeeper(clock)
    const { elector, wire, state } = candidate(clock, keeper, 'a')
    await clock.advance(20)
    wire.losesAnswers = true
    await clock.advance(5_000)
    wire.losesAnswers = false
    await clock.advance(30_000)
    expect([elector.isLeading, state.outcome]).toEqual([true, 'running'])
  })

  test('recreates a deleted lease', async () => {
    const clock = new VirtualClock()
    const keeper = new LeaseKeeper(clock)
    const { elector, state } = candidate(clock, keeper, 'a')
    await clock.advance(20)
    keeper.lease = null
    await clock.advance(3_000)
    expect([elector.isLeading, state.outcome, keeper.lease!.spec?.holderIdentity]).toEqual([
      true,
      'running',
      'a',
    ])
  })
})

describe('two candidates', () => {
  test('the second waits, and leads once the lease is released', async () => {
    const clock = new VirtualClock()
    const keeper = new LeaseKeeper(clock)
    const first = candidate(clock, keeper, 'a')
    await clock.advance(20)
    const second = candidate(clock, keeper, 'bb')
    await clock.advance(60_000)
    expect([first.elector.isLeading, second.elector.isLeading]).toEqual([true, false])
    expect(second.elector.leader).toBe('a')
    first.stop.abort()
    await clock.advance(4_500)
    expect([first.elector.isLeading, second.elector.isLeading]).toEqual([false, true])
    expect(keeper.lease?.spec).toMatchObject({ holderIdentity: 'bb', leaseTransitions: 1 })
  })

  test('the second replaces a dead leader after the lease duration, by its own clock', async () => {
    const clock = new VirtualClock()
    const keeper = new LeaseKeeper(clock)
    const first = candidate(clock, keeper, 'a')
    await clock.advance(20)
    // A wall clock that is off by an hour must not matter.
    const wrongClock: Clock = {
      nowMs: () => clock.nowMs(),
      wallMs: () => clock.wallMs() + 3_600_000,
      after: (delayMs, run) => clock.after(delayMs, run),
    }
    const second = candidate(wrongClock, keeper, 'bb')
    await clock.advance(1_000)
    first.wire.isCut = true
    await clock.advance(14_000)
    expect(second.elector.isLeading).toBe(false)
    await clock.advance(6_000)
    expect(second.elector.isLeading).toBe(true)
  })

  test('a stolen lease is lost at once', async () => {
    const clock = new VirtualClock()
    const keeper = new LeaseKeeper(clock)
    const { elector, state } = candidate(clock, keeper, 'a')
    await clock.advance(20)
    const { metadata, spec } = keeper.lease!
    keeper.lease = {
      ...keeper.lease!,
      metadata: { ...metadata, resourceVersion: '99' },
      spec: { ...spec, holderIdentity: 'thief' },
    }
    await clock.advance(2_100)
    expect([elector.isLeading, state.outcome]).toEqual([false, 'lost'])
    expect(keeper.lease.spec?.holderIdentity).toBe('thief')
  })

  test('a suspended leader does not lead when it wakes', async () => {
    const clock = new VirtualClock()
    const keeper = new LeaseKeeper(clock)
    // While a process is stopped, monotonic time advances but its timers do not fire.
    let isStopped = false
    const held: (() => void)[] = []
    const stoppable: Clock = {
      nowMs: () => clock.nowMs(),
      wallMs: () => clock.wallMs(),
      after: (delayMs, run) => clock.after(delayMs, () => (isStopped ? held.push(run) : run())),
    }
    const first = candidate(stoppable, keeper, 'a')
    await clock.advance(20)
    const second = candidate(clock, keeper, 'bb')
    isStopped = true
    await clock.advance(30_000)
    expect(second.elector.isLeading).toBe(true)
    isStopped = false
    // isLeading is false before any timer fires in the resumed process.
    expect(first.elector.isLeading).toBe(false)
    for (const run of held) run()
    await clock.advance(5_000)
    expect(first.state.outcome).toBe('lost')
    expect(keeper.lease?.spec?.holderIdentity).toBe('bb')
  })
})

const troubles = fc.array(
  fc.record({
    index: fc.nat(2),
    what: fc.constantFrom('cut', 'slow', 'deaf', 'well', 'stop'),
    waitMs: fc.nat(20_000),
  }),
  { maxLength: 25 },
)

test('two processes never lead at once, and eventually one leads', async () => {
  await fc.assert(
    fc.asyncProperty(troubles, async (script) => {
      const clock = new VirtualClock()
      const keeper = new LeaseKeeper(clock)
      const all = ['a', 'bb', 'ccc'].map((identity) =>
        candidate(clock, keeper, identity, { delayMs: 5 }),
      )
      const leaders = () => all.filter(({ elector }) => elector.isLeading).length
      const watch = async (ms: number) => {
        for (let passed = 0; passed < ms; passed += 250) {
          await clock.advance(250)
          expect(leaders()).toBeLessThanOrEqual(1)
        }
      }
      for (const { index, what, waitMs } of script) {
        const { wire, stop } = all[index]!
        wire.isCut = what === 'cut'
        wire.losesAnswers = what === 'deaf'
        wire.delayMs = what === 'slow' ? 3_000 : 5
        if (what === 'stop') stop.abort()
        await watch(waitMs)
      }
      for (const { wire } of all)
        Object.assign(wire, { delayMs: 5, isCut: false, losesAnswers: false })
      const fresh = candidate(clock, keeper, 'dddd')
      all.push(fresh)
      await watch(40_000)
      expect(leaders()).toBe(1)
    }),
    { numRuns: 60 },
  )
})
