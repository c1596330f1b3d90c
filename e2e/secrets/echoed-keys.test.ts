// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { startSocketNode } from '../../proxy/upstream/testing/socket-node.ts'
import { RawNode } from '../grpc/raw-node.ts'
import { rawCall } from '../grpc/raw-call.ts'
import { MirrorNode, type ReceivedRequest } from '../rest/mirror-node.ts'
import { serveRouter } from '../served/served-router.ts'
import { routerConfig } from '../processes/router-config.ts'
import { startProgram } from '../program/program.ts'
import { createWorkspace } from '../program/workspace.ts'

/*
 * Gateways repeat requests, with the keys in the URL, in pages, errors and headers. No client of
 * the router may get a key.
 */

const environment = { K1: 'SEKRET0NE', K2: 'p/q+r=TWO', K3: 'hdr-THREE' }
const base = '/${K1}/v1?apikey=${K2}'
const authHeaders = { 'auth-config': { 'auth-headers': { 'x-key': 'Bearer ${K3}' } } }
const anyKey = /SEKRET0NE|q[^a-z]{1,6}r|TWO|THREE/i

const seen = ({ target, headers }: Pick<ReceivedRequest, 'target' | 'headers'>) =>
  `${target} ${String(headers['x-key'])}`

function page(request: ReceivedRequest, response: ServerResponse, status: number, more = ''): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
  response.end(`<pre>Cannot ${request.verb} ${seen(request)}</pre>${more}`)
}

/** The answers of a gateway, by the path below its key. */
function gateway(request: ReceivedRequest, response: ServerResponse): void {
  const json = { 'content-type': 'application/json' }
  if (request.target.includes('/json'))
    response.writeHead(500, json).end(JSON.stringify({ message: `no route ${seen(request)}` }))
  else if (request.target.includes('/moved'))
    response.writeHead(302, { location: `/login?next=${request.target}` }).end(seen(request))
  else if (request.target.includes('/page')) page(request, response, 200)
  // Answers the router's own requests.
  else if (/^\/SEKRET0NE\/v1\/?\?/.test(request.target))
    response.writeHead(200, json).end('{"chain_id":1,"ledger_version":"9","block_height":"5"}')
  else if (request.target.includes('/accounts'))
    response
      .writeHead(200, json)
      .end(JSON.stringify({ sequence_number: '0', authentication_key: `0x${'1'.repeat(64)}` }))
  else page(request, response, 404)
}

/** Answers the router's own JSON-RPC requests without repeating keys. */
function wellBehaved({ body }: ReceivedRequest, response: ServerResponse): void {
  const { id } = JSON.parse(body.toString()) as { id: unknown }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
}

test('over REST', async () => {
  await using node = await new MirrorNode('node', gateway).start()
  await using router = await serveRouter({
    chainId: 'MOVECHAIN',
    apiInterface: 'rest',
    primaries: [{ name: 'node', url: node.url + base }],
    urlSettings: { node: { 'skip-verifications': ['*'], ...authHeaders } },
    environment,
  })
  const statuses: number[] = []
  for (const path of [
    '/foo/bar',
    '/json',
    '/moved',
    '/page',

    '/accounts/0x1/json',
    '/accounts/0x1',
  ]) {
    const response = await fetch(router.url + path, { redirect: 'manual' })
    const body = await response.text()
    expect([path, JSON.stringify([...response.headers]).match(anyKey), body.match(anyKey)]).toEqual(
      [path, null, null],
    )
    const isResult = path === '/accounts/0x1'
    expect(body.includes('***'), path).toBe(!isResult)
    statuses.push(response.status)
  }
  expect(statuses).toEqual([404, 500, 302, 200, 500, 200])
  // The node must have received the keys, or the test would prove nothing.
  expect(seen(node.requests.at(-1) as ReceivedRequest)).toBe(
    '/SEKRET0NE/v1/accounts/0x1?apikey=p/q+r=TWO Bearer hdr-THREE',
  )
})

