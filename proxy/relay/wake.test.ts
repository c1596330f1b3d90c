// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterEach, expect, test } from 'vitest'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import { dialects } from '../upstream/dialect.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { Watch } from '../upstream/watch.ts'
import type { Outgoing } from '../upstream/wire.ts'
import { ethereum, RelayFixture, result } from './testing/relay-fixture.ts'
import { withWake } from './relay.ts'

const hourMs = 3_600_000
const address = '0x00000000000000000000000000000000000000aa'

interface Node {
  /** Replaces every answer. */
  fault?: ScriptedAnswer
  /** Latency of the answers. */
  afterMs?: number
}

const watches: Watch[] = []
afterEach(() => {
  for (const watch of watches.splice(0)) watch.stop()
})

/** A watched relay over two nodes of a growing chain, which answer reads with their block. */
async function watched(voted: readonly string[] = []) {
  const { chain, iface } = await ethereum()
  const nodes: Record<string, Node> = { a: {}, b: {} }
  const height = () => 1_000 + Math.floor(fixture.clock.nowMs() / chain.blockTimeMs)
  const script = (name: string) => (request: Outgoing) => {
    const { fault, afterMs = 10 } = nodes[name]!
    if (fault) return fault
    const { method, params } = JSON.parse(Buffer.from(request.body as Uint8Array).toString()) as {
      method: string
      params: readonly string[]
    }
    const hex = `0x${height().toString(16)}`
    const seconds = `0x${Math.floor(fixture.clock.wallMs() / 1_000).toString(16)}`
    const results: Readonly<Record<string, unknown>> = {
      eth_chainId: '0x1',
      eth_syncing: false,
      eth_blockNumber: hex,
      eth_getBlockByNumber: { number: hex, timestamp: seconds },
      eth_getBalance: params[1] === 'latest' ? hex : params[1],
    }
    return result(results[method], { afterMs })
  }
  const upstreams = Object.fromEntries(['a', 'b'].map((name) => [name, { script: script(name) }]))
  const fixture: RelayFixture = new RelayFixture(chain, iface, upstreams)
  const { pool, clock } = fixture
  const watch = new Watch({
    ...{ pool, iface, chain, clock, dialect: dialects.jsonrpc, random: seededRandom(3) },
    ...{ healthCheckIntervalMs: 300_000, livenessProbeIntervalMs: null, epochDurationMs: 900_000 },
    observer: { stateChanged() {}, cooldownBegan() {}, verificationFailed() {} },
  })
  watches.push(watch)
  watch.start((error) => {
    throw error
  })
  fixture.relay = withWake(fixture.relay, watch, (method) => voted.includes(method))
  return { fixture, nodes, height, clock, pool }
}

const blockOf = (outcome: string) => Number((JSON.parse(outcome) as { result: string }).result)

test('the first call after a rest is sent at once while all heads are polled', async () => {
  const { fixture, clock, pool, height } = await watched()
  await clock.advance(10 * hourMs)
  const before = fixture.sent
  const reply = fixture.begin()
  await clock.advance(0)
  const { a = 0, b = 0 } = before
  expect(fixture.sent).toEqual({ a: a + 2, b: b + 1 })
  await clock.advance(10)
  const { outcome, tookMs } = await reply
  expect([blockOf(outcome), tookMs]).toEqual([height(), 10])
  expect(pool.tip).toBe(height())
})

test.each<[string, ScriptedAnswer]>([
  ['refuses connections', { fault: 'refused' }],
  ['cuts connections', { fault: 'reset' }],
  ['fails everything', { status: 500, body: 'oops' }],
  ['hangs', { hang: true }],
])(
  'a node that died at rest and %s only delays the first call, and is disabled',
  async (_, fault) => {
    const { fixture, nodes, clock, pool, height } = await watched()
    await clock.advance(hourMs)
    nodes['a']!.fault = fault
    const { outcome, upstream, call } = await fixture.ask()
    expect([blockOf(outcome), upstream]).toEqual([height(), 'b'])
    expect(call.journal.attempts.map((each) => each.upstream)).toEqual(['a', 'b'])
    // Further calls disable it sooner than idle polls would.
    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000)
      expect((await fixture.ask()).upstream).toBe('b')
    }
    expect(pool.snapshot().upstreams.map(({ state }) => state)).toEqual(['disabled', 'eligible'])
  },
)

test('a call that is pinned to a known head reads the latest block after a rest, too', async () => {
  for (const restMs of [hourMs, hourMs + 150_000, 10 * hourMs + 77_000]) {
    const { fixture, clock, height } = await watched()
    await clock.advance(restMs)
    const reply = await fixture.ask({ directives: { minBlock: 5 }, params: [address, 'latest'] })
    expect(height() - blockOf(reply.outcome)).toBeLessThan(2)
    expect(reply.tookMs).toBeLessThan(100)
  }
})

test('a call pinned to a block from the rest period is answered too', async () => {
  const { fixture, clock, height } = await watched()
  await clock.advance(hourMs + 150_000)
  const minBlock = height()
  const reply = await fixture.ask({ directives: { minBlock }, params: [address, 'latest'] })
  expect(blockOf(reply.outcome)).toBeGreaterThanOrEqual(minBlock)
})

test('cross-validated calls wait for the heads for a second at most', async () => {
  const { fixture, nodes, clock, pool } = await watched(['eth_getBalance'])
  await clock.advance(hourMs)
  const old = pool.tip
  nodes['a']!.afterMs = 30
  nodes['b']!.fault = { hang: true }
  const reply = fixture.begin()
  let heads: readonly (number | undefined)[] = []
  void reply.then(() => (heads = pool.upstreams.map(({ latest }) => latest?.block)))
  await clock.advance(999)
  expect(heads).toEqual([])
  await clock.advance(40)
  expect(heads[0]).toBeGreaterThanOrEqual(old as number)
  expect((await reply).upstream).toBe('a')
})
