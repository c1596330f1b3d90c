// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { addressesOf } from '../../config/fields/address-range.ts'
import { seededRandom } from '../../clock/testing/seeded-random.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import type { SubscriptionForm } from '../../subscription/form.ts'
import { ethereumForm } from '../../subscription/ethereum/form.ts'
import type { Hub } from '../../subscription/hub.ts'
import { solanaForm } from '../../subscription/solana/form.ts'
import { tendermintForm } from '../../subscription/tendermint/form.ts'
import { NodeRefused, type Subscriber } from '../../subscription/subscriptions.ts'
import { exchanged } from '../../upstream/testing/exchanged.ts'
import { echoRelay, startListener, type FixtureOptions } from '../testing/listener-fixture.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** A hub whose events come from the test. */
class TestHub implements Pick<Hub, 'subscribe'> {
  readonly members = new Set<Subscriber>()
  readonly topics: string[] = []
  readonly clients: string[] = []
  begun = 0
  failure: Error | null = null
  /** If set, subscriptions open only after their client has disconnected. */
  isLate = false
  /** If set, subscriptions open only once it resolves. */
  opening: Promise<void> | null = null

  async subscribe(...[{ signal }, topic, subscriber, client]: Parameters<Hub['subscribe']>) {
    if (this.failure) throw this.failure
    this.clients.push(client)
    this.topics.push(topic.key)
    this.members.add(subscriber)
    if (this.isLate) await once(signal as AbortSignal, 'abort')
    await this.opening
    return {
      begin: () => (this.begun += 1),
      unsubscribe: () => this.members.delete(subscriber),
    }
  }

  publish(text: string): void {
    for (const member of this.members) member.event(Buffer.from(text))
  }
}

async function setUp(form: SubscriptionForm = ethereumForm, options: FixtureOptions = {}) {
  const hub = new TestHub()
  const subscriptions = { form, hub, random: seededRandom(1) }
  const fixture = await startListener(echoRelay, { ...options, subscriptions })
  cleanups.push(() => fixture[Symbol.asyncDispose]())
  return { hub, fixture }
}

async function connect(port: number, headers: Readonly<Record<string, string>> = {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers })
  cleanups.push(() => {
    socket.terminate()
  })
  const received: string[] = []
  socket.on('message', (data: Buffer) => received.push(data.toString()))
  await once(socket, 'open')
  const until = async (count: number) => {
    while (received.length < count) await once(socket, 'message')
    return received
  }
  const ask = async (method: string, params: unknown, id: unknown = 1) => {
    const before = received.length
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return JSON.parse((await until(before + 1))[before] as string) as {
      id: unknown
      result?: unknown
      error?: { code: number; message: string }
    }
  }
  return { socket, received, until, ask }
}

