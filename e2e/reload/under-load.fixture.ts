// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Metadata } from '@grpc/grpc-js'
import { createHash } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { stringify } from 'yaml'
import { WebSocket } from 'ws'
import { systemClock } from '../../proxy/clock/clock.ts'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { EchoClient } from '../grpc/echo-client.ts'
import { EchoServer } from '../grpc/echo-server.ts'
import { eventually } from '../processes/eventually.ts'
import { freePorts } from '../processes/free-ports.ts'
import { Program } from '../program/program.ts'
import { createWorkspace } from '../program/workspace.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'

const specs = ['../grpc/echo.yml', '../../specs'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)
const eth = { 'chain-id': 'ETH1', 'api-interface': 'jsonrpc' }
const echo = { 'chain-id': 'ECHO', 'api-interface': 'grpc' }
const readers = 6

/** Observations of clients while the config of a router changed. */
interface Observed {
  readonly reads: number
  /** The first few failures. */
  readonly failures: readonly string[]
  /** Nodes that answered a session whose node never changed. */
  readonly sessionNodes: ReadonlySet<string>
  /** Heights that a WebSocket client received, in order. */
  readonly heads: readonly number[]
  /** Messages that a long-lived gRPC stream received and sent. */
  readonly echoed: readonly [got: number, sent: number]
  readonly exitCode: number | NodeJS.Signals
}

/**
 * Changes a config under load: the nodes, of which two of four remain, their keys, the policies and
 * the budgets. Some changes are invalid.
 */
