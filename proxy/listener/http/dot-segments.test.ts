// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { faultOfPath } from './http-exchange.ts'

test.each([
  '/..',
  '/../',
  '/../../admin',
  '/a/../../admin',
  '/a/./../../admin',
  '/a//../../admin',
  '//../admin',
  '/%2e%2e/x',
  '/%2E%2e/x',
  '/.%2e/x',
  '/%252e%252e/x',
  '/..%2fx',
  '/..%2Fx',
  '/..%252fx',
  '/..%5cx',
  '/..\\x',
  '\\..\\x',
  '/a/..%2f..%2fx',
  '/a%2f../../x',
  '/a/%2f../%2e%2e\\x',
  '/..;/admin',
  '/..;a=b/admin',
  '/%2e%2e%3b/admin',
  '/..%00/admin',
  '/..%20/admin',
  '/%2e/x',
  '/%252E/x',
  '/a%2eb',
  '/%c0%ae%c0%ae/x',
  '/%25C0%25AE/x',
  '/%u002e%u002e/x',
  '/a/../b',
  '/a/%2e%2e/b',
  '/accounts/%2f..%2f',
])('%s is refused', (path) => {
  expect(faultOfPath(path)).toMatchObject({ kind: { reason: 'unsendable' } })
})

test.each([
  '/',
  '/...',
  '/..a/b',
  '/a..b/..c',
  '/.well-known/x',
  '/./x',
  '/0x1::coin::CoinStore%3C0x1::aptos_coin::AptosCoin%3E',
  '/%2f%5c%25',
])('%s is sent as it is', (path) => {
  expect(faultOfPath(path)).toBeNull()
})

test('a path that a browser would resolve above the root is refused', () => {
  const segments = fc.constantFrom('a', '..', '.', '', '%2e%2e', '.%2E', '..a', '...')
  fc.assert(
    fc.property(fc.array(segments, { maxLength: 8 }), (path) => {
      // The base is so deep that a path stays below it only if nothing can escape.
      const base = '/base/base/base/base/base/base/base/base/base'
      const { pathname } = new URL(`http://h${base}/${path.join('/')}`)
      if (!pathname.startsWith(base)) expect(faultOfPath(`/${path.join('/')}`)).not.toBeNull()
    }),
    { numRuns: 2_000 },
  )
})
