// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Metadata } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { served } from '../grpc/served-nodes.ts'
import { answerWith, type Manner } from '../grpc/raw-node.ts'
import { MirrorNode, type ReceivedRequest } from '../rest/mirror-node.ts'
import { serveRouter } from '../served/served-router.ts'

const both = {
  'rpc-cross-validation-max-participants': '3',
  'rpc-cross-validation-agreement-threshold': '2',
}

/** Three HTTP nodes that answer with these bodies, in list order. */
async function behind(
  chainId: string,
  apiInterface: 'jsonrpc' | 'rest' | 'tendermintrpc',
  bodies: readonly ((request: ReceivedRequest) => string)[],
  settings: Readonly<Record<string, unknown>> = {},
) {
  const stack = new AsyncDisposableStack()
  const nodes: MirrorNode[] = []
  for (const [at, bodyOf] of bodies.entries()) {
    const answer: MirrorNode['answer'] = (request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(bodyOf(request))
    }
    nodes.push(stack.use(await new MirrorNode(`node-${at}`, answer).start()))
  }
  const unverified = nodes.map(({ name }) => [name, { 'skip-verifications': ['*'] }])
  const options = { chainId, apiInterface, primaries: nodes, settings }
  const urlSettings = Object.fromEntries(unverified) as Record<string, Record<string, unknown>>
  const router = stack.use(await serveRouter({ ...options, urlSettings }))
  return { nodes, router, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

async function seen(response: Response) {
  const names = (name: string) => response.headers.get(`rpc-cross-validation-${name}`)
  const text = await response.text()
  return { status: response.status, text, said: names('status'), why: names('failure-reason') }
}

test('REST: documents that differ only in key order agree', async () => {
  await using chain = await behind('HUBCHAIN', 'rest', [
    () => '{"supply":[{"denom":"x","amount":"7"}],"pagination":null}',
    () => '{"supply":[{"denom":"x","amount":"8"}],"pagination":null}',
    () => '{ "pagination": null, "supply": [{ "amount": "7", "denom": "x" }] }',
  ])
  const { router, nodes } = chain
  const url = `${router.url}/sdk/bank/v1beta1/supply`
  const agreed = await seen(await fetch(url, { headers: both }))
  expect([agreed.status, agreed.said, agreed.text.includes('"7"')]).toEqual([200, 'success', true])
  const all = { ...both, 'rpc-cross-validation-agreement-threshold': '3' }
  const failed = await seen(await fetch(url, { headers: all }))
  expect(failed).toMatchObject({ status: 502, said: 'failed', why: 'no-agreement' })
  expect(JSON.parse(failed.text)).toMatchObject({ error: { reason: 'no-agreement' } })
  expect(
    (await seen(await fetch(url, { headers: { ...both, 'rpc-min-block': 'x' } }))).status,
  ).toBe(400)
  const sent = await fetch(`${router.url}/sdk/tx/v1beta1/txs`, {
    method: 'POST',
    body: '{}',
    headers: both,
  })
  expect((await seen(sent)).status).toBe(400)
  expect(nodes.flatMap(({ requests }) => requests).filter(({ verb }) => verb === 'POST')).toEqual(
    [],
  )
})

test.each(['URI', 'POST'])('Tendermint RPC, by %s', async (style) => {
  const of = (hash: string) => (request: ReceivedRequest) => {
    const { id } =
      request.verb === 'POST' ? (JSON.parse(request.body.toString()) as { id: number }) : { id: -1 }
    return JSON.stringify({ jsonrpc: '2.0', id, result: { response: { value: hash } } })
  }
  await using chain = await behind('HUBCHAIN', 'tendermintrpc', [of('a'), of('b'), of('a')], {
    'skip-websocket-verification': true,
  })
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 5,
    method: 'abci_query',
    params: { path: '"x"' },
  })
  const response =
    style === 'URI'
      ? await fetch(`${chain.router.url}/abci_query?path="x"`, { headers: both })
      : await fetch(chain.router.url, { method: 'POST', body, headers: both })
  const { status, said, text } = await seen(response)
  expect([status, said]).toEqual([200, 'success'])
  expect(text).toContain('"value":"a"')
})

test('gRPC: messages are compared byte by byte, and a failure has a status and a reason', async () => {
  const says =
    (text: string): Manner =>
    (stream) => {
      answerWith(stream, [text])
    }
  await using chain = await served([says('liar'), says('same'), says('same')])
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(both)) metadata.set(name, value)
  const agreed = await chain.client.run('Unary', ['x'], metadata)
  expect(agreed).toMatchObject({ messages: ['same'], code: 0 })
  metadata.set('rpc-cross-validation-agreement-threshold', '3')
  expect((await chain.client.run('Unary', ['x'], metadata)).code).toBe(14)
  const stream = await chain.client.run('Both', ['x'], metadata)
  expect([stream.code, stream.details]).toEqual([3, expect.stringContaining('may stream')])
})

test('streamed answers are compared as a whole', async () => {
  const filler = 'ab'.repeat(2 * 1024 * 1024)
  const of = (last: string) => (request: ReceivedRequest) => {
    const { id } = JSON.parse(request.body.toString()) as { id: number }
    return JSON.stringify({ jsonrpc: '2.0', id, result: `0x${filler}${last}` })
  }
  await using chain = await behind('ETH1', 'jsonrpc', [of('01'), of('02'), of('02')])
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 'mine',
    method: 'eth_getCode',
    params: ['0xaa', '0x1'],
  })
  const { status, said, text } = await seen(
    await fetch(chain.router.url, { method: 'POST', body, headers: both }),
  )
  expect([status, said]).toEqual([200, 'success'])
  const { id, result } = JSON.parse(text) as { id: string; result: string }
  expect([id, result === `0x${filler}02`]).toEqual(['mine', true])
})

test('the upgrade headers of a WebSocket apply to each of its calls', async () => {
  const of = (result: string) => (request: ReceivedRequest) => {
    const { id } = JSON.parse(request.body.toString()) as { id: number }
    return JSON.stringify({ jsonrpc: '2.0', id, result })
  }
  await using chain = await behind('ETH1', 'jsonrpc', [of('0x2'), of('0x1'), of('0x1')], {
    'skip-websocket-verification': true,
  })
  const socket = new WebSocket(chain.router.socketUrl, { headers: both })
  const answered = new Promise<string>((resolve) => {
    socket.once('message', (data) => {
      resolve((data as Buffer).toString())
    })
  })
  socket.once('open', () => {
    socket.send('{"jsonrpc":"2.0","id":9,"method":"eth_getBalance","params":["0xaa","0x1"]}')
  })
  expect(JSON.parse(await answered)).toMatchObject({ id: 9, result: '0x1' })
  socket.terminate()
})
