// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { once } from 'node:events'
import { serveRouter } from '../served/served-router.ts'
import { decoderTaking } from './decoders.ts'
import { resultOf, startDecodingNode } from './decoding-node.ts'

const [mine, theirs] = ['11', '22'].map((byte) => `0x${byte.repeat(20)}`) as [string, string]
const [params, others] = [`["${mine}","0x10"]`, `["${theirs}","0x10"]`] as const
const balance = '"jsonrpc":"2.0","id":1,"method":"eth_getBalance"'
const plain = `{${balance},"params":${params}}`
const rebuilt = `{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":${params}}`
const call = { method: 'eth_getBalance', params: [mine, '0x10'] }

/** Requests of a client, and their form at the node. */
const requests: readonly (readonly [name: string, sent: string, received: string])[] = [
  ['nothing else', plain, plain],
  [
    'another order and white space',
    `{ "params" :\n ${params},"id":1, "method":"eth_getBalance","jsonrpc":"2.0" }`,
    `{ "params" :\n ${params},"id":1, "method":"eth_getBalance","jsonrpc":"2.0" }`,
  ],
  ['Params', `{${balance},"params":${params},"Params":${others}}`, rebuilt],
  ['Params before', `{${balance},"Params":${others},"params":${params}}`, rebuilt],
  ['PARAMS', `{${balance},"params":${params},"PARAMS":${others}}`, rebuilt],
  [
    'params with an escape',
    String.raw`{${balance},"params":${params},"\u0070arams":${others}}`,
    rebuilt,
  ],
  [
    'Params with an escape',
    String.raw`{${balance},"params":${params},"\u0050arams":${others}}`,
    rebuilt,
  ],
  ['params with a long s', `{${balance},"params":${params},"param\u017f":${others}}`, rebuilt],
  [
    'the same as an escape',
    String.raw`{${balance},"params":${params},"param\u017f":${others}}`,
    rebuilt,
  ],
  ['Method', `{${balance},"params":${params},"Method":"eth_call"}`, rebuilt],
  [
    'method with an escape',
    String.raw`{${balance},"params":${params},"\u006dethod":"eth_call"}`,
    rebuilt,
  ],
  ['Id', `{${balance},"params":${params},"Id":2}`, rebuilt],
  ['ID', `{"ID":2,${balance},"params":${params}}`, rebuilt],
  ['JSONRPC', `{${balance},"params":${params},"JSONRPC":"1.0"}`, rebuilt],
  ['an unknown member', `{${balance},"params":${params},"x":{"params":${others}}}`, rebuilt],
  [
    'a property of every object',
    `{${balance},"params":${params},"__proto__":{"params":[]}}`,
    rebuilt,
  ],
  ['an empty name', `{${balance},"params":${params},"":${others}}`, rebuilt],
  [
    'values in other notations',
    `{"jsonrpc":"2.0","id":1,"method":"eth\\u005fgetBalance","params":[ "${mine}", "0x10" ],"Params":1}`,
    `{"jsonrpc":"2.0","id":1,"method":"eth\\u005fgetBalance","params":[ "${mine}", "0x10" ]}`,
  ],
]

/** A decoder like Go's, which is the worst case for a router that matches names exactly. */
const likeGo = decoderTaking('last', true)

