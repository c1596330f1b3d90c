// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ByteBudget } from '../../../bytes/byte-budget.ts'
import { VirtualClock } from '../../../clock/testing/virtual-clock.ts'
import { Secret } from '../../../config/secret.ts'
import type { NodeUrlConfig } from '../../../config/types.ts'
import { createHttpTransport } from './http-transport.ts'
import { createAuthority } from '../../testing/certificates.ts'
import { nodeUrlConfig } from '../../testing/node-url-config.ts'
import { header } from '../../wire.ts'
import type { BodyStream, Incoming, Outgoing, Transport, TransportError } from '../../wire.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const clock = new VirtualClock()
const signal = new AbortController().signal
const request: Outgoing = {
  verb: 'POST',
  path: '',
  headers: ['content-type', 'application/json'],
  body: Buffer.from('{"q":1}'),
}

async function listen(server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => server.close())
  return (server.address() as AddressInfo).port
}

function transportTo(url: string, different: Partial<NodeUrlConfig> = {}): Transport {
  const transport = createHttpTransport(nodeUrlConfig(url, different), {
    clock,
    budget: new ByteBudget(1e9),
  })
  cleanups.push(() => transport.close())
  return transport
}

/** A server that writes these bytes to every connection and then calls `then`. */
async function rawServer(bytes: string, then: (socket: net.Socket) => void): Promise<string> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write(bytes, () => then(socket)))
  })
  return `http://127.0.0.1:${await listen(server)}`
}

function text({ body }: Incoming): string {
  return Buffer.from(body as Uint8Array).toString()
}

async function faultOfSend(transport: Transport, abort = signal): Promise<TransportError> {
  return transport.send(request, abort).then(
    () => expect.fail('an answer came'),
    (error: TransportError) => error,
  )
}

describe('an answer', () => {
  it('arrives byte for byte, with its status, headers and trailers', async () => {
    const server = http.createServer((_request, response) => {
      response.writeHead(418, ['content-type', 'text/odd', 'x-twice', 'a', 'x-twice', 'b'])
      response.addTrailers({ 'x-after': 'done' })
      response.end(Buffer.from([0, 255, 10, 13]))
    })
    const transport = transportTo(`http://127.0.0.1:${await listen(server)}`)
    const incoming = await transport.send(request, signal)
    expect(incoming.status).toBe(418)
    expect(header(incoming.headers, 'content-type')).toBe('text/odd')
    expect(incoming.headers.filter((part) => part === 'x-twice')).toHaveLength(2)
    expect(incoming.body).toEqual(Buffer.from([0, 255, 10, 13]))
  })

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const)(
    'in %s is decoded, though the request did not accept it',
    async (encoding, encode) => {
      let accepted: string | undefined
      const server = http.createServer((incoming, response) => {
        accepted = incoming.headers['accept-encoding']
        response.writeHead(200, { 'content-encoding': encoding }).end(encode('{"a":1}'))
      })
      const transport = transportTo(`http://127.0.0.1:${await listen(server)}`)
      expect(text(await transport.send(request, signal))).toBe('{"a":1}')
      expect(accepted).toBeUndefined()
    },
  )
})

it.each([
  ['HEAD', 200],
  ['GET', 204],
  ['GET', 304],
  ['GET', 404],
] as const)('%s, %i: an answer without a body has no coding to undo', async (verb, status) => {
  const server = http.createServer((_, response) => {
    const length = status === 404 ? { 'content-length': 0 } : {}
    response.writeHead(status, { 'content-encoding': 'gzip', ...length }).end()
  })
  const transport = transportTo(`http://127.0.0.1:${await listen(server)}`)
  const answer = await transport.send({ ...request, verb, body: null }, signal)
  expect([answer.status, text(answer)]).toEqual([status, ''])
})

it('requests gzip if configured', async () => {
  const accepted: unknown[] = []
  const server = http.createServer((incoming, response) => {
    accepted.push(incoming.headers['accept-encoding'])
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"a":1}'))
  })
  const url = `http://127.0.0.1:${await listen(server)}`
  for (const compression of [true, false])
    expect(text(await transportTo(url, { compression }).send(request, signal))).toBe('{"a":1}')
  expect(accepted).toEqual(['gzip', undefined])
})

it('a body that inflates too much fails', async () => {
  const packed = gzipSync(Buffer.alloc(80 * 1024 * 1024))
  const server = http.createServer((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed)
  })
  const transport = transportTo(`http://127.0.0.1:${await listen(server)}`)
  const { body } = await transport.send(request, signal)
  const read = async () => {
    for await (const piece of body as BodyStream) expect(piece.length).toBeGreaterThan(0)
  }
  await expect(read()).rejects.toMatchObject({ fault: 'too-large' })
})

