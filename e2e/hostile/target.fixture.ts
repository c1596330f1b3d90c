// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { Agent, request } from 'undici'
import { rawCall } from '../grpc/raw-call.ts'
import { answerWith, framed, RawNode } from '../grpc/raw-node.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'
import { type HostileRouter, startHostileRouter } from './hostile-router.fixture.ts'

/** A router with honest nodes, and an innocent client that asks it. */
export interface Target extends AsyncDisposable {
  readonly router: HostileRouter
  /** The honest nodes. */
  readonly upstreams: readonly string[]
  /** One call of the innocent client; what is wrong with its answer, or null. */
  readonly ask: () => Promise<string | null>
}

const everyMs = 25

export async function startJsonRpcTarget(): Promise<Target> {
  const stack = new AsyncDisposableStack()
  const chain = createChainModel({ blockTimeMs: 1_000 })
  const upstreams = ['a', 'b', 'c']
  const honest = await Promise.all(
    upstreams.map(async (name) => stack.use(await startSimNode({ chain, name }))),
  )
  for (const { faults } of honest)
    faults.add(
      { kind: 'forged', forge: (_, text) => text.replace('[', `[${receipt},`) },
      { methods: ['eth_getBlockReceipts'] },
    )
  const router = stack.use(
    await startHostileRouter([
      ...honest.map(({ name, url, socketUrl }) => ({ name, urls: [{ url }, { url: socketUrl }] })),
      { name: 'odd', urls: [{ url: await oddNode(honest[0]!.url, stack), addons: ['debug'] }] },
    ]),
  )
  const dispatcher = stack.adopt(new Agent({ connections: 16 }), (agent) => agent.close())
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'eth_chainId', params: [] })
  const headers = { 'content-type': 'application/json' }
  return {
    ...{ router, upstreams },
    ask: async () => {
      const reply = await request(router.url, { method: 'POST', headers, body, dispatcher })
      const text = await reply.body.text()
      return text === '{"jsonrpc":"2.0","id":7,"result":"0x1"}' ? null : text
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

export async function startGrpcTarget(): Promise<Target> {
  const stack = new AsyncDisposableStack()
  const big = 'b'.repeat(1_000_000)
  const upstreams = ['a', 'b']
  const nodes = await Promise.all(
    upstreams.map(async (name) => {
      const node = new RawNode((stream) => {
        stream.once('data', (message: Buffer) => {
          if (!stream.destroyed) answerWith(stream, [message.includes('big') ? big : 'hello'])
        })
      })
      const { port } = stack.use(await node.start())
      return { name, urls: [{ url: `grpc://127.0.0.1:${port}` }] }
    }),
  )
  const chain = { chainId: 'ECHO', apiInterface: 'grpc' } as const
  const spec = fileURLToPath(new URL('../grpc/echo.yml', import.meta.url))
  const router = stack.use(await startHostileRouter(nodes, chain, { 'use-static-spec': [spec] }))
  return {
    ...{ router, upstreams },
    ask: async () => {
      const { body, trailers } = await rawCall(router.port, '/test.Echo/Unary')
      return body.equals(framed('hello')) ? null : trailers.join(' ')
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/**
 * Attacks in turn while the innocent client asks 40 times a second: no call of it may be lost, and no honest node.
 * @returns how long its calls took, and the most memory that the router has had
 */
export async function expectHarmless(
  { router, upstreams, ask }: Target,
  attacks: readonly string[],
  seconds: number,
): Promise<{ latenciesMs: readonly number[]; peakBytes: number }> {
  const { lost, latenciesMs } = await askUntil(router.attack(attacks, seconds), ask)
  expect(router.child.alive, router.child.tail()).toBe(true)
  expect(lost).toEqual([])
  expect(latenciesMs.length).toBeGreaterThan(1)
  const metrics = await router.metrics()
  for (const state of statesIn(metrics, upstreams)) expect(['eligible', 'lagging']).toContain(state)
  for (const name of upstreams)
    expect(metrics).not.toMatch(new RegExp(`changes_total\\{.*"${name}",to="(disabled|held-off)"`))
  return { latenciesMs, peakBytes: router.footprint().peakBytes }
}

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
async function oddNode(of: string, stack: AsyncDisposableStack): Promise<string> {
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
