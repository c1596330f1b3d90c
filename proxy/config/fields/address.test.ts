// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressesOverlap, formatAddress, parseAddress } from './address.ts'

test.each([
  ['0.0.0.0:3360', '0.0.0.0:3360'],
  [':3361', '0.0.0.0:3361'],
  ['3361', '0.0.0.0:3361'],
  ['127.0.0.1', '127.0.0.1:3360'],
  ['127.0.0.1:0', '127.0.0.1:0'],
  ['localhost:80', 'localhost:80'],
  ['my-host.example:80', 'my-host.example:80'],
  ['[::1]:80', '[::1]:80'],
  ['[::]', '[::]:3360'],
])('parseAddress reads %j as %s', (text, shown) => {
  const parsed = parseAddress(text, 3360)
  expect('value' in parsed && formatAddress(parsed.value)).toBe(shown)
})

test.each([
  ['::1', 'needs brackets'],
  ['[::1:80', 'is not an address'],
  ['[nonsense]:80', 'has no IPv6 address in its brackets'],
  ['[::1::2]:80', 'has no IPv6 address in its brackets'],
  ['http://0.0.0.0:80', 'is a URL; expected an address'],
  ['0.0.0.0:', 'has no valid port'],
  ['0.0.0.0:http', 'has no valid port'],
  ['0.0.0.0:-1', 'has no valid port'],
  ['0.0.0.0:65536', 'has a port that does not exist'],
  ['70000', 'has a port that does not exist'],
  ['256.0.0.1:80', 'is not an address'],
  ['1.2.3:80', 'is not an address'],
  ['a b:80', 'is not an address'],
  ['host/path:80', 'is not an address'],
  [`${'a'.repeat(300)}:80`, 'is not an address'],
])('parseAddress refuses %j: %s', (text, message) => {
  expect(parseAddress(text, 3360)).toMatchObject({ fault: message })
})

test.each([
  ['::1', '[::1]:3360'],
  ['::1:3361', '[::1]:3361'],
  ['2001:db8::1:33601', '[2001:db8::1]:33601'],
  ['2001:db8::1', '[2001:db8::1]:3360'],
])('for %s the advice is %s', (text, advice) => {
  const hint = `Write "${advice}", in YAML with the quotes.`
  expect(parseAddress(text, 3360)).toEqual({ fault: 'needs brackets', hint })
})

test.each([
  ['0.0.0.0:80', '127.0.0.1:80', true],
  ['[::]:80', '127.0.0.1:80', true],
  ['[::]:80', '0.0.0.0:80', true],
  ['host:80', 'host:80', true],
  ['0.0.0.0:80', '[::1]:80', false],
  ['127.0.0.1:80', '127.0.0.2:80', false],
  ['0.0.0.0:80', '0.0.0.0:81', false],
  ['0.0.0.0:0', '0.0.0.0:0', false],
])('%s and %s overlap: %s', (a, b, overlap) => {
  const [first, second] = [parseAddress(a, null), parseAddress(b, null)]
  if (!('value' in first && 'value' in second)) throw new Error('not an address')
  expect(addressesOverlap(first.value, second.value)).toBe(overlap)
  expect(addressesOverlap(second.value, first.value)).toBe(overlap)
})

test('any text is an address or a fault, and an address formats canonically', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.domain()), (text) => {
      const parsed = parseAddress(text, 3360)
      if ('value' in parsed) {
        expect(parseAddress(formatAddress(parsed.value), null)).toEqual(parsed)
      }
    }),
  )
})
