// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Secret } from '../config/secret.ts'
import { SecretMask } from './secret-mask.ts'
import { nodeUrlConfig } from './testing/node-url-config.ts'
import type { BodyStream, Incoming } from './wire.ts'

function maskOf(...secrets: readonly string[]): SecretMask {
  const url = new Secret('http://node.test/', 'http://node.test', secrets)
  return new SecretMask(nodeUrlConfig('http://node.test', { url }))
}

function answer(body: Incoming['body'], headers: readonly string[] = []): Incoming {
  return { status: 404, headers, body, trailers: () => [] }
}

function maskedText(mask: SecretMask, text: string): string {
  const { body } = mask.incoming(answer(Buffer.from(text)))
  return Buffer.from(body as Uint8Array).toString()
}

function htmlOf(text: string): string {
  return [...text].map((char) => `&#x${char.codePointAt(0)?.toString(16)};`).join('')
}

const base64Of = (text: string) => Buffer.from(text).toString('base64')
const everyByte = (text: string) => encodeURIComponent(text).replace(/[!'()*~.-]/g, hexOf)
const hexOf = (char: string) => `%${char.charCodeAt(0).toString(16)}`
const htmlNamed = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

describe.each([
  'SEKRETONE',
  'a/b+c=d==',
  'p"q\\r&s<t>',
  'key with spaces',
  'schlüssel-é',
  "o'hara;x",
])('the key %s is not passed on', (key) => {
  const spelled: readonly [name: string, spell: (text: string) => string][] = [
    ['as it is', (text) => text],
    ['in upper case', (text) => text.replace(/[a-z]/g, (char) => char.toUpperCase())],
    ['percent-encoded', encodeURIComponent],
    ['percent-encoded as a whole', everyByte],
    ['percent-encoded with small digits', (text) => encodeURIComponent(text).toLowerCase()],
    ['percent-encoded twice', (text) => encodeURIComponent(encodeURIComponent(text))],
    ['as a URL has it', (text) => encodeURI(text)],
    ['in a query', (text) => new URLSearchParams({ k: text }).toString()],
    ['in JSON', (text) => JSON.stringify(text)],
    ['in JSON in JSON', (text) => JSON.stringify(JSON.stringify(text))],
    ['in JSON that escapes slashes', (text) => JSON.stringify(text).replaceAll('/', '\\/')],
    ['in HTML', htmlNamed],
    ['in HTML, percent-encoded', (text) => htmlNamed(encodeURI(text))],
    ['in base64', base64Of],
  ]
  test.each(spelled)('%s', (_name, spell) => {
    const told = maskedText(maskOf(key), `Cannot GET /${spell(key)}/v1`)
    expect(told).toMatch(/^Cannot GET \/["k=\\]*\*+["\\=]*\/v1$/)
    expect(told).toHaveLength(Buffer.byteLength(`Cannot GET /${spell(key)}/v1`))
  })
})

test('punctuation of a key is found as HTML has it by number', () => {
  expect(maskedText(maskOf('ab/cd-ef'), `ab${htmlOf('/')}cd&#045;ef`)).toMatch(/^\*+$/)
})

test('what is no key stays as it is, byte for byte', () => {
  const bytes = Buffer.from([0, 0xff, 0xfe, ...Buffer.from('{"error":"no such block"}')])
  expect(maskOf('SEKRETONE').incoming(answer(bytes)).body).toBe(bytes)
})

test.each(['', 'short', '12345678901'])('%j cannot be told from innocent text', (value) => {
  expect(maskedText(maskOf(value), `block 12345678901 is too short`)).toBe(
    'block 12345678901 is too short',
  )
})

test('of two keys the longer one goes as a whole', () => {
  expect(maskedText(maskOf('abcdef', 'abcdef123'), 'x abcdef123 y')).toBe('x ********* y')
})

test('headers and trailers, also those in base64', () => {
  const details = Buffer.from('\x08\x0c\x12\x19unknown service SEKRETONE').toString('base64')
  const trailers = [
    'grpc-message',
    'unknown service SEKRETONE/x',
    'grpc-status-details-bin',
    details,
  ]
  const mask = maskOf('SEKRETONE', 'O-x/y', 'unused-key')
  const incoming: Incoming = {
    ...answer(Buffer.from('SEKRETONE'), [
      'Content-Type',
      'application/grpc',
      'x-url',
      '/sekretone/v1',
    ]),
    trailers: () => trailers,
  }
  const told = mask.incoming(incoming)
  expect(told.headers).toEqual(['Content-Type', 'application/grpc', 'x-url', '/*********/v1'])
  const [, message, , masked = ''] = told.trailers()
  expect(message).not.toMatch(/sekretone/i)
  expect(Buffer.from(masked, 'base64').toString()).toBe('\x08\x0c\x12\x19unknown service *********')
  // Its messages are results.
  expect(told.body).toBe(incoming.body)
})

/** A body in pieces, the first of them its head. */
function streamOf(pieces: readonly Uint8Array[]): BodyStream & { left: boolean } {
  const source = pieces.values()
  return {
    left: false,
    head: pieces.slice(0, 1),
    length: pieces.reduce((sum, { length }) => sum + length, 0),
    [Symbol.asyncIterator]() {
      const next = async () => source.next()
      const leave = async () => {
        this.left = true
        return { done: true as const, value: undefined }
      }
      return { next, return: leave }
    },
  }
}

test('a stream is masked as its whole would be, however it is cut, and keeps its pieces', async () => {
  const secrets = ['SEKRETONE', 'abc/def', 'abc/defghi', 'aaaaaaaa']
  const mask = maskOf(...secrets)
  const words = fc.constantFrom(...secrets, 'abc%2Fdef', 'abc\\/de', 'SEKRET', 'a', '/', '%', ' ')
  await fc.assert(
    fc.asyncProperty(
      fc.array(words, { maxLength: 40 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 30 })),
      async (text, lengths) => {
        const whole = Buffer.from(text.join(''))
        const pieces: Uint8Array[] = []
        for (let at = 0; at < whole.length;) {
          const length = lengths.next().value as number
          pieces.push(whole.subarray(at, (at += length)))
        }
        const { body } = mask.incoming(answer(streamOf(pieces)))
        const told: Uint8Array[] = []
        for await (const piece of body as BodyStream) told.push(piece)
        expect(told.map(({ length }) => length)).toEqual(pieces.map(({ length }) => length))
        expect(Buffer.concat(told).toString()).toBe(maskedText(mask, whole.toString()))
        expect((body as BodyStream).length).toBe(whole.length)
      },
    ),
    { numRuns: 200 },
  )
})

test('a stream that nobody reads is let go', async () => {
  const source = streamOf([Buffer.from('SEKRETONE')])
  const { body } = maskOf('SEKRETONE').incoming(answer(source))
  expect(Buffer.concat([...(body as BodyStream).head]).toString()).toBe('*********')
  await (body as BodyStream)[Symbol.asyncIterator]().return?.()
  expect(source.left).toBe(true)
})

test('headers that frame an answer stay, whatever they hold', () => {
  const framing = [
    ['Content-Type', 'text/sekretone'],
    ['content-length', '123456789012'],
    ['Content-Encoding', 'sekretone'],
    ['Date', 'sekretone'],
    ['grpc-status', '123456789012'],
    ['Transfer-Encoding', 'sekretone'],
    ['Retry-After', '123456789012'],
  ].flat()
  const told = maskOf('SEKRETONE', '123456789012').incoming(
    answer(new Uint8Array(), [...framing, 'location', '/sekretone']),
  )
  expect(told.headers).toEqual([...framing, 'location', '/*********'])
})

test.each(['jsonrpc', 'result', 'MESSAGE', 'method'])(
  'the password %s hides no envelope',
  (word) => {
    const text = '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no method"}}'
    expect(maskedText(maskOf(word), text)).toBe(text)
  },
)

test.each([
  [
    'a number',
    '123456789012',
    '{"id":123456789012,"m":"x 123456789012"}',
    '{"id":123456789012,"m":"x ************"}',
  ],
  [
    'a key with quotes',
    'ab":"cd12',
    '{"ab":"cd12","m":"ab\\":\\"cd12"}',
    '{"ab":"cd12","m":"***********"}',
  ],
  ['an escape before it', 'nabc12345', '["\\nabc12345 nabc12345"]', '["\\nabc12345 *********"]'],
  ['a code before it', '00e9abcd', '["\\u00e9abcd"]', '["\\u00e9abcd"]'],
  [
    'a backslash at its end',
    'abcd123\\',
    '["abcd123\\\\","abcd123\\\\\\" y"]',
    '["*********","*********** y"]',
  ],
])('JSON stays JSON: %s', (_name, key, text, expected) => {
  expect(() => JSON.parse(text)).not.toThrow()
  expect(maskedText(maskOf(key), text)).toBe(expected)
})

test('a JSON-RPC error stays one, with its id and code, whatever the key and however it is cut', async () => {
  const words = fc.constantFrom('"', '\\', '/', '\n', 'n', 'u00e9', 'é', '\u0001', 'key', '12345')
  const property = fc.asyncProperty(
    fc.array(words, { minLength: 4, maxLength: 12 }),
    fc.oneof(fc.integer(), fc.constant(null)),
    fc.integer(),
    fc.record({ start: fc.nat(100), length: fc.integer({ min: 6, max: 20 }) }),
    fc.integer({ min: 1, max: 60 }),
    async (message, id, code, cut, pieceLength) => {
      const error = { code, message: message.join(''), data: [123_456_789_012, message.join('')] }
      const text = JSON.stringify({ jsonrpc: '2.0', id, error })
      // A key that stands anywhere in it, also across its structure.
      const mask = maskOf(text.slice(cut.start, cut.start + cut.length))
      const told = maskedText(mask, text)
      expect(JSON.parse(told)).toMatchObject({ jsonrpc: '2.0', id, error: { code } })
      const whole = Buffer.from(text)
      expect(Buffer.byteLength(told)).toBe(whole.length)
      const pieces = Array.from({ length: Math.ceil(whole.length / pieceLength) }, (_, at) =>
        whole.subarray(at * pieceLength, (at + 1) * pieceLength),
      )
      const streamed: Uint8Array[] = []
      const { body } = mask.incoming(answer(streamOf(pieces)))
      for await (const each of body as BodyStream) streamed.push(each)
      expect(Buffer.concat(streamed).toString()).toBe(told)
    },
  )
  await fc.assert(property, { numRuns: 500 })
})
