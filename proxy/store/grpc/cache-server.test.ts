// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Client, credentials, loadPackageDefinition, Metadata, status } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../../e2e/processes/eventually.ts'
import { clientOf, ServedCache } from './testing/served-cache.ts'
import { expectSessionContract } from '../testing/session-contract.ts'
import type { CacheClient } from './cache-client.ts'
import { cacheService, type Entry } from './wire.ts'

const text = (words: string) => Buffer.from(words)

test('a client stores, claims, deletes and counts', async () => {
  await using cache = await new ServedCache().start()
  const client = cache.client()
  expect(await client.get('a', 'n')).toEqual({ count: 0 })
  await client.set('a', text('one'), 60_000)
  await client.set('a', text('two'), 60_000)
  await client.increment('n')
  expect(await client.get('a', 'n')).toMatchObject({ value: text('two'), count: 1 })
  expect((await client.get('a')).ttlMs).toBeGreaterThan(1_000)
  expect(await client.claim('c', text(''), 60_000)).toBeUndefined()
  expect(await client.claim('c', text('x'), 60_000)).toEqual(text(''))
  await client.delete('c', text('another'))
  expect(await client.claim('c', text('x'), 60_000)).toEqual(text(''))
  await client.delete('c', text(''))
  expect(await client.claim('c', text('x'), 60_000)).toBeUndefined()
  await client.delete('a')
  expect(await client.get('a')).toEqual({ count: 0 })
  const first = ['Get miss', 'Set ok', 'Set ok', 'Increment ok', 'Get hit']
  expect(cache.calls.slice(0, 5)).toEqual(first)
})

test('a restart ends the generation in which sessions are claimed', async () => {
  await using open = await new ServedCache().start()
  await using closed = await new ServedCache(1024 * 1024, 1e9).start()
  await expectSessionContract(open.client(), closed.client())
})

test('an answer that arrives while the process is busy is no timeout', async () => {
  await using cache = await new ServedCache().start()
  const keys = cache.client(200)
  await expect.poll(() => keys.get('key').then(() => 'done', String)).toBe('done')
  const got = keys.get('key')
  const untilMs = performance.now() + 250
  while (performance.now() < untilMs);
  expect(await got.then(() => 'done', String)).toBe('done')
})

test('a value of 16 MiB round-trips unchanged', async () => {
  await using cache = await new ServedCache(64 * 1024 * 1024).start()
  const client = cache.client(30_000)
  const value = Buffer.alloc(16 * 1024 * 1024, 'abcdefg')
  await expect.poll(() => client.set('long', value, 60_000).then(String, String)).toMatch('object')
  const held = await client.get('long')
  expect(Buffer.compare(held.value!, value)).toBe(0)
})

test('a client generated from cache.proto supports every call', async () => {
  await using cache = await new ServedCache().start()
  const proto = loadSync(fileURLToPath(new URL('cache.proto', import.meta.url)), { longs: Number })
  const root = loadPackageDefinition(proto) as unknown as {
    rpcrouter: { cache: { v1: { Cache: new (...args: unknown[]) => Client } } }
  }
  const { Cache } = root.rpcrouter.cache.v1
  const other = new Cache(`127.0.0.1:${cache.port}`, credentials.createInsecure())
  onTestFinished(() => {
    other.close()
  })
  type Unary = (entry: Entry, done: (error: Error | null, reply: Entry) => void) => void
  const call = (name: string, entry: Entry) =>
    new Promise<Entry>((resolve, reject) => {
      const method = (other as unknown as Record<string, Unary>)[name]!
      method.call(other, entry, (error, reply) => {
        if (error) reject(error)
        else resolve({ ...reply })
      })
    })
  type Watch = (entry: Entry) => AsyncIterable<Entry> & { cancel(): void; once(): unknown }
  const events = (other as unknown as { Watch: Watch }).Watch({ key: 'c' })
  await once(events as never, 'metadata')
  const claim = { key: 'c1', value: text('node'), ttlMs: 60_000 }
  expect(await call('Claim', claim)).toEqual({})
  expect(await call('Claim', claim)).toMatchObject({ value: text('node') })
  expect(await call('Get', { key: 'c1' })).toMatchObject({ value: text('node') })
  await call('Delete', { key: 'c1', value: text('node') })
  for await (const event of events) {
    expect({ ...event }).toEqual({ key: 'c1', value: text('node') })
    break
  }
})