it.each(['identity', 'Identity', ' IDENTITY', '', 'utf-8', 'UTF8'])(
  'an answer in the coding "%s" passes unchanged',
  async (encoding) => {
    const server = http.createServer((_, response) => {
      response.writeHead(200, { 'content-encoding': encoding, 'content-length': 7 }).end('{"a":1}')
    })
    const transport = transportTo(`http://127.0.0.1:${await listen(server)}`)
    expect(text(await transport.send(request, signal))).toBe('{"a":1}')
  },
)

describe('a request', () => {
  it.each([
    ['http://h/', '', '/'],
    ['http://h', '', '/'],
    ['http://h/v2/key', '', '/v2/key'],
    ['http://h/v1', '/blocks/7?x=1', '/v1/blocks/7?x=1'],
    ['http://h/v1/', '/blocks', '/v1/blocks'],
    ['http://h/?key=k', '/blocks?x=1', '/blocks?key=k&x=1'],
    ['http://h/v1?key=k', '', '/v1?key=k'],
    ['http://h/a%2Fb', '/c%20d', '/a%2Fb/c%20d'],
  ])('to %s for %j has the path %s', async (url, path, expected) => {
    const server = http.createServer((incoming, response) => response.end(incoming.url))
    const port = await listen(server)
    const transport = transportTo(url.replace('//h', `//127.0.0.1:${port}`))
    expect(text(await transport.send({ ...request, path }, signal))).toBe(expected)
  })

  it('carries the keys of its URL: headers and query', async () => {
    const server = http.createServer((incoming, response) =>
      response.end([incoming.url, incoming.headers['x-key']].join(' ')),
    )
    const url = `http://127.0.0.1:${await listen(server)}/base`
    const transport = transportTo(url, {
      authHeaders: new Map([['x-key', new Secret('s3cret')]]),
      authQuery: new Map([['api key', new Secret('a&b')]]),
    })
    expect(text(await transport.send(request, signal))).toBe('/base?api%20key=a%26b s3cret')
  })

  it("sends its own keys in place of a client's", async () => {
    const server = http.createServer((incoming, response) =>
      response.end(JSON.stringify(incoming.rawHeaders)),
    )
    const transport = transportTo(`http://127.0.0.1:${await listen(server)}`, {
      authHeaders: new Map([
        ['x-key', new Secret('own')],
        ['accept', new Secret('own/type')],
      ]),
    })
    const headers = ['x-key', 'theirs', 'Accept', '*/*', 'X-Key', 'again', 'x-other', '1']
    const received = JSON.parse(
      text(await transport.send({ ...request, headers }, signal)),
    ) as string[]
    const values = (name: string) =>
      received.filter((_, at) => at % 2 === 1 && received[at - 1]?.toLowerCase() === name)
    expect(['x-key', 'accept', 'x-other'].map(values)).toEqual([['own'], ['own/type'], ['1']])
  })

  it('reuses its connection', async () => {
    let connections = 0
    const server = http.createServer((_request, response) => response.end('{}'))
    server.on('connection', () => (connections += 1))
    const transport = transportTo(`http://127.0.0.1:${await listen(server)}`)
    for (let each = 0; each < 5; each++) {
      await transport.send(request, signal)
      await new Promise(setImmediate)
    }
    expect(connections).toBe(1)
  })
})

it('may have 16 interim answers before it', async () => {
  const bytes = `${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(16)}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}`
  const answer = await transportTo(await rawServer(bytes, () => {})).send(request, signal)
  expect(text(answer)).toBe('{}')
})