async function changeUnderLoad(changes: number): Promise<Observed> {
  await using stack = new AsyncDisposableStack()
  const workspace = stack.use(await createWorkspace())
  const chain = createChainModel({ clock: systemClock, blockTimeMs: 1_000 })
  const nodes = await Promise.all(
    ['a', 'b', 'c', 'd'].map(async (name) => stack.use(await startSimNode({ chain, name }))),
  )
  const echoes = [0, 1].map(() => new EchoServer())
  for (const each of echoes) stack.use(await each.start())
  const [port = 0, grpcPort = 0, adminPort = 0] = await freePorts(3)
  const random = seededRandom(changes)
  const heights = seededRandom(1)
  const isSo = (share: number) => random.next() < share

  const config = (turn: number) => ({
    endpoints: [
      {
        ...eth,
        'network-address': `127.0.0.1:${port}`,
        relay: { strategy: isSo(0.5) ? 'latency' : 'balanced' },
      },
      { ...echo, 'network-address': `127.0.0.1:${grpcPort}` },
    ],
    'metrics-listen-address': `127.0.0.1:${adminPort}`,
    'use-static-spec': specs,
    'drain-timeout': '2s',
    // A busy machine answers late, and a session has no fallback.
    'min-relay-timeout': '20s',
    'max-relay-attempts': isSo(0.5) ? 8 : 10,
    'max-sessions-per-provider': isSo(0.5) ? 500 : 1_000,
    cache: { policies: isSo(0.5) ? [{ method: 'eth_*', ttl: 'never' }] : [] },
    'direct-rpc': [
      ...nodes
        .filter((_, at) => at < 2 || isSo(0.5))
        .map(({ name, url, socketUrl }, at) => {
          // A new key makes a new upstream, which is the only one with its name.
          const key = at < 2 && !isSo(0.3) ? 'same' : `key-${turn}`
          const query = name === 'a' || name === 'b' ? '' : `?key=${key}`
          const urls = [url, socketUrl].map((each) => ({ url: `${each}/${query}` }))
          return { name, ...eth, 'node-urls': urls }
        }),
      ...echoes
        .filter((_, at) => at === turn % 2)
        .map((each, at) => ({
          name: `echo-${at}`,
          ...echo,
          'node-urls': [{ url: `grpc://127.0.0.1:${each.port}` }],
        })),
    ],
  })
  const file = await workspace.write('router.yml', config(0))
  const program = stack.use(new Program([file], {}, `127.0.0.1:${adminPort}`))
  await program.logged('router started')
  const url = `http://127.0.0.1:${port}`
  const failures: string[] = []
  const sessionNodes = new Set<string>()
  let reads = 0

  /** Sends a read with a known answer. */
  const read = async (headers: Readonly<Record<string, string>> = {}) => {
    const height = 1 + Math.floor(heights.next() * 1_000)
    const params = [`0x${height.toString(16)}`, false]
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params })
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
    const { result, error } = (await response.json()) as {
      result?: { number: string }
      error?: unknown
    }
    if (result?.number !== params[0])
      throw new Error(`HTTP ${response.status}: ${JSON.stringify(error)}`)
    return response.headers.get('rpc-provider-address') ?? ''
  }
  await eventually(() => read())

  const over = new AbortController()
  const inLoops = async (one: () => Promise<unknown>) => {
    while (!over.signal.aborted) {
      await one().catch((error: unknown) => failures.push(String(error)))
      reads += 1
      await pause(2)
    }
  }
  const own = { 'rpc-stickiness': 'one', 'rpc-providers-block': 'c,d' }
  const loops = [
    ...Array.from({ length: readers }, () => inLoops(() => read())),
    inLoops(async () => sessionNodes.add(await read(own))),
  ]

  const heads: number[] = []
  const socket = new WebSocket(url.replace('http', 'ws'))
  stack.defer(() => socket.terminate())
  socket.on('message', (data: Buffer) => {
    const { params, error } = JSON.parse(data.toString()) as {
      params?: { result: { number: string } }
      error?: unknown
    }
    if (params) heads.push(Number(params.result.number))
    else if (error) failures.push(JSON.stringify(error))
  })
  socket.on('close', (code) => {
    if (!over.signal.aborted) failures.push(`the WebSocket was closed with ${code}`)
  })
  await once(socket, 'open')
  socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')

  const client = stack.use(new EchoClient(grpcPort))
  const stream = client.open('Both', new Metadata())
  let got = 0
  stream.on('data', () => (got += 1))
  stream.on('error', (error) => {
    if (!over.signal.aborted) failures.push(`the stream: ${error.message}`)
  })

  const status = async () => {
    const page = (await (await fetch(`${program.adminUrl}/status`)).json()) as {
      config: { sha256: string; refused: object | null }
    }
    return page.config
  }
  for (let turn = 1; turn <= changes; turn++) {
    const isBroken = turn % 10 === 0
    const text = isBroken ? 'endpoints: [' : stringify(config(turn))
    await writeFile(`${file}.new`, text)
    await rename(`${file}.new`, file)
    program.kill('SIGHUP')
    stream.write(Buffer.from(`${turn}`))
    const wanted = createHash('sha256').update(text).digest('hex')
    await eventually(async () => {
      const { sha256, refused } = await status()
      return isBroken ? refused !== null : refused === null && sha256 === wanted
    })
  }
  await eventually(() => got === changes && heads.length > 2)
  over.abort()
  await Promise.all(loops)
  socket.terminate()
  stream.cancel()
  program.kill('SIGTERM')
  const { code } = await program.ended
  return {
    ...{ reads, failures, sessionNodes, heads },
    echoed: [got, changes],
    exitCode: code,
  }
}

/** Changes a config under load, and expects no effect on clients. Every tenth change is invalid. */
export async function expectUnharmed(changes: number, minReads: number): Promise<void> {
  const seen = await changeUnderLoad(changes)
  expect(seen.failures).toEqual([])
  expect(seen.reads).toBeGreaterThan(minReads)
  expect(seen.sessionNodes.size).toBe(1)
  expect(seen.heads).toEqual(seen.heads.map((_, at) => (seen.heads[0] ?? 0) + at))
  expect(seen.echoed).toEqual([changes, changes])
  expect(seen.exitCode).toBe(0)
}
