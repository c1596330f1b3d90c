// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { dialects } from './dialect.ts'

test.each([
  [{ code: -32000, message: 'no such key' }, 'no such key'],
  ['invalid api key', 'invalid api key'],
  [{ code: 401 }, '401'],
  [{ status: 'denied' }, '{"status":"denied"}'],
])('the error %j of a node is shown as %s', (error, words) => {
  const body = Buffer.from(JSON.stringify({ error }))
  const said = dialects.jsonrpc.read({ status: 401, headers: [], body, trailers: () => [] })
  expect(said).toMatchObject({ kind: 'error', error: { message: words } })
})
