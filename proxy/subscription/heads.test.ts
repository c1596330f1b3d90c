// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { RelayError } from '../relay/errors.ts'
import { ethereumFamily } from './ethereum/ethereum.ts'
import { BlockChain, headOf, type TestBlock } from './testing/block-chain.ts'
import {
  SubscriptionFixture,
  type FixtureOptions,
  type TestClient,
} from './testing/subscription-fixture.ts'
import type { TestSocket } from './testing/test-socket.ts'

const blockMs = 12_000

interface Scene {
  readonly chain: BlockChain
  readonly fixture: SubscriptionFixture
  readonly one: TestSocket
  readonly two: TestSocket
}

/** Sets up two nodes with the same chain; `newHeads` starts on the first one. */
async function setUp(options: Partial<FixtureOptions> = {}): Promise<Scene> {
  const chain = new BlockChain()
  const answer = (method: string, params: never) => chain.answer(method, params)
  const fixture = await SubscriptionFixture.create({
    chainId: 'ETH1',
    family: ethereumFamily,
    answer,
    ...options,
  })
  const { one, two } = fixture.sockets
  return { chain, fixture, one: one as TestSocket, two: two as TestSocket }
}

const joinHeads = ({ fixture }: Scene): Promise<TestClient> =>
  fixture.join('eth_subscribe', ['newHeads'])
const heads = (blocks: readonly TestBlock[]) => blocks.map((block) => JSON.stringify(headOf(block)))
const push = (socket: TestSocket, block: TestBlock) => {
  socket.push(headOf(block))
}

test('the call that opens a subscription records its upstream, and one that joins it does not', async () => {
  const scene = await setUp()
  const [first, second] = [await joinHeads(scene), await joinHeads(scene)]
  expect(first.attempts).toMatchObject([{ upstream: 'one', kind: 'first', result: 'answer' }])
  expect(first.attempts[0]?.origin).toMatch(/^wss?:/)
  expect(second.attempts).toEqual([])
})