describe('a fault', () => {
  const head = 'HTTP/1.1 200 OK\r\n'
  it.each([
    ['reset before the answer', '', (s: net.Socket) => s.resetAndDestroy(), 'reset'],
    ['closed before the answer', '', (s: net.Socket) => s.end(), 'reset'],
    ['reset in the head', head, (s: net.Socket) => s.resetAndDestroy(), 'reset'],
    [
      'half of the announced body',
      `${head}content-length: 10\r\n\r\nhalf`,
      (s: net.Socket) => s.end(),
      'truncated',
    ],
    [
      'chunked body cut',
      `${head}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`,
      (s: net.Socket) => s.end(),
      'truncated',
    ],
    // undici sees an unrequested answer.
    ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n', () => {}, 'reset'],
    [
      'too many interim answers',
      'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(17),
      () => {},
      'protocol',
    ],
    ['not HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', (s: net.Socket) => s.end(), 'protocol'],
    [
      'broken gzip',
      `${head}content-encoding: gzip\r\ncontent-length: 4\r\n\r\nabcd`,
      (s: net.Socket) => s.end(),
      'truncated',
    ],
    [
      'unknown encoding',
      `${head}content-encoding: secret\r\ncontent-length: 4\r\n\r\nabcd`,
      (s: net.Socket) => s.end(),
      'protocol',
    ],
  ] as const)('%s', async (_name, bytes, then, fault) => {
    const error = await faultOfSend(transportTo(await rawServer(bytes, then)))
    expect(error).toMatchObject({ name: 'TransportError', fault, sent: true })
  })

  it('refused: the request was certainly not sent', async () => {
    const error = await faultOfSend(transportTo('http://127.0.0.1:1'))
    expect(error).toMatchObject({ fault: 'refused', sent: false })
  })

  it.each<[string, Partial<Outgoing>]>([
    ['an invalid path', { path: '*' }],
    ['a URL of another scheme', { path: 'ftp://evil/x' }],
    ['a path with a space', { path: '/a b' }],
    ['an invalid verb', { verb: 'GE T' }],
    ['a header with a line break', { headers: ['x-a', 'b\r\nc: d'] }],
    ['a header that HTTP reserves', { headers: ['expect', 'cake'] }],
  ])('unsendable: %s, which never reaches the node', async (_name, odd) => {
    let connections = 0
    const port = await listen(net.createServer(() => (connections += 1)))
    const error = await transportTo(`http://127.0.0.1:${port}`)
      .send({ ...request, ...odd }, signal)
      .then(
        () => expect.fail('an answer came'),
        (cause: unknown) => cause,
      )
    expect(error).toMatchObject({ fault: 'unsendable', sent: false })
    expect(connections).toBe(0)
  })

  it('unresolved: the name has no address', async () => {
    const error = await faultOfSend(transportTo('http://no-such-host.invalid'))
    expect(error).toMatchObject({ fault: 'unresolved', sent: false })
  })

  it('never reveals the address of the server', async () => {
    const error = await faultOfSend(transportTo('http://canary-key.invalid/canary-path'))
    expect(error.message).not.toContain('canary')
  })

  it('aborted: an aborted request releases its connection', async () => {
    const closed = Promise.withResolvers<void>()
    const server = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.on('close', () => closed.resolve())
      socket.once('data', () => abort.abort())
    })
    const abort = new AbortController()
    const transport = transportTo(`http://127.0.0.1:${await listen(server)}`)
    expect((await faultOfSend(transport, abort.signal)).fault).toBe('aborted')
    await closed.promise
  })

  it('aborted before it begins sends nothing', async () => {
    let connections = 0
    const server = net.createServer(() => (connections += 1))
    const transport = transportTo(`http://127.0.0.1:${await listen(server)}`)
    expect(await faultOfSend(transport, AbortSignal.abort())).toMatchObject({
      fault: 'aborted',
      sent: false,
    })
    expect(connections).toBe(0)
  })

  it('aborted before its connection opens sends nothing', async () => {
    const aborted = 5
    const paths: string[] = []
    const connected = Promise.withResolvers<void>()
    const server = http.createServer(({ url }, response) => {
      paths.push(url ?? '')
      response.end('{}')
    })
    let connections = 0
    server.on('connection', () => {
      if (++connections === aborted) connected.resolve()
    })
    const transport = transportTo(`http://127.0.0.1:${await listen(server)}`)
    cleanups.push(() => server.closeAllConnections())
    const faults = Array.from({ length: aborted }, async () => {
      const abort = new AbortController()
      const sending = faultOfSend(transport, abort.signal)
      abort.abort()
      return (await sending).fault
    })
    expect(await Promise.all(faults)).toEqual(Array(aborted).fill('aborted'))
    await connected.promise
    // Anything still sent would arrive before these answers.
    const after = Array.from({ length: aborted }, (_, index) => `/after/${index}`)
    for (const path of after) await transport.send({ ...request, path }, signal)
    expect(paths).toEqual(after)
  })
})

