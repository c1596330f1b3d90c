// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IncomingHttpHeaders } from 'node:http2'
import { describe, expect, test } from 'vitest'
import type { ServedRouter } from '../served/served-router.ts'
import { headOf, rawCall, rawSession, valuesOf } from './raw-call.ts'
import { answerWith, begin, framed, RawNode, type Manner } from './raw-node.ts'
import { behindRouter, served } from './served-nodes.ts'

const unary = '/test.Echo/Unary'
/** More than the consecutive failures that disable two upstreams. */
const times = 12
const statusOf = { well: ['0'], unauthenticated: ['16'] }

const well: Manner = (stream) => {
  stream.resume()
  answerWith(stream, ['well'])
}

function states({ router: { pool } }: { router: ServedRouter }): readonly string[] {
  return pool.upstreams.map((each) => each.state)
}

describe('two nodes that authenticate the operator with a header', () => {
  const auth = (names: Record<string, string>) => ({
    chainId: 'ECHO',
    urlSettings: Object.fromEntries(
      ['node-0', 'node-1'].map((name) => [name, { 'auth-config': { 'auth-headers': names } }]),
    ),
  })
  /** Some servers read the first of several values, and others join them. */
  const guarded =
    (wanted: Record<string, string>): Manner =>
    (stream, headers) => {
      stream.resume()
      const isKnown = Object.entries(wanted).every(([name, value]) => headers[name] === value)
      if (isKnown) answerWith(stream, ['well'])
      else answerWith(stream, [], { 'grpc-status': '16', 'grpc-message': 'who are you' })
    }

  const rows: [string, Record<string, string>, string[]][] = [
    ['one', { 'x-api-key': 'own' }, ['x-api-key', 'junk']],
    ['a header outside all tables', { 'X-Customer': 'own' }, ['x-customer', 'junk']],
    ['a header sent twice', { 'x-customer': 'own' }, ['x-customer', 'a', 'x-customer', 'b']],
    ['a header that HTTP allows once', { 'user-agent': 'own' }, ['user-agent', 'junk']],
    [
      'several',
      { authorization: 'Bearer own', 'x-token': 'own' },
      ['authorization', 'Bearer junk', 'x-token', 'junk'],
    ],
  ]
  test.each(rows)("%s: the client's header does not reach them", async (_, own, sent) => {
    const manner = guarded(
      Object.fromEntries(Object.entries(own).map(([name, value]) => [name.toLowerCase(), value])),
    )
    await using pair = await served([manner, manner], {}, auth(own))
    for (let at = 0; at < times; at++) {
      const { trailers } = await rawCall(pair.router.port, unary, sent)
      expect(valuesOf(trailers, 'grpc-status')).toEqual(statusOf.well)
    }
    expect(states(pair)).toEqual(['eligible', 'eligible'])
  })
})

describe('metadata of a client reaches the node', () => {
  test.each<[string, string[], IncomingHttpHeaders]>([
    ['without a te header', [], { te: 'trailers' }],
    ['with space around a value', ['te', 'trailers', 'x-a', ' \t1 2 '], { 'x-a': '1 2' }],
    ['with only space', ['te', 'trailers', 'x-a', '  '], { 'x-a': '' }],
  ])('%s', async (_, sent, expected) => {
    const seen: IncomingHttpHeaders[] = []
    const manner: Manner = (stream, headers) => {
      seen.push(headers)
      well(stream, headers)
    }
    await using own = await served([manner])
    const session = rawSession(own.router.port)
    const head = headOf(unary).filter((part) => part !== 'te' && part !== 'trailers')
    const stream = session.request([...head, ...sent])
    stream.resume().end(framed('hi'))
    await new Promise((resolve) => stream.on('close', resolve))
    session.destroy()
    expect(seen.at(-1)).toMatchObject(expected)
  })
})

describe('metadata is bounded by its bytes, not by its entries', () => {
  const entries = (count: number) => Array.from({ length: count }, (_, at) => [`m${at}`, 'v'])

  test.each([126, 300, 1_000])(
    '%i entries come from a node, before and after its message',
    async (count) => {
      const manner: Manner = (stream) => {
        stream.resume()
        const trailers = { 'grpc-status': '0', ...Object.fromEntries(entries(count)) }
        begin(stream, trailers, entries(count).flat())
        stream.end(framed('well'))
      }
      await using own = await served([manner])
      const { head, trailers } = await rawCall(own.router.port, unary)
      for (const block of [head, trailers])
        for (const [name, value] of entries(count))
          expect(valuesOf(block, name as string)).toEqual([value])
      expect(states(own)).toEqual(['eligible'])
    },
  )

  test.each([126, 240])('%i entries come from a client', async (count) => {
    const seen: IncomingHttpHeaders[] = []
    const manner: Manner = (stream, headers) => {
      seen.push(headers)
      well(stream, headers)
    }
    await using own = await served([manner])
    const { trailers } = await rawCall(own.router.port, unary, entries(count).flat())
    expect(valuesOf(trailers, 'grpc-status')).toEqual(statusOf.well)
    expect(seen.at(-1)).toMatchObject(Object.fromEntries(entries(count)))
  })

  test('a node with a lower limit gets no call, and is not blamed', async () => {
    const stack = new AsyncDisposableStack()
    const nodes: RawNode[] = []
    for (let at = 0; at < 2; at++) nodes.push(stack.use(await new RawNode(well, 128).start()))
    await using pair = await behindRouter(stack, nodes, {})
    for (let at = 0; at < times; at++) {
      const { trailers } = await rawCall(pair.router.port, unary, entries(200).flat())
      expect(valuesOf(trailers, 'grpc-status')).toEqual(['14'])
    }
    expect(states(pair)).toEqual(['eligible', 'eligible'])
  })

  test('more than 16 KiB or 256 entries are refused with a reason', async () => {
    await using own = await served([well])
    for (const metadata of [entries(300).flat(), ['x-a', 'a'.repeat(17_000)]]) {
      const { trailers } = await rawCall(own.router.port, unary, metadata)
      expect(valuesOf(trailers, 'grpc-status')).toEqual(['8'])
      expect(valuesOf(trailers, 'grpc-message').join()).toContain('headers-too-large')
    }
    expect(own.nodes[0]?.calls).toBe(0)
  })

  test('thousands of entries end their call, and no other', async () => {
    await using own = await served([well])
    await expect(rawCall(own.router.port, unary, entries(4_000).flat())).rejects.toThrow(
      'ENHANCE_YOUR_CALM',
    )
    const { trailers } = await rawCall(own.router.port, unary)
    expect(valuesOf(trailers, 'grpc-status')).toEqual(statusOf.well)
  })
})