describe('a subscription', () => {
  it('of Ethereum has its own id, and its events share their bytes', async () => {
    const { hub, fixture } = await setUp()
    const client = await connect(fixture.port)
    const { result } = await client.ask('eth_subscribe', ['newHeads'])
    expect(result).toMatch(/^0x[0-9a-f]{20,}$/)
    expect(hub.begun).toBe(1)
    hub.publish('{"number": 1}')
    expect((await client.until(2))[1]).toBe(
      `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${String(result)}","result":{"number": 1}}}`,
    )
    expect(await client.ask('eth_unsubscribe', [result])).toMatchObject({ result: true })
    expect(hub.members.size).toBe(0)
    expect(await client.ask('eth_unsubscribe', [result])).toMatchObject({ error: { code: -32602 } })
  })

  it('that opens after its client disconnected is closed', async () => {
    const { hub, fixture } = await setUp()
    hub.isLate = true
    const { socket } = await connect(fixture.port)
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
    await expect.poll(() => hub.members.size).toBe(1)
    socket.terminate()
    await expect.poll(() => hub.members.size).toBe(0)
    expect(hub.begun).toBe(0)
  })

  it('of Solana has an integer', async () => {
    const { hub, fixture } = await setUp(solanaForm)
    const client = await connect(fixture.port)
    const { result } = await client.ask('slotSubscribe', [])
    expect(result).toBeTypeOf('number')
    hub.publish('{"slot":1}')
    expect((await client.until(2))[1]).toBe(
      `{"jsonrpc":"2.0","method":"slotNotification","params":{"result":{"slot":1},"subscription":${String(result)}}}`,
    )
    expect(await client.ask('slotUnsubscribe', [result])).toMatchObject({ result: true })
  })

  it('of Solana that sent its last event is removed and no longer counts', async () => {
    const { hub, fixture } = await setUp(solanaForm, { socketLimits: { maxSubscriptions: 1 } })
    const client = await connect(fixture.port)
    await client.ask('signatureSubscribe', ['5h6x'])
    hub.publish('{"context":{"slot":1},"value":{"err":null}}')
    await client.until(2)
    expect(await client.ask('signatureSubscribe', ['7k2p'])).toHaveProperty('result')
  })

  it('of Tendermint answers under the id of the request', async () => {
    const { hub, fixture } = await setUp(tendermintForm)
    const client = await connect(fixture.port)
    const query = "tm.event = 'NewBlock'"
    expect(await client.ask('subscribe', { query }, 'q1')).toMatchObject({ id: 'q1', result: {} })
    expect(await client.ask('subscribe', { query }, 'q2')).toMatchObject({
      error: { code: -32603 },
    })
    hub.publish('"data":{"type":"x"}')
    expect(JSON.parse((await client.until(3))[2] as string)).toEqual({
      jsonrpc: '2.0',
      id: 'q1',
      result: { query, data: { type: 'x' } },
    })
    expect(await client.ask('unsubscribe_all', {})).toMatchObject({ result: {} })
    expect(hub.members.size).toBe(0)
  })

  it.each([
    ['unsubscribe', { query: "tm.event = 'NewBlock'" }],
    ['unsubscribe_all', {}],
  ])('of Tendermint that is still being opened is ended by %s, too', async (method, params) => {
    const { hub, fixture } = await setUp(tendermintForm)
    const opening = Promise.withResolvers<void>()
    hub.opening = opening.promise
    const { socket, until } = await connect(fixture.port)
    const send = (id: number, verb: string, what: unknown) => {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: verb, params: what }))
    }
    send(1, 'subscribe', { query: "tm.event = 'NewBlock'" })
    send(2, method, params)
    send(3, method, params)
    await expect.poll(() => hub.members.size).toBe(1)
    await exchanged(socket)
    opening.resolve()
    const answers = (await until(3)).map((text) => JSON.parse(text) as { id: number })
    const byId = answers.toSorted((a, b) => a.id - b.id)
    expect(byId).toMatchObject([{ result: {} }, { result: {} }, { error: { code: -32602 } }])
    expect(hub.members.size).toBe(0)
  })

  it('that was never opened cannot be ended', async () => {
    const { hub, fixture } = await setUp(tendermintForm)
    const { promise, reject } = Promise.withResolvers<void>()
    hub.opening = promise
    const { socket, until } = await connect(fixture.port)
    const params = { query: "tm.event = 'NewBlock'" }
    for (const [id, method] of ['subscribe', 'unsubscribe'].entries())
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    await expect.poll(() => hub.members.size).toBe(1)
    reject(new RelayError(errorKinds.noUpstream, 'none'))
    const answers = (await until(2)).map((text) => JSON.parse(text) as { error: unknown })
    expect(answers.map(({ error }) => error)).toMatchObject([{}, {}])
    expect(answers).toContainEqual(expect.objectContaining({ id: 1 }))
  })

  it('in a batch begins after the answer to the batch', async () => {
    const { hub, fixture } = await setUp()
    const client = await connect(fixture.port)
    const call = (id: number, method: string, params: unknown[]) => ({ id, method, params })
    client.socket.send(
      JSON.stringify([call(1, 'eth_subscribe', ['logs', {}]), call(2, 'eth_chainId', [])]),
    )
    const [answer] = await client.until(1)
    expect(JSON.parse(answer as string)).toMatchObject([
      { id: 1 },
      { id: 2, result: 'eth_chainId' },
    ])
    await expect.poll(() => hub.begun).toBe(1)
  })

  const proxies = addressesOf([{ address: '127.0.0.0', bits: 8 }])
  it.each([
    ['its connection', null, {}, ['guid1', 'guid2']],
    [
      'its connection, whatever its headers claim',
      null,
      { 'x-forwarded-for': '1.2.3.4' },
      ['guid1', 'guid2'],
    ],
    [
      'its address, behind a trusted proxy',
      proxies,
      { 'x-forwarded-for': '6.6.6.6, 1.2.3.4' },
      ['1.2.3.4', '1.2.3.4'],
    ],
  ] as const)('counts against the share of %s', async (_, trustedProxies, headers, clients) => {
    const { hub, fixture } = await setUp(ethereumForm, { clients: { trustedProxies } })
    for (let at = 0; at < 2; at++) {
      const { ask } = await connect(fixture.port, headers)
      expect(await ask('eth_subscribe', ['newHeads'])).toHaveProperty('result')
    }
    expect(hub.clients).toEqual(clients)
  })

  it('is charged as an object, and refused while only short requests are accepted', async () => {
    const budget = new ByteBudget(100_000)
    const { fixture } = await setUp(ethereumForm, { budget })
    const { ask } = await connect(fixture.port)
    const refusal = { error: { code: -32005, data: { reason: 'overloaded' } } }
    const answers = []
    for (let id = 0; id < 40; id++) answers.push(await ask('eth_subscribe', ['newHeads'], id))
    expect(answers[35]).toHaveProperty('result')
    expect(answers[39]).toMatchObject(refusal)
    expect(await ask('eth_chainId', [])).toHaveProperty('result')
  })

  it('ends with its connection, and then holds no budget', async () => {
    const budget = new ByteBudget(1e9)
    const { hub, fixture } = await setUp(ethereumForm, { budget })
    const client = await connect(fixture.port)
    const address = Array.from({ length: 1_000 }, (_, at) => `0x${String(at).padStart(40, '0')}`)
    const { result } = await client.ask('eth_subscribe', ['logs', { address }])
    expect(budget.heldBytes).toBeGreaterThan(4 * 40_000)
    await client.ask('eth_unsubscribe', [result])
    await expect.poll(() => budget.heldBytes).toBe(0)
    for (const name of ['newHeads', 'logs']) await client.ask('eth_subscribe', [name])
    client.socket.terminate()
    await expect.poll(() => hub.members.size).toBe(0)
    await expect.poll(() => budget.heldBytes).toBe(0)
  })

  it('that cannot continue closes the connection with the reason', async () => {
    const { hub, fixture } = await setUp()
    const client = await connect(fixture.port)
    await client.ask('eth_subscribe', ['newHeads'])
    for (const member of hub.members) member.ended('more than 1000 blocks were missed')
    const [code, reason] = (await once(client.socket, 'close')) as [number, Buffer]
    expect([code, reason.toString()]).toEqual([1013, 'more than 1000 blocks were missed'])
  })
})

