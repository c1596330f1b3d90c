// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ServerResponse } from 'node:http'
import { gzipSync, zstdCompressSync, brotliCompressSync } from 'node:zlib'
import { request as send } from 'undici'
import { expect, test } from 'vitest'
import { serveRouter } from '../served/served-router.ts'
import { MirrorNode } from './mirror-node.ts'

const specSources = [new URL('mirror.yml', import.meta.url).pathname]
const text = JSON.stringify([{ text: 'x'.repeat(3 * 1024 * 1024), more: 1 }])
const short = JSON.stringify(['well'])

/** Sends a request to a router with two nodes, the first of which answers with `first`. */
async function ask(first: (response: ServerResponse) => void) {
  await using stack = new AsyncDisposableStack()
  const odd = stack.use(await new MirrorNode('odd', (_, response) => first(response)).start())
  const well = stack.use(
    await new MirrorNode('well', (_, response) => {
      response.setHeader('content-type', 'application/json').end(short)
    }).start(),
  )
  const router = stack.use(
    await serveRouter({
      chainId: 'MIRROR',
      apiInterface: 'rest',
      specSources,
      primaries: [odd, well],
    }),
  )
  const { headers, body } = await send(`${router.url}/long/5`)
  const read = await body.text().catch(() => 'broken off')
  const upstream = router.pool.upstreams.find(({ name }) => name === 'odd')!
  return {
    got: read === text ? 'the long one' : read === short ? 'the short one' : read,
    blamed: upstream.score.availability(0) < 1,
    length: headers['content-length'] ?? null,
  }
}

function inPieces(response: ServerResponse, body: string): void {
  response.write(body.slice(0, 2 * 1024 * 1024))
  response.end(body.slice(2 * 1024 * 1024))
}

const packs = new Map<unknown, Buffer>()
/** The compressed text, computed before the requests because it is slow. */
function packed(pack: (text: Buffer) => Buffer): Buffer {
  const known = packs.get(pack) ?? pack(Buffer.from(text))
  packs.set(pack, known)
  return known
}

const json = (response: ServerResponse) => response.setHeader('content-type', 'application/json')

for (const pack of [gzipSync, brotliCompressSync, zstdCompressSync]) packed(pack)

test.each<[string, (response: ServerResponse) => void, Awaited<ReturnType<typeof ask>>]>([
  [
    'valid, in chunks',
    (response) => inPieces(json(response), text),
    { got: 'the long one', blamed: false, length: null },
  ],
  [
    'valid, with a length',
    (response) => json(response).setHeader('content-length', text.length).end(text),
    { got: 'the long one', blamed: false, length: String(text.length) },
  ],
  [
    'truncated JSON',
    (response) => inPieces(json(response), text.slice(0, -100)),
    { got: 'broken off', blamed: true, length: null },
  ],
  [
    'invalid JSON from the beginning',
    (response) => inPieces(json(response), `<html>${text}`),
    { got: 'the short one', blamed: true, length: String(short.length) },
  ],
  [
    'longer than one value',
    (response) => inPieces(json(response), `${text}[]`),
    { got: 'broken off', blamed: true, length: null },
  ],
  [
    'shorter than its content-length',
    (response) => {
      json(response).setHeader('content-length', text.length)
      response.write(text.slice(0, -100), () => response.socket?.end())
    },
    { got: 'broken off', blamed: true, length: String(text.length) },
  ],
  [
    'without its last chunk',
    (response) => {
      json(response).write(text, () => response.socket?.end())
    },
    { got: 'broken off', blamed: true, length: null },
  ],
  ...(
    [
      ['gzip', gzipSync],
      ['br', brotliCompressSync],
      ['zstd', zstdCompressSync],
    ] as const
  ).map(
    ([coding, pack]): [
      string,
      (response: ServerResponse) => void,
      Awaited<ReturnType<typeof ask>>,
    ] => [
      `cut within its ${coding}, and no JSON`,
      (response) => {
        response.setHeader('content-type', 'text/plain').setHeader('content-encoding', coding)
        response.end(packed(pack).subarray(0, -3))
      },
      { got: 'broken off', blamed: true, length: null },
    ],
  ),
])('a long answer that is %s', async (_, first, wanted) => {
  expect(await ask(first)).toEqual(wanted)
})
