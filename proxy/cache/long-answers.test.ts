// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterEach, describe, expect, test } from 'vitest'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import type { BodyStream } from '../upstream/wire.ts'
import { CacheFixture, type CacheFixtureOptions, Instead } from './testing/cache-fixture.ts'

const mebibyte = 1024 * 1024
const head = 10_000
const hex = (block: number) => `0x${block.toString(16)}`
const final: readonly unknown[] = [{ fromBlock: '0x1', toBlock: hex(head - 150) }]
const piece = `"${'ab'.repeat(mebibyte / 4)}"`

let cache: CacheFixture
afterEach(() => {
  const { heldBytes } = cache.budget
  if (heldBytes !== 0) throw new Error(`${heldBytes} bytes are held for an answer that is over`)
})

/** A streamed answer of the node. */
function start(answer: ScriptedAnswer, options: CacheFixtureOptions = {}): CacheFixture {
  const streams = () => new Instead({ ...answer, streams: true })
  return (cache = new CacheFixture(streams, { maxBytes: 64 * mebibyte, ...options }).heads(head))
}

/** A result of 2 MiB with the id 1. */
const whole: ScriptedAnswer = {
  body: '{"jsonrpc":"2.0","id":1,"result":[',
  rest: [`${piece},`, `${piece},`, `${piece},`, piece, ']}'],
}
const resultText = `[${piece},${piece},${piece},${piece}]`

/** Sends a call and reads the streamed answer. */
async function ask({ method = 'eth_getLogs', params = final, id = 1 } = {}) {
  const seen = await cache.get(method, params, { id })
  const stream = cache.streams.pop()
  const { pieces, error } = stream ? await read(stream) : { pieces: [], error: null }
  const text = stream ? Buffer.concat(pieces).toString() : seen.text
  return { ...seen, text, pieces, error, length: stream?.length }
}

async function read(stream: BodyStream) {
  const pieces: Uint8Array[] = []
  try {
    for await (const each of stream) pieces.push(each)
    return { pieces, error: null }
  } catch (error) {
    return { pieces, error: error as Error }
  }
}

describe('a long, final answer', () => {
  test('is cached once its client has read it, and streams to others with their ids', async () => {
    start(whole)
    const first = await ask()
    expect(first.cache).toBe('miss finalized')
    const kept = await ask({ id: 77 })
    expect([kept.cache, kept.upstream]).toEqual(['hit finalized', 'a'])
    expect(kept.text === first.text.replace('"id":1', '"id":77')).toBe(true)
    expect(kept.length).toBe(kept.text.length)
    const [one, other] = [await ask({ id: 77 }), await ask()]
    expect(other.text === first.text).toBe(true)
    // All clients share the stored bytes.
    const buffers = [...one.pieces, ...other.pieces]
      .filter(({ length }) => length === 64 * 1024)
      .map(({ buffer }) => buffer)
    expect([buffers.length > 50, new Set(buffers).size]).toEqual([true, 1])
    expect(cache.requests).toBe(1)
  })

  test('is cached with its id at the end', async () => {
    start({
      body: `{"result":${resultText.slice(0, 99)}`,
      rest: [resultText.slice(99), ',"id":1}'],
    })
    const own = await ask()
    expect((await ask({ id: 1 })).text === own.text).toBe(true)
    const other = await ask({ id: 1234 })
    expect(other.cache).toBe('hit finalized')
    expect(other.text === `{"result":${resultText},"id":1234}`).toBe(true)
  })

  test.each<[string, ScriptedAnswer, string | null]>([
    ['is aborted', { ...whole, rest: [piece, ','], fault: 'reset' }, 'TransportError'],
    ['ends early', { ...whole, rest: [piece] }, 'MalformedAnswer'],
    ['has trailing data', { ...whole, rest: [piece, ']}', '{}'] }, 'MalformedAnswer'],
    ['also has an error', { ...whole, rest: [piece, '],"error":{"code":1}}'] }, 'MalformedAnswer'],
    ['has another id', { body: '{"result":[', rest: [piece, '],"id":2}'] }, 'MalformedAnswer'],
    [
      'is an error',
      {
        body: '{"id":1,"error":{"code":3,"message":"execution reverted","data":',
        rest: [piece, '}}'],
      },
      null,
    ],
  ])('that %s is not cached', async (_, answer, error) => {
    start(answer)
    for (const requests of [1, 2]) {
      expect((await ask()).error?.name ?? null).toBe(error)
      expect([cache.store.count, cache.requests]).toEqual([0, requests])
    }
  })

  test('is not cached when its client disconnects', async () => {
    start(whole)
    await cache.get('eth_getLogs', final)
    for await (const each of cache.streams.pop()!) if (each.length > 100) break
    expect((await ask()).cache).toBe('miss finalized')
    expect((await ask()).cache).toBe('hit finalized')
  })

  test.each<[string, CacheFixtureOptions, readonly string[]]>([
    ['over a sixteenth of the memory', { maxBytes: 31 * mebibyte }, whole.rest!],
    [
      'over 16 MiB',
      { maxBytes: 640 * mebibyte },
      [...Array.from({ length: 32 }, () => `${piece},`), '0]}'],
    ],
  ])('%s is not cached', async (_, options, rest) => {
    start({ ...whole, rest }, options)
    for (let each = 0; each < 2; each++) expect((await ask()).cache).toBe('miss finalized')
    expect(cache.store.count).toBe(0)
  })

  test('is returned but not cached while half of the memory budget is used', async () => {
    start(whole)
    const bytes = cache.budget.maxBytes / 2
    cache.budget.hold(bytes)
    const seen = await ask()
    expect([seen.cache, seen.error]).toEqual(['miss finalized too-large', null])
    expect(seen.text.includes(resultText)).toBe(true)
    cache.budget.release(bytes)
    await cache.get('eth_getLogs', final)
    const stream = cache.streams.pop()!
    let heldBytes = 0
    for await (const each of stream) {
      if (heldBytes === 0 && each.length > 100) cache.budget.hold((heldBytes = bytes))
    }
    cache.budget.release(heldBytes)
    expect(cache.store.count).toBe(0)
  })

  test('leaves memory to others when clients do not read', async () => {
    start({ ...whole, rest: Array.from({ length: 10 }, () => `${piece},`) })
    const { maxBytes } = cache.budget
    const streams: AsyncIterator<Uint8Array>[] = []
    for (let client = 0; client < 30; client++) {
      await cache.get('eth_getLogs', [{ fromBlock: hex(client), toBlock: '0x99' }])
      const stream = cache.streams.pop()![Symbol.asyncIterator]()
      streams.push(stream)
      for (let each = 0; each < 9; each++) await stream.next()
    }
    expect(cache.budget.heldBytes).toBeGreaterThan(maxBytes / 5)
    expect(cache.budget.heldBytes).toBeLessThan(maxBytes / 4 + mebibyte)
    for (const stream of streams) await stream.return?.()
  })
})

