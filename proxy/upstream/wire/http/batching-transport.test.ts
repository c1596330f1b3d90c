// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { ByteBudget } from '../../../bytes/byte-budget.ts'
import { Cancellation, type CancelSignal } from '../../../clock/cancellation.ts'
import { VirtualClock } from '../../../clock/testing/virtual-clock.ts'
import { type Incoming, type Outgoing, TransportError } from '../../wire.ts'
import { BatchingTransport } from './batching-transport.ts'

const noTrailers = () => []

function incoming(text: string, status = 200): Incoming {
  const headers = ['content-type', 'application/json']
  return { status, headers, body: Buffer.from(text), trailers: noTrailers }
}

/** A transport to a node that answers each body with `answer`. */
function nodeOf(answer: (body: string) => Incoming | Promise<Incoming>, maxItems = 100) {
  const requests: string[] = []
  const signals: CancelSignal[] = []
  const inner = {
    send: (request: Outgoing, signal: CancelSignal) => {
      const body = Buffer.from(request.body as Uint8Array).toString()
      requests.push(body)
      signals.push(signal)
      return Promise.resolve().then(() => answer(body))
    },
    close: () => Promise.resolve(),
  }
  const clock = new VirtualClock()
  const budget = new ByteBudget(1e9)
  const url = new BatchingTransport(inner, maxItems, { clock, budget })
  return { url, requests, signals, clock }
}

const call = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"m"}`
const result = (id: string) =>
  `{"jsonrpc":"2.0", "id":${id}, "result":"of ${id.replaceAll('"', '')}"}`
const idsIn = (body: string) => [...body.matchAll(/"id":([^,]+)/g)].map(([, id]) => id as string)
const oneError = (code: number, message: string, id = 'null') =>
  JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(id) as unknown, error: { code, message } })
const single = (body: string) => incoming(result(idsIn(body)[0] as string))
const list = (body: string) => incoming(`[${idsIn(body).map(result).join(' ,')}]`)
const honest = (body: string) => (body.startsWith('[') ? list(body) : single(body))

function requestOf(id: string, token = { size: 2 }): Outgoing {
  const batch = { token, id: Buffer.from(id) }
  return { verb: 'POST', path: '', headers: [], body: Buffer.from(call(id)), batch }
}

/** Sends a batch with these ids. @returns the answers, and errors as they are */
async function send(url: BatchingTransport, ids: readonly string[]) {
  const token = { size: ids.length }
  const answers = ids.map((id) => url.send(requestOf(id, token), new Cancellation()))
  const settled = await Promise.allSettled(answers)
  return settled.map((each) =>
    each.status === 'fulfilled'
      ? Buffer.from(each.value.body as Uint8Array).toString()
      : (each.reason as unknown),
  )
}

