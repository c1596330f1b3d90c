// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { rawCall, valuesOf } from '../grpc/raw-call.ts'
import { answerWith } from '../grpc/raw-node.ts'
import { served } from '../grpc/served-nodes.ts'
import { MirrorNode } from '../rest/mirror-node.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'
import { serveRouter, uncached, type ServedRouterOptions } from './served-router.ts'

/* `allowed-methods` and `denied-methods`, of endpoints and of upstreams. */

let stack = new AsyncDisposableStack()
afterEach(async () => {
  await stack.disposeAsync()
  stack = new AsyncDisposableStack()
})

const code = -32_601
const denied = { code, data: { reason: 'method-denied' } }

interface Answer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** Two nodes that have every method, behind a router with WebSockets. */
async function route(options: Omit<ServedRouterOptions, 'primaries'> = {}, names = ['a', 'b']) {
  const chain = createChainModel()
  const named = Object.fromEntries(
    ['evm_mine', 'anvil_mine', 'debug_setHead', 'admin_peers', 'foo_bar'].map((name) => [
      name,
      () => 'done',
    ]),
  )
  const nodes = await Promise.all(
    names.map(async (name) => stack.use(await startSimNode({ chain, name, methods: named }))),
  )
  const refusals: string[] = []
  const joined: string[] = []
  const router = stack.use(
    await serveRouter({
      ...{ primaries: nodes, sockets: true, settings: uncached },
      observers: [
        {
          subscriptionObserver: () => ({
            joined: (_: string, upstream: string) => void joined.push(upstream),
          }),
          listenerObserver: () => ({
            requestRefused: ({ kind }: { kind: { reason: string } }) =>
              void refusals.push(kind.reason),
          }),
        },
      ],
      ...options,
    }),
  )
  const post = async (body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(router.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    expect(response.status).toBe(200)
    return (await response.json()) as Answer | Answer[]
  }
  const call = async (method: string, params: readonly unknown[] = [], headers = {}) =>
    (await post({ jsonrpc: '2.0', id: 7, method, params }, headers)) as Answer
  /** How often each node received the method. */
  const counts = (method: string) => nodes.map(({ calls }) => calls.count(method))
  return { router, post, call, counts, refusals, joined }
}

const balance = ['0x' + '11'.repeat(20), 'latest']

describe('an endpoint', () => {
  test.each<[lists: Record<string, string[]>, method: string, isServed: boolean]>([
    [{}, 'eth_getBalance', true],
    [{}, 'foo_bar', true],
    [{}, 'evm_mine', false],
    [{}, 'debug_setHead', false],
    [{ 'allowed-methods': ['*'] }, 'evm_mine', false],
    [{ 'allowed-methods': ['*', 'evm_*'] }, 'evm_mine', true],
    [{ 'allowed-methods': ['*', 'evm_*'] }, 'anvil_mine', false],
    [{ 'allowed-methods': ['*', 'evm_*'] }, 'eth_getBalance', true],
    [{ 'allowed-methods': ['*', 'debug_setHead'] }, 'debug_setHead', true],
    [{ 'allowed-methods': ['*_mine'] }, 'anvil_mine', true],
    [{ 'allowed-methods': ['**'], 'denied-methods': ['evm_*'] }, 'evm_mine', false],
    [{ 'allowed-methods': ['eth_get*'] }, 'eth_getBalance', true],
    [{ 'allowed-methods': ['eth_get*'] }, 'foo_bar', false],
    [{ 'allowed-methods': ['eth_*'], 'denied-methods': ['*Balance'] }, 'eth_getBalance', false],
    [{ 'denied-methods': ['foo_*'] }, 'foo_bar', false],
    [{ 'denied-methods': ['foo_*'] }, 'eth_getBalance', true],
  ])('with %j: %s: %s', async (endpoint, method, isServed) => {
    const { call, counts, refusals } = await route({ endpoint })
    const { id, error } = await call(method, method === 'eth_getBalance' ? balance : [])
    expect(id).toBe(7)
    expect(counts(method).reduce((sum, each) => sum + each)).toBe(isServed ? 1 : 0)
    expect(refusals).toEqual(isServed ? [] : ['method-denied'])
    if (isServed) expect(error).toBeUndefined()
    else expect(error).toMatchObject(denied)
  })

  test('says what to set for a method of operators', async () => {
    const { call } = await route()
    const { error } = await call('evm_mine')
    expect(error?.message).toBe(
      'evm_mine is for operators of a node; `allowed-methods` of the endpoint must name it',
    )
  })

  test('refuses items of a batch, and serves the others', async () => {
    const { post, counts } = await route({ endpoint: { 'denied-methods': ['eth_gasPrice'] } })
    const methods = ['eth_blockNumber', 'evm_mine', 'eth_gasPrice', 'eth_chainId']
    const body = methods.map((method, id) => ({ jsonrpc: '2.0', id, method, params: [] }))
    const answers = (await post(body)) as Answer[]
    expect(answers.map(({ id }) => id)).toEqual([0, 1, 2, 3])
    expect(answers[1]?.error).toMatchObject(denied)
    expect(answers[2]?.error).toMatchObject(denied)
    expect(answers[0]?.error ?? answers[3]?.error).toBeUndefined()
    expect([counts('evm_mine'), counts('eth_gasPrice')].flat()).toEqual([0, 0, 0, 0])
  })

  test('refuses calls and subscriptions over WebSocket', async () => {
    const { router, counts } = await route({ endpoint: { 'denied-methods': ['eth_subscribe'] } })
    const socket = new WebSocket(router.socketUrl)
    stack.defer(() => socket.close())
    await new Promise((resolve) => socket.once('open', resolve))
    const ask = async (id: number, method: string, params: readonly unknown[]) => {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      const [data] = await new Promise<Buffer[]>((resolve) =>
        socket.once('message', (...all) => resolve(all as Buffer[])),
      )
      return JSON.parse(String(data)) as Answer
    }
    expect(await ask(1, 'eth_subscribe', ['newHeads'])).toMatchObject({ id: 1, error: denied })
    expect(await ask(2, 'evm_mine', [])).toMatchObject({ id: 2, error: denied })
    expect((await ask(3, 'eth_getBalance', balance)).error).toBeUndefined()
    expect([counts('eth_subscribe'), counts('evm_mine')].flat()).toEqual([0, 0, 0, 0])
  })
})

describe('an upstream', () => {
  const only = (lists: Record<string, string[]>) => ({ upstreamSettings: { a: lists } })

  test('gets no call that it denies, not even if the client selects it', async () => {
    const { call, counts } = await route(only({ 'denied-methods': ['eth_getBalance', 'foo_*'] }))
    for (let each = 0; each < 4; each++) {
      await call('eth_getBalance', balance, { 'rpc-select-provider': 'a' })
      await call('foo_bar')
    }
    expect([counts('eth_getBalance'), counts('foo_bar')]).toEqual([
      [0, 4],
      [0, 4],
    ])
    for (let each = 0; each < 4; each++) await call('eth_gasPrice')
    expect(counts('eth_gasPrice')[0]).toBeGreaterThan(0)
  })

  test('gets only calls that it allows', async () => {
    const { call, counts } = await route(only({ 'allowed-methods': ['eth_getBalance'] }))
    for (let each = 0; each < 4; each++) await call('eth_call', [{ to: balance[0] }, 'latest'])
    expect(counts('eth_call')).toEqual([0, 4])
  })

  test('gets no broadcast that it denies', async () => {
    const { call, counts } = await route(only({ 'denied-methods': ['eth_sendRawTransaction'] }))
    await call('eth_sendRawTransaction', ['0x02'])
    expect(counts('eth_sendRawTransaction')).toEqual([0, 1])
  })

  test('gets no subscription that it denies', async () => {
    const { router, joined } = await route(only({ 'denied-methods': ['eth_subscribe'] }))
    const socket = new WebSocket(router.socketUrl)
    stack.defer(() => socket.close())
    await new Promise((resolve) => socket.once('open', resolve))
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
    await new Promise((resolve) => socket.once('message', resolve))
    expect(joined).toEqual(['b'])
  })

  test('does not vote on a method that it denies', async () => {
    const options = only({ 'denied-methods': ['eth_getBalance'] })
    const { call, counts } = await route(options, ['a', 'b', 'c'])
    const vote = {
      'rpc-cross-validation-max-participants': '2',
      'rpc-cross-validation-agreement-threshold': '2',
    }
    expect((await call('eth_getBalance', balance, vote)).error).toBeUndefined()
    expect(counts('eth_getBalance')).toEqual([0, 1, 1])
  })

  test('is not the node of a session for a method that it denies', async () => {
    const { call, counts } = await route(only({ 'denied-methods': ['eth_getBalance'] }))
    for (let session = 0; session < 4; session++) {
      const headers = { 'rpc-stickiness': `session-${session}` }
      await call('eth_gasPrice', [], headers)
      expect((await call('eth_getBalance', balance, headers)).error).toBeUndefined()
    }
    expect(counts('eth_getBalance')).toEqual([0, 4])
    expect(counts('eth_gasPrice')[0]).toBeGreaterThan(0)
  })

  test('which is one of several that all deny a method: the client gets the same error', async () => {
    const lists = { 'denied-methods': ['foo_*'] }
    const { call, counts, refusals } = await route({ upstreamSettings: { a: lists, b: lists } })
    expect((await call('foo_bar')).error).toMatchObject(denied)
    expect([counts('foo_bar'), refusals]).toEqual([[0, 0], ['method-denied']])
  })
})

describe('on other interfaces', () => {
  async function mirror(apiInterface: 'rest' | 'tendermintrpc', patterns: readonly string[]) {
    const node = stack.use(
      await new MirrorNode('a', (_, response) => {
        response.setHeader('content-type', 'application/json')
        response.end('{"jsonrpc":"2.0","id":-1,"result":{}}')
      }).start(),
    )
    const router = stack.use(
      await serveRouter({
        ...{ chainId: 'HUBCHAIN', apiInterface, primaries: [node] },
        urlSettings: { a: { 'skip-verifications': ['*'] } },
        settings: { 'skip-websocket-verification': true },
        endpoint: { 'denied-methods': patterns },
      }),
    )
    node.requests.length = 0
    return { node, url: router.url }
  }

  test.each([
    ['/cosmos/bank/v1beta1/supply', true],
    ['/cosmos/bank/v1beta1/balances/cosmos1', false],
    ['/sdk/bank/v1beta1/balances/cosmos1', false],
    ['//cosmos/./bank/v1beta1/%62alances/cosmos1', false],
    // Paths that the spec does not name.
    ['/own/module', true],
    ['/own/secret/x', false],
    ['/own/%73ecret/x', false],
    ['//own//secret/x', false],
  ])('REST: %s: %s', async (path, isServed) => {
    const patterns = ['/cosmos/bank/*/balances/*', '/own/secret/*']
    const { node, url } = await mirror('rest', patterns)
    const response = await fetch(`${url}${path}`)
    expect(node.requests).toHaveLength(isServed ? 1 : 0)
    expect(response.status).toBe(isServed ? 200 : 403)
    if (!isServed)
      expect(await response.json()).toMatchObject({ error: { reason: 'method-denied' } })
  })

  test.each([
    '/block_results?height=1',
    '/%62lock_results',
    '/unsafe_flush_mempool',
    '/dial_seeds',
  ])('Tendermint RPC: %s', async (path) => {
    const { node, url } = await mirror('tendermintrpc', ['block_results'])
    const response = await fetch(`${url}${path}`)
    expect(await response.json()).toMatchObject({ id: -1, error: denied })
    expect(node.requests).toEqual([])
  })

  test.each([
    ['/test.Echo/Unary', '7'],
    ['/test.Other/Unary', '0'],
  ])('gRPC: %s', async (path, status) => {
    const endpoint = { 'denied-methods': ['test.Echo/*'] }
    const chain = { chainId: 'ECHO', endpoint }
    const { router, nodes } = stack.use(
      await served([(stream) => answerWith(stream, ['well'])], {}, chain),
    )
    nodes[0]!.calls = 0
    const { trailers } = await rawCall(router.port, path)
    expect(valuesOf(trailers, 'grpc-status')).toEqual([status])
    expect(nodes[0]!.calls).toBe(status === '0' ? 1 : 0)
  })
})
