// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { EchoServer } from '../grpc/echo-server.ts'
import { rawCall } from '../grpc/raw-call.ts'
import { MirrorNode } from '../rest/mirror-node.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'
import { serveRouter, type ServedRouter } from './served-router.ts'

const names = ['a', 'b', 'c']
const specOf = (path: string) => [new URL(path, import.meta.url).pathname]
const balance = { method: 'eth_getBalance', params: [`0x${'1'.repeat(40)}`, 'latest'] }

/** Sends a call, with or without a session, and returns the upstream that answers it. */
type Ask = (session: string | null) => Promise<string | null>

/** A call without a session skips the cache, so that an upstream answers it. */
function withSession(session: string | null): Record<string, string> {
  return session === null ? { 'RPC-Force-Cache-Refresh': 'yes' } : { 'RPC-Stickiness': session }
}

async function nodeOf(
  router: ServedRouter,
  path: string,
  init: RequestInit,
  session: string | null,
) {
  const headers = { 'content-type': 'application/json', ...withSession(session) }
  const response = await fetch(router.url + path, { ...init, headers })
  await response.arrayBuffer()
  return response.headers.get('rpc-provider-address')
}

const mirrors = (stack: AsyncDisposableStack) =>
  Promise.all(
    names.map(async (name) => {
      const answer = { jsonrpc: '2.0', id: -1, result: { ok: true } }
      const node = new MirrorNode(name, (_, response) => {
        response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
      })
      return stack.use(await node.start())
    }),
  )
const unverified = Object.fromEntries(names.map((name) => [name, { 'skip-verifications': ['*'] }]))

const interfaces: Readonly<Record<string, (stack: AsyncDisposableStack) => Promise<Ask>>> = {
  async 'JSON-RPC, singly and in a batch'(stack) {
    const chain = createChainModel()
    const primaries = await Promise.all(
      names.map(async (name) => stack.use(await startSimNode({ chain, name }))),
    )
    const router = stack.use(await serveRouter({ primaries }))
    let requests = 0
    return (session) => {
      const call = { jsonrpc: '2.0', id: 1, ...balance }
      const body = JSON.stringify(++requests % 2 ? call : [call, { ...call, id: 2 }])
      return nodeOf(router, '/', { method: 'POST', body }, session)
    }
  },
  async REST(stack) {
    const primaries = await mirrors(stack)
    const specSources = specOf('../rest/mirror.yml')
    const chain = { chainId: 'MIRROR', apiInterface: 'rest', specSources } as const
    const router = stack.use(await serveRouter({ ...chain, primaries }))
    return (session) => nodeOf(router, '/things/5', {}, session)
  },
  async 'Tendermint RPC in its URI style'(stack) {
    const primaries = await mirrors(stack)
    const chain = { chainId: 'HUBCHAIN', apiInterface: 'tendermintrpc' } as const
    const router = stack.use(await serveRouter({ ...chain, primaries, urlSettings: unverified }))
    return (session) => nodeOf(router, '/abci_info', {}, session)
  },
  async gRPC(stack) {
    const nodes = await Promise.all(
      names.map(async () => stack.use(await new EchoServer().start())),
    )
    const router = stack.use(
      await serveRouter({
        ...{ chainId: 'ECHO', apiInterface: 'grpc', specSources: specOf('../grpc/echo.yml') },
        primaries: nodes.map(({ port }, at) => ({
          name: names[at] ?? '',
          url: `grpc://127.0.0.1:${port}`,
        })),
      }),
    )
    return async (session) => {
      const headers = Object.entries(withSession(session)).flatMap(([name, value]) => [
        name.toLowerCase(),
        value,
      ])
      const { head } = await rawCall(router.port, '/test.Echo/Unary', headers)
      return head[head.indexOf('rpc-provider-address') + 1] ?? null
    }
  },
}

test.each(Object.entries(interfaces))('a session over %s stays on one node', async (_, start) => {
  await using stack = new AsyncDisposableStack()
  const ask = await start(stack)
  const nodesOf = async (session: string | null) => {
    const nodes: string[] = []
    for (let each = 0; each < 6; each++) nodes.push(...((await ask(session)) ?? 'none').split(','))
    return new Set(nodes)
  }
  expect(await nodesOf(null)).toEqual(new Set(names))
  const [one, other] = [await nodesOf('one'), await nodesOf('other')]
  expect([one.size, other.size, [...one].join()]).toEqual([1, 1, expect.stringMatching(/^[abc]$/)])
})

test('all calls of a WebSocket belong to the session named in its upgrade request', async () => {
  await using stack = new AsyncDisposableStack()
  const chain = createChainModel()
  const primaries = await Promise.all(
    names.map(async (name) => stack.use(await startSimNode({ chain, name }))),
  )
  const router = stack.use(await serveRouter({ primaries }))
  const calls = () => primaries.map((node) => node.calls.count('eth_getBalance'))
  const socket = new WebSocket(router.socketUrl, { headers: withSession('s') })
  await once(socket, 'open')
  for (let id = 1; id <= 6; id++) {
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...balance }))
    await once(socket, 'message')
  }
  expect(calls().filter((count) => count > 0)).toEqual([6])
  socket.close()
  const at = calls().indexOf(6)
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...balance })
  expect(await nodeOf(router, '/', { method: 'POST', body }, 's')).toBe(names[at])
})
