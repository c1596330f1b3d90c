// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it, test } from 'vitest'
import type { Body, Outgoing } from '../upstream/wire.ts'
import { quotes } from './quotes.ts'
import { RelayFixture, ethereum, nodeError, result } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()

function request(path: string, body: Body | string | null, headers: string[] = []): Outgoing {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return { verb: 'POST', path, headers, body: bytes }
}
const stream: Body = { [Symbol.asyncIterator]: () => ({ next: () => expect.fail('was read') }) }

test.each<[string, Outgoing, boolean]>([
  ['nothing', request('', null), false],
  ['other words', request('/accounts/a1', '{"method":"rate"}'), false],
  ['the path', request('/accounts/a-Rate Limit', null), true],
  ['the path in percents', request('/accounts/rate%20%6cimit', null), true],
  ['the query', request('/a?b=rate+limit', null), true],
  ['the body', request('', '{"params":["RATE LIMIT"]}'), true],
  ['the body in escapes', request('', '{"params":["r\\u0061te\\u0020limit"]}'), true],
  ['a form', request('', 'a=rate%20limit'), true],
  ['a message of gRPC', request('/a.B/C', Buffer.from('\0\0\0\0\x0c\n\x0arate limit')), true],
  ['a header', request('', null, ['x-a', 'rate limit']), true],
  ['what streams', request('', stream), true],
  ['what is packed', request('', '', ['grpc-encoding', 'gzip']), true],
  ['what is not packed', request('', '', ['grpc-encoding', 'identity']), false],
])('the words stand in %s', (_name, outgoing, expected) => {
  expect(quotes(outgoing)('Rate limit')).toBe(expected)
})

describe('an error that repeats words of the client', () => {
  const words = [
    'rate limit',
    'quota exceeded',
    'unauthorized',
    'cloudflare',
    'request timed out',
    'node is syncing',
    'stack trace',
  ]
  it.each(words)('"%s" neither blames a node nor has it left alone', async (text) => {
    const script = () => nodeError(-32000, `cannot read ${text} of the params`)
    const relay = new RelayFixture(chain, iface, { a: { script }, b: { script } })
    for (let at = 0; at < 12; at++)
      expect((await relay.ask({ params: [`0x${text}`, 'latest'] })).outcome).toContain(text)
    expect(relay.events).toEqual([])
    relay.transport('a').play(() => result('0x1'))
    relay.transport('b').play(() => result('0x1'))
    expect((await relay.ask()).outcome).toBe(result('0x1').body)
  })

  it.each(words)('"%s" that the node says by itself counts', async (text) => {
    const script = () => nodeError(-32000, `cannot: ${text}`)
    const relay = new RelayFixture(chain, iface, { a: { script }, b: { script } })
    for (let at = 0; at < 12; at++) await relay.ask()
    expect(relay.events).not.toEqual([])
  })
})
