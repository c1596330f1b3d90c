// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ConfigState } from './config-state.ts'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { adminLimits } from '../bytes/limits.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { someChain, someFacts, someUpstream } from '../console/facts.fixture.ts'
import { createLivePage } from '../console/live-page.ts'
import { createAdminServer } from './admin-server.ts'
import type { AdminServerOptions } from './admin-server.ts'
import { aCall, anUpstream, aPool } from './call.fixture.ts'
import { explainPage } from './explain/explain-page.ts'
import { CallHistory } from './explain/call-history.ts'
import { Health } from './health.ts'
import { createLogger } from './log.ts'
import { ByteBudget } from '../bytes/byte-budget.ts'
import { createMetrics } from './metrics.ts'
import { readMetricsPage } from './metrics-page.fixture.ts'

const config = new ConfigState({ wallMs: () => 1_000 }, 'ab12')

const servers: ReturnType<typeof createAdminServer>[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function start(more: Partial<AdminServerOptions> = {}) {
  const clock = new VirtualClock()
  const lines: string[] = []
  const health = new Health(clock, config)
  let state: 'unverified' | 'eligible' = 'unverified'
  health.register('ETH1 jsonrpc', () => aPool([anUpstream('node-a', state)]))
  const server = createAdminServer({
    address: { host: '127.0.0.1', port: 0 },
    metrics: createMetrics({ version: '1.2.3', budget: new ByteBudget(1e9), config }),
    health,
    logger: createLogger({
      level: 'info',
      format: 'json',
      redact: (line) => line,
      destination: { write: (line) => void lines.push(line) },
    }),
    ...more,
  })
  servers.push(server)
  const { host, port } = await server.start()
  const become = (to: typeof state) => (state = to)
  return { url: `http://${host}:${port}`, port, health, server, become, lines }
}

async function get(url: string, init: RequestInit = {}) {
  const answer = await fetch(url, init)
  const type = answer.headers.get('content-type')
  return { status: answer.status, type, body: await answer.text(), headers: answer.headers }
}

test.each([
  ['gzip, deflate', 'gzip'],
  ['deflate, gzip;q=0.5', 'gzip'],
  ['gzip;q=0, identity', null],
  ['identity', null],
])('for "accept-encoding: %s", metrics are encoded as %s', async (accepted, encoding) => {
  const { url } = await start()
  const answer = await get(`${url}/metrics`, { headers: { 'accept-encoding': accepted } })
  expect(answer.headers.get('content-encoding')).toBe(encoding)
  expect(answer.headers.get('vary')).toBe('accept, accept-encoding')
  expect(answer.body).toContain('\nrouter_build_info{version="1.2.3"')
})

test('metrics are served as Prometheus asks', async () => {
  const { url } = await start()
  const page = await get(`${url}/metrics`)
  expect(page.status).toBe(200)
  expect(page.type).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect([...readMetricsPage(page.body).samples.keys()].join()).toContain('version="1.2.3"')
})

test('the health paths follow the upstreams and the drain', async () => {
  const { url, become, health } = await start()
  const answers = async () => ({
    overall: await get(`${url}/metrics/overall-health`),
    ready: await get(`${url}/readyz`),
    live: await get(`${url}/livez`),
  })
  let { overall, ready, live } = await answers()
  expect([overall.status, overall.body]).toEqual([503, 'Unhealthy'])
  expect(ready.status).toBe(503)
  expect(ready.body).toContain('ETH1 jsonrpc: dark, 0 of 1 upstream serving; node-a unverified\n')
  expect([live.status, live.body]).toEqual([200, 'live\n'])
  become('eligible')
  ;({ overall, ready, live } = await answers())
  expect([overall.status, overall.body]).toEqual([200, 'Health status OK'])
  expect(overall.type).toBe('text/plain; charset=utf-8')
  expect([ready.status, live.status]).toEqual([200, 200])
  health.drain()
  ;({ overall, ready, live } = await answers())
  expect([overall.status, ready.status, live.status]).toEqual([503, 503, 200])
})

test('the status is JSON; without a status, the page does not exist', async () => {
  const { url } = await start()
  const page = await get(`${url}/status`)
  expect([page.status, page.type]).toEqual([200, 'application/json; charset=utf-8'])
  expect(JSON.parse(page.body)).toMatchObject({
    config: { sha256: 'ab12' },
    upstreams: [{ chain: 'ETH1', interface: 'jsonrpc', name: 'node-a', state: 'unverified' }],
  })
  const answer = () => ({ status: 200, body: '' }) as const
  const bare = await start({ health: { readiness: answer, overall: answer } })
  expect((await get(`${bare.url}/status`)).status).toBe(404)
})

test('calls are explained as JSON or as text; without a call history, the page does not exist', async () => {
  const calls = new CallHistory(new VirtualClock())
  const call = aCall({ guid: 'g' })
  calls.listenerObserver('ETH1', 'jsonrpc').callEnded(call, { kind: 'abandoned' }, 5)
  const { url } = await start({ explain: (guid, query) => explainPage(calls, guid, query) })
  const json = await get(`${url}/explain/g`)
  expect([json.status, json.type]).toEqual([200, 'application/json; charset=utf-8'])
  expect(JSON.parse(json.body)).toMatchObject({ calls: [{ guid: 'g', outcome: 'abandoned' }] })
  const text = await get(`${url}/explain?format=text`)
  expect([text.status, text.type]).toEqual([200, 'text/plain; charset=utf-8'])
  expect(text.body).toContain('  g  ETH1 jsonrpc eth_call  abandoned  5.0ms')
  const unknown = await get(`${url}/explain/h`)
  expect([unknown.status, unknown.type]).toEqual([404, 'text/plain; charset=utf-8'])
  expect((await get(`${url}/explain/g`, { method: 'DELETE' })).status).toBe(405)
  expect((await get(`${(await start()).url}/explain/g`)).body).toMatch(/^not found; there is /)
})

test.each([
  ['GET', '/', 404],
  ['GET', '/metricsx', 404],
  ['GET', '/..%2f..%2fetc/passwd', 404],
  ['GET', '/%zz', 400],
  ['HEAD', '/metrics', 200],
  ['GET', '/metrics/', 200],
  ['GET', '/livez?a=b', 200],
  ['POST', '/metrics', 405],
  ['PUT', '/readyz', 405],
  ['DELETE', '/metrics/overall-health', 405],
  ['OPTIONS', '/livez', 405],
])('%s %s is answered %i, in plain text', async (method, path, status) => {
  const { url, lines } = await start()
  const body = method === 'POST' ? '{'.repeat(100_000) : null
  const answer = await get(url + path, { method, body })
  expect(answer.status).toBe(status)
  expect(answer.type).toMatch(/^text\/plain/)
  if (status === 405) expect(answer.headers.get('allow')).toBe('GET, HEAD')
  if (status === 404) expect(answer.body).toContain('/metrics/overall-health')
  expect(lines).toEqual([])
})

test('a failed scrape goes to the log, and the scraper sees no details', async () => {
  const metrics = { page: () => Promise.reject(new Error('canary detail')) }
  const { url, lines } = await start({ metrics })
  const answer = await get(`${url}/metrics`)
  expect([answer.status, answer.body]).toEqual([500, 'internal error\n'])
  expect(lines.join()).toContain('canary detail')
  expect((await get(`${url}/livez`)).status).toBe(200)
})

test('a request that is not HTTP is refused without harm', async () => {
  const { url, port } = await start()
  const socket = connect(port, '127.0.0.1')
  socket.end('\u0000\u0001 not http\r\n\r\n')
  expect(await text(socket)).toMatch(/^(HTTP\/1.1 400 |$)/)
  expect((await get(`${url}/livez`)).status).toBe(200)
})

test.each(['GET', 'POST'])('a %s with two hosts is refused', async (verb) => {
  const { port } = await start()
  const socket = connect(port, '127.0.0.1')
  socket.end(`${verb} /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n`)
  expect(await text(socket)).toMatch(/^HTTP\/1.1 400 /)
})

/** Also resolves after a reset. */
const closed = (socket: Socket) =>
  new Promise<null>((resolve) => socket.once('close', () => resolve(null)))

const limits = {
  ...adminLimits,
  requestMs: 60_000,
  idleMs: 60_000,
  keepAliveMs: 60_000,
  checkMs: 10,
}

test.each([
  ['that never sends anything', '', { idleMs: 20 }],
  ['that stops within a head', 'GET /livez HTTP/1.1\r\nHost', { requestMs: 20 }],
  [
    'that stops within a body',
    'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1',
    { requestMs: 20 },
  ],
  ['that is idle after its answer', 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n', { keepAliveMs: 20 }],
])('a connection %s is closed', async (_, bytes, shorter) => {
  const { port } = await start({ limits: { ...limits, ...shorter } })
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.resume().write(bytes)
  expect(await closed(socket)).toBeNull()
})

test('the number of connections is limited; idle ones make room', async () => {
  const { port } = await start({ limits: { ...limits, maxConnections: 3 } })
  const ask = async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n')
    const first = await Promise.race([
      new Promise<Buffer>((resolve) => socket.once('data', resolve)),
      closed(socket),
    ])
    return { socket, isAnswered: first !== null }
  }
  const clients = [await ask(), await ask(), await ask()]
  expect(clients.map(({ isAnswered }) => isAnswered)).toEqual([true, true, true])
  const ended = clients.map(({ socket }) => closed(socket))
  expect((await ask()).isAnswered).toBe(false)
  await Promise.all(ended)
  expect((await ask()).isAnswered).toBe(true)
})

test('a head over the limit is refused', async () => {
  const { url } = await start()
  const answer = await fetch(`${url}/livez`, { headers: { a: 'a'.repeat(9_000) } })
  expect(answer.status).toBe(431)
})

test('an address in use is named', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = holder.address() as AddressInfo
  await expect(start({ address: { host: '127.0.0.1', port } })).rejects.toThrow(
    `metrics-listen-address 127.0.0.1:${port} cannot be bound: EADDRINUSE`,
  )
  holder.close()
})

