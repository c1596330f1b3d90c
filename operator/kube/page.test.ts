// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import { readPage } from './page.ts'

const host = '127.0.0.1'
const never = new AbortController().signal

async function served(answer: (response: ServerResponse, url: string) => void) {
  const server = createServer((request, response) => answer(response, request.url ?? ''))
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    address: { host, port, path: '/status' },
    server,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test.each<[string, (response: ServerResponse, url: string) => void, unknown]>([
  ['a page', (response, url) => response.end(`page ${url}`), { text: 'page /status' }],
  ['another status', (response) => response.writeHead(404).end('x'), { problem: 'HTTP 404' }],
  [
    'a redirection',
    (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    { problem: 'HTTP 302' },
  ],
  [
    'an endless page',
    (response) => {
      const more = () => {
        while (response.write('x'.repeat(65_536)));
        response.once('drain', more)
      }
      more()
    },
    { problem: 'more than 1048576 bytes' },
  ],
  [
    'a truncated page',
    (response) => response.write('x', () => response.destroy()),
    { problem: 'ECONNRESET' },
  ],
])('%s', async (_, answer, expected) => {
  await using page = await served(answer)
  expect(await readPage(page.address, new VirtualClock(), never)).toEqual(expected)
})

test('a closed port or a server that does not speak HTTP is a problem', async () => {
  const closed = await readPage({ host, port: 1, path: '/' }, new VirtualClock(), never)
  expect(closed).toEqual({ problem: 'ECONNREFUSED' })
  const server = createTcpServer((socket) => void socket.end('hello\r\n\r\n')).listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const page = await readPage({ host, port, path: '/' }, new VirtualClock(), never)
  expect(page).toEqual({ problem: 'HPE_INVALID_CONSTANT' })
  server.close()
})

test.each([
  ['nothing', () => {}],
  ['a first byte', (response: ServerResponse) => void response.write('{')],
])('%s and then silence times out after 3 s', async (_, answer) => {
  const requested = Promise.withResolvers<void>()
  await using page = await served((response) => {
    answer(response)
    requested.resolve()
  })
  const clock = new VirtualClock()
  const read = readPage(page.address, clock, never)
  await requested.promise
  await clock.advance(3_000)
  expect(await read).toEqual({ problem: 'no answer within 3 s' })
})

test('an abort ends the request', async () => {
  const stop = new AbortController()
  await using page = await served(() => stop.abort(new Error('stopped')))
  await expect(readPage(page.address, new VirtualClock(), stop.signal)).rejects.toThrow('stopped')
})
