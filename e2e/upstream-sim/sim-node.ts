// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IncomingMessage, ServerResponse } from 'node:http'
import type https from 'node:https'
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
import { bodyOf, openNodeServer, type NodeServer } from './node-server.ts'
import { SocketSide } from './socket-side.ts'

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
export interface SimNode extends NodeServer, AsyncDisposable {
  readonly name: string
  /** How the node sees the chain: lag, pruning. Change it at any time. */
  readonly view: ViewSettings
  readonly faults: FaultSwitch
  readonly calls: CallRecord
  /** The same port by WebSocket. */
  readonly socketUrl: string
  readonly sockets: SocketSide
}

/** Starts a node that serves its view of `chain` over HTTP. */
export async function startSimNode(options: SimNodeOptions): Promise<SimNode> {
  const {
    name = 'sim',
    host = '127.0.0.1',
    port = 0,
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
  const server = await openNodeServer(
    {
      host,
      port,
      tls: tls ?? null,
      upgrade: (request, wire, head) => {
        sockets.upgrade(request, wire, head)
      },
    },
    (request, response) => serve(request, response, { node, faults, calls, clock }),
  )
  const stop = () => {
    sockets.stop()
    return server.stop()
  }
  return {
    ...server,
    name,
    view: node.view.settings,
    faults,
    calls,
    sockets,
    socketUrl: server.url.replace('http', 'ws'),
    stop,
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
  const body = (await bodyOf(request))?.toString() ?? null
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
