// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { request } from 'node:http'
import { gzipSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import type { Relay } from '../../relay/relay.ts'
import { clientLimits } from '../../bytes/limits.ts'
import { systemClock } from '../../clock/clock.ts'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import type { HttpExchange } from './http-exchange.ts'
import { HttpServer, type HttpServerOptions } from './http-server.ts'
import {
  directClients,
  RawClient,
  echoRelay,
  rawPost,
  reply,
  startListener,
} from '../testing/listener-fixture.ts'

const call = '{"jsonrpc":"2.0","id":1,"method":"m"}'
const answer = '{"jsonrpc":"2.0","id":1,"result":"m"}'

const slow: Relay = (call) =>
  new Promise((_, reject) => {
    call.signal.addEventListener('abort', () => {
      reject(new Error('aborted'))
    })
  })

describe('HTTP', () => {
  test.each([
    ['garbage', 'hello\r\n\r\n', 400],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['an unknown version', 'POST / HTTP/3.0\r\nHost: x\r\n\r\n', 400],
    ['no host', 'POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n', 400],
    ['a length that is no number', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n', 400],
    ['a negative length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n', 400],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    [
      'an unknown transfer coding',
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n',
      400,
    ],
    ...['OPTIONS *', 'GET *', 'GET ftp://evil/x', 'POST http:///x'].map(
      (line): [string, string, number] => [
        line,
        `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
        400,
      ],
    ),
    ...[
      'GET /../../admin',
      'POST /%2e%2e/x',
      'GET http://x/a/..%2f..%2fx',
      'GET /a#b',
      'POST /?#',
    ].map((line): [string, string, number] => [
      line,
      `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      400,
    ]),
    ['a space before the colon', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length : 1\r\n\r\na', 400],
    ['a folded header', 'POST / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n', 400],
    ['a null character in a header', 'POST / HTTP/1.1\r\nHost: x\r\nA: b\x00c\r\n\r\n', 400],
    ['bare line feeds', 'POST / HTTP/1.1\nHost: x\nContent-Length: 0\n\n', 400],
    [
      'a chunk without a size',
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      400,
    ],
    ['a long header', `POST / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['many headers', `POST / HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(10_000)}\r\n`, 431],
    [
      'more headers than clients send',
      `POST / HTTP/1.1\r\nHost: x\r\n${'A:\r\n'.repeat(256)}\r\n`,
      431,
    ],
    ['a long path', `POST /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    [
      'an unknown expectation',
      'POST / HTTP/1.1\r\nHost: x\r\nExpect: cake\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
      417,
    ],
  ])('%s is refused, and the listener lives on', async (_, bytes, status) => {
    await using fixture = await startListener(echoRelay)
    using client = new RawClient(fixture.port)
    client.write(bytes)
    const text = await client.untilClosed()
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(text).toContain('Connection: close')
    expect(client.error).toBeNull()
    expect(fixture.calls).toEqual([])
    using other = new RawClient(fixture.port)
    other.write(rawPost(call))
    expect(await other.until(/\}$/)).toContain(answer)
  })

  test.each([['bytes that are not HTTP', 'BOGUS\r\n\r\n']])(
    'the refusal of %s is JSON-RPC too',
    async (_, bytes) => {
      await using fixture = await startListener(echoRelay)
      using client = new RawClient(fixture.port)
      client.write(bytes)
      const [head = '', body = ''] = (await client.untilClosed()).split('\r\n\r\n')
      expect(head).toContain(`Content-Length: ${body.length}`)
      expect(JSON.parse(body)).toMatchObject({
        id: null,
        error: { code: -32600, data: { reason: 'bad-http' } },
      })
      expect(fixture.refusals).toMatchObject([{ kind: { code: 'RPC_BAD_HTTP' } }])
    },
  )

  test.each([
    ['in its path', '/blocks/\u00e9'],
    ['in its query', '/?hash=\u65e5'],
    ['after an origin', 'http://x/\u00e9'],
    ['that is a control character', '/a\u0001'],
    ['in its host', 'http://\u00e9/'],
    ['that it begins with', 'blocks'],
  ])('a target with a byte %s is refused with the correct form', async (_, target) => {
    await using fixture = await startListener(echoRelay)
    using client = new RawClient(fixture.port)
    client.write(Buffer.from(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`))
    const text = await client.untilClosed()
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect(text).toContain('begins with /, or an http:// URL, with everything but printable ASCII')
    expect(fixture.refusals).toMatchObject([{ kind: { code: 'RPC_BAD_HTTP' } }])
  })

  test('the listener survives any bytes', async () => {
    await using fixture = await startListener(echoRelay)
    const pieces = fc.constantFrom(
      ...[
        'POST / HTTP/1.1\r\n',
        'Host: x\r\n',
        'Content-Length: 5\r\n',
        'Transfer-Encoding: chunked\r\n',
      ],
      ...[
        '\r\n',
        '5\r\nhello\r\n',
        '0\r\n\r\n',
        'GET / HTTP/1.0\r\n\r\n',
        '\x00',
        '\xff\xfe',
        'Expect: 100-continue\r\n',
      ],
      ...[
        'Connection: Upgrade\r\nUpgrade: websocket\r\n',
        'CONNECT x:1 HTTP/1.1\r\n',
        rawPost(call).toString(),
      ],
    )
    const garbage = fc.oneof(
      fc.array(pieces, { maxLength: 12 }).map((list) => list.join('')),
      fc.string({
        unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
      }),
    )
    await fc.assert(
      fc.asyncProperty(garbage, async (bytes) => {
        using client = new RawClient(fixture.port)
        client.write(bytes)
        client.socket.end()
        const text = await client.untilClosed()
        if (text !== '') expect(text).toMatch(/^HTTP\/1\.1 \d{3} /)
      }),
      { numRuns: 150 },
    )
    expect(await (await fetch(fixture.url, { method: 'POST', body: call })).text()).toBe(answer)
  })

  test('pipelined requests are answered in order', async () => {
    await using fixture = await startListener(async (call) => {
      if (call.method.name === 'first') await new Promise((resolve) => setImmediate(resolve))
      return echoRelay(call)
    })
    using client = new RawClient(fixture.port)
    client.write(
      Buffer.concat([
        rawPost(call.replace('"m"', '"first"')),
        rawPost(call.replace('"m"', '"second"')),
      ]),
    )
    expect(await client.until(/second/)).toMatch(/"first".*"second"/s)
  })

  test('garbage after an unanswered call ends the connection', async () => {
    await using fixture = await startListener(slow)
    using client = new RawClient(fixture.port)
    client.write(Buffer.concat([rawPost(call), Buffer.from('garbage\r\n\r\n')]))
    expect(await client.untilClosed()).toBe('')
    await expect.poll(() => fixture.ends).toMatchObject([{ kind: 'abandoned' }])
  })

  test.each([
    ['keeps the connection when asked to', ['Connection: keep-alive'], true],
    ['closes it otherwise', [], false],
  ])('HTTP/1.0 %s', async (_, headers, keeps) => {
    await using fixture = await startListener(echoRelay)
    using client = new RawClient(fixture.port)
    const post = `POST / HTTP/1.0\r\nContent-Length: ${call.length}\r\n${headers.map((line) => line + '\r\n').join('')}\r\n${call}`
    client.write(post)
    expect(await client.until(/\}$/)).toContain(answer)
    if (keeps) {
      client.write(post)
      expect(await client.until(/result.*result/s)).toMatch(/Connection: keep-alive/i)
    } else expect(await client.untilClosed()).toMatch(/Connection: close/i)
  })

  test('a request target may include the origin, as proxies write it', async () => {
    await using fixture = await startListener(echoRelay)
    using client = new RawClient(fixture.port)
    client.write(
      `POST http://rpc.example:80?x HTTP/1.1\r\nHost: x\r\nContent-Length: ${call.length}\r\n\r\n${call}`,
    )
    expect(await client.until(/\}$/)).toContain(answer)
  })

  test('HEAD /health has the head of GET /health', async () => {
    await using fixture = await startListener(echoRelay)
    using client = new RawClient(fixture.port)
    client.write('HEAD /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*Content-Length: 16.*\r\n\r\n$/s)
  })

  test('a body may arrive in HTTP chunks and in many pieces', async () => {
    await using fixture = await startListener(echoRelay)
    using client = new RawClient(fixture.port)
    client.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (const letter of call) client.write(`1\r\n${letter}\r\n`)
    client.write('0\r\n\r\n')
    expect(await client.until(/\}$/)).toContain(answer)
  })

  test('the observer learns the number of open connections', async () => {
    await using fixture = await startListener(echoRelay)
    const client = new RawClient(fixture.port)
    client.write(rawPost(call))
    await client.until(/\}$/)
    expect(fixture.openConnections()).toBe(1)
    client.socket.destroy()
    await expect.poll(fixture.openConnections).toBe(0)
  })

  test('connections are accepted in parallel', async () => {
    await using fixture = await startListener(echoRelay)
    const clients = Array.from({ length: 100 }, () => new RawClient(fixture.port))
    // A listening socket accepts one connection per event-loop turn.
    let turns = 0
    for (; fixture.openConnections() < clients.length && turns < 1_000; turns++)
      await new Promise((resolve) => setImmediate(resolve))
    expect(turns).toBeLessThan(process.platform === 'linux' ? 50 : 1_000)
    for (const { socket } of clients) socket.destroy()
  })

  test('a bind failure names an address in use', async () => {
    await using fixture = await startListener(echoRelay)
    const second = new HttpServer({
      ...serverOptions,
      address: { host: '127.0.0.1', port: fixture.port },
    })
    await expect(second.start()).rejects.toThrow(`cannot listen on 127.0.0.1:${fixture.port}: `)
    await second.close()
  })
})

const serverOptions: HttpServerOptions = {
  address: { host: '127.0.0.1', port: 0 },
  clients: directClients,
  maxRequestBytes: 1_000,
  budget: new ByteBudget(1e9),
  clock: systemClock,
  handler: {
    serve: (exchange) => void exchange.respond(200, [], Buffer.alloc(32 * 1024 * 1024)),
    refuse: ({ kind }) => ({ status: kind.httpStatus, headers: [], body: Buffer.from('refused') }),
  },
  observer: { connectionsChanged: () => undefined },
}

describe('a slow client', () => {
  const generous = {
    headersMs: 60_000,
    requestMs: 60_000,
    checkMs: 20,
    keepAliveMs: 60_000,
    announcedMs: 60_000,
    stalledMs: 60_000,
  }

  test.each([
    ['that does not end its headers', 'POST / HTTP/1.1\r\nHost: x\r\n', { headersMs: 50 }],
    [
      'that does not end its body',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{',
      { headersMs: 50, requestMs: 60 },
    ],
    ['that does not begin', '', { headersMs: 50, requestMs: 60 }],
  ])('%s is answered with 408', async (_, bytes, timeouts) => {
    const server = new HttpServer({ ...serverOptions, timeouts: { ...generous, ...timeouts } })
    const { port } = await server.start()
    using client = new RawClient(port)
    client.write(bytes)
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 408 .*refused$/s)
    await server.close()
  })

  async function* endless() {
    for (;;) {
      await Promise.resolve()
      yield Buffer.alloc(1024 * 1024)
    }
  }

  test.each([
    ['whole', () => Buffer.alloc(32 * 1024 * 1024)],
    ['a stream', endless],
  ])('that does not take its answer is cut off: %s', async (_, answer) => {
    let open = 0
    const observer = { connectionsChanged: (now: number) => void (open = now) }
    const timeouts = { ...generous, stalledMs: 50 }
    const handler = {
      ...serverOptions.handler,
      serve: (exchange: HttpExchange) => void exchange.respond(200, [], answer()),
    }
    const server = new HttpServer({ ...serverOptions, handler, observer, timeouts })
    const { port } = await server.start()
    using client = new RawClient(port)
    client.socket.pause()
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await expect.poll(() => open).toBe(1)
    await expect.poll(() => open).toBe(0)
    await server.close()
  })

  test('that stops sending is disconnected', async () => {
    const server = new HttpServer({ ...serverOptions, timeouts: { ...generous, keepAliveMs: 10 } })
    const { port } = await server.start()
    using client = new RawClient(port)
    client.write('HEAD / HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 /)
    await server.close()
  })
})

describe('a body over the limit', () => {
  const maxRequestBytes = 1_000
  const tooLong = Buffer.from(call + ' '.repeat(1_000))

  const cases: readonly (readonly [name: string, bytes: Buffer])[] = [
    ['by its length', rawPost(tooLong)],
    [
      'in chunks',
      Buffer.from(
        `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${tooLong.length.toString(16)}\r\n${tooLong.toString()}\r\n0\r\n\r\n`,
      ),
    ],
    [
      'once it is unpacked',
      rawPost(gzipSync(Buffer.alloc(50_000, ' ')), ['Content-Encoding: gzip']),
    ],
  ]
  test.each(cases)('%s is answered with 413', async (_, bytes) => {
    await using fixture = await startListener(echoRelay, { maxRequestBytes })
    using client = new RawClient(fixture.port)
    client.write(bytes)
    const text = await client.until(/\}\}\}$/)
    expect(text).toMatch(/^HTTP\/1\.1 413 /)
    expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      id: null,
      error: { code: -32600, message: expect.stringContaining('1000 bytes') as string },
    })
    expect(fixture.calls).toEqual([])
    expect(client.error).toBeNull()
  })

  test('gets the answer to a client that sends everything before it reads', async () => {
    await using fixture = await startListener(echoRelay, { maxRequestBytes })
    const response = await new Promise<number>((resolve, reject) => {
      const upload = request({ port: fixture.port, method: 'POST' }, (incoming) => {
        resolve(incoming.statusCode ?? 0)
        incoming.resume()
      })
      upload.on('error', reject)
      upload.end(Buffer.alloc(20_000_000, ' '))
    })
    expect(response).toBe(413)
  })

  const announced = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n'
  test.each([
    ['at once', `${announced}\r\n`],
    ['at once when part of it arrives', `${announced}\r\n${call}`],
    ['instead of 100', `${announced}Expect: 100-continue\r\n\r\n`],
    ['after a call that is answered first', `${rawPost(call).toString()}${announced}\r\n`],
    [
      'instead of 100 after a call that is answered first',
      `${rawPost(call).toString()}${announced}Expect: 100-continue\r\n\r\n`,
    ],
  ])('by its Content-Length is refused %s, and the connection is closed', async (_, bytes) => {
    const clock = new VirtualClock()
    await using fixture = await startListener(echoRelay, { maxRequestBytes, clock })
    using client = new RawClient(fixture.port)
    client.write(bytes)
    const text = await client.until(/HTTP\/1\.1 413 [^]*\}\}\}$/)
    expect(text).toContain('Connection: close')
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual([
      ...(bytes.includes(call + 'POST') ? ['HTTP/1.1 200'] : []),
      'HTTP/1.1 413',
    ])
    // The server discards the remaining body for a moment.
    client.write(' '.repeat(500))
    await clock.advance(clientLimits.lingerMs)
    await client.untilClosed()
    expect(fixture.refusals).toMatchObject([{ kind: { code: 'RPC_TOO_LARGE' } }])
  })

  test('is one byte longer than the limit', async () => {
    await using fixture = await startListener(echoRelay, { maxRequestBytes })
    const statusOf = async (length: number) =>
      (await fetch(fixture.url, { method: 'POST', body: call.padEnd(length) })).status
    expect(await statusOf(1_000)).toBe(200)
    expect(await statusOf(1_001)).toBe(413)
  })
})

