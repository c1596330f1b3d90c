// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import type { RelayConfig } from '../config/types.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import type { Journal } from './call.ts'
import {
  ethereum,
  nodeError,
  RelayFixture,
  result,
  scripted,
  type TestCall,
  type Upstreams,
} from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const known: TestCall = { method: 'eth_chainId', params: [] }
const unknown: TestCall = { method: 'custom_method', params: [] }
const write: TestCall = { method: 'eth_sendRawTransaction', params: ['0x02f8'] }
const ok = result('0x1')
const okBody = ok.body
const html = { status: 502, headers: ['content-type', 'text/html'], body: '<h1>Bad gateway</h1>' }
const pruned = nodeError(-32000, 'header not found')

function fixture(upstreams: Upstreams, config: Partial<RelayConfig> = {}): RelayFixture {
  return new RelayFixture(chain, iface, scripted(upstreams), config)
}

describe('hedging', () => {
  /** Fast reads, which fill the hedge budget. */
  async function warmUp(relay: RelayFixture, reads = 100): Promise<void> {
    for (let each = 0; each < reads; each++) await relay.ask()
  }

  it('tries another upstream when the first one is slow, and aborts the first request', async () => {
    const relay = fixture({ a: ok, b: ok })
    await warmUp(relay)
    relay.transport('a').play(() => result('0x5', { afterMs: 900 }))
    const reply = await relay.ask()
    expect([reply.outcome, reply.upstream]).toEqual([okBody, 'b'])
    expect(reply.tookMs).toBeLessThan(100)
    expect(reply.call.journal.retries).toBe(0)
    expect(relay.transport('a').aborted).toBe(1)
  })

  it.each([
    ['the configured timeout of an upstream', { timeoutMs: 300 }, {}],
    ['the timeout of a client', {}, { relayTimeoutMs: 300 }],
  ])('comes before the end of %s', async (_name, url, directives) => {
    const slow = result('0x5', { afterMs: 900 })
    const upstream = { script: () => ok, urls: [url] }
    const relay = fixture({ a: upstream, b: upstream })
    // Another method leaves this one without an estimate.
    await warmUp(relay, 30)
    for (const name of ['a', 'b']) relay.transport(name).play(() => slow)
    const { call } = await relay.ask({ method: 'eth_getCode', directives })
    const [first, second] = call.journal.attempts
    expect(second).toMatchObject({ kind: 'hedge', startedMs: (first?.startedMs ?? 0) + 150 })
  })

  it.each(['eth_getCode', 'eth_getLogs', 'debug_traceTransaction'])(
    'waits for %s in proportion to its cost',
    async (method) => {
      const upstream = { script: () => ok, urls: [{ addons: ['debug'] }] }
      const relay = new RelayFixture({ ...chain, blockTimeMs: 800 }, iface, {
        a: upstream,
        b: upstream,
      })
      await warmUp(relay, 30)
      for (const name of ['a', 'b']) relay.transport(name).play(() => ({ hang: true }))
      const { call } = await relay.ask({ method, params: [{}] })
      const [first, second] = call.journal.attempts
      const waitedMs = 100 * Math.max(1, call.method.cost / 10)
      expect(second).toMatchObject({ kind: 'hedge', startedMs: (first?.startedMs ?? 0) + waitedMs })
    },
  )

  it('scores the losing attempt with the time that it ran', async () => {
    const relay = fixture({ a: ok, b: ok })
    await warmUp(relay)
    const slow = relay.pool.upstreams.find(({ name }) => name === 'a')!
    const latencyOf = () => slow.score.latencyMs(relay.clock.nowMs())
    const before = latencyOf()
    relay.transport('a').play(() => result('0x5', { afterMs: 900 }))
    const { tookMs } = await relay.ask()
    expect(tookMs).toBeLessThan(100)
    expect(latencyOf()).toBeGreaterThan(before!)
  })

  const sound = Array.from({ length: 40 }, (_, at) => 80 + ((at * 17) % 60))
  it.each<[string, number[], ScriptedAnswer, boolean]>([
    ['whose node hangs is no lost race', [4, 6], { hang: true }, false],
    [
      'whose node is slower than others, as usual, is one',
      sound,
      result('0x5', { afterMs: 140 }),
      true,
    ],
  ])('an overtaken attempt %s', async (_case, usualMs, now, isLostRace) => {
    const relay = fixture({ a: ok, b: ok })
    const { score } = relay.pool.upstreams[0]!
    await warmUp(relay)
    await relay.clock.advance(600_000)
    for (const each of usualMs) score.succeeded(each, relay.clock.nowMs())
    relay.transport('a').play(() => now)
    const { call } = await relay.ask({ directives: { selectProvider: 'a' } })
    expect(call.journal.attempts).toMatchObject([{ result: 'overtaken', isLostRace }, {}])
  })

  it('limits hedges to a tenth of the reads and one every ten seconds', async () => {
    const relay = fixture({
      a: result('0x1', { afterMs: 700 }),
      b: result('0x1', { afterMs: 700 }),
    })
    await warmUp(relay, 200)
    const requests = relay.sent['a']! + relay.sent['b']!
    const earned = 10 + 200 / 10 + relay.clock.nowMs() / 10_000
    expect(requests).toBeGreaterThan(210)
    expect(requests).toBeLessThanOrEqual(200 + earned)
  })

  it('protects a new listener from a hanging node', async () => {
    const relay = fixture({ a: { hang: true }, b: ok, c: ok })
    const reply = await relay.ask({ directives: { selectProvider: 'a' } })
    expect([reply.outcome, reply.tookMs < 600]).toEqual([okBody, true])
  })

  it('protects an idle listener, even after many hedges', async () => {
    const relay = fixture({ a: ok, b: ok }, { minRelayTimeoutMs: 10_000 })
    const named = { directives: { selectProvider: 'a' } }
    relay.transport('a').play(() => ({ hang: true }))
    for (let each = 0; each < 11; each++) await relay.ask(named)
    await relay.clock.advance(60_000)
    const { call, tookMs } = await relay.ask({ ...named, method: 'eth_getCode' })
    expect(call.journal.attempts.map(({ kind }) => kind)).toEqual(['first', 'hedge'])
    expect(tookMs).toBeLessThan(2_100)
  })

  it.each([
    ['a write', write],
    ['a call about the state of one node', { method: 'eth_newBlockFilter', params: [] }],
  ])('never happens for %s', async (_name, request) => {
    const relay = fixture({ a: ok, b: ok })
    await warmUp(relay)
    const before = relay.sent
    for (const name of ['a', 'b']) relay.transport(name).play(() => result('0x1', { afterMs: 900 }))
    const reply = await relay.ask(request)
    expect(reply.call.journal.attempts.map(({ kind }) => kind)).not.toContain('hedge')
    expect(relay.sent).not.toEqual(before)
  })

  it('backs off when no upstream is available for a hedge', async () => {
    const relay = fixture({ a: ok }, { minRelayTimeoutMs: 10_000, retryLimit: 1 })
    await warmUp(relay)
    relay.transport('a').play(() => ({ hang: true }))
    let picks = 0
    const { pick } = relay.pool
    const { next } = pick
    pick.next = (...wanted) => {
      picks += 1
      return next.apply(pick, wanted)
    }
    void relay.begin()
    await relay.clock.advance(9_990)
    // Delays of 10, 20, 40 ms and so on reach one second.
    expect(picks).toBeGreaterThan(10)
    expect(picks).toBeLessThan(20)
  })

  it('uses an upstream that becomes available later', async () => {
    const relay = fixture(
      { a: ok, b: { script: () => ok, verified: false } },
      { minRelayTimeoutMs: 10_000 },
    )
    await warmUp(relay)
    relay.transport('a').play(() => ({ hang: true }))
    const reply = relay.begin()
    await relay.clock.advance(3_000)
    const late = relay.pool.upstreams.find(({ name }) => name === 'b')!
    for (const url of late.urls) url.verified = true
    late.availability.verified()
    await relay.clock.advance(1_100)
    expect((await reply).upstream).toBe('b')
  })

  it('spends no budget when no upstream is available', async () => {
    const relay = fixture({ a: ok, b: { script: () => ok, verified: false } })
    await warmUp(relay)
    relay.transport('a').play(() => result('0x1', { afterMs: 900 }))
    for (let each = 0; each < 4; each++) await relay.ask()
    const late = relay.pool.upstreams.find(({ name }) => name === 'b')!
    for (const url of late.urls) url.verified = true
    late.availability.verified()
    const reply = await relay.ask({ directives: { selectProvider: 'a' } })
    expect([reply.upstream, reply.tookMs < 500]).toEqual(['b', true])
  })

  it('never happens when retries are off', async () => {
    const relay = fixture({ a: ok, b: ok }, { retryLimit: 0 })
    await warmUp(relay)
    relay.transport('a').play(() => result('0x1', { afterMs: 900 }))
    const reply = await relay.ask()
    expect([reply.upstream, reply.call.journal.attempts.length]).toEqual(['a', 1])
  })

  it('reports why the attempt failed when no upstream was available for a hedge', async () => {
    const relay = fixture({ a: ok }, { minRelayTimeoutMs: 1_000 })
    await warmUp(relay)
    relay.transport('a').play(() => ({ hang: true }))
    const reply = await relay.ask()
    expect(reply.outcome).toBe('timeout')
    expect(reply.call.journal.retries).toBe(0)
  })

  it('starts no attempt when the client disconnects after one of two failed', async () => {
    const relay = fixture({ a: ok, b: ok })
    await warmUp(relay)
    relay.transport('a').play(() => ({ hang: true }))
    relay.transport('b').play(() => ({ ...html, afterMs: 10 }))
    const client = new AbortController()
    const reply = relay.begin({ signal: client.signal })
    await relay.clock.advance(300)
    const before = relay.sent
    client.abort()
    await relay.clock.advance(10_000)
    expect((await reply).outcome).toBe('CallAborted')
    expect(relay.sent).toEqual(before)
  })

  it('waits for the hedge when the first attempt fails', async () => {
    const relay = fixture({ a: ok, b: ok })
    await warmUp(relay)
    relay.transport('a').play(() => ({ fault: 'reset', afterMs: 600 }))
    relay.transport('b').play(() => result('0x6', { afterMs: 800 }))
    const reply = await relay.ask()
    expect([reply.upstream, reply.call.journal.retries]).toEqual(['b', 0])
  })

  it.each([
    ['the first attempt', { fault: 'reset', afterMs: 600 }, { ...pruned, afterMs: 800 }],
    ['the hedge', { ...pruned, afterMs: 600 }, { fault: 'reset', afterMs: 800 }],
    ['the attempt that ended first', { ...html, afterMs: 600 }, { ...pruned, afterMs: 800 }],
    ['the attempt that ended last', { ...pruned, afterMs: 600 }, { ...html, afterMs: 800 }],
  ] as const)('when both fail, %s does not hide the error of the other', async (_case, a, b) => {
    const relay = fixture({ a: ok, b: ok }, { maxAttempts: 2 })
    await warmUp(relay)
    relay.transport('a').play(() => a)
    relay.transport('b').play(() => b)
    const reply = await relay.ask()
    expect(reply.call.journal.attempts.map(({ kind }) => kind)).toEqual(['first', 'hedge'])
    expect(reply.outcome).toBe(pruned.body)
  })
})

