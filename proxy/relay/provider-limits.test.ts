// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, it, vi } from 'vitest'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { faultOf } from '../upstream/wire/wire-fault.ts'
import type { Reply } from './reply.ts'
import { ethereum, nodeError, RelayFixture, result } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const ok = result('0x1')
const perSecond = nodeError(
  429,
  'Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.',
)

it('a limit per second that a burst exceeds costs at most 2 s of refusals', async () => {
  const windows = new Map<string, number>()
  const nodeOf = (name: string) => ({
    script: () => {
      const second = `${name} ${Math.floor(relay.clock.nowMs() / 1_000)}`
      windows.set(second, (windows.get(second) ?? 0) + 1)
      return windows.get(second)! > 20 ? perSecond : ok
    },
  })
  const relay: RelayFixture = new RelayFixture(chain, iface, { a: nodeOf('a'), b: nodeOf('b') })
  const refusedAtMs: number[] = []
  const ask = async () => {
    const startMs = relay.clock.nowMs()
    const { outcome } = await relay.begin()
    if (outcome !== ok.body) refusedAtMs.push(startMs)
  }
  const startMs = relay.clock.nowMs()
  const asked = Array.from({ length: 80 }, ask)
  for (let each = 0; each < 250; each++) {
    await relay.clock.advance(100)
    asked.push(ask())
  }
  await relay.clock.advance(30_000)
  await Promise.all(asked)
  expect((refusedAtMs.at(-1) ?? startMs) - startMs).toBeLessThanOrEqual(2_000)
})

it.each([
  ['a limit of one method', nodeError(429, 'Too many requests for a specific RPC call')],
  ['a method that it lacks', nodeError(-32601, 'the method does not exist/is not available')],
])('%s keeps only that method away from the node', async (_, error) => {
  const relay = new RelayFixture(chain, iface, {
    a: {
      script: ({ body }) => (Buffer.from(body as Uint8Array).includes('eth_gasPrice') ? error : ok),
    },
    b: { script: () => ok },
  })
  for (let each = 0; each < 20; each++)
    expect((await relay.ask({ method: 'eth_gasPrice' })).outcome).toBe(ok.body)
  expect(relay.sent['a']).toBeLessThanOrEqual(1)
  const { call } = await relay.ask({ method: 'eth_gasPrice' })
  const [a] = call.journal.attempts[0]?.considered ?? []
  expect(a).toMatchObject({
    exclusionReason: 'no-method',
    why: expect.stringContaining((JSON.parse(error.body!) as { error: Error }).error.message),
  })
  for (let each = 0; each < 20; each++) await relay.ask({ method: 'eth_chainId' })
  expect(relay.sent['a']).toBeGreaterThan(1)
})

it('a method that every node lacks is answered by a node', async () => {
  const lacks = nodeError(-32601, 'the method eth_foo does not exist/is not available')
  const relay = new RelayFixture(chain, iface, {
    a: { script: () => lacks },
    b: { script: () => lacks },
  })
  for (let each = 0; each < 5; each++)
    expect((await relay.ask({ method: 'eth_foo' })).outcome).toBe(lacks.body)
  expect(relay.events).toEqual([])
})

it.each([
  ['no_such', 1],
  ['evm_mine', 1],
  ['zks_getBlockDetails', 2],
])(
  '%s, which no spec names, reaches %i of two nodes that break the connection',
  async (method, nodes) => {
    const broken = { script: () => ({ fault: 'reset' as const }) }
    const relay = new RelayFixture(chain, iface, { a: broken, b: broken })
    await relay.ask({ method })
    expect(Object.values(relay.sent).filter((count) => count > 0)).toHaveLength(nodes)
  },
)

it('a slow method that no spec names gets no hedge', async () => {
  const slow = { script: () => ({ ...ok, afterMs: 5_000 }) }
  const relay = new RelayFixture(chain, iface, { a: slow, b: slow })
  expect((await relay.ask({ method: 'anvil_mine' })).outcome).toBe(ok.body)
  expect(relay.sent).toEqual({ a: 1, b: 0 })
})

it('a router without files left blames no node, and asks no other', async () => {
  const relay = new RelayFixture(chain, iface, { a: { script: () => ok }, b: { script: () => ok } })
  const cause = Object.assign(new Error(), { code: 'EMFILE', syscall: 'connect' })
  for (const { urls } of relay.pool.upstreams)
    vi.spyOn(urls[0]!.transport, 'send').mockImplementation(() => Promise.reject(faultOf(cause)))
  for (let each = 0; each < 10; each++) {
    const { outcome, call } = await relay.ask()
    expect([outcome, call.journal.attempts.length]).toEqual(['overloaded', 1])
  }
  expect([relay.events, relay.pool.upstreams.map(({ state }) => state)]).toEqual([
    [],
    ['eligible', 'eligible'],
  ])
})

it.each<[string, ScriptedAnswer, number]>([
  ['a page, as its header says', { status: 429, body: 'no', headers: ['retry-after', '7'] }, 7_000],
  ['an error, as its words say', nodeError(429, 'rate limit exceeded, retry in 1500ms'), 1_500],
  ['an error with 429', { ...nodeError(-32005, 'limit exceeded'), status: 429 }, 1_000],
  ['an error with 200', nodeError(-32005, 'rate limit exceeded'), 1_000],
  ['a limit of the method', nodeError(429, 'Too many requests for a specific RPC call'), 10_000],
])('a limit that the client gets says how long it lasts: %s', async (_, limit, forMs) => {
  const replies: Reply[] = []
  const relay = new RelayFixture(chain, iface, { a: { script: () => limit } })
  const { relay: run } = relay
  relay.relay = (call) => run(call).then((reply) => (replies.push(reply), reply))
  for (let each = 0; each < 3 && replies.length === 0; each++) await relay.ask()
  expect(replies[0]?.retryAfterMs).toBeGreaterThanOrEqual(forMs * 0.9)
  expect(replies[0]?.retryAfterMs).toBeLessThanOrEqual(forMs * 1.1)
})
