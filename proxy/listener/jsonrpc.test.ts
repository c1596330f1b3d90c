// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { noDirectives } from '../relay/call.ts'
import { echoRelay, reply, sentText, startListener } from './testing/listener-fixture.ts'

const call = (id: string, method = 'eth_chainId') =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":[]}`

async function post(url: string, body: string | Uint8Array, headers: Record<string, string> = {}) {
  const response = await fetch(url, { method: 'POST', body: Buffer.from(body as string), headers })
  return { response, status: response.status, text: await response.text() }
}

function errorOf(text: string): { id: unknown; code: number; reason: string; guid: string } {
  const { id, error } = JSON.parse(text) as {
    id: unknown
    error: { code: number; data: { guid: string; reason: string } }
  }
  return { id, code: error.code, ...error.data }
}

describe('a single call', () => {
  test('goes to the upstream byte for byte, and its answer returns unchanged', async () => {
    await using fixture = await startListener(() =>
      Promise.resolve(
        reply('{ "id" :1, "result":{"b":1.0,"a":123456789012345678901234567890} }\n'),
      ),
    )
    const body =
      '{ "method":"eth_call", "params":[ {"value":123456789012345678901234567890,"to":"\\u0030x" }],\t"id":1,"jsonrpc":"2.0" }'
    const { status, text, response } = await post(fixture.url, `\n ${body} \n`)
    expect(status).toBe(200)
    expect(text).toBe('{ "id" :1, "result":{"b":1.0,"a":123456789012345678901234567890} }\n')
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(sentText(fixture.calls[0]!)).toBe(body)
    expect(fixture.calls[0]!.request.headers).toEqual(['content-type', 'application/json'])
    expect(fixture.calls[0]!.directives).toEqual(noDirectives)
    expect(fixture.ends).toMatchObject([{ kind: 'reply' }])
  })

  test('reports its attempts in headers', async () => {
    await using fixture = await startListener((call) => {
      const failure = {
        name: 'malformed-answer',
        origin: 'upstream',
        retry: true,
        cooldown: false,
        limit: null,
        weight: 1,
        reported: true,
        late: false,
        busy: false,
        doubtful: false,
        costsScore: false,
        pruned: false,
        transaction: null,
      } as const
      call.journal.begin('gamma', 'first', 0).result = failure
      call.journal.begin('beta', 'retry', 0).result = { ...failure, origin: 'node' }
      call.journal.begin('gamma', 'retry', 0).result = failure
      call.journal.begin('alpha und co', 'retry', 0).result = 'answer'
      return Promise.resolve({ ...reply('{"id":1,"result":1}'), upstream: 'alpha und co' })
    })
    const { response } = await post(fixture.url, call('1'))
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'rpc-provider-address': 'alpha und co',
      'rpc-retries': '3',
      'provider-latest-block': '7',
      'rpc-guid': 'guid1',
      'rpc-errored-providers': 'gamma',
      'rpc-reported-providers': 'gamma',
      'rpc-node-errors-providers': 'beta',
      'router-version': '1.2.3',
    })
  })

  test('without failures has no failure headers', async () => {
    await using fixture = await startListener(() =>
      Promise.resolve({ ...reply('{"id":1,"result":1}'), latestBlock: null }),
    )
    const { response } = await post(fixture.url, call('1'))
    expect(response.headers.get('rpc-retries')).toBe('0')
    for (const name of [
      'rpc-errored-providers',
      'rpc-reported-providers',
      'rpc-node-errors-providers',
      'provider-latest-block',
    ])
      expect(response.headers.has(name)).toBe(false)
  })

  test.each([
    ['noUpstream', 503, -32050],
    ['breakerOpen', 503, -32051],
    ['upstreamFailed', 502, -32052],
    ['timeout', 504, -32053],
  ] as const)(
    'that fails with %s is answered with HTTP %i and code %i',
    async (kind, status, code) => {
      await using fixture = await startListener((call) => {
        call.journal.begin('beta', 'retry', 0).result = 'aborted'
        return Promise.reject(new RelayError(errorKinds[kind], 'in plain words'))
      })
      const { response, text, status: actual } = await post(fixture.url, call('"\\u0061"'))
      expect(actual).toBe(status)
      expect(text).toBe(
        `{"jsonrpc":"2.0","id":"\\u0061","error":{"code":${code},"message":"in plain words","data":{"guid":"guid1","reason":"${errorKinds[kind].reason}"}}}`,
      )
      expect(response.headers.get('rpc-retries')).toBe('1')
      expect(response.headers.has('rpc-provider-address')).toBe(false)
      expect(fixture.ends).toMatchObject([{ kind: 'error', error: { kind: errorKinds[kind] } }])
    },
  )

  test('that meets a defect shows the guid to the client and the cause to the observer', async () => {
    await using fixture = await startListener(() => Promise.reject(new TypeError('secret detail')))
    const { status, text } = await post(fixture.url, call('1'))
    expect(status).toBe(500)
    expect(errorOf(text)).toMatchObject({ id: 1, code: -32603, guid: 'guid1' })
    expect(text).not.toContain('secret')
    expect(fixture.ends).toMatchObject([{ error: { cause: { message: 'secret detail' } } }])
  })

  test("forwards an upstream's own error page with its status and type", async () => {
    await using fixture = await startListener(() =>
      Promise.resolve(
        reply('<h1>Bad Gateway</h1>', {
          status: 502,
          headers: ['Content-Type', 'text/html', 'Set-Cookie', 'a=b', 'Connection', 'close'],
        }),
      ),
    )
    const { response, status, text } = await post(fixture.url, call('1'))
    expect([status, text]).toEqual([502, '<h1>Bad Gateway</h1>'])
    expect(response.headers.get('content-type')).toBe('text/html')
    expect(response.headers.has('set-cookie')).toBe(false)
    expect(response.headers.get('connection')).toBe('keep-alive')
  })

  test('forwards only headers that the spec lists, and never hop-by-hop headers', async () => {
    await using fixture = await startListener(
      () =>
        Promise.resolve(
          reply('{"id":1,"result":1}', {
            headers: ['X-Height', '12', 'X-Other', '1', 'Content-Encoding', 'br'],
          }),
        ),
      {
        requestHeaders: ['x-client', 'host', 'content-length'],
        responseHeaders: ['x-height', 'content-encoding'],
      },
    )
    const { response } = await post(fixture.url, call('1'), { 'X-Client': 'me', 'X-Secret': 'no' })
    expect(fixture.calls[0]!.request.headers).toEqual([
      ...['content-type', 'application/json', 'x-client', 'me'],
    ])
    expect(response.headers.get('x-height')).toBe('12')
    for (const name of ['x-other', 'content-encoding'])
      expect(response.headers.has(name)).toBe(false)
  })

  test.each([
    [429, '7'],
    [503, '7'],
    [200, null],
  ])('with status %i has the Retry-After of the node: %s', async (status, wait) => {
    const body = '{"id":1,"error":{"code":-32005,"message":"slow down"}}'
    const headers = ['Retry-After', '7']
    await using fixture = await startListener(() =>
      Promise.resolve(reply(body, { status, headers })),
    )
    const { response } = await post(fixture.url, call('1'))
    expect([response.status, response.headers.get('retry-after')]).toEqual([status, wait])
  })

  test.each([
    [429, ['Retry-After', '7'], '7'],
    [429, [], '2'],
    [200, [], '2'],
  ])('of a limit, with status %i and %j, has Retry-After %s', async (status, headers, wait) => {
    const body = '{"id":1,"error":{"code":-32005,"message":"slow down"}}'
    await using fixture = await startListener(() =>
      Promise.resolve({ ...reply(body, { status, headers }), retryAfterMs: 1_001 }),
    )
    const { response } = await post(fixture.url, call('1'))
    expect([response.status, response.headers.get('retry-after')]).toEqual([status, wait])
  })

  test('may be of version 1.0, or have no version', async () => {
    await using fixture = await startListener(echoRelay)
    for (const body of [
      '{"jsonrpc":"1.0","id":"c","method":"getblockcount","params":[]}',
      '{"id":"c","method":"getblockcount"}',
    ])
      expect(JSON.parse((await post(fixture.url, body)).text)).toMatchObject({
        id: 'c',
        result: 'getblockcount',
      })
    const { status, text } = await post(fixture.url, '{"method":"getblockcount"}')
    expect([status, JSON.parse(text)]).toMatchObject([200, { id: null, result: 'getblockcount' }])
    expect(sentText(fixture.calls[2]!)).toBe('{"id":1,"method":"getblockcount"}')
  })

  test('is accepted with any content type', async () => {
    await using fixture = await startListener(echoRelay)
    for (const type of [
      'text/plain',
      'application/json; charset=utf-8',
      'application/x-www-form-urlencoded',
    ])
      expect((await post(fixture.url, call('1'), { 'content-type': type })).status).toBe(200)
  })

  test('without an id gets no reply, and is relayed under a router id', async () => {
    await using fixture = await startListener(echoRelay)
    const { status, text } = await post(fixture.url, '{"jsonrpc":"2.0","method":"eth_chainId"}')
    expect([status, text]).toEqual([204, ''])
    expect(sentText(fixture.calls[0]!)).toBe('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}')
    expect(fixture.calls[0]!.reader.read(reply('{"id":1,"result":1}').incoming).kind).toBe('result')
    expect(fixture.ends).toMatchObject([{ kind: 'reply' }])
  })

  test('without an id that fails gets no reply either', async () => {
    await using fixture = await startListener(() =>
      Promise.reject(new RelayError(errorKinds.timeout, 'late')),
    )
    const { status, text } = await post(fixture.url, '{"jsonrpc":"2.0","method":"eth_chainId"}')
    expect([status, text]).toEqual([204, ''])
    expect(fixture.ends).toMatchObject([{ kind: 'error' }])
  })

  const ids = [
    ...[
      '0',
      '-1',
      '1.0',
      '1e2',
      '1E+2',
      '-0',
      '-0.0',
      '1152921504606846977',
      '0.1000',
      '1e999',
      'null',
    ],
    ...['""', '"a"', '"\\u0061"', '"\\/"', '"\\ud800"', '"𝄞"', '"a\\"b"', '"\\\\"', '"1"'],
    '9007199254740993',
    `"${'x'.repeat(3_000)}"`,
  ]
  test('gets its id of 3 MB back from nodes that truncate long ids', async () => {
    await using fixture = await startListener((call) => {
      const { id } = JSON.parse(sentText(call)) as { id: unknown }
      return Promise.resolve(reply(`{"id":${JSON.stringify(id).slice(0, 1_000)},"result":1}`))
    })
    const id = `"${'x'.repeat(3e6)}"`
    expect((await post(fixture.url, call(id))).text).toBe(`{"id":${id},"result":1}`)
  })

  test.each(ids)('gets its id %s back byte for byte', async (id) => {
    await using fixture = await startListener((call) => {
      // This node parses the id and returns its own spelling of it.
      const own = JSON.stringify((JSON.parse(sentText(call)) as { id: unknown }).id)
      return Promise.resolve(reply(`{"id":${own},"result":1}`))
    })
    const { text } = await post(fixture.url, call(id))
    expect(text).toBe(`{"id":${id},"result":1}`)
    const single = await post(fixture.url, `{"jsonrpc":"2.0","id":${id},"method":7}`)
    expect(single.text).toMatch('{"jsonrpc":"2.0","id":' + id + ',"error"')
    const batch = await post(fixture.url, `[${call(id)}]`)
    expect(batch.text).toBe(`[{"id":${id},"result":1}]`)
  })
})

