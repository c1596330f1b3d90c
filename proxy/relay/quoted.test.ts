// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { Outgoing } from '../upstream/wire.ts'
import { quotedFrom } from './quoted.ts'
import { ethereum, nodeError, RelayFixture, result } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const post = (body: string | Uint8Array, headers: string[] = []): Outgoing => ({
  verb: 'POST',
  path: '',
  headers,
  body: Buffer.from(body),
})
const get = (path: string): Outgoing => ({ verb: 'GET', path, headers: [], body: null })
const jsonEscaped = (words: string) =>
  [...words].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const percentEncoded = (words: string) =>
  [...words].map((each) => `%${each.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')

const spellings: Readonly<Record<string, (words: string) => Outgoing>> = {
  'as they are': (words) => post(`{"params":["${words}"]}`),
  'in other case': (words) => post(`{"params":["${words.toUpperCase()}"]}`),
  'in a path': (words) => get(`/accounts/${words}1qqq`),
  'percent-encoded': (words) => get(`/accounts/${percentEncoded(words)}`),
  'as a form writes them': (words) => get(`/search?query=${words.replaceAll(' ', '+')}`),
  'in escapes of JSON': (words) => post(`{"params":["${jsonEscaped(words)}"]}`),
  'in base64': (words) => post(`{"tx":"${Buffer.from(`..${words}..`).toString('base64')}"}`),
  'in base64 for URLs': (words) =>
    get(`/simulate?tx=${Buffer.from(`??>>${words}~~`).toString('base64url')}`),
  'in a header': (words) => post('', ['x-note', words]),
  'in hex': (words) => post(`{"data":"0x${Buffer.from(words).toString('hex')}"}`),
  'between bytes': (words) => post(Buffer.from([0, 0, 0, 0, 9, 10, ...Buffer.from(words), 255])),
}

describe('words of an error that the request holds', () => {
  it.each(Object.entries(spellings))('are its own: %s', (_, ask) => {
    const words = fc.stringMatching(/^[a-z]{4,8}[ -]?[a-z]{4,8}$/)
    fc.assert(
      fc.property(words, (each) => {
        expect(quotedFrom(ask(each))(each)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  it.each([
    ['a request without them', post('{"params":["0x1"]}'), false],
    ['one that has them in capitals', post('{"params":["RATE LIMIT"]}'), true],
    ['one that stays unread, as it is too long', post('x'.repeat(300_000)), true],
    ['one that is compressed', post('x', ['grpc-encoding', 'gzip']), true],
    ['one that streams', { ...post(''), body: (async function* () {})() }, true],
  ])('%s', (_, request, isQuoted) => {
    expect(quotedFrom(request)('rate limit')).toBe(isQuoted)
    expect(quotedFrom(request)('Rate Limit')).toBe(isQuoted)
  })
})

test.each([
  ['held off', 'ratelimit', 'ReferenceError: ratelimit is not defined in server-side tracer'],
  ['blamed', 'cloudflare', 'ReferenceError: cloudflare is not defined in server-side tracer'],
])('no upstream is %s for what a client had it say', async (_, words, message) => {
  const error = nodeError(-32000, message)
  const relay = new RelayFixture(chain, iface, { a: { script: () => error } })
  const asked = { method: 'eth_call', params: [{}, 'latest', { tracer: words }] }
  for (let each = 0; each < 20; each++) expect((await relay.ask(asked)).outcome).toBe(error.body)
  expect([relay.events, relay.sent]).toEqual([[], { a: 20 }])
  relay.transport('a').play(() => result('0x1'))
  expect((await relay.ask()).outcome).toBe(result('0x1').body)
})

describe.each([
  'rate limit',
  'quota exceeded',
  'unauthorized',
  'cloudflare',
  'request timed out',
  'node is syncing',
  'stack trace',
])('"%s"', (words) => {
  const pool = () => {
    const script = () => nodeError(-32000, `cannot read ${words} of the params`)
    return new RelayFixture(chain, iface, { a: { script }, b: { script } })
  }

  it('in an error that repeats the request counts nothing', async () => {
    const relay = pool()
    for (let at = 0; at < 12; at++)
      expect((await relay.ask({ params: [`0x${words}`, 'latest'] })).outcome).toContain(words)
    expect(relay.events).toEqual([])
  })

  it('that the node says by itself counts', async () => {
    const relay = pool()
    for (let at = 0; at < 12; at++) await relay.ask()
    expect(relay.events).not.toEqual([])
  })
})