test('over JSON-RPC, in errors and in pages', async () => {
  let answer = wellBehaved
  await using node = await new MirrorNode('node', (request, response) => {
    answer(request, response)
  }).start()
  await using router = await serveRouter({
    primaries: [{ name: 'node', url: node.url + base }],
    urlSettings: { node: { 'skip-verifications': ['*'], ...authHeaders } },
    settings: { 'skip-websocket-verification': true },
    environment,
  })
  answer = gateway
  const ask = async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_gasPrice', params: [] })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(router.url, { method: 'POST', body, headers })
    return response.text()
  }
  expect(await ask()).not.toMatch(anyKey)
  for (const status of [200, 400, 500]) {
    answer = (request, response) => {
      const error = { code: -32_000, message: `POST ${seen(request)}: refused` }
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error }))
    }
    expect(await ask()).toBe(
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"POST /*********/v1?apikey=********* ****************: refused"}}',
    )
  }
})

test('errors retain text that is no key, such as words of a URL and advice about headers', async () => {
  const error = {
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32_000, message: 'jsonrpc: POST /mainnet/jsonrpc/***?network=cosmos: no' },
  }
  let answer = wellBehaved
  await using node = await new MirrorNode('node', (request, response) => {
    answer(request, response)
  }).start()
  await using router = await serveRouter({
    primaries: [{ name: 'node', url: `${node.url}/mainnet/\${NET}/\${K1}?network=cosmos` }],
    urlSettings: {
      node: {
        'skip-verifications': ['*'],
        'auth-config': { 'auth-headers': { accept: 'application/json', 'x-client': 'message' } },
      },
    },
    settings: { 'skip-websocket-verification': true },
    environment: { ...environment, NET: 'jsonrpc' },
  })
  answer = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(error).replace('***', 'SEKRET0NE'))
  }
  const response = await fetch(router.url, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_gasPrice', params: [] }),
    headers: { 'content-type': 'application/json' },
  })
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  expect(await response.text()).toBe(JSON.stringify(error).replace('***', '*********'))
})

test('over gRPC, in messages and details', async () => {
  await using node = await new RawNode((stream, { ':path': path, 'x-key': key }) => {
    const text = `unknown service ${path} ${String(key)}`
    stream.respond(
      {
        'content-type': 'application/grpc',
        'x-asked': text,
        'grpc-status': '12',
        'grpc-message': text,
        'grpc-status-details-bin': Buffer.from(text).toString('base64'),
      },
      { endStream: true },
    )
  }).start()
  await using router = await serveRouter({
    chainId: 'ECHO',
    apiInterface: 'grpc',
    specSources: [new URL('../grpc/echo.yml', import.meta.url).pathname],
    primaries: [{ name: 'node', url: `grpc://127.0.0.1:${node.port}/\${K1}` }],
    urlSettings: { node: { 'skip-verifications': ['*'], ...authHeaders } },
    environment,
  })
  const { head, trailers } = await rawCall(router.port, '/cosmos.bank.v1beta1.Query/Balance')
  const all = [...head, ...trailers]
  expect(all.join(' ')).not.toMatch(anyKey)
  const masked = 'unknown service /*********/cosmos.bank.v1beta1.Query/Balance ****************'
  expect(all).toContain(masked)
  const details = all[all.indexOf('grpc-status-details-bin') + 1] ?? ''
  expect(Buffer.from(details, 'base64').toString()).toBe(masked)
})

test('over WebSocket, in answers and refused subscriptions', async () => {
  await using node = await startSocketNode({
    answer: ({ id }, socket) => {
      const message = `no access with ${node.upgrades[0]?.url} ${String(node.upgrades[0]?.headers['x-key'])}`
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message } }))
    },
  })
  await using router = await serveRouter({
    primaries: [{ name: 'node', url: node.url + base }],
    urlSettings: { node: { 'skip-verifications': ['*'], ...authHeaders } },
    environment,
  })
  const client = new WebSocket(router.socketUrl)
  await new Promise((resolve) => client.once('open', resolve))
  for (const [method, params] of [
    ['eth_gasPrice', []],
    ['eth_subscribe', ['newPendingTransactions']],
  ]) {
    const answer = new Promise((resolve) => client.once('message', resolve))
    client.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    expect(String(await answer)).toContain(
      'no access with /*********/v1?apikey=********* ****************',
    )
  }
  client.terminate()
})

