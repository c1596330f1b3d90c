// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { clientLimits } from '../../bytes/limits.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import type { Relay } from '../../relay/relay.ts'
import {
  RawClient,
  echoRelay,
  rawPost,
  reply,
  sentText,
  startListener,
} from '../testing/listener-fixture.ts'
import { batchPieces } from './jsonrpc-items.ts'

const { waveItems } = clientLimits

async function post(url: string, body: string) {
  const response = await fetch(url, { method: 'POST', body })
  return { response, status: response.status, text: await response.text() }
}

const item = (id: number | string, method = 'm') =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}"}`
const answer = (id: number | string, method = 'm') =>
  `{"jsonrpc":"2.0","id":${id},"result":"${method}"}`

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    await Promise.resolve()
    yield Buffer.from(text)
  }
}

/** The answer that a JSON-RPC server owes for each kind of item; null for none. */
const kinds = {
  call: (id: number) => [item(id), answer(id)] as const,
  spaced: (id: number) => [` { "id" : ${id} ,"method":"m" } `, answer(id)] as const,
  notification: () => ['{"jsonrpc":"2.0","method":"m"}', null] as const,
  number: () => ['7', 'error null'] as const,
  list: () => ['[]', 'error null'] as const,
  noMethod: (id: number) => [`{"jsonrpc":"2.0","id":${id}}`, `error ${id}`] as const,
  badId: () => ['{"jsonrpc":"2.0","id":{},"method":"m"}', 'error null'] as const,
}

