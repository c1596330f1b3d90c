// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import type { Clock } from '../clock/clock.ts'
import type { Ask } from './ask.ts'
import { NodeRefused } from './subscriptions.ts'
import { ethereumFamily } from './ethereum/ethereum.ts'
import { solanaFamily } from './solana/solana.ts'
import { SubscriptionFixture, type FixtureOptions } from './testing/subscription-fixture.ts'
import type { TestSocket } from './testing/test-socket.ts'

async function setUp(options: Partial<FixtureOptions> = {}) {
  const fixture = await SubscriptionFixture.create({
    chainId: 'ETH1',
    family: ethereumFamily,
    answer: () => undefined,
    ...options,
  })
  const { one, two } = fixture.sockets
  return { fixture, one: one as TestSocket, two: two as TestSocket }
}

const pending = ['newPendingTransactions']

test('a topic without backfill continues elsewhere with the next event', async () => {
  const { fixture, one, two } = await setUp()
  const client = await fixture.join('eth_subscribe', pending)
  one.push('"0x1"')
  one.cut()
  await fixture.clock.advance(100)
  two.push('"0x2"')
  expect(client.texts).toEqual(['"0x1"', '"0x2"'])
  expect(fixture.events).toContain('newPendingTransactions leaves one: reset: cut')
  expect(fixture.calls).toEqual([])
  client.leave()
  expect(fixture.clock.pending).toBe(0)
})

test('an error of the node about a request reaches the client', async () => {
  const { fixture, one } = await setUp()
  one.answer = { code: -32602, message: 'invalid argument 0' }
  const client = await fixture.join('eth_subscribe', ['surprise', 5])
  expect(client.refused).toBeInstanceOf(NodeRefused)
  const { error } = client.refused as NodeRefused
  expect(Buffer.from(error).toString()).toBe('{"code":-32602,"message":"invalid argument 0"}')
  expect(fixture.clock.pending).toBe(0)
})

test('beyond the limit a client can join existing topics but open no new one', async () => {
  const { fixture } = await setUp({ maxTopics: 2 })
  const first = await fixture.join('eth_subscribe', pending)
  await fixture.join('eth_subscribe', ['syncing'])
  const late = await fixture.join('eth_subscribe', ['surprise'])
  expect(late.refused).toMatchObject({
    message: 'all clients together have 2 different subscriptions already',
    kind: { reason: 'too-many-subscriptions' },
  })
  const again = await fixture.join('eth_subscribe', pending)
  for (const client of [first, again]) {
    expect(client.refused).toBeNull()
    client.leave()
  }
  expect((await fixture.join('eth_subscribe', ['surprise'])).refused).toBeNull()
  expect(fixture.clients).toEqual({ newPendingTransactions: 0, syncing: 1, other: 1 })
})

describe('the last tenth of 200 topics', () => {
  const mine = (at: number) => ['surprise', at]
  /** Subscribes the named clients to new topics in turn. @returns the topics per client */
  async function take(counts: Readonly<Record<string, number>>) {
    const { fixture } = await setUp({ maxTopics: 200 })
    let topics = 0
    const got: Record<string, number> = {}
    for (const [name, count] of Object.entries(counts)) {
      const clients = Array.from({ length: count }, () =>
        fixture.ask('eth_subscribe', mine(topics++), name),
      )
      await fixture.clock.advance(100)
      const refusals = clients.map(({ refused }) => refused).filter((each) => each !== null)
      for (const refusal of refusals)
        expect(refusal).toMatchObject({
          kind: { jsonRpcCode: -32005, reason: 'too-many-subscriptions' },
        })
      got[name] = count - refusals.length
    }
    return { fixture, got }
  }

  test.each([
    ['one client gets none of them', { greedy: 250 }, { greedy: 180 }],
    ['several clients get none either', { a: 100, b: 100, c: 100 }, { a: 100, b: 80, c: 10 }],
    ['others get a few each', { greedy: 250, a: 3, b: 15 }, { greedy: 180, a: 3, b: 10 }],
    ['until none is left', { greedy: 250, a: 10, b: 9, c: 5 }, { greedy: 180, a: 10, b: 9, c: 1 }],
  ])('%s', async (_, counts, expected) => {
    expect((await take(counts)).got).toEqual(expected)
  })

  test('joined topics count until the client leaves them', async () => {
    const { fixture } = await take({ greedy: 180 })
    const joined = []
    for (let at = 0; at < 10; at++)
      joined.push(await fixture.join('eth_subscribe', mine(at), 'late'))
    expect(joined.map(({ refused }) => refused)).toEqual(Array(10).fill(null))
    const refused = (await fixture.join('eth_subscribe', mine(1_000), 'late')).refused
    expect(refused).toMatchObject({
      message:
        'all clients together have 180 different subscriptions already; the last 20 are for clients with fewer than 10',
    })
    joined[0]!.leave()
    expect((await fixture.join('eth_subscribe', mine(1_000), 'late')).refused).toBeNull()
  })
})

