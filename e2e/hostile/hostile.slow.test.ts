// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Agent, request } from 'undici'
import { rawCall } from '../grpc/raw-call.ts'
import { answerWith, framed, RawNode } from '../grpc/raw-node.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'
import { attacks, grpcAttacks } from './attacks.fixture.ts'
import { type HostileRouter, startHostileRouter } from './hostile-router.fixture.ts'

/*
 * A stranger cannot take the router down: attacks beside an innocent client, each on a router of its own. `make hostile`
 * runs them for longer, and asks for the latency of the innocent client too.
 */

const seconds = Number(process.env['HOSTILE_SECONDS'] ?? 2)
const isAlone = process.env['HOSTILE_SECONDS'] !== undefined
const maxBytes = 400e6
const maxP99Ms = 250
const everyMs = 25

const stack = new AsyncDisposableStack()
let nodes: readonly RouterNode[] = []

interface RouterNode {
  readonly name: string
  readonly urls: readonly { readonly url: string; readonly addons?: readonly string[] }[]
}

beforeAll(async () => {
  const chain = createChainModel({ blockTimeMs: 1_000 })
  const honest = await Promise.all(
    ['a', 'b', 'c'].map(async (name) => stack.use(await startSimNode({ chain, name }))),
  )
  for (const { faults } of honest)
    faults.add(
      { kind: 'forged', forge: (_, text) => text.replace('[', `[${receipt},`) },
      { methods: ['eth_getBlockReceipts'] },
    )
  nodes = [
    ...honest.map(({ name, url, socketUrl }) => ({ name, urls: [{ url }, { url: socketUrl }] })),
    { name: 'odd', urls: [{ url: await oddNode(honest[0]!.url), addons: ['debug'] }] },
  ]
})

afterAll(() => stack.disposeAsync())

test.each(Object.keys(attacks))('%s', async (name) => {
  await using router = await startHostileRouter(nodes)
  const agent = new Agent({ connections: 16 })
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'eth_chainId', params: [] })
  const headers = { 'content-type': 'application/json' }
  await expectHarmless(name, router, ['a', 'b', 'c'], async () => {
    const reply = await request(router.url, { method: 'POST', headers, body, dispatcher: agent })
    const text = await reply.body.text()
    return text === '{"jsonrpc":"2.0","id":7,"result":"0x1"}' ? null : text
  })
  await agent.close()
})

test.each(Object.keys(grpcAttacks))('gRPC: %s', async (name) => {
  await using own = new AsyncDisposableStack()
  const big = 'b'.repeat(1_000_000)
  const node = () =>
    new RawNode((stream) => {
      stream.once('data', (message: Buffer) => {
        if (!stream.destroyed) answerWith(stream, [message.includes('big') ? big : 'hello'])
      })
    }).start()
  const nodes = [own.use(await node()), own.use(await node())]
  const chain = { chainId: 'ECHO', apiInterface: 'grpc' } as const
  const spec = fileURLToPath(new URL('../grpc/echo.yml', import.meta.url))
  const upstreams = nodes.map(({ port }, at) => ({
    name: ['a', 'b'][at] as string,
    urls: [{ url: `grpc://127.0.0.1:${port}` }],
  }))
  const router = own.use(await startHostileRouter(upstreams, chain, { 'use-static-spec': [spec] }))
  await expectHarmless(name, router, ['a', 'b'], async () => {
    const { body, trailers } = await rawCall(router.port, '/test.Echo/Unary')
    return body.equals(framed('hello')) ? null : trailers.join(' ')
  })
})

/** @param ask one call of the innocent client; what is wrong with its answer, or null */
async function expectHarmless(
  name: string,
  router: HostileRouter,
  upstreams: readonly string[],
  ask: () => Promise<string | null>,
): Promise<void> {
  const { lost, latenciesMs } = await askUntil(router.attack(name, seconds), ask)
  expect(router.child.alive, router.child.tail()).toBe(true)
  const states = statesIn(await router.metrics(), upstreams)
  const { peakBytes } = router.footprint()
  const p99 = latenciesMs.toSorted((a, b) => a - b)[Math.floor(latenciesMs.length * 0.99)] ?? NaN
  const figures = `${latenciesMs.length} calls, p99 ${p99.toFixed(0)} ms, ${(peakBytes / 1e6).toFixed(0)} MB`
  if (isAlone) process.stdout.write(`${name}: ${lost.length} lost of ${figures}\n`)
  expect(lost).toEqual([])
  expect(latenciesMs.length).toBeGreaterThan(5)
  expect(peakBytes).toBeLessThan(maxBytes)
  for (const state of states) expect(['eligible', 'lagging']).toContain(state)
  if (isAlone) expect(p99).toBeLessThan(maxP99Ms)
}

/** Asks 40 times a second. */
async function askUntil(over: Promise<void>, ask: () => Promise<string | null>) {
  let isOver = false
  void over.then(() => (isOver = true))
  const lost: string[] = []
  const latenciesMs: number[] = []
  const calls: Promise<void>[] = []
  const one = async () => {
    const startedMs = performance.now()
    const wrong = await ask().catch(String)
    if (wrong !== null) lost.push(wrong)
    latenciesMs.push(performance.now() - startedMs)
  }
  while (!isOver) {
    calls.push(one())
    await sleep(everyMs)
  }
  await Promise.all(calls)
  return { lost, latenciesMs }
}

/** The states that these upstreams are in. */
function statesIn(metrics: string, names: readonly string[]): readonly string[] {
  return names.map((name) => {
    const one = new RegExp(`^router_upstream_state\\{.*upstream="${name}".* 1$`, 'm')
    return /state="([^"]+)"/.exec(one.exec(metrics)?.[0] ?? '')?.[1] ?? 'unknown'
  })
}

const receipt = `{"padding":"${'0'.repeat(900_000)}"}`

/** A node that answers calls of `debug` in odd ways, and all others as another node does. */
async function oddNode(of: string): Promise<string> {
  const server = createServer((asked, answer) => {
    const pieces: Buffer[] = []
    asked
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        const body = Buffer.concat(pieces).toString()
        const how = /"debug_traceTransaction","params":\["([^"]+)"/.exec(body)?.[1]
        if (how) return answerOddly(how, answer)
        void fetch(of, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
          .then(async (reply) => answer.end(await reply.text()))
          .catch(() => answer.destroy())
      })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const bomb = gzipSync(`{"jsonrpc":"2.0","id":1,"result":"${' '.repeat(200_000_000)}"}`)

function answerOddly(how: string, answer: ServerResponse): void {
  const { socket } = answer
  if (!socket) return
  if (how === 'bomb') {
    answer.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    answer.end(bomb)
  } else if (how === 'interim') {
    const write = () => {
      while (socket.write('HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n'.repeat(100)));
      if (!socket.destroyed) socket.once('drain', write)
    }
    write()
  } else {
    socket.write(
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    const chunks = '1\r\n0\r\n'.repeat(1_000)
    socket.write(
      [...'{"jsonrpc":"2.0","id":1,"result":"'].map((each) => `1\r\n${each}\r\n`).join(''),
    )
    let left = 2_000
    const write = () => {
      while (left-- > 0) if (!socket.write(chunks)) return void socket.once('drain', write)
      socket.end('2\r\n"}\r\n0\r\n\r\n')
    }
    write()
  }
}