describe('a batch', () => {
  test('is answered item by item, in order, and no item affects another', async () => {
    await using fixture = await startListener(async (call) => {
      // Answers arrive in a different order from the calls.
      if (sentText(call).length % 2) await new Promise((resolve) => setImmediate(resolve))
      return echoRelay(call)
    })
    const items = fc.array(fc.constantFrom(...Object.values(kinds)), {
      minLength: 1,
      maxLength: 50,
    })
    await fc.assert(
      fc.asyncProperty(items, async (chosen) => {
        const rows = chosen.map((kind, index) => kind(index))
        const { status, text } = await post(
          fixture.url,
          `[${rows.map(([sent]) => sent).join(',')}]`,
        )
        const expected = rows.map(([, answer]) => answer).filter((answer) => answer !== null)
        expect(status).toBe(expected.length === 0 ? 204 : 200)
        const actual = (JSON.parse(text || '[]') as { id: unknown; error?: object }[]).map(
          (each) => (each.error ? `error ${String(each.id)}` : JSON.stringify(each)),
        )
        expect(actual).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })

  test('forwards each item byte for byte, without surrounding white space', async () => {
    await using fixture = await startListener(echoRelay)
    const items = ['{ "id":10,"method":"m" }', '{"id":"\\u0061","method":"m","params":[1e2]}']
    const { text } = await post(fixture.url, ` [ ${items.join(' ,\n ')} ] `)
    // Some nodes would spell the second id differently.
    expect(fixture.calls.map(sentText)).toEqual([items[0], items[1]?.replace('"\\u0061"', '1')])
    expect(text).toBe(`[${answer('10')},${answer('"\\u0061"')}]`)
  })

  test('has a guid that each of its calls extends', async () => {
    await using fixture = await startListener(echoRelay)
    const { response, text } = await post(fixture.url, `[${item(1)},{},${item(2)}]`)
    expect(response.headers.get('rpc-guid')).toBe('guid1')
    expect(fixture.calls.map((call) => call.guid)).toEqual(['guid1-0', 'guid1-2'])
    expect(JSON.parse(text)).toMatchObject([{}, { error: { data: { guid: 'guid1-1' } } }, {}])
  })

  test('of notifications only has no body', async () => {
    await using fixture = await startListener(echoRelay)
    const notification = '{"jsonrpc":"2.0","method":"m"}'
    const { status, text } = await post(fixture.url, `[${notification},${notification}]`)
    expect([status, text]).toEqual([204, ''])
    expect(fixture.calls).toHaveLength(2)
  })

  test('may have 1,000 items, of which a bounded number is in flight', async () => {
    let running = 0
    let most = 0
    await using fixture = await startListener(async (call) => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return echoRelay(call)
    })
    const ids = [...Array(1000).keys()]
    const { text } = await post(fixture.url, `[${ids.map((id) => item(id)).join(',')}]`)
    expect((JSON.parse(text) as { id: number }[]).map(({ id }) => id)).toEqual(ids)
    expect(most).toBe(waveItems)
  })

  test('with failures is still HTTP 200, each failure under its own id', async () => {
    const relay: Relay = (call) => {
      if (call.method.name === 'page') return Promise.resolve(reply('<html>', { status: 502 }))
      if (call.method.name === 'cut') return Promise.resolve(reply('{"id":3,"resu'))
      if (call.method.name === 'none')
        return Promise.reject(new RelayError(errorKinds.noUpstream, 'none'))
      if (call.method.name === 'defect') return Promise.reject(new TypeError('defect'))
      return echoRelay(call)
    }
    await using fixture = await startListener(relay)
    const methods = ['m', 'page', 'cut', 'none', 'defect', 'm']
    const body = `[${methods.map((method, id) => item(id, method)).join(',')}]`
    const { status, text } = await post(fixture.url, body)
    expect(status).toBe(200)
    expect(JSON.parse(text)).toMatchObject([
      { id: 0, result: 'm' },
      { id: 1, error: { code: -32052 } },
      { id: 2, error: { code: -32052 } },
      { id: 3, error: { code: -32050 } },
      { id: 4, error: { code: -32603 } },
      { id: 5, result: 'm' },
    ])
    expect(fixture.ends.map(({ kind }) => kind).toSorted()).toEqual([
      ...['error', 'error', 'error', 'error', 'reply', 'reply'],
    ])
  })

  test('reports all its items in one set of headers', async () => {
    let requests = 0
    await using fixture = await startListener((call) => {
      const upstream = ['alpha', 'beta', 'alpha'][requests]!
      call.journal.begin(upstream, requests === 1 ? 'retry' : 'first', 0).result = 'answer'
      const text = `{"id":${requests},"result":1}`
      return Promise.resolve({ ...reply(text), upstream, latestBlock: [8, 9, null][requests++]! })
    })
    const { response } = await post(fixture.url, `[${item(0)},${item(1)},${item(2)}]`)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'rpc-provider-address': 'alpha,beta',
      'rpc-retries': '1',
      'provider-latest-block': '9',
      'content-type': 'application/json',
    })
  })

  test('with answers too long to collect is streamed, complete and in order', async () => {
    const long = 'x'.repeat(300_000)
    await using fixture = await startListener((call) => {
      const { id } = JSON.parse(sentText(call)) as { id: number }
      const body =
        id % 5 ? `{"id":${id},"result":"${long}"}` : pieces(`{"id":${id},`, `"result":"${long}"}`)
      return Promise.resolve(reply(body))
    })
    const ids = [...Array(60).keys()]
    const { response, text } = await post(fixture.url, `[${ids.map((id) => item(id)).join(',')}]`)
    expect(response.headers.has('content-length')).toBe(false)
    expect(JSON.parse(text)).toEqual(ids.map((id) => ({ id, result: long })))
  })

  test('with a client that does not read starts one wave of calls, at once', async () => {
    const answered = Buffer.alloc(900 * 1024, 0x31)
    let started = 0
    const answers = batchPieces([...Array(1_000).keys()], new ByteBudget(1e9), () => {
      started += 1
      return Promise.resolve(answered)
    })
    // The client reads the first piece and nothing more.
    expect(String((await answers.next()).value)).toMatch(/^\[/)
    await new Promise(setImmediate)
    expect(started).toBe(waveItems)
    let count = 0
    for await (const piece of answers) if (piece.length === answered.length) count += 1
    expect([started, count]).toEqual([1_000, 1_000])
  })

  test('abandoned between the comma and a streamed answer releases that stream', async () => {
    const released: number[] = []
    const streamed = (index: number) => ({
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: false, value: Buffer.from('1') }),
        return: () => {
          released.push(index)
          return Promise.resolve({ done: true as const, value: undefined })
        },
      }),
    })
    const answers = batchPieces([0, 1, 2], new ByteBudget(1e9), (index) =>
      Promise.resolve(index === 0 ? Buffer.from('0') : streamed(index)),
    )
    expect(String((await answers.next()).value)).toBe('[0,')
    await answers.return(undefined)
    await expect.poll(() => released).toEqual([1, 2])
  })

  test('abandoned by its client ends every call, including unread streams', async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        await Promise.resolve()
        yield Buffer.alloc(64 * 1024, 0x31)
      }
    }
    await using fixture = await startListener(() => Promise.resolve(reply(endless())))
    const leaving = new AbortController()
    const body = `[${item(0)},${item(1)},${item(2)}]`
    const response = await fetch(fixture.url, { method: 'POST', body, signal: leaving.signal })
    await response.body!.getReader().read()
    expect(fixture.ends).toEqual([])
    leaving.abort()
    await expect
      .poll(() => fixture.ends.map(({ kind }) => kind))
      .toEqual(['abandoned', 'abandoned', 'abandoned'])
  })

  test('abandoned before its answer begins ends every call, including a streamed one', async () => {
    const left = Promise.withResolvers<void>()
    let released = 0
    async function* streamed(): AsyncGenerator<Uint8Array> {
      try {
        yield* pieces('"', '"')
      } finally {
        released += 1
      }
    }
    await using fixture = await startListener(async (call) => {
      call.signal.addEventListener('abort', () => {
        left.resolve()
      })
      if (call.guid.endsWith('-1')) return reply(streamed())
      await left.promise
      return reply(`{"id":0,"result":"${'x'.repeat(1_200_000)}"}`)
    })
    const client = new RawClient(fixture.port)
    client.write(rawPost(`[${item(0)},${item(1)}]`))
    await expect.poll(() => fixture.calls).toHaveLength(2)
    client.socket.destroy()
    await expect
      .poll(() => fixture.ends.map(({ kind }) => kind))
      .toEqual(['abandoned', 'abandoned'])
    expect(released).toBe(1)
  })

  test('breaks off when one of its answers does', async () => {
    async function* broken() {
      yield Buffer.from(`{"id":1,"result":"${'x'.repeat(2_000_000)}`)
      await Promise.resolve()
      throw new Error('reset by the upstream')
    }
    await using fixture = await startListener((call) =>
      call.guid.endsWith('-1') ? Promise.resolve(reply(broken())) : echoRelay(call),
    )
    const response = await fetch(fixture.url, { method: 'POST', body: `[${item(0)},${item(1)}]` })
    await expect(response.text()).rejects.toThrow('terminated')
    expect((await post(fixture.url, `[${item(5)}]`)).text).toBe(`[${answer(5)}]`)
  })

  test('abandoned by its client starts no more calls and aborts those in flight', async () => {
    await using fixture = await startListener(
      (call) =>
        new Promise((_, reject) => {
          call.signal.addEventListener('abort', () => {
            reject(new Error('aborted'))
          })
          if (fixture.calls.length === 32) abort.abort()
        }),
    )
    const abort = new AbortController()
    const body = `[${[...Array(100).keys()].map((id) => item(id)).join(',')}]`
    await expect(
      fetch(fixture.url, { method: 'POST', body, signal: abort.signal }),
    ).rejects.toThrow('aborted')
    await expect.poll(() => fixture.ends).toHaveLength(waveItems)
    expect(fixture.ends.every(({ kind }) => kind === 'abandoned')).toBe(true)
    expect(fixture.calls).toHaveLength(waveItems)
  })
})