type Run = (client: CacheClient) => Promise<unknown>

test.each<[string, Run, string, string]>([
  [
    'a value without time',
    (each) => each.set('a', text('x'), 0),
    'it refused a command',
    'invalid',
  ],
  ['a claim without time', (each) => each.claim('a', text('x'), 0), 'INVALID_ARGUMENT', 'invalid'],
  [
    'a claim without room',
    (each) => each.claim('a', Buffer.alloc(200_000), 9),
    'it has no memory left',
    'full',
  ],
])('%s fails', async (_, run, why, verdict) => {
  await using cache = await new ServedCache().start()
  await expect(run(cache.client())).rejects.toThrow(why)
  expect(cache.calls).toEqual([expect.stringMatching(verdict)])
})

test('watchers receive changes of their keys, even after the service was down', async () => {
  const seen: unknown[] = []
  const first = await new ServedCache().start()
  const client = clientOf(first.port, 5_000)
  onTestFinished(() => {
    client.close()
  })
  const message = ({ key, value }: Entry) =>
    seen.push([key, value && Buffer.from(value).toString()])
  client.watch('c:', { message, listening: (isUp) => seen.push(isUp) })
  await expect.poll(() => seen).toEqual([true])
  await client.delete('c:1', text('node'))
  await client.delete('d:1', text('node'))
  await client.increment('c:n')
  await expect.poll(() => seen).toEqual([true, ['c:1', 'node'], ['c:n', undefined]])
  seen.length = 0
  expect(await first.stop()).toBe(true)
  await expect.poll(() => seen[0]).toBe(false)
  // Another process may briefly occupy the port.
  const second = await eventually(() => new ServedCache().start(first.port))
  onTestFinished(() => second[Symbol.asyncDispose]())
  await expect.poll(() => seen.at(-1)).toBe(true)
  await client.increment('c:m')
  await expect.poll(() => seen.at(-1)).toEqual(['c:m', undefined])
})

test('a bind failure names an address in use', async () => {
  await using cache = await new ServedCache().start()
  await expect(new ServedCache().start(cache.port)).rejects.toThrow(
    `the cache service cannot listen on 127.0.0.1:${cache.port}: EADDRINUSE`,
  )
})

async function tcp(answer: (socket: Socket) => void): Promise<Server & { port: number }> {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}))
    answer(socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return Object.assign(server, { port: (server.address() as AddressInfo).port })
}

test.each([
  ['nothing listens', null, /there is no connection to it|did not answer in time/],
  ['it accepts connections and stays silent', () => {}, /did not answer in time/],
  [
    'it speaks another protocol',
    (socket: Socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
    /there is no connection to it|did not answer in time/,
  ],
] as const)('a call fails within its time when %s, with one notice', async (_, answer, why) => {
  const server = await tcp(answer ?? (() => {}))
  if (answer === null) server.close()
  const changes: (Error | null)[] = []
  const client = clientOf(server.port, 200, (error) => changes.push(error))
  onTestFinished(() => {
    client.close()
  })
  for (let each = 0; each < 3; each++) await expect(client.get('a')).rejects.toThrow(why)
  expect(changes).toHaveLength(1)
})

test('bytes that are not an entry fail their call, and others continue', async () => {
  await using cache = await new ServedCache().start()
  const raw = new Client(`127.0.0.1:${cache.port}`, credentials.createInsecure())
  onTestFinished(() => {
    raw.close()
  })
  const coders = [(bytes: Buffer) => bytes, (bytes: Buffer) => bytes] as const
  const send = (bytes: Buffer) =>
    new Promise((resolve) => {
      const path = '/rpcrouter.cache.v1.Cache/Get'
      raw.makeUnaryRequest(path, ...coders, bytes, new Metadata(), (error, reply) => {
        resolve(error?.code ?? reply)
      })
    })
  expect(await send(Buffer.from([0x0f]))).toBe(status.INTERNAL)
  expect(await send(Buffer.from([0x0a, 1, 0x61]))).toEqual(
    cacheService.Get.responseSerialize({ count: 0 }),
  )
})