test('over WebSocket, in the error that moves a subscription to another node', async () => {
  await using ending = await startSocketNode({
    answer: ({ id, method }, socket) => {
      if (method !== 'eth_subscribe') return socket.send(`{"id":${id},"result":"0x1"}`)
      const subscription = '0xSEKRET0NE'
      const error = { code: 1, message: `ended ${ending.upgrades[0]?.url}` }
      const event = { jsonrpc: '2.0', method: 'eth_subscription', params: { subscription, error } }
      socket.send(JSON.stringify({ id, result: subscription }))
      socket.send(JSON.stringify(event))
    },
  })
  await using telling = await startSocketNode({
    answer: ({ id, params: request }, socket) => {
      // The router's own subscription to heads.
      const isOwn = JSON.stringify(request).includes('providers_ownTopic')
      socket.send(`{"id":${id},"result":"${isOwn ? '0x1' : '0x2'}"}`)
      const params = { subscription: '0x1', result: `0xabc from ${telling.upgrades[0]?.url}` }
      if (isOwn) socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params }))
    },
  })
  await using router = await serveRouter({
    primaries: [{ name: 'ending', url: ending.url + base }],
    backups: [{ name: 'telling', url: telling.url + base }],
    urlSettings: {
      ending: { 'skip-verifications': ['*'] },
      telling: { 'skip-verifications': ['*'] },
    },
    environment,
  })
  const client = new WebSocket(router.socketUrl)
  const received: string[] = []
  client.on('message', (data: Buffer) => received.push(data.toString()))
  await new Promise((resolve) => client.once('open', resolve))
  const params = ['providers_ownTopic']
  client.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params }))
  await expect.poll(() => received.length).toBe(2)
  const subscription = (JSON.parse(received[0] as string) as { result: string }).result
  expect(JSON.parse(received[1] as string)).toEqual({
    jsonrpc: '2.0',
    method: 'eth_subscription',
    params: { subscription, result: '0xabc from /*********/v1?apikey=*********' },
  })
  expect(received.join(' ')).not.toMatch(anyKey)
  client.terminate()
})

test('on the pages for operators, which also hide paths of clients outside the spec', async () => {
  await using node = await new MirrorNode('node', gateway).start()
  await using workspace = await createWorkspace()
  const urls = [{ url: node.url + base, 'skip-verifications': ['*'], ...authHeaders }]
  const nodes = [{ name: 'node', urls }]
  const config = routerConfig([{ chainId: 'MOVECHAIN', apiInterface: 'rest', nodes }])
  await using program = await startProgram(workspace, config, { env: environment })
  // The node repeats its keys in each answer.
  const guids: string[] = []
  for (const path of ['/json', '/page', '/moved', '/accounts/0x1/json', '/v2/CLIENTS-own']) {
    const answer = await fetch(`${program.urls[0]}${path}`, { redirect: 'manual' })
    await answer.arrayBuffer()
    guids.push(answer.headers.get('rpc-guid') ?? '')
  }
  expect(seen(node.requests.at(-1) as ReceivedRequest)).toContain(
    'CLIENTS-own?apikey=p/q+r=TWO Bearer hdr-THREE',
  )
  const explained = guids.map((guid) => `/explain/${guid}`)
  const lists = ['/explain', '/explain?failed', '/explain?slow', '/facts', '/events']
  for (const path of [...explained, ...lists].flatMap((each) => [
    each,
    `${each}${each.includes('?') ? '&' : '?'}format=text`,
  ])) {
    const page = await fetch(program.adminUrl + path)
    // Reads only the first event.
    const reader = page.body?.getReader()
    let text = ''
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      text += Buffer.from(part.value).toString()
      if (path.startsWith('/events') && text.endsWith('\n\n')) break
    }
    await reader?.cancel()
    expect([path, page.status, text.match(anyKey), text.match(/clients-own/i)]).toEqual([
      ...[path, 200, null, null],
    ])
    expect(text).toMatch(path.startsWith('/explain?') ? /no call|"calls"|node/ : /node|MOVECHAIN/)
  }
})