async function served() {
  const stack = new AsyncDisposableStack()
  const node = stack.use(await startDecodingNode('a', likeGo))
  const router = stack.use(await serveRouter({ primaries: [node] }))
  const post = async (body: string, headers: Readonly<Record<string, string>> = {}) => {
    const all = { 'content-type': 'application/json', ...headers }
    return (await fetch(router.url, { method: 'POST', headers: all, body })).json()
  }
  return { node, router, post, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const answer = { jsonrpc: '2.0', id: 1, result: resultOf(call) }
const other = `{"jsonrpc":"2.0","id":9,"method":"eth_call","params":[{"to":"${mine}"},"0x10"]}`

describe('a node gets only the members that the router read', () => {
  test.each(requests)('%s', async (_, sent, received) => {
    await using own = await served()
    expect(await own.post(sent)).toEqual(answer)
    expect(own.node.received).toEqual([received])
    // The cache must answer the next honest caller correctly.
    expect(await own.post(plain)).toEqual(answer)
    expect(own.node.received).toHaveLength(1)
  })

  test.each(requests)('%s, as a batch of one', async (_, sent, received) => {
    await using own = await served()
    expect(await own.post(`[${sent}]`)).toEqual([answer])
    expect(own.node.received).toEqual([received])
    expect(await own.post(plain)).toEqual(answer)
  })

  test.each(requests)('%s, in a batch with another item', async (_, sent, received) => {
    await using own = await served()
    expect(await own.post(`[${other},${sent}]`)).toMatchObject([{ id: 9 }, answer])
    expect(own.node.received).toEqual([`[${other},${received}]`])
    expect(await own.post(plain)).toEqual(answer)
  })

  test.each(requests)('%s, over a WebSocket', async (_, sent, received) => {
    await using own = await served()
    const socket = new WebSocket(own.router.socketUrl)
    await once(socket, 'open')
    socket.send(sent)
    const [message] = (await once(socket, 'message')) as [Buffer]
    socket.terminate()
    expect(JSON.parse(message.toString())).toEqual(answer)
    expect(own.node.received).toEqual([received])
    expect(await own.post(plain)).toEqual(answer)
  })

  test('a refresh does not replace a cached answer with the answer to another call', async () => {
    await using own = await served()
    await own.post(plain)
    const attack = `{${balance},"params":${params},"Params":${others}}`
    expect(await own.post(attack, { 'rpc-force-cache-refresh': '1' })).toEqual(answer)
    expect(await own.post(plain)).toEqual(answer)
  })

  test('every node gets transactions and filters in this form', async () => {
    await using stack = new AsyncDisposableStack()
    const nodes = await Promise.all(['a', 'b'].map((name) => startDecodingNode(name, likeGo)))
    for (const node of nodes) stack.use(node)
    const router = stack.use(await serveRouter({ primaries: nodes }))
    const post = async (method: string, own: string) => {
      const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${own},"Params":[]}`
      const headers = { 'content-type': 'application/json' }
      await (await fetch(router.url, { method: 'POST', headers, body })).text()
      return `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${own}}`
    }
    const sent = await post('eth_sendRawTransaction', '["0x02"]')
    await expect.poll(() => nodes.map(({ received }) => received)).toEqual([[sent], [sent]])
    const filter = await post('eth_newFilter', `[{"address":"${mine}"}]`)
    expect(nodes.flatMap(({ received }) => received)).toContain(filter)
  })
})

test.each([
  ['jsonrpc', `{${balance},"params":${params},"jsonrpc":"2.0"}`],
  ['method', `{${balance},"params":${params},"method":"eth_call"}`],
  ['params', `{${balance},"params":${params},"params":${others}}`],
  ['id', `{${balance},"params":${params},"id":2}`],
])('a second "%s" is refused, and reaches no node', async (name, sent) => {
  await using own = await served()
  const error = { code: -32600, message: `"${name}" is given twice` }
  expect(await own.post(sent)).toMatchObject({ id: 1, error })
  expect(await own.post(`[${sent}]`)).toMatchObject([{ id: 1, error }])
  expect(own.node.received).toEqual([])
})

const filter = `"fromBlock":"0x10","toBlock":"0x20"`
test.each([
  ['eth_getBalance', `["${mine}",{"blockNumber":"0x10","BlockNumber":"0x20"}]`],
  ['eth_getBalance', `["${mine}",{"blockNumber":"0x10","blockNumber":"0x20"}]`],
  ['eth_getBalance', `["${mine}",{"BlockNumber":"0x10"}]`],
  ['eth_getLogs', `[{${filter},"FromBlock":"0x20"}]`],
  ['eth_getLogs', `[{${filter},"address":"${mine}","toBlock":"0x30"}]`],
  ['eth_getLogs', String.raw`[{${filter},"address":"${mine}","\u0074oBlock":"0x30"}]`],
  ['eth_getLogs', `[{${filter},"address":"${mine}","toBloc\u212a":"0x30"}]`],
  ['eth_getLogs', `[{${filter},"address":"${mine}","Address":"${theirs}"}]`],
])('%s %s reaches the node as it is, and what it answers is not judged', async (method, own) => {
  await using all = await served()
  const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${own}}`
  const [reading] = await likeGo(body)
  expect(await all.post(body)).toEqual({ jsonrpc: '2.0', id: 1, result: resultOf(reading!) })
  expect(all.node.received).toEqual([body])
})

test('a batch with ids that a node may confuse gets each answer under its id', async () => {
  await using own = await served()
  const item = (id: string, address: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"eth_getBalance","params":["${address}","0x10"]}`
  const results = [mine, theirs].map((each) => resultOf({ ...call, params: [each, '0x10'] }))
  const batch = `[${item('-0', mine)},${item('0', theirs)}]`
  expect(await own.post(batch)).toMatchObject(results.map((result) => ({ result })))
  expect(await own.post(`[${item('0', mine)}]`)).toMatchObject([{ result: results[0] }])
})
