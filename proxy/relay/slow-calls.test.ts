// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, describe, expect, it } from 'vitest'
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { RelayConfig } from '../config/types.ts'
import type { Script } from '../upstream/testing/scripted-transport.ts'
import type { ReplyReader } from './reply.ts'
import {
  RelayFixture,
  ethereum,
  nodeError,
  result,
  type TestCall,
  type FixtureUpstream,
  type Seen,
} from './testing/relay-fixture.ts'

/** The time of a cheap call, after which the next upstream is asked. */
const usualMs = 1_000
const needsMs = 2_600

let chain: Chain
let iface: ChainInterface
beforeAll(async () => {
  ;({ chain, iface } = await ethereum())
})

const hangs: Script = () => ({ hang: true })
const slow: Script = () => result('0x1', { afterMs: needsMs })
const prompt: Script = () => result('0x1')
const names = ['a', 'b', 'c'] as const
const write: TestCall = { method: 'eth_sendRawTransaction', params: ['0x02f8'] }
const local: TestCall = { method: 'eth_coinbase', params: [] }

function fixture(
  scripts: Readonly<Record<string, Script | FixtureUpstream>>,
  config: Partial<RelayConfig> = {},
) {
  const upstreams = Object.entries(scripts).map(([name, each]): [string, FixtureUpstream] => [
    name,
    typeof each === 'function' ? { script: each } : each,
  ])
  return new RelayFixture(chain, iface, Object.fromEntries(upstreams), config)
}

const allSlow = { a: slow, b: slow, c: slow }
const allHang = { a: hangs, b: hangs, c: hangs }
const resultsOf = ({ call }: Seen) =>
  call.journal.attempts.map(({ result }) => (typeof result === 'object' ? result?.name : result))

