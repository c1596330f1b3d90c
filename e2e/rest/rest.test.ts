// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { request as send } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { serveRouter, uncached, type ServedRouter } from '../served/served-router.ts'
import { MirrorNode, type ReceivedRequest } from './mirror-node.ts'

const specSources = [new URL('mirror.yml', import.meta.url).pathname]

function serve(nodes: readonly { name: string; url: string }[]): Promise<ServedRouter> {
  return serveRouter({
    chainId: 'MIRROR',
    apiInterface: 'rest',
    specSources,
    primaries: nodes,
    settings: uncached,
  })
}

const echo = (request: ReceivedRequest) =>
  JSON.stringify({ verb: request.verb, target: request.target })

let node: MirrorNode
let router: ServedRouter

beforeAll(async () => {
  node = await new MirrorNode('alpha', (_, response) => response.end()).start()
  router = await serve([node])
})
beforeEach(() => {
  node.answer = (request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(echo(request))
  }
  node.requests.length = 0
})
afterAll(async () => {
  await router[Symbol.asyncDispose]()
  await node[Symbol.asyncDispose]()
})

interface Options {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
}

async function ask(base: string, target: string, options: Options = {}) {
  const { statusCode, headers, body } = await send(base + target, options as object)
  return { status: statusCode, headers, body: Buffer.from(await body.arrayBuffer()) }
}

describe('the node gets the request of the client', () => {
  const targets = [
    '/',
    '/things/5',
    '/things/5/',
    '/things/latest?a=1&b=%20&a=2',
    '/things/%2F%41%zz',
    '/things/0x1::coin::CoinStore%3C0x1::a::B%3E',
    '/v1/things',
    '/unlisted/path//twice?x',
    '/?query-alone',
  ]
  test.each(targets)('GET %s', async (target) => {
    const { status, body } = await ask(router.url, target)
    expect(status).toBe(200)
    expect(body.toString()).toBe(JSON.stringify({ verb: 'GET', target }))
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s', async (method) => {
    const { status } = await ask(router.url, '/any', { method, body: 'x' })
    expect(status).toBe(200)
    expect(node.requests).toMatchObject([{ verb: method, target: '/any' }])
  })

  test('a body of any kind, with its content type and the accept header', async () => {
    const body = Buffer.from([0, 255, 10, 13, 128, 7])
    const type = 'application/x.aptos.signed_transaction+bcs'
    await ask(router.url, '/things', {
      method: 'POST',
      body,
      headers: { 'content-type': type, accept: 'application/x-bcs' },
    })
    expect(node.requests[0]!.body.equals(body)).toBe(true)
    expect(node.requests[0]!.headers).toMatchObject({
      'content-type': type,
      accept: 'application/x-bcs',
    })
  })

  test('a body of 8 MB as a stream', async () => {
    const body = Buffer.alloc(8 * 1024 * 1024, 'abc')
    const { status } = await ask(router.url, '/things', { method: 'POST', body })
    expect(status).toBe(200)
    expect(node.requests[0]!.body.equals(body)).toBe(true)
  })

  test('only the headers that the spec lists', async () => {
    await ask(router.url, '/', { headers: { 'x-listed': 'yes', 'x-secret': 'no', cookie: 'no' } })
    expect(node.requests[0]!.headers).toMatchObject({ 'x-listed': 'yes' })
    expect(Object.keys(node.requests[0]!.headers)).not.toContain('x-secret')
    expect(Object.keys(node.requests[0]!.headers)).not.toContain('cookie')
  })
})

describe('the client gets the answer of the node', () => {
  const json = { 'content-type': 'application/json; charset=utf-8' }
  const answers: [string, number, Record<string, string>, string | Buffer][] = [
    ['JSON', 200, json, '{"a": 1.0, "b":12345678901234567890}\n'],
    ['an empty object', 201, json, '{}'],
    ['a binary body', 200, { 'content-type': 'application/x-bcs' }, Buffer.from([0, 255, 128])],
    ['text', 200, { 'content-type': 'text/plain' }, 'ok'],
    ['no content type', 200, {}, 'anything'],
    ['nothing', 200, {}, ''],
    ['no content', 204, {}, ''],
    ['accepted', 202, json, '{"hash":"0x1"}'],
    ['a refusal in JSON', 400, json, '{"message":"bad","error_code":"invalid_input"}'],
    ['not found in JSON', 404, json, '{"message":"gone","error_code":"resource_not_found"}'],
    ['not found as a page', 404, { 'content-type': 'text/html' }, '<h1>404</h1>'],
    ['a refusal without a body', 405, {}, ''],
    ['a failure in JSON', 500, json, '{"message":"odd","error_code":"vm_error"}'],
    ['a failure as a page', 500, { 'content-type': 'text/html' }, '<h1>500</h1>'],
  ]
  test.each(answers)('%s', async (_, status, headers, body) => {
    await using own = await new MirrorNode('own', (_asked, response) => {
      response.writeHead(status, headers)
      response.end(body)
    }).start()
    await using lone = await serve([own])
    const straight = await ask(own.url, '/things/1')
    const routed = await ask(lone.url, '/things/1')
    expect(routed.status).toBe(straight.status)
    expect(routed.body.equals(straight.body)).toBe(true)
    expect(routed.headers['content-type']).toBe(straight.headers['content-type'])
  })

  test('only the answer headers that the spec lists', async () => {
    node.answer = (_, response) => {
      response.writeHead(200, {
        'x-node-height': '7',
        etag: '"a"',
        'set-cookie': 'no',
        server: 'no',
      })
      response.end()
    }
    const { headers } = await ask(router.url, '/')
    expect(headers).toMatchObject({ 'x-node-height': '7', etag: '"a"' })
    expect(headers['rpc-provider-address']).toBe('alpha')
    expect(headers['set-cookie']).toBeUndefined()
    expect(headers['server']).toBeUndefined()
  })

  test.each([301, 307, 201])(
    'status %i, without the location header of the node',
    async (status) => {
      node.answer = (_, response) => response.writeHead(status, { location: '/things/9' }).end()
      const { status: got, headers } = await ask(router.url, '/things/5')
      expect([got, headers['location']]).toEqual([status, undefined])
    },
  )

  test('the head of an answer without its body', async () => {
    node.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1234' })
      response.end()
    }
    const { status, headers, body } = await ask(router.url, '/', { method: 'HEAD' })
    expect(status).toBe(200)
    expect(headers['content-length']).toBe('1234')
    expect(headers['content-type']).toBe('application/json')
    expect(body.length).toBe(0)
  })

  test('a body of 20 MB as a stream', async () => {
    const whole = Buffer.from(JSON.stringify({ blob: 'x'.repeat(20 * 1024 * 1024) }))
    node.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(whole)
    }
    const { body } = await ask(router.url, '/things/1')
    expect(body.equals(whole)).toBe(true)
  })
})