describe('a refusal', () => {
  it('by the node is forwarded as its own error', async () => {
    const { hub, fixture } = await setUp()
    hub.failure = new NodeRefused(Buffer.from('{"code":-32000,"message":"no","data":[1]}'), false)
    const client = await connect(fixture.port)
    client.socket.send('{"jsonrpc":"2.0","id":9,"method":"eth_subscribe","params":["x"]}')
    expect(await client.until(1)).toEqual([
      '{"jsonrpc":"2.0","id":9,"error":{"code":-32000,"message":"no","data":[1]}}',
    ])
    expect(fixture.ends).toEqual([{ kind: 'subscription', isRefused: true }])
  })

  it.each([
    ['no upstream', new RelayError(errorKinds.noUpstream, 'none'), -32050],
    ['a defect', new Error('oops'), -32603],
  ])('for %s is an error of the router', async (_name, failure, code) => {
    const { hub, fixture } = await setUp()
    hub.failure = failure
    const client = await connect(fixture.port)
    expect(await client.ask('eth_subscribe', ['newHeads'])).toMatchObject({ error: { code } })
    expect(await client.ask('eth_chainId', [])).toMatchObject({ result: 'eth_chainId' })
  })

  it.each([
    ['no topic', []],
    ['an invalid filter', ['logs', { address: 'x' }]],
  ])('for %s names the mistake', async (_name, params) => {
    const { fixture } = await setUp()
    const client = await connect(fixture.port)
    expect(await client.ask('eth_subscribe', params)).toMatchObject({ error: { code: -32602 } })
  })

  it('of a subscription beyond the limit names the limit', async () => {
    const { fixture } = await setUp(ethereumForm, { socketLimits: { maxSubscriptions: 2 } })
    const client = await connect(fixture.port)
    const { result } = await client.ask('eth_subscribe', ['newHeads'])
    await client.ask('eth_subscribe', ['newHeads'])
    expect(await client.ask('eth_subscribe', ['newHeads'])).toMatchObject({
      error: { code: -32005, message: 'this connection has 2 subscriptions already' },
    })
    await client.ask('eth_unsubscribe', [result])
    expect(await client.ask('eth_subscribe', ['newHeads'])).toHaveProperty('result')
  })
})

