// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { loadCatalog } from '../../proxy/chain/load-catalog.ts'
import type { ApiInterface } from '../../proxy/config/types.ts'
import { series } from '../../proxy/telemetry/series.ts'
import { keyOf, specAnswers } from '../every-interface/spec-answers.ts'
import { rawCall } from '../grpc/raw-call.ts'
import { answerWith, framed, type Manner } from '../grpc/raw-node.ts'
import { served } from '../grpc/served-nodes.ts'
import { MirrorNode } from '../rest/mirror-node.ts'
import { serveRouter, uncached, type ServedRouter } from './served-router.ts'
import { watchAlerts } from './watched-alerts.ts'

/*
 * A client that only makes mistakes: after 500 calls, no alert can fire, and no upstream has a
 * failure, a cooldown or a worse score.
 */

const calls = 500
/** Calls in flight. */
const atOnce = 20

/** @param make sends the nth request */
async function repeat(make: (at: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < calls; at += atOnce)
    await Promise.all(Array.from({ length: atOnce }, (_, more) => make(at + more)))
}

interface Mistake {
  readonly verb?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The answer of every node; absent if the request must not reach any. */
  readonly answer?: readonly [status: number, body: string | object]
}

const rpc = (method: string, params: unknown, error?: object | null, status = 200): Mistake => ({
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  ...(error !== undefined && {
    answer: [status, { jsonrpc: '2.0', id: 1, ...(error === null ? { result: null } : { error }) }],
  }),
})
const block = rpc('eth_blockNumber', []).body ?? ''
const directed = (headers: Record<string, string>): Mistake => ({ body: block, headers })
const long = 'a'.repeat(5_000)

const refusedRpc: readonly Mistake[] = [
  { body: '{"jsonrpc":' },
  { body: '[]' },
  { body: '{"jsonrpc":"2.0","id":1}' },
  { body: `{"jsonrpc":"2.0","id":1,"method":"x","params":["${long}"]}` },
  { verb: 'PUT', body: block },
  directed({ 'content-encoding': 'br' }),
  directed({ 'rpc-relay-timeout': 'soon' }),
]

const account = `0x${'a1'.repeat(20)}`
const ethereum: readonly Mistake[] = [
  ...refusedRpc,
  { path: '/nowhere', body: block },
  directed({ 'rpc-extension': 'unknown' }),
  directed({ 'rpc-providers-block': 'a,b' }),
  directed({ 'rpc-min-block': '999999999' }),
  rpc('debug_traceTransaction', [`0x${'11'.repeat(32)}`]),
  rpc('eth_call', [{ to: account }, 'latest'], { code: 3, message: 'execution reverted' }),
  rpc('parity_foo', [], { code: -32601, message: 'the method parity_foo does not exist' }),
  rpc('eth_foo', [], { code: -32601, message: 'the method eth_foo does not exist' }),
  rpc('eth_mining', [], { code: -32601, message: 'the method eth_mining does not exist' }),
  rpc('eth_getBalance', ['0x1'], { code: -32602, message: 'invalid argument 0: hex string' }),
  rpc('eth_getBalance', [account, '0x999999'], { code: -32000, message: 'header not found' }),
  rpc('eth_getBlockByNumber', ['0x999999', false], null),
  rpc('eth_getBlockByHash', [`0x${'22'.repeat(32)}`, false], null),
  rpc('eth_getFilterChanges', ['0x7'], { code: -32000, message: 'filter not found' }),
  rpc('eth_sendRawTransaction', ['0x01'], { code: -32000, message: 'rlp: value size exceeds' }),
  rpc('eth_estimateGas', [{}], { code: -32000, message: 'insufficient funds for transfer' }),
]

const bitcoin: readonly Mistake[] = [
  ...refusedRpc,
  rpc('getblockhash', [99_999_999], { code: -8, message: 'Block height out of range' }, 500),
  rpc('getblock', ['00'], { code: -8, message: 'blockhash must be of length 64' }, 500),
  rpc('getfoo', [], { code: -32601, message: 'Method not found' }, 404),
  rpc('decoderawtransaction', ['zz'], { code: -22, message: 'TX decode failed' }, 500),
]

const solana: readonly Mistake[] = [
  ...refusedRpc,
  rpc('getBalance', ['x'], { code: -32602, message: 'Invalid param: WrongSize' }),
  rpc('getFoo', [], { code: -32601, message: 'Method not found' }),
  rpc('getBlock', [5], { code: -32007, message: 'Slot 5 was skipped, or missing due to ledger' }),
]

const gateway = (code: number, message: string) => ({ code, message, details: [] })
const bank = '/cosmos/bank/v1beta1/balances'
const cosmosRest: readonly Mistake[] = [
  { verb: 'GET', path: '/nowhere', answer: [404, '404 page not found'] },
  { verb: 'GET', path: '/cosmos/nowhere', answer: [501, gateway(12, 'Not Implemented')] },
  { verb: 'GET', path: `${bank}/x`, answer: [400, gateway(3, 'decoding bech32 failed')] },
  { verb: 'GET', path: '/cosmos/tx/v1beta1/txs/00', answer: [404, gateway(5, 'tx not found')] },
  { verb: 'GET', path: '/a/../b' },
  { path: '/cosmos/tx/v1beta1/txs', body: long },
  { verb: 'GET', path: `${bank}/y`, headers: { 'rpc-relay-timeout': 'soon' } },
]

