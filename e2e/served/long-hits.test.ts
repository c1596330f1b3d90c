// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { request as send } from 'undici'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { ServedCache } from '../../proxy/store/grpc/testing/served-cache.ts'
import { waitUntil } from '../processes/eventually.ts'
import { MirrorNode } from '../rest/mirror-node.ts'
import { serveRouter } from './served-router.ts'

const mebibyte = 1024 * 1024
const { signal } = new AbortController()
const result = JSON.stringify(
  Array.from({ length: 4 * 1024 }, (_, at) => ({
    data: createHash('sha512').update(`${at}`).digest('hex').repeat(8),
  })),
)
const textOf = (id: unknown) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`

/** A router with a cache, and a node that sends 4 MiB whole, chunked, cut or malformed. */
async function served(stack: AsyncDisposableStack, settings: object = {}) {
  let requests = 0
  let answers: 'whole' | 'chunked' | 'cut' | 'malformed' = 'whole'
  const node = stack.use(
    await new MirrorNode('node', ({ body }, response) => {
      const { id, method } = JSON.parse(body.toString()) as { id: unknown; method: string }
      response.setHeader('content-type', 'application/json')
      if (method !== 'eth_getLogs')
        return void response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0xfffff' }))
      requests += 1
      const text = textOf(id)
      if (answers === 'whole') return void response.end(text)
      if (answers === 'malformed') return void response.end(text.slice(0, -10))
      const end = answers === 'cut' ? text.length / 2 : text.length
      response.write(text.slice(0, end), () => {
        if (answers === 'cut') response.destroy()
        else response.end()
      })
    }).start(),
  )
  const start = async () =>
    stack.use(
      await serveRouter({
        primaries: [node],
        urlSettings: { node: { 'skip-verifications': ['*'] } },
        settings: { 'cache-bytes': '256MiB', ...settings },
      }),
    )
  const router = await start()
  const ask = async (id: unknown, block: string, headers = {}, at = router) => {
    const body = question(id, block)
    const reply = await send(at.url, { method: 'POST', body, headers })
    const bytes = Buffer.from(await reply.body.arrayBuffer())
    return { bytes, headers: reply.headers, cache: reply.headers['rpc-cache'] }
  }
  await waitUntil('the head is known', 60_000, signal, () => router.pool.tip !== null)
  return {
    ...{ router, ask, start },
    requestCount: () => requests,
    become: (next: typeof answers) => (answers = next),
  }
}

function question(id: unknown, block: string): string {
  const params = [{ fromBlock: '0x1', toBlock: block }]
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_getLogs', params })
}

test.each(['whole', 'chunked'] as const)(
  'the next caller gets an answer of 4 MiB (%s) from the cache, byte for byte',
  async (form) => {
    await using stack = new AsyncDisposableStack()
    const { ask, requestCount, become, router } = await served(stack)
    become(form)
    const first = await ask(1, '0x2')
    expect([first.cache, first.bytes.equals(Buffer.from(textOf(1)))]).toEqual(['miss', true])
    const hit = await ask('other', '0x2')
    expect([hit.cache, hit.bytes.equals(Buffer.from(textOf('other')))]).toEqual(['hit', true])
    expect(hit.headers['content-length']).toBe(String(hit.bytes.length))
    expect(hit.headers['content-type']).toBe(first.headers['content-type'])
    const zipped = await ask(3, '0x2', { 'accept-encoding': 'gzip' })
    expect(zipped.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(zipped.bytes).equals(Buffer.from(textOf(3)))).toBe(true)
    const body = `[${question(4, '0x2')},${question(5, '0x2')}]`
    const batch = await send(router.url, { method: 'POST', body })
    expect((await batch.body.text()) === `[${textOf(4)},${textOf(5)}]`).toBe(true)
    expect(requestCount()).toBe(1)
  },
)

test('a WebSocket client gets a hit of 4 MiB', async () => {
  await using stack = new AsyncDisposableStack()
  const { ask, requestCount, router } = await served(stack)
  await ask(1, '0x2')
  const socket = new WebSocket(router.socketUrl)
  stack.defer(() => {
    socket.terminate()
  })
  await new Promise((resolve) => socket.once('open', resolve))
  const answered = new Promise<Buffer>((resolve) => socket.once('message', resolve))
  socket.send(question('ws', '0x2'))
  expect((await answered).equals(Buffer.from(textOf('ws')))).toBe(true)
  expect(requestCount()).toBe(1)
})

test('replicas share a long answer, and concurrent callers get it as well', async () => {
  await using stack = new AsyncDisposableStack()
  const cache = stack.use(await new ServedCache(64 * mebibyte).start())
  const settings = { 'cache-be': `127.0.0.1:${cache.port}` }
  const { ask, requestCount, start } = await served(stack, settings)
  const other = await start()
  let block = 1
  // A busy machine may miss the store's timeout of 50 ms, so each attempt uses a new block.
  await waitUntil('another replica has it', 60_000, signal, async () => {
    const at = `0x${(block += 1).toString(16)}`
    const [count, bytes] = [requestCount(), cache.store.bytes]
    await ask(1, at)
    const isStored = () => cache.store.bytes > bytes
    await waitUntil('the store has it', 60_000, signal, isStored)
    const both = await Promise.all([ask(2, at, {}, other), ask(3, at, {}, other)])
    const areRight = both.map(({ bytes: text }, index) =>
      text.equals(Buffer.from(textOf(index + 2))),
    )
    expect(areRight).toEqual([true, true])
    return requestCount() === count + 1
  })
})

test.each(['cut', 'malformed'] as const)('an answer that is %s is not cached', async (form) => {
  await using stack = new AsyncDisposableStack()
  const { ask, requestCount, become } = await served(stack)
  become(form)
  await expect(ask(1, '0x3')).rejects.toThrow(/terminated|closed|reset|ECONN/i)
  become('whole')
  const next = await ask(2, '0x3')
  expect([next.cache, next.bytes.equals(Buffer.from(textOf(2)))]).toEqual(['miss', true])
  expect((await ask(3, '0x3')).cache).toBe('hit')
  expect(requestCount()).toBe(2)
})

test('slow readers of long hits hold little memory', async () => {
  await using stack = new AsyncDisposableStack()
  const { ask, router } = await served(stack)
  await ask(1, '0x2')
  const text = question(2, '0x2')
  const sockets = Array.from({ length: 20 }, () => {
    const socket = connect(router.port, '127.0.0.1').pause()
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${text.length}\r\n\r\n`)
    socket.write(text)
    return socket
  })
  await waitUntil('answers are buffered', 60_000, signal, () => router.budget.heldBytes > 0)
  expect(router.budget.heldBytes).toBeLessThan(20 * 256 * 1024)
  expect((await ask(3, '0x2')).bytes.length).toBeGreaterThan(4 * mebibyte)
  for (const socket of sockets) socket.destroy()
})
