// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { gunzipSync } from 'node:zlib'
import { ByteBudget } from '../bytes/byte-budget.ts'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { ChainCatalog } from '../chain/types.ts'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import { patientClock } from '../clock/testing/patient-clock.ts'
import { privateSessions } from '../sticky/testing/private-sessions.ts'
import { parseConfig } from '../config/parse.ts'
import type { CallEnd } from '../listener/listener.ts'
import type { AttemptRecord } from '../relay/call.ts'
import { resultOf } from '../telemetry/call-counters.ts'
import { countStreamedBytes } from '../upstream/testing/streamed-bytes.ts'
import { serveChains } from '../router/served-chain.ts'

/*
 * A listener with its relay, pool and transport over real sockets, and nodes whose answers are too
 * long to collect.
 */

const mebibyte = 1024 * 1024
/** Valid contract code, because the router validates it while streaming. */
const long = `0x${'ab'.repeat(3 * mebibyte)}`

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

let catalog: ChainCatalog
beforeAll(async () => {
  catalog = await loadCatalog([])
})

type Node = (id: string, response: ServerResponse, incoming: IncomingMessage) => void

/** A router for ETH1 over these nodes, tried in this order. */
async function startRouter(nodes: readonly Node[]) {
  const ports = await Promise.all(nodes.map(startNode))
  const text = `endpoints:
  - { network-address: 127.0.0.1:3360, chain-id: ETH1, api-interface: jsonrpc }
direct-rpc:
${ports
  .map(
    (port, at) =>
      `  - { name: node-${at}, chain-id: ETH1, api-interface: jsonrpc, node-urls: [{ url: 'http://127.0.0.1:${port}' }] }`,
  )
  .join('\n')}
strategy: round-robin
`
  const parsed = parseConfig(text, { environment: {}, flags: {} })
  const config = parsed.config ?? expect.fail(JSON.stringify(parsed.problems))
  // Picks any free port.
  const endpoints = config.endpoints.map((each) => ({
    ...each,
    address: { host: '127.0.0.1', port: 0 },
  }))
  const attempts: AttemptRecord[] = []
  const ends: CallEnd[] = []
  const streamed = countStreamedBytes()
  cleanups.push(streamed.stop)
  const [served] = serveChains(
    { ...config, endpoints },
    {
      catalog,
      clock: patientClock,
      random: seededRandom(1),
      version: 'test',
      budget: new ByteBudget(Infinity),
      cache: null,
      isDraining: () => false,
      sessions: privateSessions(patientClock),
      observers: {
        relayObserver: () => ({
          attemptEnded: (_, attempt) => attempts.push(attempt),
          breakerChanged: () => {},
        }),
        poolObserver: () => ({
          stateChanged: () => {},
          cooldownBegan: () => {},
          verificationFailed: () => {},
        }),
        crossValidationObserver: () => ({ validated() {}, finalizedMismatch() {} }),
        subscriptionObserver: () => ({
          clientsChanged() {},
          upstreamChanged() {},
          joined() {},
          left() {},
          filled() {},
          duplicateDropped() {},
          fetchFailed() {},
          ended() {},
          failed() {},
        }),
        listenerObserver: () => ({
          callEnded: (_, end) => ends.push(end),
          requestRefused: () => {},
          connectionsChanged: () => {},
          socketsChanged: () => {},
        }),
      },
    },
  )
  const { pool, endpoints: listeners } = served!
  const { listener } = listeners[0]!
  const { port } = await listener.start()
  cleanups.push(
    () => pool.close(),
    () => listener.close(),
  )
  for (const upstream of pool.upstreams) {
    for (const url of upstream.urls) url.verified = true
    upstream.availability.verified()
  }
  const sessions = () => pool.snapshot().upstreams.map((upstream) => upstream.sessions)
  return { port, pool, attempts, ends, streamedBytes: streamed.count, sessions }
}

async function startNode(node: Node): Promise<number> {
  const server = createServer((incoming, response) => {
    let text = ''
    incoming.on('data', (chunk: Buffer) => (text += chunk.toString()))
    incoming.on('end', () => {
      response.setHeader('content-type', 'application/json')
      node(JSON.stringify((JSON.parse(text) as { id: unknown }).id), response, incoming)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  /** Whether the connection broke before the answer ended. */
  readonly broken: boolean
}

function question(id: string, method = 'eth_getCode'): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":["0x${'5a'.repeat(20)}","latest"]}`
}

function ask(port: number, body: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve) => {
    const options = { port, host: '127.0.0.1', method: 'POST', headers, agent: false }
    const sent = request(options, (response) => {
      const chunks: Buffer[] = []
      const end = (broken: boolean) => {
        const { statusCode = 0 } = response
        resolve({
          status: statusCode,
          headers: response.headers,
          body: Buffer.concat(chunks),
          broken,
        })
      }
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => end(false))
        .on('error', () => end(true))
    })
    // A reset may arrive before the answer's head.
    sent.on('error', () => {
      resolve({ status: 0, headers: {}, body: Buffer.alloc(0), broken: true })
    })
    sent.end(body)
  })
}