describe('TLS', () => {
  let files: string
  let url: string
  let spoken: string

  beforeAll(async () => {
    files = mkdtempSync(join(tmpdir(), 'tls-'))
    const authority = await createAuthority('test authority')
    const stranger = await createAuthority('another authority')
    const server = await authority.issue('localhost')
    for (const [name, pem] of Object.entries({
      'ca.pem': authority.cert,
      'stranger-ca.pem': stranger.cert,
      ...pemFiles('client', await authority.issue('client')),
      ...pemFiles('stranger', await stranger.issue('client')),
      'garbage.pem': 'not PEM',
    }))
      writeFileSync(join(files, name), pem)
    const listener = http2.createSecureServer(
      {
        ...server,
        ca: authority.cert,
        requestCert: true,
        rejectUnauthorized: true,
        allowHTTP1: true,
      },
      ({ httpVersion }, response) => {
        spoken = httpVersion
        response.end('{"secure":true}')
      },
    )
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    url = `https://localhost:${(listener.address() as AddressInfo).port}`
    const sockets = new Set<net.Socket>()
    listener.on('secureConnection', (socket) => sockets.add(socket))
    return () => {
      listener.close()
      for (const socket of sockets) socket.destroy()
      rmSync(files, { recursive: true })
    }
  })

  function pemFiles(name: string, pair: { cert: string; key: string }) {
    return { [`${name}.pem`]: pair.cert, [`${name}.key`]: pair.key }
  }

  function tls(options: Partial<NonNullable<NodeUrlConfig['tls']>>): Partial<NodeUrlConfig> {
    const inFiles = (name: string | undefined) => name && join(files, name)
    return {
      tls: {
        ...options,
        'ca-file': inFiles(options['ca-file']),
        'cert-file': inFiles(options['cert-file']),
        'key-file': inFiles(options['key-file']),
      },
    }
  }

  const client = { 'cert-file': 'client.pem', 'key-file': 'client.key' }

  it('authenticates both sides', async () => {
    const transport = transportTo(url, tls({ 'ca-file': 'ca.pem', ...client }))
    expect(text(await transport.send(request, signal))).toBe('{"secure":true}')
  })

  it('speaks HTTP/1.1 with a node that prefers HTTP/2', async () => {
    const transport = transportTo(url, tls({ 'ca-file': 'ca.pem', ...client }))
    await transport.send(request, signal)
    expect(spoken).toBe('1.1')
  })

  it('accepts a server name other than the address', async () => {
    const byAddress = url.replace('localhost', '127.0.0.1')
    const named = tls({ 'ca-file': 'ca.pem', ...client, 'server-name': 'localhost' })
    expect(text(await transportTo(byAddress, named).send(request, signal))).toBe('{"secure":true}')
  })

  it('can be configured to trust any server', async () => {
    const transport = transportTo(url, tls({ ...client, 'insecure-skip-verify': true }))
    expect(text(await transport.send(request, signal))).toBe('{"secure":true}')
  })

  it.each([
    ['a self-signed server', { ...client }],
    ['a server of an unknown authority', { 'ca-file': 'stranger-ca.pem', ...client }],
    [
      'a server of another name',
      { 'ca-file': 'ca.pem', ...client, 'server-name': 'other.example' },
    ],
  ])('refuses %s before anything is sent', async (_name, options) => {
    expect(await faultOfSend(transportTo(url, tls(options)))).toMatchObject({
      fault: 'tls',
      sent: false,
    })
  })

  it.each([
    ['no client certificate', { 'ca-file': 'ca.pem' }],
    [
      'the client certificate of another authority',
      { 'ca-file': 'ca.pem', 'cert-file': 'stranger.pem', 'key-file': 'stranger.key' },
    ],
  ])('fails with %s', async (_name, options) => {
    const error = await faultOfSend(transportTo(url, tls(options)))
    expect(['tls', 'reset']).toContain(error.fault)
  })

  it.each([
    [
      { 'ca-file': 'missing.pem' },
      /tls\.ca-file: .*missing\.pem cannot be read: there is no such file/,
    ],
    [
      { 'cert-file': 'garbage.pem', 'key-file': 'client.key' },
      /tls\.cert-file: .*garbage\.pem holds no certificates in PEM form/,
    ],
    [{ 'ca-file': 'garbage.pem' }, /tls\.ca-file: .*garbage\.pem holds no certificates/],
    [{ 'cert-file': 'client.pem', 'key-file': 'garbage.pem' }, /tls\.key-file: .*no private key/],
    [{ 'cert-file': 'client.pem', 'key-file': 'stranger.key' }, /stranger\.key/],
  ])('names an unusable file: %j', (options, message) => {
    expect(() => transportTo(url, tls(options))).toThrow(message)
  })
})

it('closed gently, finishes a request in flight and sends no other', async () => {
  const { promise: pending, resolve: arrived } = Promise.withResolvers<http.ServerResponse>()
  const server = http.createServer((_, response) => arrived(response))
  const transport = transportTo(`http://127.0.0.1:${await listen(server)}`)
  const answer = transport.send(request, signal)
  const response = await pending
  const closing = transport.close(true)
  await expect(transport.send(request, signal)).rejects.toMatchObject({ sent: false })
  response.end('late')
  expect(text(await answer)).toBe('late')
  await closing
})