describe('a call that takes long on every node', () => {
  it('is answered by the first that is ready, and the others are aborted', async () => {
    const relay = fixture(allSlow)
    const seen = await relay.ask()
    expect([seen.upstream, seen.tookMs]).toEqual(['a', needsMs])
    expect(relay.sent).toEqual({ a: 1, b: 1, c: 1 })
    expect(names.map((name) => relay.transport(name).open)).toEqual([0, 0, 0])
    expect(relay.pool.upstreams.map(({ usedSlots }) => usedSlots)).toEqual([0, 0, 0])
    await relay.clock.advance(60_000)
    expect(relay.clock.pending).toBe(0)
  })

  it('records which attempts were late, and which still had time', async () => {
    const seen = await fixture(allSlow).ask()
    expect(resultsOf(seen)).toEqual(['answer', 'attempt-timeout', 'attempt-timeout'])
  })

  it.each<[string, TestCall, Partial<RelayConfig>, Record<string, number>]>([
    ['retries are switched off', {}, { retryLimit: 0 }, { a: 1, b: 0, c: 0 }],
    ['one attempt is allowed', {}, { maxAttempts: 1 }, { a: 1, b: 0, c: 0 }],
    ['it is local to one node', local, {}, { a: 1, b: 0, c: 0 }],
    ['it is a write', write, { minRelayTimeoutMs: 100 }, { a: 1, b: 1, c: 1 }],
  ])('is answered when %s', async (_name, request, config, sent) => {
    const relay = fixture(allSlow, config)
    const seen = await relay.ask(request)
    expect([seen.outcome, seen.tookMs]).toEqual([result('0x1').body, needsMs])
    expect(relay.sent).toEqual(sent)
  })

  it.each([
    ['one upstream', { a: slow }, { a: 1 }],
    ['two', { a: slow, b: slow }, { a: 1, b: 1 }],
  ])('is asked of each but once where there is %s', async (_, scripts, sent) => {
    const relay = fixture(scripts)
    const seen = await relay.ask()
    expect([seen.outcome, seen.tookMs]).toEqual([result('0x1').body, needsMs])
    expect(relay.sent).toEqual(sent)
  })

  it('is not begun at a backup when its client has left, where it is a write', async () => {
    const late: FixtureUpstream = { script: prompt, tier: 'backup' }
    const relay = fixture({ a: hangs, z: late })
    const abort = new AbortController()
    const seen = relay.begin({ ...write, signal: abort.signal })
    await relay.clock.advance(usualMs / 2)
    abort.abort()
    await relay.clock.advance(60_000)
    expect((await seen).outcome).toBe('CallAborted')
    expect(relay.sent).toEqual({ a: 1, z: 0 })
  })

  it('is tried again once for an upstream that is late and fails then', async () => {
    const failsLate: Script = () => ({ fault: 'reset', afterMs: 1_500 })
    const { call } = await fixture({ a: failsLate, b: slow, c: slow }).ask()
    expect(call.journal.attempts.map(({ startedMs }) => startedMs)).toEqual([0, 500, 1_000, 2_000])
  })

  it('is answered by the retry where that is ready first', async () => {
    const relay = fixture({ a: hangs, b: slow, c: hangs })
    const seen = await relay.ask()
    expect([seen.upstream, seen.tookMs]).toEqual(['b', usualMs / 2 + needsMs])
  })

  it('is answered when all others fail in the meantime', async () => {
    const broken: Script = () => ({ fault: 'reset' })
    const relay = fixture({ a: slow, b: broken, c: broken })
    const seen = await relay.ask()
    expect([seen.upstream, seen.tookMs]).toEqual(['a', needsMs])
  })

  it('gets the node error that comes in the end', async () => {
    const broken: Script = () => nodeError(-32000, 'odd weather', { afterMs: needsMs })
    const relay = fixture({ a: broken, b: broken, c: broken })
    expect((await relay.ask()).outcome).toContain('odd weather')
  })

  it('ends with its time, as a timeout', async () => {
    const relay = fixture(allHang, { processingTimeoutMs: 5_000 })
    const seen = await relay.ask()
    expect([seen.outcome, seen.tookMs]).toEqual(['timeout', 5_000])
    expect(relay.sent).toEqual({ a: 1, b: 1, c: 1 })
    await relay.clock.advance(60_000)
    expect(relay.clock.pending).toBe(0)
  })

  it('ends at once with a defect of the router that shows late', async () => {
    const reader: ReplyReader = {
      read: () => {
        throw new TypeError('a mistake of the router')
      },
      write: () => Buffer.alloc(0),
    }
    const relay = fixture({ a: slow, b: hangs, c: hangs })
    const seen = await relay.ask({ reader })
    expect([seen.outcome, seen.tookMs]).toEqual(['TypeError', needsMs])
    expect(names.map((name) => relay.transport(name).open)).toEqual([0, 0, 0])
  })

  it.each<[string, TestCall, number | null]>([
    ['its client', { directives: { relayTimeoutMs: 800 } }, null],
    ['the config of the URL', {}, 800],
  ])('is not waited for beyond the time that %s sets', async (_name, request, timeoutMs) => {
    const urls = [{ timeoutMs }]
    const one = { script: slow, urls }
    const relay = fixture({ a: one, b: one, c: one })
    const seen = await relay.ask(request)
    expect(seen.outcome).toBe('timeout')
    expect(seen.tookMs).toBeLessThanOrEqual(4 * 800)
  })

  it('is aborted everywhere when its client leaves', async () => {
    const relay = fixture(allHang)
    const client = new AbortController()
    const seen = relay.begin({ signal: client.signal })
    await relay.clock.advance(2 * usualMs + 500)
    expect(names.map((name) => relay.transport(name).open)).toEqual([1, 1, 1])
    client.abort()
    await seen
    expect(names.map((name) => relay.transport(name).open)).toEqual([0, 0, 0])
    await relay.clock.advance(60_000)
    expect(relay.clock.pending).toBe(0)
  })
})

it('a call that hangs wakes up less and less often once the budget of extra calls is spent', async () => {
  let hanging = false
  const script: Script = () => (hanging ? { hang: true } : result('0x1', { afterMs: 2 }))
  const relay = fixture({ a: script, b: script, c: script })
  for (let each = 0; each < 60; each++) await relay.ask()
  hanging = true
  const after = relay.clock.after.bind(relay.clock)
  let woken = 0
  relay.clock.after = (ms, run) =>
    after(ms, () => {
      woken += 1
      run()
    })
  const calls = Array.from({ length: 100 }, () => relay.begin())
  await relay.clock.advance(900)
  expect(woken).toBeLessThan(10 * calls.length)
  await relay.clock.advance(60_000)
  await Promise.all(calls)
})