const idFirst = (id: string) => `{"jsonrpc":"2.0","id":${id},"result":"${long}"}\n`
const idLast = (id: string) => `{"jsonrpc":"2.0","result":"${long}","id":${id}}`

function hashOf(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex')
}

async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100_000 && !isSo(); turn++) await new Promise(setImmediate)
  expect(isSo()).toBe(true)
}

describe('a long answer', () => {
  test.each([
    ['of known length', idFirst, true],
    ['with its id at the end', idLast, false],
  ])('%s reaches each of several clients byte for byte', async (_, text, hasLength) => {
    const router = await startRouter([
      (id, response) => {
        const body = Buffer.from(text(id))
        response.setHeader('content-length', body.length)
        response.end(body)
      },
    ])
    const ids = ['1', '"two"', '3']
    const answers = await Promise.all(ids.map((id) => ask(router.port, question(id))))
    answers.forEach(({ status, headers, body, broken }, at) => {
      const expected = text(ids[at]!)
      expect(hashOf(body)).toBe(hashOf(expected))
      expect({ status, broken }).toEqual({ status: 200, broken: false })
      expect(headers['content-length']).toBe(hasLength ? String(expected.length) : undefined)
    })
    expect(router.sessions()).toEqual([0])
    expect(router.attempts.map(resultOf)).toEqual(['answer', 'answer', 'answer'])
    expect(router.ends.map(({ kind }) => kind)).toEqual(['reply', 'reply', 'reply'])
    // Proves that the answer was streamed.
    expect(router.streamedBytes()).toBeGreaterThan(3 * 4 * mebibyte)
  })

  test.each([
    ['before', idFirst],
    ['at the end', idLast],
  ])('has the spelling of the client for an id that is %s', async (_, text) => {
    const router = await startRouter([
      (id, response) => {
        const body = Buffer.from(text(id))
        response.setHeader('content-length', body.length).end(body)
      },
    ])
    const { body, broken } = await ask(router.port, question('1.5e3'))
    expect(broken).toBe(false)
    expect(hashOf(body)).toBe(hashOf(text('1.5e3')))
  })

  test('is sent in gzip when the client accepts it', async () => {
    const router = await startRouter([(id, response) => response.end(idFirst(id))])
    const { headers, body } = await ask(router.port, question('1'), { 'accept-encoding': 'gzip' })
    expect(headers['content-encoding']).toBe('gzip')
    expect(hashOf(gunzipSync(body))).toBe(hashOf(idFirst('1')))
  })

  test('ends with the connection for an HTTP/1.0 client', async () => {
    const router = await startRouter([(id, response) => response.end(idLast(id))])
    const text = question('1')
    const socket = connect(router.port, '127.0.0.1')
    socket.write(`POST / HTTP/1.0\r\ncontent-length: ${text.length}\r\n\r\n${text}`)
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk as Buffer)
    const answer = Buffer.concat(chunks)
    const bodyAt = answer.indexOf('\r\n\r\n') + 4
    expect(answer.toString('latin1', 0, bodyAt)).not.toMatch(/transfer-encoding/i)
    expect(hashOf(answer.subarray(bodyAt))).toBe(hashOf(idLast('1')))
  })

  test('keeps its position in a batch', async () => {
    const router = await startRouter([
      (id, response) => response.end(id === '2' ? `{"id":${id},"result":"0x"}` : idLast(id)),
    ])
    const ids = ['1', '2', '3']
    const { body, broken } = await ask(router.port, `[${ids.map((id) => question(id)).join(',')}]`)
    expect(broken).toBe(false)
    const expected = `[${idLast('1')},{"id":2,"result":"0x"},${idLast('3')}]`
    expect(hashOf(body)).toBe(hashOf(expected))
    expect(router.ends.map(({ kind }) => kind)).toEqual(['reply', 'reply', 'reply'])
    expect(router.sessions()).toEqual([0])
  })

  test('may be a node error', async () => {
    const text = (id: string) =>
      `{"id":${id},"error":{"code":3,"message":"execution reverted","data":"${long}"}}`
    const router = await startRouter([(id, response) => response.end(text(id))])
    const { body } = await ask(router.port, question('1', 'eth_call'))
    expect(hashOf(body)).toBe(hashOf(text('1')))
    expect(router.attempts.map(resultOf)).toEqual(['node-error'])
  })

  test('with an invalid beginning is fetched elsewhere, and its connection is freed', async () => {
    let closed = 0
    const bad: Node = (_id, response, incoming) => {
      incoming.socket.on('close', () => (closed += 1))
      response.write(`{"id":12345,"result":"${long}`)
    }
    const good: Node = (id, response) => response.end(idFirst(id))
    const router = await startRouter([bad, good])
    const { body } = await ask(router.port, question('1'))
    expect(hashOf(body)).toBe(hashOf(idFirst('1')))
    await until(() => closed === 1)
    expect(router.attempts.map(resultOf)).toEqual(['malformed-answer', 'answer'])
    expect(router.sessions()).toEqual([0, 0])
  })
})

