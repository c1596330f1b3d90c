// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { readPage } from './read-page.ts'

const other = (status: string) =>
  `it answers with HTTP ${status} (is it an admin address, 7779 by default?)`
const plainText = { 'content-type': 'text/plain; charset=utf-8' }

/** The page read from such a server, or why that failed. */
async function pageOf(answer: RequestListener) {
  const server = createServer(answer)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const page = await readPage(`http://127.0.0.1:${(server.address() as AddressInfo).port}/facts`)
  server.closeAllConnections()
  server.close()
  return page
}

test.each<[name: string, answer: RequestListener, text: string | null, fault: string | null]>([
  ['a page', (_, answer) => answer.end('{"é":1}'), '{"é":1}', null],
  [
    'a router that has no such page',
    (_, answer) => answer.writeHead(404, plainText).end('not found; there is /metrics\n'),
    ...([null, 'not found; there is /metrics'] as const),
  ],
  [
    'a page that is missing elsewhere',
    (_, answer) => answer.writeHead(404).end('{}'),
    ...([null, `${other('404')}: {}`] as const),
  ],
  [
    'another status, with words that would clear the screen',
    (_, answer) => answer.writeHead(503).end(`\u001b[2J${'x'.repeat(1_000)}`),
    ...([null, `${other('503')}: \ufffd[2J${'x'.repeat(296)}`] as const),
  ],
  [
    'a connection that is cut',
    (_, answer) => answer.socket?.destroy(),
    ...([null, 'no answer: UND_ERR_SOCKET'] as const),
  ],
])('%s', async (_, answer, text, fault) => {
  expect(await pageOf(answer)).toEqual({ text, fault })
})
