// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { Journal } from './call.ts'
import { type FixtureUpstream, ethereum, RelayFixture, result } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()

test('a lagging upstream answers a lookup by hash with null when no other is available', async () => {
  const none = result(null)
  const failing = () => {
    const answers: ScriptedAnswer[] = [{ fault: 'refused' }, { status: 429, body: 'slow down' }]
    return { script: () => answers.shift()! }
  }
  const relay = new RelayFixture(chain, iface, {
    d1: failing(),
    d2: failing(),
    lagging: { script: () => none },
  })
  for (const upstream of relay.pool.upstreams)
    relay.pool.observeHead(upstream, upstream.name === 'lagging' ? 90 : 100, 0, upstream.urls[0]!)
  const request = { method: 'eth_getTransactionByHash', params: [`0x${'a'.repeat(64)}`] }
  expect((await relay.ask(request)).outcome).toBe(none.body)
  expect(relay.sent).toEqual({ d1: 1, d2: 1, lagging: 1 })
})

const trace = { method: 'debug_traceTransaction', params: [`0x${'a'.repeat(64)}`] }
const withDebug = { urls: [{ addons: ['debug'] }] }
const atBlock = (minBlock: number) => ({ directives: { minBlock } })
const blocks = (...blockProviders: string[]) => ({ directives: { blockProviders } })
const down = { verified: false }
test.each<[string, Parameters<RelayFixture['ask']>[0], Partial<FixtureUpstream>, string, boolean]>([
  ['no upstream declares the add-on', trace, {}, 'addon-not-declared', true],
  ['the upstream with the add-on is down', trace, { ...withDebug, ...down }, 'no-upstream', false],
  ['the upstream is down', {}, down, 'no-upstream', false],
  ['the client excludes every upstream', blocks('a', 'b'), {}, 'no-upstream', true],
  ['the client excludes all but one that is down', blocks('a'), down, 'no-upstream', false],
  ['the block is far above the tip', atBlock(9_999), {}, 'min-block', true],
  ['the block is slightly above the tip', atBlock(110), {}, 'min-block', false],
])('a call fails because %s', async (_, request, settings, reason, isCallersFault) => {
  const upstream = { script: () => result('0x1'), ...settings }
  const relay = new RelayFixture(chain, iface, { a: upstream, b: upstream })
  for (const each of relay.pool.upstreams) relay.pool.observeHead(each, 100, 0, each.urls[0]!)
  const { outcome, call } = await relay.ask(request)
  expect(outcome).toBe(reason)
  const again = relay.relay({ ...call, journal: new Journal(relay.clock.nowMs()) })
  const failure = again.catch((error: unknown) => error)
  await relay.clock.advance(40_000)
  expect(await failure).toMatchObject({ isCallersFault })
})
