// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../proxy/clock/clock.ts'
import { type Random, seededRandom } from '../../proxy/clock/random.ts'
import { systemClock } from '../../proxy/clock/system-clock.ts'
import { CallRecord } from './call-record.ts'
import type { ViewSettings } from './chain-view.ts'
import { EthereumNode, type EthereumNodeOptions } from './ethereum-node.ts'
import { FaultSwitch } from './faults.ts'
import { digest } from './hex.ts'
import { send, sendReply } from './http-reply.ts'
import { readRequest } from './json-rpc.ts'
import { SocketSide } from './socket-side.ts'

const maxBodyBytes = 32 * 1024 * 1024
const keepAliveTimeoutMs = 120_000

export interface SimNodeOptions extends Omit<EthereumNodeOptions, 'faults'> {
  /** Tells the node from its peers, and seeds its faults. Default `sim`. */
  readonly name?: string
  /** Default 0: any free port. It stays the same over `stop` and `start`. */
  readonly port?: number
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Drives faults that happen with a probability. */
  readonly random?: Random
  /** Times slow answers. Default: the machine's clock. */
  readonly clock?: Clock
  /** Serve https with these keys; `requestCert` and `ca` for mutual TLS. */
  readonly tls?: https.ServerOptions
}

/** A simulated Ethereum node on loopback. `await using` stops it. */
export interface SimNode extends AsyncDisposable {
  readonly name: string
  readonly url: string
  /** The same port by WebSocket. */
  readonly socketUrl: string
  readonly port: number
  /** How the node sees the chain: lag, pruning. Change it at any time. */
  readonly view: ViewSettings
  readonly faults: FaultSwitch
  readonly calls: CallRecord
  readonly sockets: SocketSide
  /** Opens the port again after `stop`. Harmless when it is open. */
  start(): Promise<void>
  /** Closes the port and every connection: the node is down, connections are refused. */
  stop(): Promise<void>
}

/** Starts a node that serves its view of `chain` over HTTP. */
export async function startSimNode(options: SimNodeOptions): Promise<SimNode> {
  const {
    name = 'sim',
    host = '127.0.0.1',
    port: wantedPort = 0,
    clock = systemClock,
    random,
    tls,
    ...nodeOptions
  } = options
  const seed = digest(options.chain.seed, 'node', name).readUInt32BE(0)
  const faults = new FaultSwitch(random ?? seededRandom(seed))
  const calls = new CallRecord()
  const node = new EthereumNode({ ...nodeOptions, faults })
  const sockets = new SocketSide(node, clock)
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    serve(request, response, { node, faults, calls, clock }).catch((error: unknown) => {
      if (!response.headersSent) send(response, 500, 'text/plain', String(error))
      else response.destroy()
    })
  }
  const open = (port: number) =>
    new Promise<http.Server>((resolve, reject) => {
      const settings = { keepAliveTimeout: keepAliveTimeoutMs }
      const server = tls
        ? https.createServer({ ...settings, ...tls }, listener)
        : http.createServer(settings, listener)
      server.on('upgrade', (request, wire, head) => {
        sockets.upgrade(request, wire, head)
      })
      server.once('error', reject)
      server.listen(port, host, () => resolve(server))
    })
  let server: http.Server | null = await open(wantedPort)
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    const closing = server
    server = null
    if (closing === null) return
    sockets.stop()
    await new Promise((done) => {
      closing.close(done)
      closing.closeAllConnections()
    })
  }
  return {
    name,
    port,
    url: `${tls ? 'https' : 'http'}://${host}:${port}`,
    socketUrl: `${tls ? 'wss' : 'ws'}://${host}:${port}`,
    view: node.view.settings,
    faults,
    calls,
    sockets,
    stop,
    async start() {
      server ??= await open(port)
    },
    [Symbol.asyncDispose]: stop,
  }
}

interface Serving {
  readonly node: EthereumNode
  readonly faults: FaultSwitch
  readonly calls: CallRecord
  readonly clock: Clock
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { node, faults, calls, clock }: Serving,
): Promise<void> {
  const body = await bodyOf(request)
  const seen = { verb: request.method ?? '', path: request.url ?? '', headers: request.headers }
  if (body === null) return send(response, 413, 'text/plain', 'request body too large')
  if (request.method === 'GET' && body === '') return send(response, 200, 'text/plain', '')
  if (request.method !== 'POST') return send(response, 405, 'text/plain', 'method not allowed')
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    return send(
      response,
      415,
      'text/plain',
      'invalid content type, only application/json is supported',
    )
  const rpcRequest = readRequest(body)
  const methods = rpcRequest.items.flatMap((item) => ('method' in item ? [item.method] : []))
  calls.add({ ...seen, body, methods })
  response.once('close', () => {
    if (!response.writableFinished) calls.addUnanswered()
  })
  const reply = node.answer(rpcRequest)
  const id = rpcRequest.isBatch ? null : rpcRequest.items[0]!.id
  await sendReply(response, reply ?? '', id, faults.drawForRequest(methods), clock)
}

/** The body as text; null when it is too large. */
async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= maxBodyBytes) chunks.push(chunk)
  }
  return bytes <= maxBodyBytes ? Buffer.concat(chunks).toString() : null
}
