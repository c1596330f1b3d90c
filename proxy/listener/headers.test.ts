// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { noDirectives } from '../relay/call.ts'
import { RelayError } from '../relay/errors.ts'
import type { Directives } from '../relay/call.ts'
import { directiveHeaders, readDirectives } from './directives.ts'
import { forwardHeaders } from './headers.ts'
import { createJsonRpcListener } from './jsonrpc.ts'
import { createRestListener } from './rest.ts'
import { createTendermintListener } from './tendermint.ts'
import {
  echoRelay,
  type FixtureOptions,
  RawClient,
  startListener,
} from './testing/listener-fixture.ts'

const context = '00-8af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe('trace context', () => {
  const parent = (value: string) => ['traceparent', value]
  test.each<[string, string[], Directives['trace']]>([
    ['none', ['trace', 'x', 'trac', 'y', 'tracestates', 'z'], null],
    ['a parent', ['TraceParent', ` ${context} `], { parent: context, state: null }],
    ['with state', [...parent(context), 'tracestate', 'a=1'], { parent: context, state: 'a=1' }],
    [
      'with state in two headers',
      ['Tracestate', 'a=1', ...parent(context), 'tracestate', 'b=2'],
      { parent: context, state: 'a=1,b=2' },
    ],
    ['two parents', [...parent(context), ...parent(context)], null],
    ['state alone', ['tracestate', 'a=1'], null],
    ['an empty state', [...parent(context), 'tracestate', ''], { parent: context, state: null }],
    [
      'a state that is too long',
      [...parent(context), 'tracestate', 'a'.repeat(513)],
      { parent: context, state: null },
    ],
    ['capitals', parent(context.toUpperCase()), null],
    ['no trace', parent(`00-${'0'.repeat(32)}-b7ad6b7169203331-01`), null],
    ['no span', parent(`00-8af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`), null],
    ['an invalid version', parent(`ff${context.slice(2)}`), null],
    ['more fields than the version has', parent(`${context}-x`), null],
    [
      'more fields in a later version',
      parent(`01${context.slice(2)}-x`),
      { parent: `01${context.slice(2)}-x`, state: null },
    ],
    ['junk', parent('x'.repeat(10_000)), null],
  ])('%s', (_, headers, trace) => {
    expect(readDirectives(headers)).toEqual({ ...noDirectives, trace })
  })
})