const tendermint: readonly Mistake[] = [
  ...refusedRpc,
  rpc('foo', {}, { code: -32601, message: 'Method not found', data: '' }),
  rpc('block', { height: 'x' }, { code: -32602, message: 'Invalid params', data: 'error' }, 500),
  rpc(
    'tx',
    { hash: 'AA' },
    { code: -32603, message: 'Internal error', data: 'tx (AA) not found' },
    500,
  ),
  { verb: 'GET', path: '/nowhere', answer: [404, '404 page not found'] },
]

const many: unknown = expect.toSatisfy((count: number) => count > 20)

const catalog = await loadCatalog([])

async function twoNodes(chainId: string, wire: ApiInterface, mistakes: readonly Mistake[]) {
  const offered = catalog.find(chainId)?.interfaces.get(wire)
  if (!offered) throw new Error(`the specs lack ${chainId} ${wire}`)
  const probes = specAnswers(offered)
  const alerts = watchAlerts()
  const stack = new AsyncDisposableStack()
  const nodes: MirrorNode[] = []
  for (const name of 'ab') {
    const node = new MirrorNode(name, ({ verb, target, body }, response) => {
      const text = body.toString()
      const probe = probes.get(keyOf(verb, target, text))
      const found = mistakes.find(({ path = '/', body = '' }) => path === target && body === text)
      const [status, answer] = found?.answer ?? [200, probe?.body ?? '{"unexpected":true}']
      const isText = typeof answer === 'string' || answer instanceof Uint8Array
      response.statusCode = status
      response.setHeader('content-type', status === 404 ? 'text/plain' : 'application/json')
      for (const [header, value] of Object.entries(probe?.headers ?? {}))
        response.setHeader(header, value)
      response.end(isText ? answer : JSON.stringify(answer))
    })
    nodes.push(stack.use(await node.start()))
  }
  const router = stack.use(
    await serveRouter({
      ...{ chainId, apiInterface: wire, catalog, primaries: nodes, observers: alerts.observers },
      settings: { ...uncached, 'max-request-bytes': 4_096, 'skip-websocket-verification': true },
    }),
  )
  return { router, alerts, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

async function send({ url }: ServedRouter, mistake: Mistake): Promise<void> {
  const { verb = 'POST', path = '/', headers = {}, body = null } = mistake
  const response = await fetch(url + path, { method: verb, headers, body })
  await response.arrayBuffer()
}

test.each<[string, ApiInterface, readonly Mistake[]]>([
  ['ETH1', 'jsonrpc', ethereum],
  ['BTC', 'jsonrpc', bitcoin],
  ['SLOTCHAIN', 'jsonrpc', solana],
  ['HUBCHAIN', 'rest', cosmosRest],
  ['HUBCHAIN', 'tendermintrpc', tendermint],
])(
  'a client of %s %s that only makes mistakes raises no alert',
  async (chainId, wire, mistakes) => {
    await using own = await twoNodes(chainId, wire, mistakes)
    await repeat((at) => send(own.router, mistakes[at % mistakes.length] as Mistake))
    expect(await own.alerts.findings(own.router.pool)).toEqual([])
    expect(await own.alerts.counts(series.attempts, 'result')).toMatchObject({ 'node-error': many })
    expect(await own.alerts.counts(series.refused, 'reason')).toMatchObject({
      'request-too-large': many,
    })
  },
)

test('a client of a WebSocket that only makes mistakes raises no alert', async () => {
  const relayed = ethereum.filter(({ answer }) => answer)
  await using own = await twoNodes('ETH1', 'jsonrpc', relayed)
  const socket = new WebSocket(own.router.socketUrl)
  await new Promise((resolve) => socket.once('open', resolve))
  let answers = 0
  socket.on('message', () => (answers += 1))
  const bodies = ['{', '[]', '{"jsonrpc":"2.0","id":1}', rpc('eth_unsubscribe', ['0x1']).body]
  const all = [...bodies, ...relayed.map(({ body }) => body)]
  await repeat(async (at) => {
    socket.send(all[at % all.length] ?? '')
    await expect.poll(() => answers, { interval: 1, timeout: 10_000 }).toBeGreaterThan(at)
  })
  socket.close()
  expect(await own.alerts.findings(own.router.pool)).toEqual([])
})

test('a client of gRPC that only makes mistakes raises no alert', async () => {
  const alerts = watchAlerts()
  const statuses = ['3', '5', '9', '12', '11']
  const manner: Manner = (stream, headers) => {
    const code = /Unknown/.test(String(headers[':path'])) ? '12' : statuses[sent % statuses.length]
    stream.resume()
    answerWith(stream, [], { 'grpc-status': code, 'grpc-message': 'invalid request' })
  }
  let sent = 0
  await using own = await served([manner, manner, manner], {}, { chainId: 'ECHO', ...alerts })
  const unary = '/test.Echo/Unary'
  const mistakes: readonly Parameters<typeof rawCall>[] = [
    [own.router.port, unary],
    [own.router.port, '/test.Echo/Unknown'],
    [own.router.port, '/Unknown'],
    [own.router.port, '/a/../Unknown'],
    [own.router.port, unary, ['grpc-timeout', 'soon']],
    [own.router.port, unary, [], framed('hi').subarray(0, 6)],
    [own.router.port, unary, ['x-a', 'a'.repeat(20_000)]],
  ]
  await repeat(() => rawCall(...(mistakes[sent++ % mistakes.length] as Parameters<typeof rawCall>)))
  expect(await alerts.findings(own.router.pool)).toEqual([])
})
