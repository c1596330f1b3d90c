// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor } from './redactor.ts'

test('replaces a value in every form that it takes in a log', () => {
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
])('leaves %j alone', (value, text) => {
  expect(createRedactor([value])(text)).toBe(text)
})

test('a value that begins with another one is replaced as a whole', () => {
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
