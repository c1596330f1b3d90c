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
  type CallResult,
} from './testing/relay-fixture.ts'

/** Budget of a cheap call, after which the next upstream is tried. */
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
const resultsOf = ({ call }: CallResult) =>
  call.journal.attempts.map(({ result }) => (typeof result === 'object' ? result?.name : result))

describe('a call that is slow on every node', () => {
  it('gets the first answer, and other attempts are aborted', async () => {
    const relay = fixture(allSlow)
    const reply = await relay.ask()
    expect([reply.upstream, reply.tookMs]).toEqual(['a', needsMs])
    expect(relay.sent).toEqual({ a: 1, b: 1, c: 1 })
    expect(names.map((name) => relay.transport(name).open)).toEqual([0, 0, 0])
    expect(relay.pool.upstreams.map(({ usedSlots }) => usedSlots)).toEqual([0, 0, 0])
    await relay.clock.advance(60_000)
    expect(relay.clock.pending).toBe(0)
  })

  it('records which attempts were late', async () => {
    const reply = await fixture(allSlow).ask()
    expect(resultsOf(reply)).toEqual(['answer', 'attempt-timeout', 'attempt-timeout'])
  })

  it.each<[string, TestCall, Partial<RelayConfig>, Record<string, number>]>([
    ['retries are off', {}, { retryLimit: 0 }, { a: 1, b: 0, c: 0 }],
    ['one attempt is allowed', {}, { maxAttempts: 1 }, { a: 1, b: 0, c: 0 }],
    ['it concerns the state of one node', local, {}, { a: 1, b: 0, c: 0 }],
    ['it is a write', write, { minRelayTimeoutMs: 100 }, { a: 1, b: 1, c: 1 }],
  ])('is answered when %s', async (_name, request, config, sent) => {
    const relay = fixture(allSlow, config)
    const reply = await relay.ask(request)
    expect([reply.outcome, reply.tookMs]).toEqual([result('0x1').body, needsMs])
    expect(relay.sent).toEqual(sent)
  })

  it.each([
    ['one upstream', { a: slow }, { a: 1 }],
    ['two', { a: slow, b: slow }, { a: 1, b: 1 }],
  ])('goes to each upstream once with %s', async (_, scripts, sent) => {
    const relay = fixture(scripts)
    const reply = await relay.ask()
    expect([reply.outcome, reply.tookMs]).toEqual([result('0x1').body, needsMs])
    expect(relay.sent).toEqual(sent)
  })

  it('does not go to a backup if it is a write and the client disconnected', async () => {
    const late: FixtureUpstream = { script: prompt, tier: 'backup' }
    const relay = fixture({ a: hangs, z: late })
    const abort = new AbortController()
    const reply = relay.begin({ ...write, signal: abort.signal })
    await relay.clock.advance(usualMs / 2)
    abort.abort()
    await relay.clock.advance(60_000)
    expect((await reply).outcome).toBe('CallAborted')
    expect(relay.sent).toEqual({ a: 1, z: 0 })
  })

  it('is retried once for an upstream that is late and then fails', async () => {
    const failsLate: Script = () => ({ fault: 'reset', afterMs: 1_500 })
    const { call } = await fixture({ a: failsLate, b: slow, c: slow }).ask()
    expect(call.journal.attempts.map(({ startedMs }) => startedMs)).toEqual([0, 500, 1_000, 2_000])
  })

  it('gets the answer of the retry if that is first', async () => {
    const relay = fixture({ a: hangs, b: slow, c: hangs })
    const reply = await relay.ask()
    expect([reply.upstream, reply.tookMs]).toEqual(['b', usualMs / 2 + needsMs])
  })

  it('gets the late answer when all other attempts fail', async () => {
    const broken: Script = () => ({ fault: 'reset' })
    const relay = fixture({ a: slow, b: broken, c: broken })
    const reply = await relay.ask()
    expect([reply.upstream, reply.tookMs]).toEqual(['a', needsMs])
  })

  it('gets the node error that comes last', async () => {
    const broken: Script = () => nodeError(-32000, 'odd weather', { afterMs: needsMs })
    const relay = fixture({ a: broken, b: broken, c: broken })
    expect((await relay.ask()).outcome).toContain('odd weather')
  })

  it('times out at its deadline', async () => {
    const relay = fixture(allHang, { processingTimeoutMs: 5_000 })
    const reply = await relay.ask()
    expect([reply.outcome, reply.tookMs]).toEqual(['timeout', 5_000])
    expect(relay.sent).toEqual({ a: 1, b: 1, c: 1 })
    await relay.clock.advance(60_000)
    expect(relay.clock.pending).toBe(0)
  })

  it('ends at once after an unexpected exception', async () => {
    const reader: ReplyReader = {
      read: () => {
        throw new TypeError('a mistake of the router')
      },
      write: () => Buffer.alloc(0),
    }
    const relay = fixture({ a: slow, b: hangs, c: hangs })
    const reply = await relay.ask({ reader })
    expect([reply.outcome, reply.tookMs]).toEqual(['TypeError', needsMs])
    expect(names.map((name) => relay.transport(name).open)).toEqual([0, 0, 0])
  })

  it.each<[string, TestCall, number | null]>([
    ['its client', { directives: { relayTimeoutMs: 800 } }, null],
    ['the config of the URL', {}, 800],
  ])('ends at the timeout that %s sets', async (_name, request, timeoutMs) => {
    const urls = [{ timeoutMs }]
    const one = { script: slow, urls }
    const relay = fixture({ a: one, b: one, c: one })
    const reply = await relay.ask(request)
    expect(reply.outcome).toBe('timeout')
    expect(reply.tookMs).toBeLessThanOrEqual(4 * 800)
  })

  it('is aborted everywhere when the client disconnects', async () => {
    const relay = fixture(allHang)
    const client = new AbortController()
    const reply = relay.begin({ signal: client.signal })
    await relay.clock.advance(2 * usualMs + 500)
    expect(names.map((name) => relay.transport(name).open)).toEqual([1, 1, 1])
    client.abort()
    await reply
    expect(names.map((name) => relay.transport(name).open)).toEqual([0, 0, 0])
    await relay.clock.advance(60_000)
    expect(relay.clock.pending).toBe(0)
  })
})