describe('clients with the same request', () => {
  test('share one subscription and the same bytes, and a late client starts with the next event', async () => {
    const scene = await setUp()
    const early = await joinHeads(scene)
    const first = scene.chain.mine()
    const odd = `{ "hash":"${first.hash}", "extra":[1, 2],"number":"${first.number}","parentHash":"${first.parentHash}"}`
    scene.one.push(odd)
    const late = await joinHeads(scene)
    const second = scene.chain.mine()
    push(scene.one, second)
    await scene.fixture.clock.advance(0)
    expect(early.texts).toEqual([odd, ...heads([second])])
    expect(late.texts).toEqual(heads([second]))
    expect(scene.one.requests).toEqual(['eth_subscribe ["newHeads"]'])
    expect(scene.two.requests).toEqual([])
  })

  test('unsubscribe upstream when the last one leaves, and the next one subscribes anew', async () => {
    const scene = await setUp()
    const [left, right] = [await joinHeads(scene), await joinHeads(scene)]
    left.leave()
    left.leave()
    expect(scene.one.held.size).toBe(1)
    right.leave()
    expect(scene.one.requests).toEqual(['eth_subscribe ["newHeads"]', 'eth_unsubscribe ["0x1"]'])
    expect(scene.fixture.clock.pending).toBe(0)
    await joinHeads(scene)
    expect(scene.one.held.size + scene.two.held.size).toBe(1)
  })

  test('leave nothing behind when they cancel the request', async () => {
    const scene = await setUp()
    const client = scene.fixture.ask('eth_subscribe', ['newHeads'])
    client.leave()
    await scene.fixture.clock.advance(60_000)
    expect(client.refused).toMatchObject({ name: 'CallAborted' })
    expect(scene.one.held.size).toBe(0)
    expect(scene.fixture.clock.pending).toBe(0)
  })

  test('wait for the latest block if no node reports it, so that they miss no block', async () => {
    let isDown = true
    const chain = new BlockChain()
    const answer = (method: string, params: never) =>
      isDown ? undefined : chain.answer(method, params)
    const scene = await setUp({ answer })
    const { fixture } = scene
    const early = await joinHeads(scene)
    await fixture.clock.advance(5_000)
    const late = await joinHeads(scene)
    expect([early.subscription, late.subscription]).toEqual([null, null])
    isDown = false
    chain.mine()
    await fixture.clock.advance(10_000)
    expect(late.subscription).not.toBeNull()
    scene.one.cut()
    const missed = [chain.mine(), chain.mine()]
    await fixture.clock.advance(blockMs)
    expect(early.texts).toEqual(heads(missed))
    expect(late.texts).toEqual(heads(missed))
  })

  test('wait for the first event instead, which all of them get', async () => {
    const scene = await setUp({ answer: () => undefined })
    const clients = [await joinHeads(scene), await joinHeads(scene)]
    const first = scene.chain.mine()
    push(scene.one, first)
    await scene.fixture.clock.advance(10)
    for (const { texts } of clients) expect(texts).toEqual(heads([first]))
  })

  test('are refused if neither arrives in time', async () => {
    const scene = await setUp({ answer: () => undefined })
    const client = await joinHeads(scene)
    await scene.fixture.clock.advance(30_000)
    expect(client.refused).toMatchObject({ message: /none has reported the latest block$/ })
    expect(scene.one.held.size).toBe(0)
    expect(scene.fixture.clock.pending).toBe(0)
  })

  test('nothing is sent before the client has its reply, and nothing is lost meanwhile', async () => {
    const scene = await setUp()
    await joinHeads(scene)
    const texts: string[] = []
    const call = { signal: new AbortController().signal } as never
    const topic = { key: '["newHeads"]' } as never
    const subscriber = {
      event: (result: Uint8Array) => texts.push(Buffer.from(result).toString()),
      ended() {},
    }
    const subscription = await scene.fixture.hub.subscribe(call, topic, subscriber, 'a')
    const block = scene.chain.mine()
    push(scene.one, block)
    await scene.fixture.clock.advance(10)
    expect(texts).toEqual([])
    subscription.begin()
    expect(texts).toEqual(heads([block]))
  })
})