describe('request directives', () => {
  test.each([
    ['none', [], {}],
    ['headers of others', ['Host', 'x', 'rpc', 'y', 'rpcx-select-provider', 'z'], {}],
    ['a response header', ['Rpc-Provider-Address', 'alpha'], {}],
    ['a pin', ['rpc-select-provider', 'alpha'], { selectProvider: 'alpha' }],
    ['a pin in other letters', ['RPC-Select-Provider', ' alpha '], { selectProvider: 'alpha' }],
    ['an empty pin', ['rpc-select-provider', ' '], {}],
    ['one upstream blocked', ['rpc-providers-block', 'a'], { blockProviders: ['a'] }],
    ['two blocked', ['rpc-providers-block', ' a , b,'], { blockProviders: ['a', 'b'] }],
    [
      'two blocked, in two headers',
      ['rpc-providers-block', 'a', 'rpc-providers-block', 'b'],
      { blockProviders: ['a', 'b'] },
    ],
    ['three blocked', ['rpc-providers-block', 'a,b,c'], {}],
    [
      'three blocked, in two headers',
      ['rpc-providers-block', 'a,b', 'rpc-providers-block', 'c'],
      {},
    ],
    ['the same upstream three times', ['rpc-providers-block', 'a,a,a'], {}],
    ['no upstream blocked', ['rpc-providers-block', ' ,, '], {}],
    ['an extension', ['rpc-extension', 'Archive'], { extension: 'archive' }],
    ['a time', ['rpc-relay-timeout', '500ms'], { relayTimeoutMs: 500 }],
    ['a time of several units', ['rpc-relay-timeout', '1m30s'], { relayTimeoutMs: 90_000 }],
    [
      'a time beyond the range of timers',
      ['rpc-relay-timeout', '9999999h'],
      { relayTimeoutMs: 2 ** 31 - 1 },
    ],
    ['a debug flag', ['rpc-debug-relay', 'true'], { debugRelay: true }],
    ['a debug flag of another kind', ['rpc-debug-relay', '1'], { debugRelay: true }],
    ['a debug flag that is false', ['rpc-debug-relay', 'False'], {}],
    [
      'all at once',
      [
        ...['rpc-select-provider', 'a', 'rpc-providers-block', 'b', 'rpc-extension', 'debug'],
        ...['rpc-relay-timeout', '5s', 'rpc-debug-relay', 'true'],
      ],
      {
        selectProvider: 'a',
        blockProviders: ['b'],
        extension: 'debug',
        relayTimeoutMs: 5_000,
        debugRelay: true,
      },
    ],
  ])('%s', (_, headers, expected) => {
    expect(readDirectives(headers)).toEqual({ ...noDirectives, ...expected })
  })

  test.each(['', '5', 'banana', '-5s', '0s', '0ms', '5 s', '1e3ms'])(
    'the time "%s" is refused with a hint at a valid one',
    (value) => {
      const error = readDirectives(['rpc-relay-timeout', value])
      expect(error).toBeInstanceOf(RelayError)
      expect(error).toHaveProperty(
        'message',
        expect.stringMatching(/rpc-relay-timeout .* 500ms, 5s/),
      )
    },
  )

  test('reach every call of a batch', async () => {
    await using fixture = await startListener(echoRelay)
    const call = '{"id":1,"method":"m"}'
    const headers = { 'rpc-select-provider': 'beta', 'rpc-provider-address': 'gamma' }
    await fetch(fixture.url, { method: 'POST', body: `[${call},${call}]`, headers })
    expect(fixture.calls.map((each) => each.directives.selectProvider)).toEqual(['beta', 'beta'])
  })

  test('hash the session id, and have no session for an empty one', async () => {
    await using fixture = await startListener(echoRelay)
    const body = '{"id":1,"method":"m"}'
    for (const id of ['my session', 'my session', 'another', ' '])
      await fetch(fixture.url, { method: 'POST', body, headers: { 'RPC-Stickiness': id } })
    const ids = fixture.calls.map((each) => each.directives.stickiness)
    expect(ids[0]).toMatch(/^[\w-]{43}$/)
    expect([ids[1], ids[2] === ids[0], ids[3]]).toEqual([ids[0], false, null])
  })

  test.each<[Record<string, string>, Partial<Directives>]>([
    [
      {
        'RPC-Cross-Validation-Max-Participants': '3',
        'rpc-cross-validation-agreement-threshold': ' 2 ',
      },
      { crossValidation: { participants: 3, agreement: 2 } },
    ],
    [{ 'rpc-min-block': '19000000' }, { minBlock: 19_000_000 }],
    [{ 'rpc-min-block': '0' }, { minBlock: 0 }],
    [{ 'rpc-debug-relay': '1' }, { crossValidation: null, minBlock: null }],
  ])('%j is %j', (headers, expected) => {
    expect(readDirectives(Object.entries(headers).flat())).toMatchObject(expected)
  })

  test.each<[Record<string, string>, string]>([
    [
      { 'rpc-cross-validation-max-participants': '3' },
      'the header rpc-cross-validation-max-participants needs rpc-cross-validation-agreement-threshold beside it',
    ],
    [
      { 'rpc-cross-validation-agreement-threshold': '3' },
      'the header rpc-cross-validation-agreement-threshold needs rpc-cross-validation-max-participants beside it',
    ],
    [
      {
        'rpc-cross-validation-max-participants': '2',
        'rpc-cross-validation-agreement-threshold': '3',
      },
      'the header rpc-cross-validation-agreement-threshold asks for 3 matching answers of at most 2',
    ],
    ...['0', '-1', '1.5', 'two', '', '9'.repeat(20)].map(
      (value): [Record<string, string>, string] => [
        {
          'rpc-cross-validation-max-participants': value,
          'rpc-cross-validation-agreement-threshold': '1',
        },
        'the header rpc-cross-validation-max-participants is not a whole number from 1',
      ],
    ),
    ...['-1', '0x10', 'latest', ''].map((value): [Record<string, string>, string] => [
      { 'rpc-min-block': value },
      'the header rpc-min-block is not a whole number from 0',
    ]),
  ])('%j is refused', async (headers, message) => {
    await using fixture = await startListener(echoRelay)
    const body = '{"id":1,"method":"m"}'
    const response = await fetch(fixture.url, { method: 'POST', body, headers })
    expect(response.status).toBe(400)
    const error = { code: -32600, message, data: { reason: 'bad-directive' } }
    expect(await response.json()).toMatchObject({ id: 1, error })
    expect(fixture.calls).toEqual([])
  })

  const once = Object.values(directiveHeaders).filter((name) => name !== 'rpc-providers-block')
  test.each(once)('a repeated %s is refused, whatever its values', (name) => {
    const values = [['1', '1'], ['1', '2'], ['1', '']] as const // prettier-ignore
    for (const [first, second] of values)
      expect(
        readDirectives(['x', 'y', name, first, 'rpc-other', '', name.toUpperCase(), second]),
      ).toMatchObject({ message: `the header ${name} is repeated: send it once` })
  })

  const call = '{"id":1,"method":"m"}'
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
  const json = `Content-Length: ${call.length}`
  test.each<[string, NonNullable<FixtureOptions['create']>, string, string]>([
    ['JSON-RPC', createJsonRpcListener, `POST / HTTP/1.1\r\n${json}`, call],
    [
      'a notification',
      createJsonRpcListener,
      'POST / HTTP/1.1\r\nContent-Length: 14',
      '{"method":"m"}',
    ],
    ['a batch', createJsonRpcListener, 'POST / HTTP/1.1\r\nContent-Length: 23', `[${call}]`],
    ['a WebSocket', createJsonRpcListener, `GET / HTTP/1.1\r\n${upgrade}`, ''],
    ['REST', createRestListener, 'GET /blocks/1 HTTP/1.1', ''],
    ['Tendermint RPC by POST', createTendermintListener, `POST / HTTP/1.1\r\n${json}`, call],
    ['Tendermint RPC by GET', createTendermintListener, 'GET /status HTTP/1.1', ''],
  ])('a repeated one is a 400: %s', async (_, create, head, body) => {
    await using fixture = await startListener(echoRelay, { create })
    using client = new RawClient(fixture.port)
    const twice = 'rpc-stickiness: a\r\nrpc-stickiness: a\r\n'
    client.write(`${head}\r\nHost: x\r\nConnection: close\r\n${twice}\r\n${body}`)
    const answer = await client.untilClosed()
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expect(answer).toContain('the header rpc-stickiness is repeated: send it once')
    expect(fixture.calls).toEqual([])
  })

  test('with invalid values are answered as an invalid request', async () => {
    await using fixture = await startListener(echoRelay)
    const headers = { 'rpc-relay-timeout': 'soon' }
    const body = '{"id":1,"method":"m"}'
    const response = await fetch(fixture.url, { method: 'POST', body, headers })
    expect(await response.json()).toMatchObject({ id: 1, error: { code: -32600 } })
    const batch = await fetch(fixture.url, { method: 'POST', body: `[${body}]`, headers })
    expect(await batch.json()).toMatchObject([{ id: 1, error: { code: -32600 } }])
    expect(fixture.calls).toEqual([])
  })
})

describe('headers that a spec lists are forwarded', () => {
  const allowed = new Set(['x-a', 'x-b', 'z', 'te', 'trailer', 'upgrade', 'proxy-authorization'])

  const rows: [string, string[], string[]][] = [
    ['listed headers', ['X-A', '1', 'X-C', '2'], ['x-a', '1']],
    ['repeated headers, repeated', ['X-A', '1', 'x-a', '2'], ['x-a', '1', 'x-a', '2']],
    [
      'no hop-by-hop headers, even listed ones',
      ['TE', 'gzip', 'Trailer', 'x', 'Upgrade', 'h2c', 'Proxy-Authorization', 'Basic eA=='],
      [],
    ],
    ['no header that is already set', ['Z', '1', 'X-A', '1'], ['x-a', '1']],
  ]
  test.each(rows)('%s', (_name, from, expected) => {
    expect(forwardHeaders(from, allowed, ['z', '0'])).toEqual(['z', '0', ...expected])
  })
})
