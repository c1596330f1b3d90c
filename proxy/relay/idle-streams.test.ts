// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, test } from 'vitest'
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import type { ByteStream } from '../upstream/wire.ts'
import type { Journal } from './call.ts'
import { RelayFixture, ethereum, nodeError, result } from './testing/relay-fixture.ts'

/*
 * A call that may be a stream stays open until its client closes it. It is never late, gets no
 * hedge, and does not affect the latency of the upstream.
 */

let chain: Chain
let iface: ChainInterface
beforeAll(async () => {
  ;({ chain, iface } = await ethereum())
})

const slow: ScriptedAnswer = result('0x1', { afterMs: 35_000 })
const asStream = (journal: Journal) => {
  journal.mayStream = true
}

function fixture(a: ScriptedAnswer): RelayFixture {
  const b = () => result('0x2')
  return new RelayFixture(chain, iface, { a: { script: () => a }, b: { script: b } })
}

/** Fills the hedge budget. */
async function withHedges(own: RelayFixture, a: ScriptedAnswer): Promise<void> {
  own.transport('a').play(() => result('0x1'))
  for (let each = 0; each < 100; each++) await own.ask()
  own.transport('a').play(() => a)
}

/** A request body that never ends. */
function endless(): ByteStream {
  return { isRepeatable: true, async *[Symbol.asyncIterator]() {} }
}

test.each([
  ['with a complete request', {}],
  ['with an unfinished request', { body: endless() }],
])('the relay waits for a stream beyond its budget %s', async (_, request) => {
  const own = fixture(slow)
  await withHedges(own, slow)
  const before = own.sent
  const { outcome, upstream, tookMs, call } = await own.ask({ ...request, prepare: asStream })
  expect(outcome).toContain('0x1')
  expect({ upstream, tookMs }).toEqual({ upstream: 'a', tookMs: 35_000 })
  expect(own.sent).toEqual({ ...before, a: before['a']! + 1 })
  expect(call.journal.attempts).toMatchObject([{ kind: 'first', result: 'answer' }])
  const { score } = own.pool.upstreams[0]!
  expect(score.latencyMs(own.clock.nowMs()) ?? 0).toBeLessThan(100)
  expect(own.events).toEqual([])
  await own.clock.advance(60_000)
  expect(own.clock.pending).toBe(0)
})

test('the client deadline ends a stream without blame', async () => {
  const own = fixture({ hang: true })
  for (let each = 0; each < 12; each++) {
    const { outcome, tookMs } = await own.ask({
      directives: { selectProvider: 'a' },
      prepare: (journal) => {
        journal.mayStream = true
        journal.clientDeadlineMs = journal.startedMs + 35_000
      },
    })
    expect({ outcome, tookMs }).toEqual({ outcome: 'timeout', tookMs: 35_000 })
  }
  expect(own.sent).toEqual({ a: 12, b: 0 })
  expect(own.events).toEqual([])
})

test('a disconnect does not affect the latency of the upstream', async () => {
  const own = fixture({ hang: true })
  const abort = new AbortController()
  const reply = own.begin({ signal: abort.signal, prepare: asStream })
  await own.clock.advance(35_000)
  abort.abort()
  expect(await reply).toMatchObject({ outcome: 'CallAborted' })
  expect(own.pool.upstreams[0]!.score.latencyMs(own.clock.nowMs())).toBe(null)
  await own.clock.advance(60_000)
  expect(own.clock.pending).toBe(0)
})

test('a late failure is retried at another upstream', async () => {
  const own = fixture({ fault: 'reset', afterMs: 35_000 })
  const { outcome, upstream } = await own.ask({ prepare: asStream })
  expect(outcome).toContain('0x2')
  expect(upstream).toBe('b')
})

test('the attempt timeout of the client applies', async () => {
  const own = fixture({ hang: true })
  const { upstream, tookMs } = await own.ask({
    directives: { relayTimeoutMs: 5_000 },
    prepare: asStream,
  })
  expect({ upstream, tookMs }).toEqual({ upstream: 'b', tookMs: 5_010 })
  expect(own.events).toEqual([])
})

test('an error of the node ends the call', async () => {
  const own = fixture(nodeError(-32000, 'execution reverted', { afterMs: 35_000 }))
  const { outcome } = await own.ask({
    method: 'eth_call',
    params: [{}, 'latest'],
    prepare: asStream,
  })
  expect(outcome).toContain('reverted')
})