describe('missed events come first, in order, once', () => {
  test('when the connection is cut', async () => {
    const scene = await setUp()
    const { chain, one, two, fixture } = scene
    const client = await joinHeads(scene)
    push(one, chain.mine())
    await fixture.clock.advance(0)
    const missed = [chain.mine(), chain.mine(), chain.mine()]
    one.cut()
    await fixture.clock.advance(1_000)
    expect(client.texts).toEqual(heads([chain.at(11), ...missed]))
    push(two, missed[2] as TestBlock)
    const next = chain.mine()
    push(two, next)
    await fixture.clock.advance(0)
    expect(client.texts).toEqual(heads([chain.at(11), ...missed, next]))
    expect(fixture.events).toContain('newHeads leaves one: reset: cut')
    expect(fixture.events).toContain('newHeads fills 2')
    expect(fixture.events).toContain('newHeads drops a duplicate')
  })

  test('after a reorg meanwhile: from the fork on', async () => {
    const scene = await setUp()
    const { chain, one, fixture } = scene
    const client = await joinHeads(scene)
    const before = [chain.mine(), chain.mine(), chain.mine()]
    for (const block of before) push(one, block)
    await fixture.clock.advance(0)
    one.cut()
    chain.reorg(2)
    chain.mine()
    await fixture.clock.advance(1_000)
    expect(client.texts).toEqual(heads([...before, chain.at(12), chain.at(13), chain.at(14)]))
  })

  test('when the branches fork below the start of the first client', async () => {
    const scene = await setUp()
    const { chain, one, fixture } = scene
    const client = await joinHeads(scene)
    const block = chain.mine()
    push(one, block)
    await fixture.clock.advance(0)
    chain.reorg(4)
    push(one, chain.head)
    await fixture.clock.advance(1_000)
    const branch = [8, 9, 10, 11].map((number) => chain.at(number))
    expect(client.texts).toEqual(heads([block, ...branch]))
  })

  test('when a head is skipped, and when it arrives too late', async () => {
    const scene = await setUp()
    const { chain, one, fixture } = scene
    const client = await joinHeads(scene)
    const [first, second] = [chain.mine(), chain.mine()]
    push(one, second)
    await fixture.clock.advance(100)
    push(one, first)
    await fixture.clock.advance(100)
    expect(client.texts).toEqual(heads([first, second]))
  })

  test('after an outage of all upstreams', async () => {
    let isDown = false
    const chain = new BlockChain()
    const scene = await setUp({
      answer: (method, params) => (isDown ? undefined : chain.answer(method, params)),
    })
    const client = await joinHeads(scene)
    isDown = true
    scene.one.answer = scene.two.answer = 'refused'
    scene.one.cut()
    chain.mine(5)
    await scene.fixture.clock.advance(300_000)
    expect(client.texts).toEqual([])
    isDown = false
    scene.two.answer = 'yes'
    await scene.fixture.clock.advance(61_000)
    expect(client.texts).toEqual(heads([11, 12, 13, 14, 15].map((number) => chain.at(number))))
    expect(scene.two.held.size).toBe(1)
  })

  test('when the first fetch fails', async () => {
    const chain = new BlockChain()
    let isDown = false
    const scene = await setUp({
      answer: (method, params) => (isDown ? undefined : chain.answer(method, params)),
    })
    const client = await joinHeads(scene)
    isDown = true
    chain.mine(3)
    push(scene.one, chain.head)
    await scene.fixture.clock.advance(2_000)
    isDown = false
    await scene.fixture.clock.advance(5_000)
    expect(client.texts).toEqual(heads([11, 12, 13].map((number) => chain.at(number))))
  })

  test('even if only an upstream other than the source has it', async () => {
    const chain = new BlockChain()
    let lagBlocks = 0
    const scene = await setUp({
      answer: (method, params, node) =>
        chain.answer(method, params, node === 'one' ? lagBlocks : 0),
    })
    const client = await joinHeads(scene)
    lagBlocks = 3
    chain.mine(3)
    push(scene.one, chain.head)
    await scene.fixture.clock.advance(100)
    expect(client.texts).toEqual(heads([11, 12, 13].map((number) => chain.at(number))))
  })
})

describe('the limit', () => {
  test.each([
    [5, true],
    [6, false],
  ])('%i missed blocks with a limit of 5', async (missed, isWhole) => {
    const scene = await setUp({ maxGapBlocks: 5 })
    const { chain, one, fixture } = scene
    const client = await joinHeads(scene)
    one.cut()
    chain.mine(missed + 1)
    await fixture.clock.advance(5_000)
    expect(client.texts).toHaveLength(isWhole ? missed + 1 : 0)
    expect(client.ended).toBe(isWhole ? null : 'more than 5 blocks were missed')
    if (isWhole) return
    // The router does not fetch any part of an excessive gap.
    expect(fixture.calls.filter((call) => !call.includes('latest'))).toEqual([])
    expect(scene.two.held.size).toBe(0)
    expect(fixture.clock.pending).toBe(0)
    const again = await joinHeads(scene)
    expect(again.refused).toBeNull()
  })

  test.each([6, 8])('a reorg of %i blocks ends it too, with a limit of 5', async (depth) => {
    const scene = await setUp({ maxGapBlocks: 5 })
    const { chain, one, fixture } = scene
    const client = await joinHeads(scene)
    for (let each = 0; each < 8; each++) push(one, chain.mine())
    await fixture.clock.advance(0)
    chain.reorg(depth)
    push(one, chain.head)
    await fixture.clock.advance(5_000)
    expect(client.ended).toBe('more than 5 blocks were missed')
  })
})