test('close ends kept-alive connections, can be repeated, and needs no start', async () => {
  const { url, server, port } = await start()
  await get(`${url}/livez`)
  const idle = connect(port, '127.0.0.1')
  await once(idle, 'connect')
  const ended = once(idle, 'close')
  await server.close()
  await server.close()
  await ended
  await expect(fetch(`${url}/livez`)).rejects.toThrow()
  const never = createAdminServer({
    address: { host: '127.0.0.1', port: 0 },
    metrics: createMetrics({ version: '1', budget: new ByteBudget(1e9), config }),
    health: new Health(new VirtualClock(), config),
    logger: createLogger({ level: 'info', format: 'json', redact: (line) => line }),
  })
  await never.close()
})

async function startWithPage(limits = adminLimits) {
  const facts = async () => someFacts(10, [someChain([someUpstream('node-a')])])
  return start({ facts, page: createLivePage(facts, new VirtualClock(), 'pod-1'), limits })
}

test('the page and its facts are served; without the page, the facts still are', async () => {
  const { url } = await startWithPage()
  const page = await get(`${url}/`)
  expect([page.status, page.type]).toEqual([200, 'text/html; charset=utf-8'])
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src/)
  expect(JSON.parse((await get(`${url}/facts`)).body)).toMatchObject({ config: { refused: null } })
  expect((await get(`${url}/`, { method: 'POST' })).status).toBe(405)
  const off = await start({ facts: async () => someFacts(10, []), page: null })
  const paths = ['/', '/events', '/facts']
  const statuses = await Promise.all(paths.map(async (path) => (await get(off.url + path)).status))
  expect(statuses).toEqual([404, 404, 200])
})

