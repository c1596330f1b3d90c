// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { addressesOf } from '../config/fields/address-range.ts'
import { ClientAddresses } from './client-address.ts'

const trustedProxies = addressesOf([
  { address: '10.0.0.0', bits: 8 },
  { address: '192.0.2.7', bits: 32 },
  { address: 'fd00::', bits: 8 },
])

test.each<[string, string, readonly string[], string]>([
  ['a client without a proxy', '203.0.113.5', [], '203.0.113.5'],
  ['a client that invents one', '203.0.113.5', ['198.51.100.1'], '203.0.113.5'],
  ['one proxy', '10.1.2.3', ['198.51.100.1'], '198.51.100.1'],
  ['two proxies', '10.1.2.3', ['198.51.100.1, 192.0.2.7'], '198.51.100.1'],
  ['two proxies with a header each', '10.1.2.3', ['198.51.100.1', '192.0.2.7'], '198.51.100.1'],
  ['a proxy that is not trusted', '10.1.2.3', ['198.51.100.1, 192.0.2.8'], '192.0.2.8'],
  [
    'addresses that the client invents',
    '10.1.2.3',
    ['10.9.9.9, 6.6.6.6, 198.51.100.1'],
    '198.51.100.1',
  ],
  ['IPv6', 'fd00::1', ['2001:db8::5'], '2001:db8::5'],
  ['an address with a port', '10.1.2.3', ['198.51.100.1:5122'], '198.51.100.1'],
  ['IPv6 in brackets with a port', '10.1.2.3', ['[2001:db8::5]:5122'], '2001:db8::5'],
  ['IPv6 in brackets', '10.1.2.3', ['[2001:db8::5]'], '2001:db8::5'],
  ['IPv4 on a socket of IPv6', '::ffff:10.1.2.3', ['198.51.100.1'], '198.51.100.1'],
  ['a proxy that names no client', '10.1.2.3', [], '10.1.2.3'],
  ['a proxy that names no address', '10.1.2.3', ['198.51.100.1, unknown'], '10.1.2.3'],
])('%s', (_, remoteAddress, headers, expected) => {
  const rawHeaders = ['Host', 'a', ...headers.flatMap((each) => ['X-Forwarded-For', each])]
  const addresses = new ClientAddresses({ trustedProxies, addressHeader: 'x-forwarded-for' })
  expect(addresses.of(remoteAddress, rawHeaders)).toBe(expected)
  // The second time, the result is known.
  expect(addresses.of(remoteAddress, rawHeaders)).toBe(expected)
  const without = new ClientAddresses({ trustedProxies: null, addressHeader: 'x-forwarded-for' })
  expect(without.of(remoteAddress, rawHeaders)).toBe(remoteAddress.replace('::ffff:', ''))
})

test('the header that names the client can be another one', () => {
  const addresses = new ClientAddresses({ trustedProxies, addressHeader: 'x-real-ip' })
  const headers = ['X-Forwarded-For', '6.6.6.6', 'X-Real-IP', '198.51.100.1']
  expect(addresses.of('10.1.2.3', headers)).toBe('198.51.100.1')
  expect(addresses.of('203.0.113.5', headers)).toBe('203.0.113.5')
})