describe('an unsuitable upstream', () => {
  test('is left when it has stalled: another one has events', async () => {
    const scene = await setUp()
    const { chain, one, two, fixture } = scene
    const client = await joinHeads(scene)
    push(one, chain.mine())
    await fixture.clock.advance(0)
    for (let each = 0; each < 5; each++) {
      if (each < 3) chain.mine()
      fixture.report(11 + Math.min(each, 3))
      await fixture.clock.advance(blockMs)
    }
    expect(fixture.events).toContain('newHeads leaves one: it has stalled')
    const faults = fixture.pool.snapshot().upstreams.map(({ fault }) => fault)
    const silent = /^its WebSocket accepts subscriptions and sends nothing \(stalled: 1\) since /
    expect(faults).toEqual([expect.stringMatching(silent), null])
    expect([one.held.size, two.held.size]).toEqual([0, 1])
    expect(one.requests.at(-1)).toBe('eth_unsubscribe ["0x1"]')
    expect(client.texts).toEqual(heads([11, 12, 13, 14].map((number) => chain.at(number))))
  })

  test('enters cooldown before the next attempt', async () => {
    const scene = await setUp({ sockets: ['one'] })
    await joinHeads(scene)
    scene.one.cut()
    await scene.fixture.clock.advance(900)
    expect(scene.one.requests).toHaveLength(1)
    await scene.fixture.clock.advance(1_000)
    expect(scene.one.requests).toHaveLength(2)
  })

  test('is retained when the whole chain pauses', async () => {
    const scene = await setUp()
    await joinHeads(scene)
    await scene.fixture.clock.advance(50 * blockMs)
    expect(scene.fixture.events).toEqual(['one +1', 'newHeads by one'])
    expect(scene.fixture.calls.length).toBeLessThan(20)
  })

  test('is retained when a block after a pause arrives later than a poll shows it', async () => {
    const scene = await setUp()
    const { chain, one, fixture } = scene
    await joinHeads(scene)
    for (let round = 0; round < 3; round++) {
      await fixture.clock.advance(20 * blockMs)
      push(one, chain.mine())
      await fixture.clock.advance(20 * blockMs)
      const late = chain.mine()
      fixture.report(Number(late.number))
      await fixture.clock.advance(blockMs)
      push(one, late)
    }
    expect(fixture.events).toEqual(['one +1', 'newHeads by one'])
  })

  test('shows the head of its upstream, so that calls for the block go there', async () => {
    const scene = await setUp()
    const { chain, one, fixture } = scene
    await joinHeads(scene)
    fixture.report(10)
    push(one, chain.mine())
    expect(fixture.pool.upstreams.map(({ latest }) => latest?.block)).toEqual([11, 10])
    expect(fixture.pool.tip).toBe(11)
  })

  test('is left when it lags, though it still pushes events', async () => {
    const scene = await setUp()
    const { chain, one, fixture } = scene
    const client = await joinHeads(scene)
    chain.mine(10)
    for (let number = 11; number < 17; number++) {
      fixture.report(9 + number)
      push(one, chain.at(number))
      await fixture.clock.advance(blockMs)
    }
    expect(fixture.events).toContain('newHeads leaves one: it lags behind the chain')
    expect(client.texts).toEqual(heads(Array.from({ length: 10 }, (_, at) => chain.at(11 + at))))
  })

  test('is left when it serves another chain', async () => {
    const scene = await setUp()
    await joinHeads(scene)
    const url = scene.fixture.pool.upstreams[0]?.sockets[0]
    if (url) url.verified = false
    await scene.fixture.clock.advance(5 * blockMs)
    expect(scene.fixture.events).toContain('newHeads leaves one: it serves another chain')
    expect(scene.two.held.size).toBe(1)
  })

  test('is left when its blocks do not connect, and none of them is sent', async () => {
    const scene = await setUp()
    const { chain, one, fixture } = scene
    const client = await joinHeads(scene)
    for (const digit of ['1', '2', '3']) {
      one.push({
        number: '0xc',
        hash: `0x${'a'.repeat(63)}${digit}`,
        parentHash: `0x${'b'.repeat(64)}`,
      })
      await fixture.clock.advance(1_000)
    }
    expect(fixture.events.join()).toMatch(/leaves one: eth_getBlockByHash: no usable answer/)
    push(scene.two, chain.mine())
    await fixture.clock.advance(100)
    expect(client.texts).toEqual(heads([chain.at(11)]))
  })

  test('is ignored when it alone is a million blocks ahead', async () => {
    const scene = await setUp()
    const { chain, one, fixture } = scene
    const client = await joinHeads(scene)
    one.push({ number: '0xfffff', hash: `0x${'a'.repeat(64)}`, parentHash: `0x${'b'.repeat(64)}` })
    await fixture.clock.advance(1_000)
    push(one, chain.mine())
    await fixture.clock.advance(0)
    expect(client).toMatchObject({ texts: heads([chain.at(11)]), ended: null })
  })

  test('may send malformed events without harm', async () => {
    const scene = await setUp()
    const { chain, one, fixture } = scene
    const client = await joinHeads(scene)
    for (const nonsense of ['null', '5', '"x"', '[]', '{}', '{"number":5}']) one.push(nonsense)
    await fixture.clock.advance(1_000)
    push(scene.two, chain.mine())
    await fixture.clock.advance(0)
    expect(client.texts).toEqual(heads([chain.at(11)]))
  })
})