test('the failure of one node does not affect another', async () => {
  const { fixture, one, two } = await setUp()
  one.answer = { code: -32005, message: 'rate limit exceeded' }
  const client = await fixture.join('eth_subscribe', pending)
  expect(client.refused).toBeNull()
  expect(two.topics).toHaveLength(1)
  expect(fixture.pool.upstreams[0]?.sockets[0]?.cooldown.active).toBe(true)
  expect(fixture.pool.upstreams[0]?.urls[0]?.cooldown.active).toBe(false)
  expect(fixture.events).toContain('one is in cooldown at ws://one.test')
})

test('a node that refuses its upgrade with a Retry-After enters cooldown for that long', async () => {
  const { fixture, one, two } = await setUp()
  one.answer = 'limited'
  const client = await fixture.join('eth_subscribe', pending)
  expect(client.refused).toBeNull()
  expect(two.topics).toHaveLength(1)
  expect(fixture.pool.upstreams[0]?.sockets[0]?.cooldown.leftMs).toBeGreaterThan(80_000)
})

describe('a URL', () => {
  const solana = {
    chainId: 'SLOTCHAIN',
    family: (ask: Ask, clock: Clock) => solanaFamily({ ask, clock, blockTimeMs: 400 }),
  }

  test.each([
    [-32601, 'Method not found'],
    [-32603, 'failed to parse query'],
  ])('that answers %i for one topic serves others', async (code, message) => {
    const { fixture, one, two } = await setUp(solana)
    for (let time = 0; time < 8; time++) {
      one.answer = two.answer = { code, message }
      const evil = await fixture.join('voteSubscribe', [])
      const { error } = evil.refused as NodeRefused
      expect(Buffer.from(error).toString()).toBe(JSON.stringify({ code, message }))
      one.answer = two.answer = 'yes'
      const other = await fixture.join('accountSubscribe', [`x${time}`])
      expect(other.subscription).not.toBeNull()
    }
    expect(one.requests.length + two.requests.length).toBeGreaterThanOrEqual(8 * 3)
  })

  test('whose connection is cut has failed once, however many topics were on it', async () => {
    const { fixture, one } = await setUp({ ...solana, sockets: ['one'] })
    for (let each = 0; each < 10; each++) await fixture.join('accountSubscribe', [`x${each}`])
    one.cut()
    await fixture.clock.advance(3_000)
    expect(one.topics).toHaveLength(10)
  })

  test('without a free slot in the router is tried again by the next topic', async () => {
    const { fixture, one } = await setUp({ ...solana, sockets: ['one'] })
    one.answer = 'full'
    const early = await fixture.join('accountSubscribe', ['x'])
    expect(String(early.refused)).toMatch(/every upstream failed to subscribe/)
    one.answer = 'yes'
    const late = await fixture.join('accountSubscribe', ['x'])
    expect(late.subscription).not.toBeNull()
  })

  test('without an answer delays clients only briefly', async () => {
    const { fixture, one, two } = await setUp(solana)
    one.answer = 'never'
    const client = fixture.ask('accountSubscribe', ['x'])
    await fixture.clock.advance(5_100)
    expect(client.subscription).not.toBeNull()
    // The URL is in cooldown, so the next topic skips it.
    const next = await fixture.join('accountSubscribe', ['y'])
    expect(next.subscription).not.toBeNull()
    expect([one.topics.length, two.topics.length]).toEqual([0, 2])
    client.leave()
    next.leave()
    await fixture.clock.advance(30_000)
    expect(fixture.clock.pending).toBe(0)
  })
})

test('a client waits no longer for a subscription than for an answer', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `n${index}`)
  const { fixture } = await setUp({ sockets: names })
  for (const socket of Object.values(fixture.sockets)) socket.answer = 'never'
  const client = fixture.ask('eth_subscribe', pending)
  await fixture.clock.advance(29_900)
  expect(client.refused).toBeNull()
  await fixture.clock.advance(200)
  expect(String(client.refused)).toMatch(/no upstream has subscribed within 30000 ms/)
  await fixture.clock.advance(60_000)
  expect(fixture.clock.pending).toBe(0)
})

test('without a WebSocket URL there is no source, and the error says so', async () => {
  const { fixture } = await setUp({ sockets: [], others: ['one'] })
  const client = await fixture.join('eth_subscribe', pending)
  expect(String(client.refused)).toMatch(
    /none has one: the operator of the router has to add a ws:/,
  )
})

