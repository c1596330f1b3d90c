// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import type { FixedLimits } from '../config/types.ts'
import type { Script } from '../upstream/testing/scripted-transport.ts'
import { ethereum, nodeError, RelayFixture, result } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const ok = result('0x1')
const write = { method: 'eth_sendRawTransaction', params: ['0x02'] }

function limited(limits: Partial<FixedLimits>, script: Script = () => ok) {
  const full = { perSecond: null, perDay: null, concurrent: null, ...limits }
  return { script, urls: [{ limits: full }] }
}

/** A script that notes when it is asked. */
function timed(times: number[], answer: Script = () => ok) {
  return { script: ((request) => (times.push(clockOf().nowMs()), answer(request))) as Script }
}
let clockOf: () => RelayFixture['clock']

function fixture(...upstreams: ConstructorParameters<typeof RelayFixture>[2][]): RelayFixture {
  const relay = new RelayFixture(chain, iface, Object.assign({}, ...upstreams))
  clockOf = () => relay.clock
  return relay
}

/** The most requests in any second. */
function mostPerSecond(times: readonly number[]): number {
  return Math.max(
    ...times.map((from) => times.filter((each) => each >= from && each < from + 1_000).length),
  )
}

async function outcomes(relay: RelayFixture, count: number, everyMs: number, forMs = 5_000) {
  const asked = []
  for (let each = 0; each < count; each++) {
    asked.push(relay.begin())
    if (everyMs > 0) await relay.clock.advance(everyMs)
  }
  await relay.clock.advance(forMs)
  return (await Promise.all(asked)).map(({ outcome }) => outcome)
}

describe('a fixed limit', () => {
  it('is never exceeded in any second, while another upstream takes the rest', async () => {
    const times: number[] = []
    const relay = fixture({
      a: { ...limited({ perSecond: 5 }), ...timed(times) },
      b: { script: () => ok },
    })
    expect(new Set(await outcomes(relay, 200, 30))).toEqual(new Set([ok.body]))
    expect(mostPerSecond(times)).toBe(5)
    expect([relay.sent['a']! >= 25, relay.events]).toEqual([true, []])
    const { exclusionReason } = (await relay.ask()).call.journal.considered![0]!
    expect(exclusionReason).toBeNull()
  })

  it('makes the calls wait for their turn that no other upstream can serve', async () => {
    const times: number[] = []
    const relay = fixture({ a: { ...limited({ perSecond: 10 }), ...timed(times) } })
    expect(new Set(await outcomes(relay, 15, 0))).toEqual(new Set([ok.body]))
    expect([times.length, mostPerSecond(times)]).toEqual([15, 10])
  })

  it('refuses the calls that would wait longer than a second', async () => {
    const times: number[] = []
    const relay = fixture({ a: { ...limited({ perSecond: 10 }), ...timed(times) } })
    const all = await outcomes(relay, 25, 0)
    expect(all.filter((each) => each === 'rate-limited')).toHaveLength(5)
    expect([times.length, relay.pool.upstreams[0]!.state]).toEqual([20, 'eligible'])
  })

  it('of a day ends at midnight UTC, and is told to the client', async () => {
    const relay = fixture({ a: limited({ perDay: 3 }) })
    for (let each = 0; each < 3; each++) expect((await relay.ask()).outcome).toBe(ok.body)
    await relay.clock.advance(23.5 * 3_600_000)
    const { outcome, call } = await relay.ask()
    expect([outcome, call.journal.considered![0]!.exclusionReason]).toEqual([
      'rate-limited',
      'limit-reached',
    ])
    await relay.clock.advance(3_600_000)
    expect((await relay.ask()).outcome).toBe(ok.body)
  })

  it('of concurrent requests queues calls in their order', async () => {
    let running = 0
    let most = 0
    const slow: Script = () => {
      running += 1
      most = Math.max(most, running)
      relay.clock.after(100, () => (running -= 1))
      return { ...ok, afterMs: 101 }
    }
    const relay: RelayFixture = fixture({ a: limited({ concurrent: 2 }, slow) })
    const ended: number[] = []
    const asked = Array.from({ length: 12 }, async (_, at) => {
      expect((await relay.begin()).outcome).toBe(ok.body)
      ended.push(at)
    })
    await relay.clock.advance(1_000)
    await Promise.all(asked)
    expect([most, ended]).toEqual([2, Array.from({ length: 12 }, (_, at) => at)])
  })

  it('frees the slot of a call whose client leaves while it waits', async () => {
    const relay = fixture({ a: limited({ perSecond: 1, concurrent: 2 }) })
    const leaving = new AbortController()
    const first = relay.begin()
    const second = relay.begin({ signal: leaving.signal })
    leaving.abort()
    expect((await second).outcome).toBe('CallAborted')
    await relay.clock.advance(3_000)
    expect((await first).outcome).toBe(ok.body)
    expect((await relay.ask()).outcome).toBe(ok.body)
  })

  it('gives back the turns of calls whose clients leave while they wait', async () => {
    const times: number[] = []
    const relay = fixture({ a: { ...limited({ perSecond: 5 }), ...timed(times) } })
    const leaving = new AbortController()
    const first = Array.from({ length: 5 }, () => relay.begin())
    const left = Array.from({ length: 5 }, () => relay.begin({ signal: leaving.signal }))
    leaving.abort()
    await relay.clock.advance(500)
    await Promise.all([...first, ...left])
    const next = relay.begin()
    await relay.clock.advance(600)
    expect([(await next).outcome, times.at(-1)! - times[0]!]).toEqual([ok.body, 1_000])
  })

  it('moves the calls up that wait behind one whose client leaves', async () => {
    const times: number[] = []
    const relay = fixture({ a: { ...limited({ perSecond: 1 }), ...timed(times) } })
    const leaving = new AbortController()
    const first = relay.begin()
    const left = relay.begin({ signal: leaving.signal })
    await relay.clock.advance(950)
    const last = relay.begin()
    leaving.abort()
    await relay.clock.advance(60)
    expect([(await first).outcome, (await left).outcome]).toEqual([ok.body, 'CallAborted'])
    expect([(await last).outcome, times.at(-1)! - times[0]!]).toEqual([ok.body, 1_000])
  })

  it('does not charge the day for calls that leave while they wait', async () => {
    const relay = fixture({ a: limited({ perSecond: 1, perDay: 5 }) })
    await relay.ask()
    for (let each = 0; each < 8; each++) {
      const leaving = new AbortController()
      const left = relay.begin({ signal: leaving.signal })
      leaving.abort()
      await left
    }
    for (let each = 0; each < 4; each++) expect((await relay.ask()).outcome).toBe(ok.body)
    expect((await relay.ask()).outcome).toBe('rate-limited')
  })

  it('holds back a write only if every upstream is at its limit', async () => {
    const relay = fixture({ a: limited({ perSecond: 1 }), b: limited({ perSecond: 2 }) })
    for (let each = 0; each < 4; each++) expect((await relay.ask(write)).outcome).toBe(ok.body)
    expect(relay.clock.nowMs()).toBeGreaterThanOrEqual(1_000)
  })

  it('applies to each URL of an upstream', async () => {
    const relay = new RelayFixture(chain, iface, {
      a: { script: () => ok, urls: [...limited({ perSecond: 2 }).urls, {}] },
    })
    for (let each = 0; each < 10; each++) expect((await relay.ask()).outcome).toBe(ok.body)
    expect(relay.transport('a', 0).requests.length).toBe(2)
    expect(relay.transport('a', 1).requests.length).toBe(8)
  })
})

