// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import type { Relay } from '../../relay/relay.ts'
import {
  RawClient,
  echoRelay,
  rawPost,
  reply,
  sentText,
  startListener,
} from '../testing/listener-fixture.ts'

const KiB = 1024
const MiB = 1024 * KiB
const chunkedHead = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'

function callOf(bytes: number): string {
  return `{"jsonrpc":"2.0","id":1,"method":"m","params":["${'x'.repeat(bytes)}"]}`
}

const call = callOf(0)

function chunkOf(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`
}

/** A relay whose calls wait for the test. */
function gated() {
  const gate = Promise.withResolvers<undefined>()
  const relay: Relay = async (call) => {
    await gate.promise
    return echoRelay(call)
  }
  return { relay, open: () => gate.resolve(undefined) }
}

const released = (budget: ByteBudget) => expect.poll(() => budget.heldBytes).toBe(0)

test('a body in short chunks costs at most twice its bytes', async () => {
  const budget = new ByteBudget(1e9)
  let peakBytes = 0
  const relay: Relay = (call) => {
    peakBytes = budget.heldBytes
    return echoRelay(call)
  }
  await using fixture = await startListener(relay, { budget })
  using client = new RawClient(fixture.port)
  const body = callOf(200_000)
  client.write(chunkedHead)
  client.write(body.replace(/.{1,100}/g, chunkOf) + '0\r\n\r\n')
  expect(await client.until(/\}$/)).toMatch(/^HTTP\/1\.1 200 /)
  expect(peakBytes).toBeLessThanOrEqual(2 * body.length)
  await released(budget)
})

test.each([
  [
    'a body in thousands of chunks of one byte is refused',
    4_096,
    /^HTTP\/1\.1 400 .*pieces of a few bytes/s,
  ],
  ['a body in fewer chunks is accepted', 3_000, /^HTTP\/1\.1 200 /],
])('%s', async (_, length, answer) => {
  await using fixture = await startListener(echoRelay)
  using client = new RawClient(fixture.port)
  client.write(chunkedHead + [...callOf(length)].map(chunkOf).join('') + '0\r\n\r\n')
  expect(await client.until(/\}$/)).toMatch(answer)
})

test.each([
  ['few headers', 10, 4_000],
  ['as many headers as allowed', 250, 20_000],
])(
  'a request with %s is charged for its objects before its body arrives',
  async (_, count, least) => {
    const budget = new ByteBudget(1e9)
    await using fixture = await startListener(echoRelay, { budget })
    using client = new RawClient(fixture.port)
    client.write(rawPost(call, Array<string>(count).fill('a:')).toString().slice(0, -1))
    await expect.poll(() => budget.heldBytes).toBeGreaterThan(least)
    expect(budget.heldBytes).toBeLessThan(2 * least)
    client.write('}')
    expect(await client.until(/\}$/)).toMatch(/^HTTP\/1\.1 200 /)
    await released(budget)
  },
)

test('short gzip bodies hold no more than they inflate to, even under memory pressure', async () => {
  const budget = new ByteBudget(4 * MiB)
  budget.hold(3.2 * MiB)
  await using fixture = await startListener(echoRelay, { budget })
  const body = gzipSync(callOf(10))
  const headers = { 'content-encoding': 'gzip' }
  const statuses = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const { status } = await fetch(fixture.url, { method: 'POST', headers, body })
      return status
    }),
  )
  expect(new Set(statuses)).toEqual(new Set([200]))
})

describe('a full budget', () => {
  test('refuses new bodies with 503 and Retry-After; calls in flight and /health are answered', async () => {
    const budget = new ByteBudget(2 * MiB)
    const { relay, open } = gated()
    await using fixture = await startListener(relay, { budget })
    using inFlight = new RawClient(fixture.port)
    using uploading = new RawClient(fixture.port)
    const small = callOf(10)
    uploading.write(rawPost(small).subarray(0, -1))
    inFlight.write(rawPost(callOf(512 * KiB)))
    await expect.poll(() => fixture.calls.length).toBe(1)
    budget.hold(budget.maxBytes)
    const refused = await fetch(fixture.url, { method: 'POST', body: small })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused.json()).toMatchObject({
      error: { code: -32005, data: { reason: 'overloaded' } },
    })
    expect(fixture.refusals.map(({ kind }) => kind.code)).toEqual(['RPC_OVERLOADED'])
    expect((await fetch(`${fixture.url}health`)).status).toBe(200)
    uploading.write(rawPost(small).subarray(-1))
    open()
    for (const client of [inFlight, uploading])
      expect(await client.until(/\}$/)).toMatch(/^HTTP\/1\.1 200 /)
    budget.release(budget.maxBytes)
    expect((await fetch(fixture.url, { method: 'POST', body: small })).status).toBe(200)
    await released(budget)
  })

  test('at three quarters ends long uploads with 503, and leaves the rest to short ones', async () => {
    const budget = new ByteBudget(4 * MiB)
    await using fixture = await startListener(echoRelay, { budget })
    const uploads = Array.from({ length: 8 }, () => new RawClient(fixture.port))
    for (const client of uploads) client.write(chunkedHead + chunkOf(callOf(60 * KiB).slice(0, -3)))
    await expect.poll(() => budget.heldBytes).toBeGreaterThan(8 * 60 * KiB)
    for (const client of uploads) client.write(chunkOf(' '.repeat(300 * KiB)))
    for (const client of uploads) client.write(chunkOf('"]}') + '0\r\n\r\n')
    const statuses = await Promise.all(
      uploads.map(async (client) => (await client.until(/\}$/)).slice(9, 12)),
    )
    for (const client of uploads) client[Symbol.dispose]()
    expect(new Set(statuses)).toEqual(new Set(['200', '503']))
    await released(budget)

    budget.hold(0.8 * 4 * MiB)
    const statusOf = async (body: string) =>
      (await fetch(fixture.url, { method: 'POST', body })).status
    expect(await statusOf(callOf(60 * KiB))).toBe(200)
    expect(await statusOf(callOf(70 * KiB))).toBe(503)
  })
})

test('clients that have not read for the longest time lose their answers first', async () => {
  const budget = new ByteBudget(40 * MiB)
  const relay: Relay = (call) =>
    sentText(call).includes('long') ? Promise.resolve(reply(big)) : echoRelay(call)
  await using fixture = await startListener(relay, { budget })
  const idle = Array.from({ length: 3 }, () => new RawClient(fixture.port))
  for (const [at, client] of idle.entries()) {
    client.socket.pause()
    client.write(rawPost(callOf(1).replace('"m"', '"long"')))
    await expect.poll(() => fixture.calls.length).toBe(at + 1)
  }
  await expect.poll(() => budget.cutOffs).toBe(1)
  expect((await fetch(fixture.url, { method: 'POST', body: callOf(1) })).status).toBe(200)
  const [first, ...rest] = idle
  for (const client of idle) client.socket.resume()
  await expect(first!.until(/\}$/)).rejects.toThrow('closed')
  for (const client of rest) expect(await client.until(/\}$/)).toMatch(/^HTTP\/1\.1 200 /)
  for (const client of idle) client[Symbol.dispose]()
  await released(budget)
})

const big = `{"jsonrpc":"2.0","id":1,"result":"${'0'.repeat(8 * MiB)}"}`
const batch = `[${callOf(1)},${callOf(2)},${callOf(3)}]`
const slowFirst = (length: number): Relay => {
  let calls = 0
  return (call) => {
    calls += 1
    const answer = reply(`{"jsonrpc":"2.0","id":1,"result":"${'0'.repeat(length)}"}`)
    return calls > 1
      ? Promise.resolve(answer)
      : new Promise((_, reject) => {
          call.signal.addEventListener('abort', () => reject(new Error('aborted')))
        })
  }
}

/** Checks how much memory a waiting client takes, and that nothing remains after it disconnects. */
test.each<readonly [name: string, relay: Relay, sent: Buffer | string, minBytes: number]>([
  ['a part of a body', echoRelay, chunkedHead + chunkOf('x'.repeat(50_000)), 50_000],
  ['a body in work', gated().relay, rawPost(callOf(50_000)), 50_000],
  ['an answer that it does not read', () => Promise.resolve(reply(big)), rawPost(batch), 4 * MiB],
  ['answers that wait for one before them', slowFirst(50_000), rawPost(batch), 100_000],
])('%s is counted until the client has gone', async (_, relay, sent, minBytes) => {
  const budget = new ByteBudget(1e9)
  await using fixture = await startListener(relay, { budget })
  using client = new RawClient(fixture.port)
  client.socket.pause()
  client.write(sent)
  await expect.poll(() => budget.heldBytes).toBeGreaterThanOrEqual(minBytes)
  client.socket.resetAndDestroy()
  await released(budget)
})

describe('gzip', () => {
  const post = (url: string, text: string) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync(text, { level: 9 }),
    })
  const word = (text: string) => text.padStart(64, '0')
  const transfers = Array.from({ length: 10_000 }, (_, index) =>
    [word('20'), word(''), word('44'), 'a9059cbb', word(index.toString(16).padStart(8, '0'))].join(
      '',
    ),
  )

  test.each<readonly [name: string, body: string, status: number]>([
    ['a body that inflates to 1000 times its length', `[${'{},'.repeat(3e6)}{}]`, 413],
    ['one that is longer than any body', callOf(11 * MiB), 413],
    ['a multicall of similar transfers', callOf(1).replace('x', `0x${transfers.join('')}`), 200],
    ['a short body of zeros', callOf(1).replace('x', '0'.repeat(200 * KiB)), 200],
  ])('%s', async (_, body, status) => {
    const budget = new ByteBudget(1e9)
    await using fixture = await startListener(echoRelay, { budget })
    expect((await post(fixture.url, body)).status).toBe(status)
    await released(budget)
  })

  test('inflates long bodies one after the other, within the budget', async () => {
    const budget = new ByteBudget(24 * MiB)
    const { relay, open } = gated()
    await using fixture = await startListener(relay, { budget })
    const body = callOf(1).replace('x', `0x${transfers.join('').repeat(3)}`)
    const inflated = body.length
    const posts = Array.from({ length: 10 }, async () => (await post(fixture.url, body)).status)
    await expect.poll(() => fixture.calls.length + fixture.refusals.length).toBe(10)
    expect(budget.heldBytes).toBeLessThan(budget.maxBytes + inflated)
    open()
    const statuses = new Set(await Promise.all(posts))
    expect(statuses).toEqual(new Set([200, 503]))
    await released(budget)
  })
})
