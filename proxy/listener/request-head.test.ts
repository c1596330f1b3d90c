// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { RawClient, echoRelay, rawPost, reply, startListener } from './testing/listener-fixture.ts'
import { createRestListener } from './rest.ts'
import { createTendermintListener } from './tendermint.ts'

const call = '{"jsonrpc":"2.0","id":1,"method":"m"}'
const page = 'Origin: https://app.example.org'
const upgrade = [
  'GET / HTTP/1.1',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Host: x',
]
const crossSite = 'Sec-Fetch-Site: cross-site'

/** Returns the status and body of the answer. The connection closes. */
async function ask(port: number, bytes: string | Buffer): Promise<[number, string]> {
  using client = new RawClient(port)
  client.write(bytes)
  const text = await client.until(/^HTTP\/1.1 \d+ [^]*?Content-Length: (\d+)\r\n[^]*?\r\n\r\n[^]*$/)
  const length = Number(/Content-Length: (\d+)/.exec(text)?.[1])
  const whole = await client.until(new RegExp(`\\r\\n\\r\\n[^]{${length}}`))
  return [Number(whole.slice(9, 12)), whole.split('\r\n\r\n')[1] ?? '']
}

describe('a POST from a web page', () => {
  test.each([
    ['JSON', [page, 'Content-Type: application/json'], 200],
    ['JSON in UTF-8', [page, 'Content-Type: Application/JSON ; charset=utf-8'], 200],
    ['kin of JSON', [page, 'Content-Type: application/vnd.api+json'], 200],
    ['JSON of another site', [crossSite, 'Content-Type: application/json'], 200],
    ['JSON of a sandboxed page', ['Origin: null', 'Content-Type: application/json'], 200],
    ['text', [page, 'Content-Type: text/plain'], 415],
    ['text of another site', [crossSite, 'Content-Type: text/plain'], 415],
    ['text of a sandboxed page', ['oRIGIN: null', 'Content-Type: text/plain'], 415],
    ['text that names JSON', [page, 'Content-Type: text/plain;application/json'], 415],
    ['a list with JSON', [page, 'Content-Type: text/plain, application/json'], 415],
    ['two types', [page, 'Content-Type: application/json', 'Content-Type: text/plain'], 415],
    ['a form', [page, 'Content-Type: application/x-www-form-urlencoded'], 415],
    ['a form of parts', [page, 'Content-Type: multipart/form-data; boundary=x'], 415],
    ['no type', [page], 415],
    ['an empty type', [page, 'Content-Type:'], 415],
    ['a type that starts like JSON', [page, 'Content-Type: application/jsonp'], 415],
    ['bytes', [page, 'Content-Type: application/octet-stream'], 415],
  ])('with %s', async (_, headers, status) => {
    await using fixture = await startListener(echoRelay)
    expect((await ask(fixture.port, rawPost(call, headers)))[0]).toBe(status)
    expect(fixture.calls).toHaveLength(status === 200 ? 1 : 0)
  })

  test('is refused in JSON-RPC form, with the remedy', async () => {
    await using fixture = await startListener(echoRelay)
    const [, body] = await ask(fixture.port, rawPost(call, [page]))
    expect(JSON.parse(body)).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32600,
        message: expect.stringContaining('Content-Type: application/json') as string,
        data: { reason: 'content-type', guid: 'guid1' },
      },
    })
    expect(fixture.refusals.map(({ kind }) => kind.code)).toEqual(['RPC_CONTENT_TYPE'])
  })

  test.each([
    ['none', []],
    ['text', ['Content-Type: text/plain']],
    ['a form, as curl does', ['Content-Type: application/x-www-form-urlencoded']],
    ['text from its own site', ['Sec-Fetch-Site: same-origin', 'Content-Type: text/plain']],
  ])('a client that is no page may send a call with the type: %s', async (_, headers) => {
    await using fixture = await startListener(echoRelay)
    expect((await ask(fixture.port, rawPost(call, headers)))[0]).toBe(200)
  })

  test.each([
    ['REST', 'text/plain', 415],
    ['REST', 'Multipart/Form-Data; boundary=a', 415],
    ['REST', '', 415],
    ['REST', 'application/json', 200],
    ['REST', 'application/x.aptos.signed_transaction+bcs', 200],
    ['Tendermint', 'text/plain', 415],
    ['Tendermint', 'application/json', 200],
  ] as const)('over %s with %s: %i', async (name, type, status) => {
    const create = name === 'REST' ? createRestListener : createTendermintListener
    const answer = '{"jsonrpc":"2.0","id":1,"result":1}'
    const relay = () => Promise.resolve(reply(answer))
    await using fixture = await startListener(relay, { create })
    const request = rawPost(call, [page, `Content-Type: ${type}`])
    expect((await ask(fixture.port, request))[0]).toBe(status)
  })
})