describe('a body that is not a call', () => {
  const rows: readonly (readonly [
    name: string,
    body: string | Uint8Array,
    code: number,
    id: unknown,
  ])[] = [
    ['an empty body', '', -32700, null],
    ['white space', ' \r\n\t', -32700, null],
    ['plain text', 'hello', -32700, null],
    ['an open object', '{', -32700, null],
    ['an open string', '{"jsonrpc":"2.0","id":1,"method":"eth', -32700, null],
    ['a cut call', call('1').slice(0, -1), -32700, null],
    ['a comma at the end', '{"id":1,"method":"a",}', -32700, null],
    ['single quotes', "{'id':1,'method':'a'}", -32700, null],
    ['a name without quotes', '{id:1,"method":"a"}', -32700, null],
    ['NaN', '{"id":NaN,"method":"a"}', -32700, null],
    ['Infinity', '{"id":1,"method":"a","params":[Infinity]}', -32700, null],
    ['a hex number', '{"id":0x1,"method":"a"}', -32700, null],
    ['a leading zero', '{"id":01,"method":"a"}', -32700, null],
    ['a comment', '{"id":1,/*x*/"method":"a"}', -32700, null],
    ['a control character in a string', '{"id":1,"method":"a\u0001"}', -32700, null],
    ['an unknown escape', '{"id":1,"method":"\\q"}', -32700, null],
    ['trailing garbage', call('1') + 'x', -32700, null],
    ['two calls in a row', call('1') + call('2'), -32700, null],
    ['a trailing null character', call('1') + '\u0000', -32700, null],
    ['a byte order mark', '\ufeff' + call('1'), -32700, null],
    ['UTF-16', Buffer.from(call('1'), 'utf16le'), -32700, null],
    ['latin-1', Buffer.from('{"id":"\u00e9","method":"a"}', 'latin1'), -32700, null],
    ['an overlong sequence', Buffer.from('{"id":"\xc0\xaf","method":"a"}', 'latin1'), -32700, null],
    [
      'a lone surrogate in bytes',
      Buffer.from('{"id":"\xed\xa0\x80","method":"a"}', 'latin1'),
      -32700,
      null,
    ],
    ['a cut character', Buffer.from('{"id":"\xe2\x82","method":"a"}', 'latin1'), -32700, null],
    ['a form', 'method=eth_chainId&id=1', -32700, null],
    ['deep nesting, open', '['.repeat(100_000), -32700, null],
    ['deep nesting, closed', '['.repeat(100_000) + ']'.repeat(100_000), -32700, null],
    [
      'deep nesting in params',
      `{"id":1,"method":"a","params":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
      -32700,
      null,
    ],
    ['a broken item in a batch', `[${call('1')},{"id":2,]`, -32700, null],
    ['a batch with a comma at the end', `[${call('1')},]`, -32700, null],
    ['an open batch', `[${call('1')}`, -32700, null],
    ['a number', '1', -32600, null],
    ['a string', '"eth_chainId"', -32600, null],
    ['null', 'null', -32600, null],
    ['true', 'true', -32600, null],
    ['an empty object', '{}', -32600, null],
    ['an empty batch', '[]', -32600, null],
    ['an empty batch with white space', ' [ \n ] ', -32600, null],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32600, 1],
    ['a method that is a number', '{"jsonrpc":"2.0","id":1,"method":1}', -32600, 1],
    ['a method that is null', '{"jsonrpc":"2.0","id":1,"method":null}', -32600, 1],
    ['a method that is an array', '{"jsonrpc":"2.0","id":1,"method":["a"]}', -32600, 1],
    ['a method that is an object', '{"jsonrpc":"2.0","id":"x","method":{}}', -32600, 'x'],
    ['a method without a name', '{"jsonrpc":"2.0","id":1,"method":""}', -32601, 1],
    ['params that are a string', '{"jsonrpc":"2.0","id":1,"method":"a","params":"x"}', -32600, 1],
    ['params that are a number', '{"jsonrpc":"2.0","id":1,"method":"a","params":1}', -32600, 1],
    ['params that are true', '{"jsonrpc":"2.0","id":1,"method":"a","params":true}', -32600, 1],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"a"}', -32600, null],
    ['an id that is an array', '{"jsonrpc":"2.0","id":[1],"method":"a"}', -32600, null],
    ['an id that is true', '{"jsonrpc":"2.0","id":true,"method":"a"}', -32600, null],
    ['an id that is false', '{"jsonrpc":"2.0","id":false,"method":"a"}', -32600, null],
    ['a version that is a number', '{"jsonrpc":2.0,"id":1,"method":"a"}', -32600, 1],
    ['a version that does not exist', '{"jsonrpc":"3.0","id":1,"method":"a"}', -32600, 1],
    ['a version that is null', '{"jsonrpc":null,"id":1,"method":"a"}', -32600, 1],
    ['two methods', '{"id":1,"method":"a","method":"b"}', -32600, 1],
    ['two params', '{"id":1,"method":"a","params":[],"params":[1]}', -32600, 1],
    ['two ids', '{"id":1,"id":2,"method":"a"}', -32600, 1],
    ['two versions', '{"jsonrpc":"2.0","jsonrpc":"1.0","id":1,"method":"a"}', -32600, 1],
    ['a method in capitals only', '{"id":1,"Method":"a"}', -32600, 1],
    ['a response', '{"jsonrpc":"2.0","id":1,"result":1}', -32600, 1],
    ['too many items', `[${'1,'.repeat(1000)}1]`, -32600, null],
    ['only __proto__', '{"__proto__":{"method":"a","id":1}}', -32600, null],
  ]

  test.each(rows)('%s is answered in JSON-RPC and not relayed', async (_, body, code, id) => {
    await using fixture = await startListener(echoRelay)
    const { status, text, response } = await post(fixture.url, body)
    expect(status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(errorOf(text)).toMatchObject({ id, code, guid: response.headers.get('rpc-guid') })
    expect(fixture.calls).toEqual([])
    expect(fixture.refusals).toHaveLength(1)
    expect((await post(fixture.url, call('9'))).status).toBe(200)
  })

  test('odd but valid calls are relayed unchanged', async () => {
    await using fixture = await startListener(echoRelay)
    const bodies = [
      '{"id":1,"method":"a","params":null}',
      '{"id":1,"method":"a","params":{"x":1e999}}',
      '{"id":1,"method":"\\u0065th_x","params":["\\ud800"]}',
      '{"id":1,"method":"méthode"}',
      `{"id":1,"method":"a","params":${'['.repeat(9_000)}${']'.repeat(9_000)}}`,
      `{"id":1,"method":"${'m'.repeat(100_000)}"}`,
    ]
    for (const body of bodies) expect((await post(fixture.url, body)).status).toBe(200)
    expect(fixture.calls.map(sentText)).toEqual(bodies)
    expect(fixture.calls[2]!.method.name).toBe('eth_x')
    expect(fixture.calls[3]!.method.name).toBe('méthode')
  })

  test('for any bytes the answer is well-formed and the next call is served', async () => {
    await using fixture = await startListener(echoRelay)
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.json().map((text) => Buffer.from(text)),
      fc
        .tuple(fc.constantFrom(call('1'), `[${call('1')},${call('2')}]`), fc.nat(), fc.nat(255))
        .map(([text, at, byte]) => {
          const buffer = Buffer.from(text)
          buffer[at % buffer.length] = byte
          return buffer
        }),
    )
    await fc.assert(
      fc.asyncProperty(bytes, async (body) => {
        const { status, text } = await post(fixture.url, body)
        expect([200, 204]).toContain(status)
        const parsed = (status === 204 ? [] : JSON.parse(text)) as unknown
        for (const each of Array.isArray(parsed) ? (parsed as unknown[]) : [parsed])
          expect(Object.keys(each as object)).toEqual(expect.arrayContaining(['id']))
      }),
      { numRuns: 400 },
    )
  })

  test('any id is returned byte for byte', async () => {
    await using fixture = await startListener(echoRelay)
    const escaped = fc.string({ unit: 'binary' }).map((text) =>
      Array.from(text)
        .map((letter, index) =>
          index % 2 ? JSON.stringify(letter).slice(1, -1) : unicodeEscapes(letter),
        )
        .join(''),
    )
    const id = fc.oneof(
      escaped.map((text) => `"${text}"`),
      fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number.toString()),
      fc.bigInt().map(String),
      fc.constant('null'),
    )
    await fc.assert(
      fc.asyncProperty(id, async (idText) => {
        const { text } = await post(fixture.url, call(idText, 'm'))
        expect(text).toBe(`{"jsonrpc":"2.0","id":${idText},"result":"m"}`)
      }),
      { numRuns: 300 },
    )
  })
})

function unicodeEscapes(letter: string): string {
  return [...Array(letter.length).keys()]
    .map((at) => '\\u' + letter.charCodeAt(at).toString(16).padStart(4, '0'))
    .join('')
}

describe('other paths and methods', () => {
  test.each([
    ['GET', '/', 405, 'POST'],
    ['OPTIONS', '/', 405, 'POST'],
    ['PUT', '/', 405, 'POST'],
    ['DELETE', '/', 405, 'POST'],
    ['POST', '/health', 405, 'GET, HEAD'],
    ['POST', '/v1', 404, null],
    ['GET', '/favicon.ico', 404, null],
    ['POST', '//', 404, null],
  ])('%s %s is %i', async (method, path, status, allow) => {
    await using fixture = await startListener(echoRelay)
    const response = await fetch(
      new URL('http://x' + path).href.replace('http://x', fixture.url.slice(0, -1)),
      { method },
    )
    expect(response.status).toBe(status)
    expect(response.headers.get('allow')).toBe(allow)
    expect(errorOf(await response.text())).toMatchObject({ id: null, code: -32600 })
    expect(fixture.calls).toEqual([])
  })

  test("a chain's own path is served, and its calls go to that path of the node", async () => {
    await using fixture = await startListener(echoRelay, { internalPaths: ['/C/rpc', '/X'] })
    for (const path of ['X', 'C/rpc?key=1', ''])
      expect((await post(fixture.url + path, call('1'))).status).toBe(200)
    expect((await post(fixture.url + 'X', `[${call('1')},${call('2')}]`)).status).toBe(200)
    const paths = fixture.calls.map(({ request }) => request.path)
    expect(paths).toEqual(['/X', '/C/rpc', '', '/X', '/X'])
    const refused = await post(fixture.url + 'C', call('1'))
    expect(refused.status).toBe(404)
    expect(refused.text).toContain('POST /, /C/rpc, /X with')
    expect((await fetch(fixture.url + 'X')).status).toBe(405)
  })

  test('a query on the path is ignored', async () => {
    await using fixture = await startListener(echoRelay)
    expect((await post(fixture.url + '?key=1', call('1'))).status).toBe(200)
  })

  test('GET /health shows the health of the listener', async () => {
    let isHealthy = true
    await using fixture = await startListener(echoRelay, { health: () => isHealthy })
    const ask = async () => {
      const response = await fetch(fixture.url + 'health')
      return [response.status, await response.text()]
    }
    expect(await ask()).toEqual([200, 'Health status OK'])
    isHealthy = false
    expect(await ask()).toEqual([503, 'Unhealthy'])
  })
})