describe('a branch', () => {
  test('of the same height is sent at once, a lower one when it has grown', async () => {
    const scene = await setUp()
    const { chain, one, fixture } = scene
    const client = await joinHeads(scene)
    const old = [chain.mine(), chain.mine()]
    for (const block of old) push(one, block)
    await fixture.clock.advance(0)
    chain.reorg(2)
    push(one, chain.at(11))
    await fixture.clock.advance(100)
    expect(client.texts).toEqual(heads(old))
    push(one, chain.at(12))
    await fixture.clock.advance(100)
    expect(client.texts).toEqual(heads([...old, chain.at(11), chain.at(12)]))
  })
})

describe('an abandoned branch', () => {
  test('is sent again when the chain returns to it', async () => {
    const scene = await setUp()
    const { chain, one, fixture } = scene
    const client = await joinHeads(scene)
    const old = [chain.mine(), chain.mine()]
    for (const block of old) push(one, block)
    await fixture.clock.advance(0)
    chain.reorg(2)
    const other = [chain.at(11), chain.at(12)]
    push(one, chain.head)
    await fixture.clock.advance(100)
    chain.goBackTo(old[1] as TestBlock)
    push(one, chain.mine())
    await fixture.clock.advance(100)
    expect(client.texts).toEqual(heads([...old, ...other, ...old, chain.head]))
  })
})

test('without a WebSocket URL at any upstream, the error says what to add', async () => {
  const scene = await setUp({ sockets: [], others: ['one'] })
  const client = await joinHeads(scene)
  expect(client.refused).toBeInstanceOf(RelayError)
  expect(String(client.refused)).toMatch(/has to add a ws:\/\/ or wss:\/\/ URL to node-urls/)
  expect(scene.fixture.clock.pending).toBe(0)
})

test('while no socket can be opened, missed events wait', async () => {
  const scene = await setUp()
  const { chain, one, two, fixture } = scene
  const client = await joinHeads(scene)
  one.answer = two.answer = 'refused'
  one.cut()
  chain.mine(3)
  await fixture.clock.advance(60_000)
  // A failed URL enters cooldown, which grows with each failure.
  expect(one.requests.length).toBeLessThan(10)
  expect(client).toMatchObject({ texts: [], ended: null })
  two.answer = 'yes'
  await fixture.clock.advance(60_000)
  expect(client.texts).toEqual(heads([11, 12, 13].map((number) => chain.at(number))))
})

test('an upstream that never answers the request is replaced by another one', async () => {
  const scene = await setUp()
  scene.one.answer = 'never'
  const client = scene.fixture.ask('eth_subscribe', ['newHeads'])
  await scene.fixture.clock.advance(11_000)
  expect(client.subscription).not.toBeNull()
  expect(scene.two.held.size).toBe(1)
})