describe('when a node fails', () => {
  async function pairOf(answer: MirrorNode['answer']) {
    const stack = new AsyncDisposableStack()
    const bad = stack.use(await new MirrorNode('bad', answer).start())
    const good = stack.use(
      await new MirrorNode('good', (request, response) => {
        response.setHeader('content-type', 'application/json')
        response.end(echo(request))
      }).start(),
    )
    const both = stack.use(await serve([bad, good]))
    bad.requests.length = good.requests.length = 0
    return { bad, good, both, [Symbol.asyncDispose]: () => stack.disposeAsync() }
  }

  const failures: [string, MirrorNode['answer']][] = [
    ['a server error', (_, response) => response.writeHead(503).end('busy')],
    ['a limit', (_, response) => response.writeHead(429).end()],
    [
      'a cut body',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '50' })
        response.write('{"a":')
        setImmediate(() => response.destroy())
      },
    ],
    [
      'truncated JSON',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end('{"a":')
      },
    ],
    ['a path that only this node does not serve', (_, response) => response.writeHead(404).end()],
  ]
  test.each(failures)('%s: the other node answers a read', async (_, answer) => {
    await using pair = await pairOf(answer)
    for (let at = 0; at < 4; at++) {
      const { status, body } = await ask(pair.both.url, '/things/1')
      expect([status, body.toString()]).toEqual([200, '{"verb":"GET","target":"/things/1"}'])
    }
  })

  test('a transaction goes to both, and the first success answers', async () => {
    await using pair = await pairOf((_, response) => response.writeHead(503).end())
    const { status } = await ask(pair.both.url, '/things', { method: 'POST', body: '{}' })
    expect(status).toBe(200)
    expect([pair.bad.requests.length, pair.good.requests.length]).toEqual([1, 1])
  })

  test('a request outside the spec is sent once', async () => {
    await using pair = await pairOf((_, response) => response.writeHead(503).end())
    const answers = [1, 2].map(() => ask(pair.both.url, '/odd', { method: 'POST', body: '{}' }))
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 503])
    expect(pair.bad.requests.length + pair.good.requests.length).toBe(2)
  })

  test('without an upstream the reason is in JSON', async () => {
    await using pair = await pairOf(() => {})
    await pair.bad[Symbol.asyncDispose]()
    await pair.good[Symbol.asyncDispose]()
    const { status, headers, body } = await ask(pair.both.url, '/things/1')
    expect(status).toBe(502)
    expect(headers['content-type']).toBe('application/json')
    expect(JSON.parse(body.toString())).toMatchObject({
      error: { reason: 'upstream-failed', guid: headers['rpc-guid'] },
    })
  })
})

describe('the router itself', () => {
  test('answers GET /health', async () => {
    const { status, body } = await ask(router.url, '/health')
    expect([status, body.toString()]).toEqual([200, 'Health status OK'])
    expect(node.requests).toEqual([])
  })

  test('refuses an invalid directive', async () => {
    const { status, body } = await ask(router.url, '/', {
      headers: { 'rpc-relay-timeout': 'soon' },
    })
    expect(status).toBe(400)
    expect(JSON.parse(body.toString())).toMatchObject({ error: { reason: 'invalid-request' } })
  })
})

test('the path of the upstream URL precedes the path of the client', async () => {
  await using based = await serve([{ name: 'based', url: `${node.url}/v1?key=k` }])
  await ask(based.url, '/v1/accounts/0x1?limit=2')
  await ask(based.url, '/')
  expect(node.requests.map(({ target }) => target)).toEqual([
    '/v1/v1/accounts/0x1?key=k&limit=2',
    '/v1/?key=k',
  ])
})