test.each([
  ['the latest block', [{ fromBlock: '0x1' }], 'latest'],
  ['a block that is not final', [{ fromBlock: '0x1', toBlock: hex(head) }], 'near-head'],
])('a long answer about %s is not cached', async (_, params, ageClass) => {
  start(whole)
  for (let each = 0; each < 2; each++)
    expect((await ask({ params })).cache).toBe(`miss ${ageClass} too-large`)
})

test('a long answer of an uncached method is not cached', async () => {
  const never = {
    chainId: null,
    apiInterface: null,
    method: '*',
    pattern: /^/,
    ageClass: 'finalized',
    ttlMs: null,
  }
  start(whole, { policies: [never as NonNullable<CacheFixtureOptions['policies']>[number]] })
  for (let each = 0; each < 2; each++) expect((await ask()).cache).toMatch('miss finalized')
  expect(cache.store.count).toBe(0)
})

describe('a long answer to concurrent calls', () => {
  /** The first call gets the stream. */
  async function many(params: readonly unknown[], ids = [1, 1, 1]) {
    start(whole)
    const all = ids.map((id) => cache.start('eth_getLogs', params, { id }))
    await cache.clock.advance(10)
    const [stream] = cache.streams.splice(0)
    expect(cache.streams).toEqual([])
    return { all, others: Promise.all(all.slice(1)), stream: stream! }
  }
  const passing = [{ fromBlock: hex(head - 1), toBlock: hex(head - 1) }]

  test.each([
    ['is final', final, 1],
    ['is not final, and so not cached', passing, 0],
  ])('is fetched once if it %s', async (_, params, kept) => {
    const { others, stream } = await many(params, [1, 2, 3])
    const late = params === final ? [cache.start('eth_getLogs', params, { id: 4 })] : []
    const { pieces } = await read(stream)
    const text = Buffer.concat(pieces).toString()
    await cache.clock.advance(10)
    const given = [...(await others), ...(await Promise.all(late))]
    for (const each of given) expect(each.cache).toMatch('coalesced')
    const bodies = await Promise.all(cache.streams.map(read))
    expect(bodies).toHaveLength(given.length)
    for (const [at, { pieces: own }] of bodies.entries())
      expect(Buffer.concat(own).toString() === text.replace('"id":1', `"id":${at + 2}`)).toBe(true)
    expect([cache.requests, cache.store.count]).toEqual([1, kept])
  })

  test('is fetched again by one waiter for all when its client disconnects', async () => {
    const { others, stream } = await many(final)
    await stream[Symbol.asyncIterator]().return!()
    await cache.clock.advance(10)
    const [next] = cache.streams.splice(0)
    expect((await read(next!)).error).toBe(null)
    await cache.clock.advance(10)
    expect((await others).map(({ cache: said }) => said.split(' ')[0])).toEqual([
      'miss',
      'coalesced',
    ])
    expect(cache.requests).toBe(2)
    await Promise.all(cache.streams.map(read))
  })

  test('delays waiters by a second at most when its client does not read', async () => {
    const { others, stream } = await many(final)
    await cache.clock.advance(900)
    expect(cache.streams).toEqual([])
    await cache.clock.advance(110)
    for (const each of await others) expect(each.cache).toBe('miss finalized too-large')
    expect(cache.requests).toBe(3)
    for (const each of [stream, ...cache.streams]) expect((await read(each)).error).toBe(null)
    expect((await ask()).cache).toBe('hit finalized')
  })
})