test('events stream to a limited number of pages, and end with the server', async () => {
  const { url, server } = await startWithPage({ ...adminLimits, streams: 2 })
  const head = await get(`${url}/events`, { method: 'HEAD' })
  expect([head.status, head.type]).toEqual([200, 'text/event-stream'])
  const leave = new AbortController()
  const open = () => fetch(`${url}/events`, { signal: leave.signal })
  const [first] = await Promise.all([open(), open()])
  expect(first.headers.get('cache-control')).toBe('no-store')
  const reader = first.body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  expect(Buffer.from(value ?? []).toString()).toMatch(
    /^data: \{"head":"rpc-router on pod-1.*node-a.*\n\n$/,
  )
  const full = await get(`${url}/events`)
  expect([full.status, full.body]).toEqual([503, '2 pages are already open; close one of them\n'])
  leave.abort()
  await expect.poll(async () => (await get(`${url}/events`, { method: 'HEAD' })).status).toBe(200)
  const last = await fetch(`${url}/events`)
  await server.close()
  await expect(last.text()).rejects.toThrow()
})

test('a failure to produce events is one log line, and the next page is served', async () => {
  const failing = async (): Promise<never> => Promise.reject(new Error('canary detail'))
  const page = createLivePage(failing, new VirtualClock(), 'pod-1')
  const { url, lines } = await start({ page })
  const answer = await get(`${url}/events`)
  expect([answer.status, answer.body]).toEqual([500, 'internal error\n'])
  expect(lines.join()).toMatch(/canary detail/)
  expect((await get(`${url}/`)).status).toBe(200)
})

/** Sends these head lines. Returns the status of the page, and its text if refused. */
async function statusFor(port: number, path: string, ...head: readonly string[]) {
  const socket = connect(port, '127.0.0.1')
  socket.end(`${[`GET ${path} HTTP/1.1`, ...head, 'Connection: close'].join('\r\n')}\r\n\r\n`)
  const answer = await text(socket)
  const status = Number(answer.slice(9, 12))
  if (status === 403)
    expect(answer).toMatch(/\r\n\r\nthis page is served by .* admin-hosts lists\n$/)
  return status
}

const rebound = 'Host: attacker.example:7779'

describe('a page that points its own name at the admin address', () => {
  const checked = [
    '/',
    '/facts',
    '/events',
    '/status',
    '/explain',
    '/explain/g',
    '/facts/',
    '/none',
  ]
  test.each(checked)('cannot read %s', async (path) => {
    const { port } = await startWithPage()
    expect(await statusFor(port, path, rebound)).toBe(403)
  })

  test.each(['/metrics', '/metrics/', '/metrics/overall-health', '/livez', '/readyz?verbose'])(
    'is served %s like Prometheus and probes',
    async (path) => {
      const { port } = await startWithPage()
      expect(await statusFor(port, path, rebound)).not.toBe(403)
    },
  )

  test.each<[string, string?]>([
    ['127.0.0.1.attacker.example'],
    ['attacker.example.'],
    ['ATTACKER.EXAMPLE:80'],
    ['localhost.attacker.example'],
    ['svc.attacker.example'],
    ['r-router-metrics.rpc.svc.attacker.example'],
    ['router.example.org.attacker.example'],
    ['xrouter.example.org'],
    ['10.0.0.7', 'https://attacker.example'],
    ['10.0.0.7:7779', 'http://10.0.0.7:3000'],
    ['localhost:7779', 'null'],
    ['localhost:7779', 'http://localhost:3000'],
    ['router.example.org', 'https://app.example.org'],
  ])('is refused as the host %s from the origin %s', async (host, origin) => {
    const { port } = await start({ names: ['router.example.org'], facts: async () => ({}) })
    const head = origin === undefined ? [] : [`Origin: ${origin}`]
    expect(await statusFor(port, '/facts', `Host: ${host}`, ...head)).toBe(403)
  })

  test.each<[string, string?]>([
    ['127.0.0.1:7779'],
    ['[::1]:7779'],
    ['[fd00::7]'],
    ['10.244.0.5:7779'],
    ['localhost:41234'],
    ['LOCALHOST'],
    ['router.localhost'],
    ['router'],
    ['r-router-metrics.rpc.svc:7779'],
    ['r-router-metrics.rpc.svc.cluster.local:7779'],
    ['ip-10-0-0-7.eu-west-1.compute.internal:7779'],
    ['router.example.org'],
    ['router.example.org:8443', 'https://router.example.org:8443'],
    ['Router.Example.Org.', 'https://router.example.org.'],
    ['10.0.0.7:7779', 'http://10.0.0.7:7779'],
    [''],
  ])('is not one that opens the host %s from the origin %s', async (host, origin) => {
    const { port } = await start({ names: ['router.example.org'], facts: async () => ({}) })
    const head = origin === undefined ? [] : [`Origin: ${origin}`]
    expect(await statusFor(port, '/facts', `Host: ${host}`, ...head)).toBe(200)
  })

  test('is not a router tool, which may use the name of an API server', async () => {
    const { port } = await start({ facts: async () => ({}) })
    const byName = 'Host: 0123.gr7.eu-west-1.eks.example.com'
    expect(await statusFor(port, '/facts', byName)).toBe(403)
    expect(await statusFor(port, '/facts', byName, 'Sec-Router-Client: yes')).toBe(200)
  })
})