test('Expect: 100-continue is answered before the body is sent', async () => {
  await using fixture = await startListener(echoRelay)
  using client = new RawClient(fixture.port)
  client.write(
    `POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${call.length}\r\n\r\n`,
  )
  await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/)
  client.write(call)
  expect(await client.until(/\}$/)).toContain(answer)
})

describe('gzip', () => {
  const long = `{"jsonrpc":"2.0","id":1,"result":"${'0'.repeat(10_000)}"}`

  test.each([
    ['gzip', 'gzip'],
    ['GZip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['deflate, gzip;q=0.5, br', 'gzip'],
    ['*', 'gzip'],
    ['gzip;q=0.5, *;q=0', 'gzip'],
    ['gzip; q=1.000', 'gzip'],
    ['br,gzip;q=0.2', 'gzip'],
    ['identity, gzip', 'gzip'],
    ['gzip;q=0', null],
    ['gzip;q=0.000, *', null],
    ['*;q=0', null],
    ['gzip-like', null],
    ['br, deflate', null],
    ['identity', null],
    ['', null],
  ])('an answer to Accept-Encoding "%s" is in %s', async (accepted, coding) => {
    await using fixture = await startListener(() => Promise.resolve(reply(long)))
    using client = new RawClient(fixture.port)
    client.write(rawPost(call, [`Accept-Encoding: ${accepted}`, 'Connection: close']))
    const [head = '', body = ''] = (await client.untilClosed()).split(/\r\n\r\n(.*)/s)
    expect(/Content-Encoding: (\S+)/.exec(head)?.[1] ?? null).toBe(coding)
    expect(head).toContain('Vary: Accept-Encoding')
    expect(head).toContain(`Content-Length: ${body.length}`)
    const bytes = Buffer.from(body, 'latin1')
    expect((coding ? gunzipSync(bytes) : bytes).toString()).toBe(long)
  })

  test('is skipped for a short answer', async () => {
    await using fixture = await startListener(echoRelay)
    const response = await fetch(fixture.url, { method: 'POST', body: call })
    expect(response.headers.has('content-encoding')).toBe(false)
    expect(response.headers.has('vary')).toBe(false)
  })

  test.each([
    ['gzip', gzipSync(call), 200, answer],
    ['GZIP', gzipSync(call), 200, answer],
    ['x-gzip', gzipSync(call), 200, answer],
    ['identity', Buffer.from(call), 200, answer],
    ['gzip', Buffer.from(call), 200, '-32700'],
    ['gzip', gzipSync(call).subarray(0, 20), 200, '-32700'],
    ['gzip', Buffer.alloc(0), 200, '-32700'],
    ['deflate', gzipSync(call), 415, 'unsupported-encoding'],
    ['br', gzipSync(call), 415, 'unsupported-encoding'],
    ['gzip, gzip', gzipSync(gzipSync(call)), 415, 'unsupported-encoding'],
  ])('a request in %s (%o) gets %i', async (coding, body, status, text) => {
    await using fixture = await startListener(echoRelay)
    const headers = { 'content-encoding': coding }
    const response = await fetch(fixture.url, { method: 'POST', body, headers })
    expect(response.status).toBe(status)
    expect(await response.text()).toContain(text)
  })
})

describe('an answer that is a stream', () => {
  const megabyte = Buffer.alloc(1024 * 1024, '7')

  test.each(['identity', 'gzip'])('arrives whole, in %s', async (coding) => {
    async function* body() {
      for (let count = 0; count < 8; count++) {
        await Promise.resolve()
        yield megabyte
      }
    }
    await using fixture = await startListener(() => Promise.resolve(reply(body())))
    const headers = { 'accept-encoding': coding }
    const response = await fetch(fixture.url, { method: 'POST', body: call, headers })
    expect((await response.bytes()).length).toBe(8 * megabyte.length)
    await expect.poll(() => fixture.ends).toMatchObject([{ kind: 'reply' }])
  })

  test.each(['identity', 'gzip'])(
    'breaks the connection when it breaks off, in %s',
    async (coding) => {
      async function* body() {
        yield megabyte
        await Promise.resolve()
        throw new Error('reset by the upstream')
      }
      await using fixture = await startListener(() => Promise.resolve(reply(body())))
      const headers = { 'accept-encoding': coding }
      const fetched = fetch(fixture.url, { method: 'POST', body: call, headers })
      await expect(fetched.then((response) => response.text())).rejects.toThrow('terminated')
      await expect
        .poll(() => fixture.ends)
        .toMatchObject([{ kind: 'error', error: { cause: { message: 'reset by the upstream' } } }])
    },
  )

  test('waits for a slow reader, and is released when the client disconnects', async () => {
    let yielded = 0
    let isReleased = false
    async function* body() {
      try {
        for (;;) {
          await Promise.resolve()
          yielded += 1
          yield megabyte
        }
      } finally {
        isReleased = true
      }
    }
    await using fixture = await startListener(() => Promise.resolve(reply(body())))
    using client = new RawClient(fixture.port)
    client.socket.pause()
    client.write(rawPost(call))
    let before = -1
    // The kernel buffers a few megabytes, and then no more.
    await expect
      .poll(
        () => {
          const isStill = yielded > 0 && yielded === before
          before = yielded
          return isStill
        },
        { interval: 200 },
      )
      .toBe(true)
    expect(yielded).toBeLessThan(64)
    client.socket.destroy()
    await expect.poll(() => isReleased).toBe(true)
    await expect.poll(() => fixture.ends).toMatchObject([{ kind: 'abandoned' }])
  })
})

describe('a client that disconnects', () => {
  test('before its answer aborts its call', async () => {
    await using fixture = await startListener(slow)
    const client = new RawClient(fixture.port)
    client.write(rawPost(call))
    await expect.poll(() => fixture.calls).toHaveLength(1)
    expect(fixture.calls[0]!.signal.aborted).toBe(false)
    client.socket.destroy()
    await expect.poll(() => fixture.ends).toMatchObject([{ kind: 'abandoned' }])
    expect(fixture.calls[0]!.signal.aborted).toBe(true)
  })

  test('in the middle of its request leaves no state behind', async () => {
    await using fixture = await startListener(echoRelay)
    const client = new RawClient(fixture.port)
    client.write(rawPost(call).subarray(0, -5))
    await expect.poll(fixture.openConnections).toBe(1)
    client.socket.destroy()
    await expect.poll(fixture.openConnections).toBe(0)
    expect(fixture.calls).toEqual([])
    expect(fixture.ends).toEqual([])
    await fixture.drain()
  })
})