it('a client that does not read is closed, within the memory limit', async () => {
  const { hub, fixture } = await setUp(ethereumForm, {
    socketLimits: { maxBufferedBytes: 100_000 },
  })
  const [lazy, keen] = [await connect(fixture.port), await connect(fixture.port)]
  await lazy.ask('eth_subscribe', ['newHeads'])
  await keen.ask('eth_subscribe', ['newHeads'])
  lazy.socket.pause()
  const event = `"${'x'.repeat(50_000)}"`
  for (let at = 0; at < 400; at++) {
    hub.publish(event)
    await sleep(1)
  }
  await keen.until(401)
  lazy.socket.resume()
  const [code, reason] = (await once(lazy.socket, 'close')) as [number, Buffer]
  expect(code).toBe(1008)
  expect(reason.toString()).toBe('the client does not read its notifications')
  await expect.poll(() => hub.members.size).toBe(1)
})

it('clients that read at different speeds get each event whole, short or long', async () => {
  const { hub, fixture } = await setUp()
  const clients = await Promise.all(Array.from({ length: 20 }, () => connect(fixture.port)))
  const ids = await Promise.all(
    clients.map(async ({ ask }) => (await ask('eth_subscribe', ['newHeads'])).result),
  )
  for (const [at, { socket }] of clients.entries()) if (at % 3 === 0) socket.pause()
  const sizes = [10, 3_900, 4_000, 4_200, 70_000, 200_000, 20]
  for (const size of sizes) hub.publish(`"${'ab'.repeat(size / 2)}"`)
  await sleep(50)
  for (const { socket } of clients) socket.resume()
  for (const [at, client] of clients.entries()) {
    const events = (await client.until(1 + sizes.length))
      .slice(1)
      .map(
        (text) =>
          (JSON.parse(text) as { params: { subscription: unknown; result: string } }).params,
      )
    expect(events.map(({ result }) => result.length)).toEqual(sizes)
    expect(events.every(({ subscription }) => subscription === ids[at])).toBe(true)
    expect(events.every(({ result }) => /^(ab)+$/.test(result))).toBe(true)
  }
})