describe('a write', () => {
  it('goes to the others when the named upstream is late, whose answer still counts', async () => {
    const request = { ...write, directives: { selectProvider: 'c' } }
    const seen = await fixture({ a: hangs, b: prompt, c: hangs }).ask(request)
    expect(seen.upstream).toBe('b')
    const late = await fixture(allHang, { minRelayTimeoutMs: 100 }).ask(request)
    expect(late.outcome).toBe('timeout')
    const relay = fixture({ a: hangs, b: hangs, c: slow }, { minRelayTimeoutMs: 100 })
    relay.transport('c').play(() => result('0x1', { afterMs: 15_000 }))
    const last = await relay.ask(request)
    expect([last.upstream, last.tookMs]).toEqual(['c', 15_000])
  })

  it('goes to a backup when all primaries are late', async () => {
    const relay = fixture({ a: hangs, b: hangs, z: { script: prompt, tier: 'backup' } })
    expect((await relay.ask(write)).upstream).toBe('z')
  })
})

describe('being late', () => {
  it('disables no upstream when the calls are slow, one after the other or at once', async () => {
    const relay = fixture(allSlow)
    for (let each = 0; each < 12; each++) await relay.ask()
    const burst = Array.from({ length: 60 }, () => relay.begin())
    await relay.clock.advance(10_000)
    await Promise.all(burst)
    expect(relay.events).toEqual([])
  })

  it('disables no upstream that answers other calls in the meantime', async () => {
    const relay = fixture({ a: (request) => scriptFor(request.body) })
    const heavy = Array.from({ length: 20 }, () => relay.begin())
    for (let each = 0; each < 200; each++) {
      void relay.begin({ method: 'eth_chainId', params: [] })
      await relay.clock.advance(100)
    }
    await Promise.all(heavy)
    expect(relay.events).toEqual([])
    function scriptFor(body: unknown) {
      const isLight = Buffer.from(body as Uint8Array).includes('eth_chainId')
      return isLight ? result('0x1') : result('0x1', { afterMs: 20_000 })
    }
  })

  it('disables an upstream that hangs, while another answers the same calls in time', async () => {
    const relay = fixture({ a: hangs, b: prompt })
    for (let each = 0; each < 60; each++) await relay.ask()
    expect(relay.events).toEqual(['a: eligible > disabled'])
  })

  it('disables all upstreams that hang, so that the backup is asked at once', async () => {
    const relay = fixture({ ...allHang, z: { script: prompt, tier: 'backup' } })
    for (let each = 0; each < 10; each++) {
      void relay.begin()
      await relay.clock.advance(usualMs)
    }
    await relay.clock.advance(10_000)
    const seen = await relay.ask()
    expect([seen.upstream, relay.sent['z']]).toEqual(['z', expect.any(Number)])
    expect(seen.tookMs).toBeLessThan(usualMs)
  })

  it('and failing then is one failure', async () => {
    const relay = fixture({ a: () => ({ fault: 'reset', afterMs: needsMs }) }, { retryLimit: 0 })
    for (let each = 0; each < 4; each++) await relay.ask()
    expect(relay.events).toEqual([])
    await relay.ask()
    expect(relay.events).toEqual(['a: eligible > disabled'])
  })

  it('costs an upstream its share all the same', async () => {
    const relay = fixture(allSlow)
    const [a] = relay.pool.upstreams
    const before = a!.score.availability(relay.clock.nowMs())
    await relay.ask()
    expect(a!.score.availability(relay.clock.nowMs())).toBeLessThan(before)
  })
})

it('costs an upstream score for each call that is late, though they count as one failure', async () => {
  const availabilityAfter = async (calls: number) => {
    const relay = fixture({ a: hangs })
    for (let each = 0; each < calls; each++) void relay.begin()
    await relay.clock.advance(usualMs + 1)
    return relay.pool.upstreams[0]!.score.availability(relay.clock.nowMs())
  }
  expect(await availabilityAfter(2)).toBeLessThan(await availabilityAfter(1))
})