it('a hanging call backs off once the hedge budget is empty', async () => {
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
  it('goes to all others when the selected upstream is late, and still uses its answer', async () => {
    const request = { ...write, directives: { selectProvider: 'c' } }
    const reply = await fixture({ a: hangs, b: prompt, c: hangs }).ask(request)
    expect(reply.upstream).toBe('b')
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

describe('lateness', () => {
  it('disables no upstream when calls are slow, sequentially or at once', async () => {
    const relay = fixture(allSlow)
    for (let each = 0; each < 12; each++) await relay.ask()
    const burst = Array.from({ length: 60 }, () => relay.begin())
    await relay.clock.advance(10_000)
    await Promise.all(burst)
    expect(relay.events).toEqual([])
  })

  it('disables no upstream that still answers other calls', async () => {
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

  it('disables a hanging upstream while another answers the same calls in time', async () => {
    const relay = fixture({ a: hangs, b: prompt })
    for (let each = 0; each < 60; each++) await relay.ask()
    expect(relay.events).toEqual(['a: eligible > disabled'])
  })

  it('disables all hanging upstreams, so that calls go to the backup at once', async () => {
    const relay = fixture({ ...allHang, z: { script: prompt, tier: 'backup' } })
    for (let each = 0; each < 10; each++) {
      void relay.begin()
      await relay.clock.advance(usualMs)
    }
    await relay.clock.advance(10_000)
    const reply = await relay.ask()
    expect([reply.upstream, relay.sent['z']]).toEqual(['z', expect.any(Number)])
    expect(reply.tookMs).toBeLessThan(usualMs)
  })

  it('counts as one failure together with a later error', async () => {
    const relay = fixture({ a: () => ({ fault: 'reset', afterMs: needsMs }) }, { retryLimit: 0 })
    for (let each = 0; each < 4; each++) await relay.ask()
    expect(relay.events).toEqual([])
    await relay.ask()
    expect(relay.events).toEqual(['a: eligible > disabled'])
  })

  it('reduces the share of an upstream', async () => {
    const relay = fixture(allSlow)
    const [a] = relay.pool.upstreams
    const before = a!.score.availability(relay.clock.nowMs())
    await relay.ask()
    expect(a!.score.availability(relay.clock.nowMs())).toBeLessThan(before)
  })
})

it('each late call lowers the score, although they count as one failure', async () => {
  const availabilityAfter = async (calls: number) => {
    const relay = fixture({ a: hangs })
    for (let each = 0; each < calls; each++) void relay.begin()
    await relay.clock.advance(usualMs + 1)
    return relay.pool.upstreams[0]!.score.availability(relay.clock.nowMs())
  }
  expect(await availabilityAfter(2)).toBeLessThan(await availabilityAfter(1))
})
