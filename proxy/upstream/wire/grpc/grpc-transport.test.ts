// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { ByteBudget } from '../../../bytes/byte-budget.ts'
import { VirtualClock } from '../../../clock/testing/virtual-clock.ts'
import { createGrpcTransport } from './grpc-transport.ts'
import { nodeUrlConfig } from '../../testing/node-url-config.ts'
import { SilentWire } from '../../testing/silent-wire.ts'
import type { BodyStream, Outgoing, TransportError } from '../../wire.ts'

const request: Outgoing = {
  verb: 'POST',
  path: '/test.Echo/Down',
  headers: ['content-type', 'application/grpc'],
  body: Buffer.alloc(5),
}
const noError = () => {}

/** A node that starts an answer, behind a wire that can fall silent without breaking. */
class FarNode implements AsyncDisposable {
  readonly #server = createServer()
  /** Interim answers before each answer. */
  interims = 0
  readonly wire = new SilentWire(() => (this.#server.address() as AddressInfo).port)
  readonly sessions: ServerHttp2Session[] = []
  readonly streams: ServerHttp2Stream[] = []
  /** Requests for a sign of life on the first connection. */
  signsOfLife = 0
  pings = 0

  async start(): Promise<this> {
    this.#server.on('session', (session) => {
      const isFirst = this.sessions.push(session.on('error', noError)) === 1
      session
        .on('remoteSettings', () => (this.signsOfLife += isFirst ? 1 : 0))
        .on('ping', () => (this.pings += 1))
    })
    this.#server.on('stream', (stream: ServerHttp2Stream) => {
      this.streams.push(stream.on('error', noError))
      for (let at = 0; at < this.interims; at++) stream.additionalHeaders({ ':status': 103 })
      stream.respond([':status', '200', 'content-type', 'application/grpc'])
      stream.write(Buffer.alloc(5))
    })
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    await this.wire.start()
    return this
  }

  get url(): string {
    return `grpc://127.0.0.1:${this.wire.port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.sessions) session.destroy()
    await this.wire[Symbol.asyncDispose]()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

async function begun() {
  const stack = new AsyncDisposableStack()
  const node = stack.use(await new FarNode().start())
  const clock = new VirtualClock()
  const transport = createGrpcTransport(nodeUrlConfig(node.url), {
    clock,
    budget: new ByteBudget(1e9),
  })
  stack.defer(() => transport.close())
  const open = async () => {
    const sent = transport.send(request, new AbortController().signal)
    const before = node.streams.length
    await expect.poll(() => node.streams.length).toBe(before + 1)
    const { body } = await ready(sent, clock)
    return (body as BodyStream)[Symbol.asyncIterator]()
  }
  return { node, clock, transport, open, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** Advances the clock until the request settles. */
async function ready<T>(sent: Promise<T>, clock: VirtualClock): Promise<T> {
  let isThere = false
  const settled = () => (isThere = true)
  void sent.then(settled, settled)
  await expect
    .poll(
      async () => {
        await clock.advance(1)
        return isThere
      },
      { timeout: 15_000 },
    )
    .toBe(true)
  return sent
}

/** Sends GOAWAY and waits for its arrival, so that the next call opens another connection. */
async function goAway(
  { node, open }: Awaited<ReturnType<typeof begun>>,
  stream: AsyncIterator<Uint8Array>,
): Promise<void> {
  node.sessions[0]!.close()
  node.streams[0]!.write(Buffer.alloc(5))
  await stream.next()
  await open()
  expect(node.sessions).toHaveLength(2)
}

/** Reports the end of a wait once it is over. */
function watched(next: Promise<unknown>): { end: string } {
  const outcome = { end: 'none' }
  next.then(
    () => (outcome.end = 'more'),
    (error: { fault?: string }) => (outcome.end = error.fault ?? 'odd'),
  )
  return outcome
}

test.each([
  ['', false],
  [', after a GOAWAY', true],
])('a stream on a connection that falls silent ends with it%s', async (_, goesAway) => {
  await using own = await begun()
  const { node, clock } = own
  const stream = await own.open()
  await stream.next()
  if (goesAway) await goAway(own, stream)
  const outcome = watched(stream.next())
  node.wire.fallSilent()
  await clock.advance(30_000)
  expect(outcome.end).toBe('none')
  await clock.advance(15_000)
  await expect.poll(() => outcome.end).toBe('reset')
})

test.each([
  ['', false],
  [', even after a GOAWAY', true],
])('a stream on a live connection may stay idle forever%s', async (_, goesAway) => {
  await using own = await begun()
  const { node, clock } = own
  const stream = await own.open()
  await stream.next()
  if (goesAway) await goAway(own, stream)
  for (let round = 0; round < 4; round++) {
    const { signsOfLife } = node
    await clock.advance(30_000)
    await expect.poll(() => node.signsOfLife).toBeGreaterThan(signsOfLife)
    // A grpc-go server would have closed the connection because of a ping.
    expect(node.pings).toBe(0)
    // A message follows the acknowledgement.
    const next = stream.next()
    node.streams[0]!.write(Buffer.alloc(5))
    expect(await next).toMatchObject({ done: false })
  }
})

test('so does a connection with one call at a time, each over before the check', async () => {
  await using own = await begun()
  const { node, clock, transport } = own
  const stream = await own.open()
  await stream.return?.()
  await expect.poll(() => node.streams[0]!.closed).toBe(true)
  node.wire.fallSilent()
  for (let at = 0; at < 4; at++) {
    const hurry = new AbortController()
    const outcome = watched(transport.send(request, hurry.signal))
    await clock.advance(5_000)
    hurry.abort()
    await expect.poll(() => outcome.end).toBe('aborted')
    await clock.advance(5_000)
  }
  await clock.advance(5_000)
  // Opens another connection, which is healthy.
  await own.open()
})

test('long requests may wait for their node, and their answers begin', async () => {
  await using own = await begun()
  const { node, clock, transport } = own
  await own.open()
  const { signal } = new AbortController()
  const count = 300
  const long = { ...request, body: Buffer.alloc(200_000) }
  const begins = Promise.all(Array.from({ length: count }, () => transport.send(long, signal)))
  await expect.poll(() => node.streams.length).toBe(count + 1)
  const statuses = (await ready(begins, clock)).map(({ status }) => status)
  expect([...new Set(statuses)]).toEqual([200])
  // One connection carries at most 256 streams.
  expect(node.sessions).toHaveLength(2)
})

test('thousands of cancelled calls end no other call of their node', async () => {
  await using own = await begun()
  const { node, transport } = own
  const stream = await own.open()
  for (let round = 0; round < 30; round++) {
    const hurry = new AbortController()
    const calls = Array.from({ length: 50 }, () => transport.send(request, hurry.signal))
    await expect.poll(() => node.streams.length).toBe(1 + 50 * (round + 1))
    hurry.abort()
    await Promise.allSettled(calls)
  }
  await expect.poll(() => node.streams.filter(({ closed }) => !closed).length).toBe(1)
  expect(node.sessions.length).toBeGreaterThan(5)
  node.streams[0]!.end(Buffer.from('the rest'))
  expect(await stream.next()).toMatchObject({ done: false })
})

test('so do calls that are all cancelled before their connection opens', async () => {
  await using own = await begun()
  for (let round = 0; round < 5; round++) {
    const hurry = new AbortController()
    const calls = Array.from({ length: 120 }, () => own.transport.send(request, hurry.signal))
    hurry.abort()
    const ends = await Promise.allSettled(calls)
    expect(ends.every(({ status }) => status === 'rejected')).toBe(true)
  }
  await own.open()
})

test('a connection attempt fails after 10 s, with nothing sent', async () => {
  const silent = createTcpServer((socket) => void socket.on('error', noError))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const clock = new VirtualClock()
  const url = `grpcs://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const transport = createGrpcTransport(nodeUrlConfig(url), { clock, budget: new ByteBudget(1e9) })
  const sent = transport.send(request, new AbortController().signal)
  const outcome = { fault: 'none', sent: true }
  sent.catch((error: { fault: string; sent: boolean }) => Object.assign(outcome, error))
  await clock.advance(9_999)
  expect(outcome.fault).toBe('none')
  await clock.advance(1)
  await expect.poll(() => outcome).toMatchObject({ fault: 'refused', sent: false })
  await transport.close()
  silent.close()
})

test.each([
  [16, 'none'],
  [17, 'protocol'],
])('%i interim answers before the answer: fault %s', async (interims, fault) => {
  await using own = await begun()
  own.node.interims = interims
  const sent = own.transport.send(request, new AbortController().signal)
  const outcome = ready(sent, own.clock).then(() => 'none')
  expect(await outcome.catch((error: TransportError) => error.fault)).toBe(fault)
})
