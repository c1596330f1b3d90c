// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { aCall } from './call.fixture.ts'
import { boundedClient } from './shown-client.ts'

const pathOf = (path: string, call = aCall({ known: false })) =>
  boundedClient({ address: '::1', userAgent: null, path }, call).path

test.each([
  ['/', '/'],
  ['/websocket', '/websocket'],
  ['/ext/bc/C/rpc', '/ext/bc/C/rpc'],
  ['/cosmos/bank/v1beta1/supply', '/cosmos/bank/v1beta1/supply'],
  ['/cosmos/bank/v1beta1/balances/cosmos1qy3x7', '/cosmos/bank/v1beta1/balances/*'],
  ['/v3/0123456789abcdef0123456789abcdef', '/v3/*'],
  ['/abcdefghijklmnopqrstuvwxyz/eth', '/*'],
  ['/blocks/12345/txs', '/blocks/*'],
  ['/a%20b', '/*'],
  ['/hunter2', '/*'],
  ['/v2/kTrWxYpLmNoQabcd', '/v2/*'],
  ['//', '/*'],
])('the path %s is shown as %s', (path, shown) => {
  expect(pathOf(path)).toBe(shown)
})

test('a path that the method names is not repeated', () => {
  expect(pathOf('/accounts/5e5e', aCall({ method: '/accounts/{address}' }))).toBe('')
})

test('a long path stays short', () => {
  expect(pathOf('/abc'.repeat(5_000)).length).toBeLessThan(210)
})