describe('a long answer that turns out to be invalid', () => {
  const cases: [string, Node, string][] = [
    ['another id at the end', (_id, response) => response.end(idLast('99')), 'malformed-answer'],
    ['trailing bytes', (id, response) => response.end(`${idFirst(id)}{}`), 'malformed-answer'],
    [
      'two results',
      (id, response) => response.end(idFirst(id).replace(/"\}\n$/, '","result":1}')),
      'malformed-answer',
    ],
    ['half its JSON', (id, response) => response.end(idFirst(id).slice(0, -3)), 'malformed-answer'],
    [
      'half its bytes',
      (id, response) => {
        response.setHeader('content-length', idFirst(id).length)
        response.write(idFirst(id).slice(0, -10), () => response.socket?.end())
      },
      'truncated-answer',
    ],
    [
      'a cut in its chunks',
      (id, response) => response.write(idFirst(id).slice(0, -10), () => response.socket?.end()),
      'truncated-answer',
    ],
  ]
  test.each(cases)(
    'with %s: the client notices, and it counts against the upstream',
    async (_, node, why) => {
      const router = await startRouter([node])
      const { broken, body } = await ask(router.port, question('7'))
      expect(broken).toBe(true)
      expect(body.length).toBeLessThan(long.length + 30)
      await until(() => router.ends.length === 1)
      expect(router.attempts.map(resultOf)).toEqual([why])
      expect(router.ends[0]).toMatchObject({
        kind: 'error',
        error: { kind: { reason: 'upstream-failed' } },
      })
      expect(router.sessions()).toEqual([0])
      expect(router.pool.upstreams[0]!.urls[0]!.failures).toBe(1)
    },
  )

  test('disables its upstream when repeated', async () => {
    const router = await startRouter([(_id, response) => response.end(idLast('99'))])
    for (let each = 0; each < 5; each++) await ask(router.port, question('7'))
    expect(router.pool.snapshot().upstreams[0]!.state).toBe('disabled')
  })

  test('in a batch truncates the batch', async () => {
    const router = await startRouter([(_id, response) => response.end(idLast('99'))])
    const { broken } = await ask(router.port, `[${question('1')},${question('2')}]`)
    expect(broken).toBe(true)
    await until(() => router.ends.length === 2 && router.sessions()[0] === 0)
  })
})

test('a client that disconnects midway frees the connection to the node', async () => {
  let closed = false
  const router = await startRouter([
    (id, response, incoming) => {
      incoming.socket.on('close', () => (closed = true))
      response.write(idFirst(id).slice(0, -10))
    },
  ])
  const text = question('1')
  const socket = connect(router.port, '127.0.0.1')
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${text.length}\r\n\r\n${text}`)
  await new Promise((resolve) => socket.once('data', resolve))
  expect(router.sessions()).toEqual([1])
  socket.destroy()
  await until(() => closed && router.ends.length === 1)
  expect(router.ends[0]).toEqual({ kind: 'abandoned' })
  expect(router.attempts.map(resultOf)).toEqual(['aborted'])
  expect(router.sessions()).toEqual([0])
  expect(router.pool.upstreams[0]!.urls[0]!.failures).toBe(0)
})

test('a slow reader slows down the node, at no cost in memory', async () => {
  const total = 32 * mebibyte
  const router = await startRouter([
    (id, response) => {
      const text = `{"jsonrpc":"2.0","id":${id},"result":"0x${'ab'.repeat(total / 2)}"}`
      response.end(text)
    },
  ])
  const text = question('1')
  const socket = connect(router.port, '127.0.0.1')
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${text.length}\r\n\r\n${text}`)
  socket.pause()
  await until(() => router.streamedBytes() > 0)
  for (let turn = 0; turn < 5_000; turn++) await new Promise(setImmediate)
  // The kernel buffers some megabytes on each side.
  expect(router.streamedBytes()).toBeLessThan(total / 2)
  let read = 0
  for await (const chunk of socket) {
    read += (chunk as Buffer).length
    if (read > total) break
  }
  await until(() => router.ends.length === 1 && router.sessions()[0] === 0)
  expect(router.attempts.map(resultOf)).toEqual(['answer'])
})
