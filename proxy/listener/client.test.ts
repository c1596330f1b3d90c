// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect } from 'node:http2'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { addressesOf } from '../config/fields/address-range.ts'
import type { Client } from '../relay/call.ts'
import { errorKinds, RelayError } from '../relay/errors.ts'
import { createGrpcListener } from './grpc.ts'
import { createRestListener } from './rest.ts'
import { type FixtureOptions, startListener } from './testing/listener-fixture.ts'

/* Every call and every refusal knows its client, whatever the transport. */

const clients = {
  trustedProxies: addressesOf([{ address: '127.0.0.0', bits: 8 }]),
  addressHeader: 'x-real-ip',
}
const headers = { 'x-real-ip': '203.0.113.7', 'user-agent': 'viem' }
const body = '{"jsonrpc":"2.0","id":1,"method":"eth_call"}'
const post = (url: string, path: string, text: string) =>
  fetch(url + path, { method: 'POST', body: text, headers }).then((answer) => answer.text())
const shown = ({ address, userAgent, path }: Client) => ({ address, userAgent, path })
const from = (path: string) => ({ address: '203.0.113.7', userAgent: 'viem', path })

async function clientsOf(options: FixtureOptions, send: (url: string) => Promise<unknown>) {
  const late = () => Promise.reject(new RelayError(errorKinds.timeout, 'late'))
  await using fixture = await startListener(late, { clients, ...options })
  await send(`http://127.0.0.1:${fixture.port}`)
  await expect.poll(() => fixture.ends.length + fixture.refusals.length).toBeGreaterThan(0)
  const asking = [...fixture.calls.map(({ client }) => client), ...fixture.refusedClients]
  return asking.map((each) => each && shown(each))
}

test.each<[string, FixtureOptions, (url: string) => Promise<unknown>, string[]]>([
  ['a call', {}, (url) => post(url, '/?key=5ecret', body), ['/']],
  ['a batch', {}, (url) => post(url, '/', `[${body},${body},1]`), ['/', '/', '/']],
  ['a body that is not JSON', {}, (url) => post(url, '/', '{'), ['/']],
  ['a body that is too large', { maxRequestBytes: 9 }, (url) => post(url, '/', body), ['']],
  ['a wrong path', {}, (url) => post(url, '/v3', body), ['/v3']],
  ['REST', { create: createRestListener }, (url) => post(url, '/a/b?c=d', 'x'), ['/a/b']],
  [
    'a WebSocket',
    {},
    async (url) => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/ws?key=5ecret`, { headers })
      await new Promise((resolve) => socket.once('open', resolve))
      socket.send(body)
      await new Promise((resolve) => socket.once('message', resolve))
      socket.terminate()
    },
    ['/ws'],
  ],
  [
    'gRPC',
    { create: createGrpcListener },
    async (url) => {
      const session = connect(url)
      const request = session.request({
        ...{ ...headers, ':method': 'POST', ':path': '/a.B/C', 'content-type': 'application/grpc' },
      })
      request.end(Buffer.alloc(5)).resume()
      await new Promise((resolve) => request.once('close', resolve))
      session.destroy()
    },
    ['/a.B/C'],
  ],
])('%s', async (_, options, send, paths) => {
  const found = await clientsOf(options, send)
  // Bytes that are refused before their head is read have only the address of the connection.
  const expected = paths.map((path) =>
    path === '' ? { address: '127.0.0.1', userAgent: null, path } : from(path),
  )
  expect(found).toEqual(expected)
})