describe('allowed-origins', () => {
  const allowedOrigins = ['https://app.example.org', 'null']
  test.each([
    ['listed', ['Origin: https://app.example.org'], 200],
    ['listed, of a sandboxed page', ['Origin: null'], 200],
    ['not named', [], 200],
    ['another', ['Origin: https://evil.example.org'], 403],
    ['of another scheme', ['Origin: http://app.example.org'], 403],
    ['of another port', ['Origin: https://app.example.org:8443'], 403],
    ['longer', ['Origin: https://app.example.org.evil'], 403],
    ['sent twice', ['Origin: https://app.example.org', 'Origin: https://evil'], 403],
    ['empty', ['Origin:'], 403],
    ['not named by a page of another site', ['Sec-Fetch-Site: cross-site'], 403],
    ['omitted by a same-origin page', ['Sec-Fetch-Site: same-origin'], 200],
  ])('an origin that is %s', async (_, headers, status) => {
    await using fixture = await startListener(echoRelay, { allowedOrigins })
    const post = rawPost(call, ['Content-Type: application/json', ...headers])
    expect((await ask(fixture.port, post))[0]).toBe(status)
    using client = new RawClient(fixture.port)
    client.write([...upgrade, ...headers, '\r\n'].join('\r\n'))
    expect(await client.until(/\r\n\r\n/)).toMatch(
      status === 200 ? /^HTTP\/1.1 101/ : /^HTTP\/1.1 403/,
    )
  })

  test("refuses a foreign page's health request, too", async () => {
    await using fixture = await startListener(echoRelay, { allowedOrigins: [] })
    const [status, body] = await ask(
      fixture.port,
      `GET /health HTTP/1.1\r\nHost: x\r\n${page}\r\n\r\n`,
    )
    expect(status).toBe(403)
    expect(body).toContain('"reason":"origin-not-allowed"')
  })
})

describe('a head that servers interpret differently', () => {
  const post = 'POST / HTTP/1.1\r\nContent-Length: 37\r\n'
  test.each([
    ['two hosts', `${post}Host: a\r\nHost: b\r\n\r\n${call}`],
    ['the same host twice', `${post}Host: a\r\nhOST: a\r\n\r\n${call}`],
    ['two hosts of a WebSocket', [...upgrade, 'Host: b', '\r\n'].join('\r\n')],
    [
      'chunks in HTTP/1.0',
      `POST / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n25\r\n${call}\r\n0\r\n\r\n`,
    ],
  ])('%s: 400, and the connection is closed', async (_, bytes) => {
    await using fixture = await startListener(echoRelay)
    using client = new RawClient(fixture.port)
    client.write(bytes)
    const text = await client.untilClosed()
    expect(text).toMatch(/^HTTP\/1.1 400 /)
    expect(text).toContain('"reason":"bad-http"')
    expect(text.match(/^HTTP/gm)).toHaveLength(1)
    expect(fixture.calls).toEqual([])
  })

  test('a plain HTTP/1.0 request is served', async () => {
    await using fixture = await startListener(echoRelay)
    const bytes = `POST / HTTP/1.0\r\nContent-Length: ${call.length}\r\n\r\n${call}`
    expect((await ask(fixture.port, bytes))[0]).toBe(200)
  })
})
