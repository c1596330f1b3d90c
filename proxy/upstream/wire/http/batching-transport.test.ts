// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { describe, expect, test } from 'vitest'
import { Cancellation, type CancelSignal } from '../../clock/cancellation.ts'
import type { NodeUrl } from '../../upstream/upstream.ts'
import { type Incoming, type Outgoing, TransportError } from '../../upstream/wire.ts'
import { reply, startListener } from '../testing/listener-fixture.ts'
import { JoinedRequests } from './joined-requests.ts'

const noTrailers = () => []

function incoming(text: string, status = 200): Incoming {
  const headers = ['content-type', 'application/json']
  return { status, headers, body: Buffer.from(text), trailers: noTrailers }
}

/** A URL whose node answers each body with `answer`. */
function nodeUrl(answer: (body: string) => Incoming, maxBatch = 100) {
  const requests: string[] = []
  const signals: CancelSignal[] = []
  const url = {
    maxBatch,
    transport: {
      send: (request: Outgoing, signal: CancelSignal) => {
        const body = Buffer.from(request.body as Uint8Array).toString()
        requests.push(body)
        signals.push(signal)
        return Promise.resolve().then(() => answer(body))
      },
    },
  } as unknown as NodeUrl
  return { url, requests, signals }
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

async function send(
  url: NodeUrl,
  ids: readonly string[],
  signal: CancelSignal = new Cancellation(),
  nowMs = 0,
) {
  const joined = new JoinedRequests(ids.length, new ByteBudget(1e9))
  const answers = ids.map((id) =>
    joined.sender(Buffer.from(id), nowMs)(
      url,
      { verb: 'POST', path: '', headers: [], body: Buffer.from(call(id)) },
      signal,
    ),
  )
  joined.flush()
  const settled = await Promise.allSettled(answers)
  return settled.map((each) =>
    each.status === 'fulfilled'
      ? Buffer.from(each.value.body as Uint8Array).toString()
      : (each.reason as unknown),
  )
}

describe('items of a batch', () => {
  test('are sent as one request, and each gets its own answer, byte for byte', async () => {
    const { url, requests } = nodeUrl(honest)
    expect(await send(url, ['1', '"a"', '3'])).toEqual(['1', '"a"', '3'].map(result))
    expect(requests).toEqual([`[${['1', '"a"', '3'].map(call).join(',')}]`])
  })

  test('report how far their common request progressed', async () => {
    const { url, signals } = nodeUrl(() => incoming('[]'))
    const joined = new JoinedRequests(2, new ByteBudget(1e9))
    const own = [new Cancellation(), new Cancellation()]
    const sent = own.map((signal, at) => {
      const request = { verb: 'POST', path: '', headers: [], body: Buffer.from(call(String(at))) }
      return joined.sender(Buffer.from(String(at)), 0)(url, request, signal)
    })
    joined.flush()
    for (const signal of signals) signal.underWay = { progress: 'half way' }
    expect(own.map(({ progress }) => progress)).toEqual(['half way', 'half way'])
    await Promise.allSettled(sent)
  })

  test('reach the relay in time to be joined', async () => {
    const { url, requests } = nodeUrl(honest)
    await using fixture = await startListener(async ({ shared, request, signal }) => ({
      ...reply(''),
      incoming: await shared!.send(url, request, signal),
    }))
    const body = `[${call('1')},${call('2')}]`
    const response = await fetch(fixture.url, { method: 'POST', body })
    expect(await response.text()).toBe(`[${result('1')},${result('2')}]`)
    expect(requests).toEqual([body])
  })

  test('get their own answers whatever the order of the response', async () => {
    const { url } = nodeUrl((body) => incoming(`[${idsIn(body).toReversed().map(result).join()}]`))
    expect(await send(url, ['1', '2', '3'])).toEqual(['1', '2', '3'].map(result))
  })

  test('are sent in groups no larger than the URL accepts', async () => {
    const { url, requests } = nodeUrl(honest, 2)
    expect(await send(url, ['1', '2', '3'])).toEqual(['1', '2', '3'].map(result))
    expect(requests).toEqual([`[${call('1')},${call('2')}]`, call('3')])
  })

  test('are sent singly when the URL accepts no batches', async () => {
    const { url, requests } = nodeUrl(honest, 1)
    expect(await send(url, ['1', '2'])).toEqual(['1', '2'].map(result))
    expect(requests).toEqual([call('1'), call('2')])
  })

  test('with the same id go in separate requests, since ids match the answers', async () => {
    const { url, requests } = nodeUrl(honest)
    expect(await send(url, ['1', '1', '2'])).toEqual(['1', '1', '2'].map(result))
    expect(requests).toEqual([`[${call('1')},${call('2')}]`, call('1')])
  })

  test('without an answer under their id get an unmatched one, or fail when none is left', async () => {
    const anonymous = '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}'
    const { url } = nodeUrl(() => incoming(`[${result('1')},${anonymous}]`))
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
      const { url, requests } = nodeUrl((body) => (body.startsWith('[') ? refusal : single(body)))
      expect(await send(url, ['1', '2', '3', '4'])).toEqual(['1', '2', '3', '4'].map(result))
      expect([requests.length, url.smallerBatch?.items]).toEqual([5, 2])
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
      const { url, requests } = nodeUrl(() => incoming(body))
      expect(await send(url, ['1', '2'])).toEqual([body, body])
      expect([requests.length, url.smallerBatch]).toEqual([1, undefined])
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
    const { url, requests } = nodeUrl((body) => (body.startsWith('[') ? refusal : single(body)))
    expect(await send(url, ['1', '2', '3', '4'])).toEqual(['1', '2', '3', '4'].map(result))
    expect([requests.length, url.smallerBatch?.items]).toEqual([5, 2])
  })

  test('that geth refuses together, with a one-error list under the first id, are sent singly', async () => {
    const refusal = incoming(`[${oneError(-32600, 'batch too large', '1')}]`)
    const { url, requests } = nodeUrl((body) => (body.startsWith('[') ? refusal : single(body)))
    expect(await send(url, ['1', '2', '3', '4'])).toEqual(['1', '2', '3', '4'].map(result))
    expect([requests.length, url.smallerBatch?.items]).toEqual([5, 2])
  })

  test.each([
    ['a rate limit that speaks of a batch', 429, -32005, 'batch rate limit'],
    ['an error of the gateway', 500, -32000, 'no healthy upstream'],
    ['a missing key', 401, -32600, 'Must be authenticated!'],
  ])('all get %s', async (_, status, code, message) => {
    const error = oneError(code, message)
    const { url, requests } = nodeUrl(() => incoming(error, status))
    expect(await send(url, ['1', '2'])).toEqual([error, error])
    expect([requests.length, url.smallerBatch]).toEqual([1, undefined])
  })

  test('sent alone get an error about batches as their answer', async () => {
    const error = oneError(-32000, 'unknown batch', '1')
    const { url, requests } = nodeUrl(() => incoming(error))
    expect(await send(url, ['1'])).toEqual([error])
    expect([requests.length, url.smallerBatch]).toEqual([1, undefined])
  })

  test('are joined again ten minutes after a node refused a batch of that size', async () => {
    let isRefusing = true
    const { url, requests } = nodeUrl((body) =>
      isRefusing && body.startsWith('[') ? incoming('no', 400) : honest(body),
    )
    await send(url, ['1', '2'])
    isRefusing = false
    await send(url, ['1', '2'], new Cancellation(), 10 * 60_000 - 1)
    expect(requests.slice(3)).toEqual([call('1'), call('2')])
    await send(url, ['1', '2'], new Cancellation(), 10 * 60_000)
    expect(requests.slice(5)).toEqual([`[${call('1')},${call('2')}]`])
  })

  test("share the node's single error, such as a rate limit", async () => {
    const limit = '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"slow down"}}'
    const { url, requests } = nodeUrl(() => incoming(limit))
    expect(await send(url, ['1', '2', '3'])).toEqual([limit, limit, limit])
    expect([requests.length, url.smallerBatch]).toEqual([1, undefined])
  })

  test.each([403, 429, 500, 503])("share the HTTP %i of the node's answer", async (status) => {
    const { url, requests } = nodeUrl(() => incoming('wait', status))
    expect(await send(url, ['1', '2'])).toEqual(['wait', 'wait'])
    expect(requests).toHaveLength(1)
  })

  test('fail together with their request', async () => {
    const error = new TransportError('reset', 'connection lost')
    const { url } = nodeUrl(() => {
      throw error
    })
    expect(await send(url, ['1', '2'])).toEqual([error, error])
  })

  test('are aborted once the last of their calls is aborted', async () => {
    const { url, signals } = nodeUrl(honest)
    const joined = new JoinedRequests(2, new ByteBudget(1e9))
    const waits = [new Cancellation(), new Cancellation()]
    const request = { verb: 'POST', path: '', headers: [], body: Buffer.from(call('1')) }
    const answers = waits.map((wait, at) =>
      joined.sender(Buffer.from(String(at)), 0)(url, request, wait),
    )
    joined.flush()
    waits[0]?.abort()
    expect(signals[0]?.aborted).toBe(false)
    waits[1]?.abort()
    expect(signals[0]?.aborted).toBe(true)
    await Promise.allSettled(answers)
  })

  test('that arrive after the batch was sent are sent at once', async () => {
    const { url, requests } = nodeUrl(honest)
    const joined = new JoinedRequests(1, new ByteBudget(1e9))
    joined.flush()
    const request = { verb: 'POST', path: '', headers: [], body: Buffer.from(call('7')) }
    await joined.sender(Buffer.from('7'), 0)(url, request, new Cancellation())
    expect(requests).toEqual([call('7')])
  })
})