describe('after many answers within 2 ms, a hedge starts', () => {
  it.each<[string, TestCall, number, number]>([
    ['not before 25 ms', known, 24, 1],
    ['after 25 ms', known, 26, 2],
    // Estimates for invented method names would exhaust memory.
    ['only after the usual delay for a method that is in no spec', unknown, 200, 1],
  ])('%s', async (_, request, afterMs, sent) => {
    const script = () => result('0x1', { afterMs: 2 })
    const relay = new RelayFixture(chain, iface, { a: { script }, b: { script } })
    for (let each = 0; each < 60; each++) await relay.ask(request)
    for (const name of ['a', 'b']) relay.transport(name).play(() => result('0x1', { afterMs }))
    const { call } = await relay.ask(request)
    expect(call.journal.attempts).toHaveLength(sent)
  })

  it('only after the usual delay if the answers may have been streams', async () => {
    const script = () => result('0x1', { afterMs: 2 })
    const relay = new RelayFixture(chain, iface, { a: { script }, b: { script } })
    const prepare = (journal: Journal) => {
      journal.mayStream = true
    }
    for (let each = 0; each < 60; each++) await relay.ask({ ...known, prepare })
    for (const name of ['a', 'b']) relay.transport(name).play(() => result('0x1', { afterMs: 200 }))
    const { call } = await relay.ask(known)
    expect(call.journal.attempts).toHaveLength(1)
  })
})