describe('a limit that a node refuses', () => {
  const perSecond = nodeError(429, 'request rate exceeds the limit of 20 per second')

  /** Allows 20 requests per second, by its own clock. */
  function node(answers: boolean[], afterMs: number): { script: Script } {
    const windows = new Map<number, number>()
    return {
      script: () => {
        const second = Math.floor(clockOf().nowMs() / 1_000)
        windows.set(second, (windows.get(second) ?? 0) + 1)
        answers.push(windows.get(second)! <= 20)
        return { ...(answers.at(-1) ? ok : perSecond), afterMs }
      },
    }
  }

  it('is learned, so that a steady load is served with hardly a refusal', async () => {
    const answers: boolean[] = []
    const relay = fixture({ a: node(answers, 40), b: node(answers, 40) })
    // Bursts teach the limits.
    for (let each = 0; each < 4; each++) await outcomes(relay, 60, 0, 1_500)
    answers.length = 0
    const all = await outcomes(relay, 60 * 30, 1_000 / 30)
    expect(all.filter((each) => each !== ok.body)).toEqual([])
    expect(answers.filter((isOk) => !isOk).length / answers.length).toBeLessThan(0.02)
  })

  it('is learned from the answers to a large burst, not from its requests', async () => {
    const answers: boolean[] = []
    const relay = fixture({ a: node(answers, 40) })
    for (let each = 0; each < 2; each++) await outcomes(relay, 1_100, 0, 3_000)
    const learned = relay.pool.upstreams[0]!.urls[0]!.limit!.learnedPerSecond
    expect([learned! >= 10, learned! <= 20]).toEqual([true, true])
  })

  it('is learned by a single URL, and forgotten when it no longer binds', async () => {
    const answers: boolean[] = []
    const relay = fixture({ a: node(answers, 40) })
    await outcomes(relay, 30 * 10, 1_000 / 30)
    answers.length = 0
    await outcomes(relay, 60 * 30, 1_000 / 30)
    expect(answers.filter((isOk) => !isOk).length / answers.length).toBeLessThan(0.02)
    const burst = async () => {
      const before = relay.sent['a']!
      const asked = Array.from({ length: 20 }, () => relay.begin())
      const sent = relay.sent['a']! - before
      await relay.clock.advance(3_000)
      await Promise.all(asked)
      return sent
    }
    expect(await burst()).toBeLessThan(20)
    await relay.clock.advance(6 * 60_000)
    expect(await burst()).toBe(20)
  })
})