/** The number of items that a node gets together after this. */
async function nextSize({ url, requests }: ReturnType<typeof nodeOf>): Promise<number> {
  const before = requests.length
  await send(url, ['1', '2', '3', '4'])
  return idsIn(requests[before] ?? '').length
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('items of a batch', () => {
  test('are sent as one request, and each gets its own answer, byte for byte', async () => {
    const { url, requests } = nodeOf(honest)
    expect(await send(url, ['1', '"a"', '3'])).toEqual(['1', '"a"', '3'].map(result))
    expect(requests).toEqual([`[${['1', '"a"', '3'].map(call).join(',')}]`])
  })

  test('report how far their common request progressed', async () => {
    const { url, signals } = nodeOf(() => incoming('[]'))
    const own = [new Cancellation(), new Cancellation()]
    const token = { size: 2 }
    const sent = own.map((signal, at) => url.send(requestOf(String(at), token), signal))
    await turn()
    for (const signal of signals) signal.underWay = { progress: 'half way' }
    expect(own.map(({ progress }) => progress)).toEqual(['half way', 'half way'])
    await Promise.allSettled(sent)
  })

  test('join also if some had to wait, as for a shared store', async () => {
    const { url, requests } = nodeOf(honest)
    const token = { size: 2 }
    const sent = [1, 2].map(async (at) => {
      for (let wait = 0; wait < at * 10; wait++) await Promise.resolve()
      return url.send(requestOf(String(at), token), new Cancellation())
    })
    await Promise.all(sent)
    expect(requests).toEqual([`[${call('1')},${call('2')}]`])
  })

  test('of two batches stay apart', async () => {
    const { url, requests } = nodeOf(honest)
    await Promise.all([send(url, ['1', '2']), send(url, ['3', '4'])])
    expect(requests).toEqual([`[${call('1')},${call('2')}]`, `[${call('3')},${call('4')}]`])
  })

  test('get their own answers whatever the order of the response', async () => {
    const { url } = nodeOf((body) => incoming(`[${idsIn(body).toReversed().map(result).join()}]`))
    expect(await send(url, ['1', '2', '3'])).toEqual(['1', '2', '3'].map(result))
  })

  test('are sent in groups no larger than the URL accepts', async () => {
    const { url, requests } = nodeOf(honest, 2)
    expect(await send(url, ['1', '2', '3'])).toEqual(['1', '2', '3'].map(result))
    expect(requests).toEqual([`[${call('1')},${call('2')}]`, call('3')])
  })

  test('are sent singly when the URL accepts no batches', async () => {
    const { url, requests } = nodeOf(honest, 1)
    expect(await send(url, ['1', '2'])).toEqual(['1', '2'].map(result))
    expect(requests).toEqual([call('1'), call('2')])
  })

  test('with the same id go in separate requests, since ids match the answers', async () => {
    const { url, requests } = nodeOf(honest)
    expect(await send(url, ['1', '1', '2'])).toEqual(['1', '1', '2'].map(result))
    expect(requests).toEqual([`[${call('1')},${call('2')}]`, call('1')])
  })

  test('without an answer under their id get an unmatched one, or fail when none is left', async () => {
    const anonymous = '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}'
    const { url } = nodeOf(() => incoming(`[${result('1')},${anonymous}]`))
    const missing = expect.objectContaining({
      fault: 'truncated',
      message: 'the answer to a batch lacks this item',
    }) as unknown
    expect(await send(url, ['1', '2', '3'])).toEqual([result('1'), anonymous, missing])
  })

  test.each([
    ['an error for all of them', incoming('{"jsonrpc":"2.0","id":null,"error":{"code":-32600}}')],
    ['a status', incoming('no batches here', 400)],
  ])(
    'that a node refuses with %s are sent singly, and half as many next time',
    async (_, refusal) => {
      const node = nodeOf((body) => (body.startsWith('[') ? refusal : single(body)))
      expect(await send(node.url, ['1', '2', '3', '4'])).toEqual(['1', '2', '3', '4'].map(result))
      expect([node.requests.length, await nextSize(node)]).toEqual([5, 2])
    },
  )

  test.each([
    ['an empty list', '[]'],
    ['a page', '<h1>ok</h1>'],
    ['nothing', ''],
    ['a list that is not closed', `[${result('1')},${result('2')}`],
    ['a list with an extra comma', `[${result('1')},${result('2')},]`],
    ['a list followed by something', `[${result('1')},${result('2')}]x`],
  ])(
    'that a node answers with %s fail together, and as many are sent next time',
    async (_, body) => {
      const node = nodeOf(() => incoming(body))
      expect(await send(node.url, ['1', '2'])).toEqual([body, body])
      expect([node.requests.length, await nextSize(node)]).toEqual([1, 4])
    },
  )

  test.each([
    ['proxyd of the OP stack', 413, -32014, 'over batch size custom message'],
    ["proxyd with its operator's text", 413, -32014, 'too many calls'],
    ['dRPC', 500, 31, 'Batch of more than 3 requests are not allowed on free tier'],
    ['Besu', 200, -32005, 'Number of requests in batch exceeds limit'],
    ['Besu of another version', 200, -32005, 'Number of requests exceeds max batch size'],
    ['Erigon', 200, -32000, 'batch limit 50 exceeded'],
    ['a gateway', 403, -32600, 'Batch requests are not supported'],
  ])('that %s refuses together go singly', async (_, status, code, message) => {
    const refusal = incoming(oneError(code, message), status)
    const node = nodeOf((body) => (body.startsWith('[') ? refusal : single(body)))
    expect(await send(node.url, ['1', '2', '3', '4'])).toEqual(['1', '2', '3', '4'].map(result))
    expect([node.requests.length, await nextSize(node)]).toEqual([5, 2])
  })

  test('that geth refuses together, with a one-error list under the first id, are sent singly', async () => {
    const refusal = incoming(`[${oneError(-32600, 'batch too large', '1')}]`)
    const node = nodeOf((body) => (body.startsWith('[') ? refusal : single(body)))
    expect(await send(node.url, ['1', '2', '3', '4'])).toEqual(['1', '2', '3', '4'].map(result))
    expect([node.requests.length, await nextSize(node)]).toEqual([5, 2])
  })

  test.each([
    ['a rate limit that speaks of a batch', 429, -32005, 'batch rate limit'],
    ['an error of the gateway', 500, -32000, 'no healthy upstream'],
    ['a missing key', 401, -32600, 'Must be authenticated!'],
  ])('all get %s', async (_, status, code, message) => {
    const error = oneError(code, message)
    const node = nodeOf(() => incoming(error, status))
    expect(await send(node.url, ['1', '2'])).toEqual([error, error])
    expect([node.requests.length, await nextSize(node)]).toEqual([1, 4])
  })

  test('sent alone get an error about batches as their answer', async () => {
    const error = oneError(-32000, 'unknown batch', '1')
    const node = nodeOf(() => incoming(error))
    expect(await send(node.url, ['1'])).toEqual([error])
    expect([node.requests.length, await nextSize(node)]).toEqual([1, 4])
  })

  test('are joined again ten minutes after a node refused a batch of that size', async () => {
    let isRefusing = true
    const { url, requests, clock } = nodeOf((body) =>
      isRefusing && body.startsWith('[') ? incoming('no', 400) : honest(body),
    )
    await send(url, ['1', '2'])
    isRefusing = false
    await clock.advance(10 * 60_000 - 1)
    await send(url, ['1', '2'])
    expect(requests.slice(3)).toEqual([call('1'), call('2')])
    await clock.advance(1)
    await send(url, ['1', '2'])
    expect(requests.slice(5)).toEqual([`[${call('1')},${call('2')}]`])
  })

  test("share the node's single error, such as a rate limit", async () => {
    const limit = '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"slow down"}}'
    const node = nodeOf(() => incoming(limit))
    expect(await send(node.url, ['1', '2', '3'])).toEqual([limit, limit, limit])
    expect([node.requests.length, await nextSize(node)]).toEqual([1, 4])
  })

  test.each([403, 429, 500, 503])("share the HTTP %i of the node's answer", async (status) => {
    const { url, requests } = nodeOf(() => incoming('wait', status))
    expect(await send(url, ['1', '2'])).toEqual(['wait', 'wait'])
    expect(requests).toHaveLength(1)
  })

  test('fail together with their request', async () => {
    const error = new TransportError('reset', 'connection lost')
    const { url } = nodeOf(() => {
      throw error
    })
    expect(await send(url, ['1', '2'])).toEqual([error, error])
  })

  test('are aborted once the last of their calls is aborted', async () => {
    const { url, signals } = nodeOf(() => new Promise(() => {}))
    const waits = [new Cancellation(), new Cancellation()]
    const token = { size: 2 }
    for (const [at, wait] of waits.entries()) void url.send(requestOf(String(at), token), wait)
    await turn()
    waits[0]?.abort()
    expect(signals[0]?.aborted).toBe(false)
    waits[1]?.abort()
    expect(signals[0]?.aborted).toBe(true)
  })

  test('that arrive after the batch was sent are sent singly', async () => {
    const { url, requests } = nodeOf(honest)
    const token = { size: 2 }
    await url.send(requestOf('1', token), new Cancellation())
    await url.send(requestOf('2', token), new Cancellation())
    expect(requests).toEqual([call('1'), call('2')])
  })
})
