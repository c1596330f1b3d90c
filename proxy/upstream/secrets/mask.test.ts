// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { Secret } from '../../config/secret.ts'
import { nodeUrlConfig } from '../testing/node-url-config.ts'
import type { Incoming } from '../wire.ts'
import { createRedactor, SecretMask } from './mask.ts'

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

describe.each(['SEKRETONE', 'a/b+c=d==', 'key with spaces', 'schlüssel-é', "o'hara;x"])(
  'the key %s is masked',
  (key) => {
    test.each<[string, (text: string) => string]>([
      ['as it is', (text) => text],
      ['in upper case', (text) => text.replace(/[a-z]/g, (char) => char.toUpperCase())],
      ['percent-encoded', encodeURIComponent],
      ['percent-encoded with lower-case digits', (text) => encodeURIComponent(text).toLowerCase()],
      ['as spelled in a URL', (text) => encodeURI(text)],
    ])('%s', (_name, spell) => {
      const text = `Cannot GET /${spell(key)}/v1`
      const masked = maskedText(maskOf(key), text)
      expect(masked).toMatch(/^Cannot GET \/\*+\/v1$/)
      expect(masked).toHaveLength(Buffer.byteLength(text))
    })
  },
)

// The query `?apikey=aB3/+xZ9=qW` decodes to a key with a space, which is sent as a plus.
test.each(['aB3/ xZ9=qW', 'aB3/+xZ9=qW', 'aB3%2F%2BxZ9%3DqW', 'aB3%2f%20xZ9%3dqW'])(
  'a plus in a query: %s is masked',
  (spelling) => {
    expect(maskedText(maskOf('aB3/ xZ9=qW'), `bad key ${spelling}`)).toMatch(/^bad key \*+$/)
  },
)

test('text without a key passes byte for byte', () => {
  const bytes = Buffer.from([0, 0xff, 0xfe, ...Buffer.from('{"error":"no such block"}')])
  expect(maskOf('SEKRETONE').incoming(answer(bytes)).body).toBe(bytes)
})

test.each(['', 'short', '12345678901'])('%j is too common to mask', (key) => {
  const text = '{"message":"block 12345678901 is too short"}'
  expect(maskedText(maskOf(key), text)).toBe(text)
})

test('the longer of two keys is masked as a whole', () => {
  expect(maskedText(maskOf('abcdef', 'abcdef123'), 'x abcdef123 y')).toBe('x ********* y')
})

test('a masked key of digits leaves valid JSON', () => {
  const masked = maskedText(maskOf('123456789012'), '{"error":{"data":123456789012}}')
  expect(JSON.parse(masked)).toEqual({ error: { data: 111_111_111_111 } })
})

test('a body over 64 KiB passes unchanged', () => {
  const body = Buffer.from('SEKRETONE'.padEnd(64 * 1024 + 1))
  expect(maskOf('SEKRETONE').incoming(answer(body)).body).toBe(body)
})

it('masks headers and trailers, including those in base64', () => {
  const details = Buffer.from('\x08\x0c\x12\x19unknown service SEKRETONE').toString('base64')
  const mask = maskOf('SEKRETONE', 'O-x/y', 'unused-key')
  const incoming: Incoming = {
    ...answer(Buffer.from('SEKRETONE'), [
      ...['Content-Type', 'application/grpc', 'x-url', '/sekretone/v1'],
    ]),
    trailers: () => ['grpc-message', 'no SEKRETONE/x', 'grpc-status-details-bin', details],
  }
  const safe = mask.incoming(incoming)
  expect(safe.headers).toEqual(['Content-Type', 'application/grpc', 'x-url', '/*********/v1'])
  const [, message, , masked = ''] = safe.trailers()
  expect(message).toBe('no *********/x')
  expect(Buffer.from(masked, 'base64').toString()).toBe('\x08\x0c\x12\x19unknown service *********')
  // gRPC messages are results.
  expect(safe.body).toBe(incoming.body)
})

test('replaces a value in each of its forms in a log', () => {
  const value = 'pa"ss/wo rd+1'
  const redact = createRedactor([value])
  const forms = [
    value,
    JSON.stringify({ value }),
    `https://host/?k=${encodeURIComponent(value)}`,
    Buffer.from(value).toString('base64'),
  ]
  for (const form of forms) {
    expect(redact(`before ${form} after`)).toContain('[redacted]')
    expect(redact(form)).not.toContain('rd+1')
  }
})

test.each([
  ['short', 'a short text'],
  ['3360', 'port 3360'],
  ['', 'nothing'],
])('leaves %j unchanged', (value, text) => {
  expect(createRedactor([value])(text)).toBe(text)
})

test('a value that starts with another one is replaced as a whole', () => {
  expect(createRedactor(['secret', 'secret-and-more'])('secret-and-more')).toBe('[redacted]')
})

test('no value survives, whatever surrounds it', () => {
  const secret = fc.string({ minLength: 6, unit: 'grapheme' }).filter((text) => !/^\d+$/.test(text))
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
      fc.pre(!'[redacted]'.includes(value) && !(before + after).includes('redacted'))
      const text = createRedactor([value])(`${before}|${value}|${after}`)
      expect(text.includes(`|${value}|`)).toBe(false)
    }),
  )
})