test('after the last event of a node, the topic is neither unsubscribed nor shared', async () => {
  const { fixture, one, two } = await setUp({
    chainId: 'SLOTCHAIN',
    family: (ask, clock) => solanaFamily({ ask, clock, blockTimeMs: 400 }),
  })
  const first = await fixture.join('signatureSubscribe', ['x'])
  const second = await fixture.join('signatureSubscribe', ['x'])
  const settled = '{"context":{"slot":5},"value":{"err":null}}'
  one.push(settled)
  expect([first.texts, second.texts]).toEqual([[settled], [settled]])
  expect(one.requests).toEqual([
    'signatureSubscribe ["x"]',
    'slotSubscribe []',
    'slotUnsubscribe ["0x2"]',
  ])
  first.leave()
  second.leave()
  expect(fixture.clients).toEqual({ signature: 0 })
  const third = await fixture.join('signatureSubscribe', ['x'])
  expect([...one.topics, ...two.topics]).toHaveLength(1)
  third.leave()
  expect(fixture.clock.pending).toBe(0)
})

describe('a quiet topic', () => {
  const slots = { newest: 100 }
  const event = () => ({ slot: slots.newest, parent: slots.newest - 2, root: slots.newest - 32 })
  const setUpSlots = async () => {
    slots.newest = 100
    const scene = await setUp({
      chainId: 'SLOTCHAIN',
      family: (ask, clock) => solanaFamily({ ask, clock, blockTimeMs: 400 }),
      answer: () => slots.newest,
    })
    /** Advances the chain, while these sockets report its slots. */
    const goOn = async (seconds: number, ...sockets: readonly TestSocket[]) => {
      for (let each = 0; each < seconds; each++) {
        slots.newest += 2
        scene.fixture.report(slots.newest)
        for (const socket of sockets) socket.push(event(), 'slot')
        await scene.fixture.clock.advance(1_000)
      }
    }
    return { ...scene, goOn }
  }

  test('stays where its socket still reports slots', async () => {
    const { fixture, one, two, goOn } = await setUpSlots()
    await fixture.join('accountSubscribe', ['x'])
    await goOn(60, one, two)
    expect([one.topics.length, two.topics.length]).toEqual([1, 0])
    expect(fixture.calls).toEqual([])
  })

  test.each([
    ['has stopped', 5],
    ['never arrived', 0],
  ])('moves with all others of its socket when the head there %s', async (_, seconds) => {
    const { fixture, one, two, goOn } = await setUpSlots()
    await fixture.join('accountSubscribe', ['x'])
    two.answer = 'refused'
    await fixture.join('accountSubscribe', ['y'])
    await fixture.join('logsSubscribe', ['all'])
    two.answer = 'yes'
    await goOn(seconds, one, two)
    expect(one.topics).toHaveLength(3)
    await goOn(12, two)
    expect(one.held.size).toBe(0)
    expect(two.topics).toHaveLength(3)
    expect(fixture.events).toContain('account leaves one: it has stalled')
    expect(fixture.events).toContain('logs leaves one: it has stalled')
  })

  const headRequests = ({ requests }: TestSocket) =>
    requests.filter((each) => each.startsWith('slotSubscribe')).length

  test.each([
    ['a temporary failure', { code: -32000, message: 'internal error' }],
    ['a rate limit', { code: -32005, message: 'rate limit exceeded' }],
  ])('moves too when a node refused the heads at first with %s', async (_, answer) => {
    const { fixture, one, two, goOn } = await setUpSlots()
    one.headAnswer = answer
    await fixture.join('accountSubscribe', ['x'])
    await goOn(10, one, two)
    one.headAnswer = 'yes'
    await goOn(100, one, two)
    expect(one.topics).toHaveLength(1)
    expect(headRequests(one)).toBeLessThan(8)
    await goOn(12, two)
    expect([one.topics.length, two.topics.length]).toEqual([0, 1])
  })

  test('stays at a node without heads to subscribe to', async () => {
    const { fixture, one, two, goOn } = await setUpSlots()
    one.headAnswer = { code: -32601, message: 'Method not found' }
    await fixture.join('accountSubscribe', ['x'])
    await goOn(100, two)
    expect(one.topics).toHaveLength(1)
    expect(headRequests(one)).toBeLessThan(8)
  })

  test('stays while the whole chain pauses', async () => {
    const { fixture, one, goOn } = await setUpSlots()
    await fixture.join('accountSubscribe', ['x'])
    await goOn(2, one)
    await fixture.clock.advance(600_000)
    expect(one.topics).toHaveLength(1)
    expect(fixture.calls.length).toBeLessThan(40)
  })

  test('shares the slots of its socket with their subscribers', async () => {
    const { fixture, one, two, goOn } = await setUpSlots()
    two.answer = 'refused'
    const account = await fixture.join('accountSubscribe', ['x'])
    const client = await fixture.join('slotSubscribe', [])
    await goOn(3, one)
    expect(client.texts.length).toBeGreaterThan(0)
    expect(one.requests.filter((each) => each.startsWith('slotSubscribe'))).toHaveLength(1)
    client.leave()
    account.leave()
    expect(one.held.size).toBe(0)
    expect(fixture.clock.pending).toBe(0)
  })
})
