// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import http, {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Clock } from '../../proxy/clock/clock.ts'
import { patientClock } from '../../proxy/clock/testing/patient-clock.ts'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { freePort } from '../processes/free-ports.ts'
import { CallRecord } from './call-record.ts'
import { FaultSwitch } from './faults.ts'
import { digest } from './hex.ts'
import { send, sendReply, type NodeReply } from './http-reply.ts'
import { SocketFace, type SocketNode } from './socket-face.ts'

const keepAliveTimeout = 120_000

/** A request without its transport. */
export interface NodeRequest {
  readonly verb: string
  /** Raw path without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A node without its transport: requests in, answers out. */
export interface ChainNode extends SocketNode {
  answer(request: NodeRequest): NodeReply
}

export interface ServeOptions {
  /** Name of the node, which seeds its faults. Default: `sim`. */
  readonly name?: string
  /** Default: a reserved port that survives `stop` and `start`. 0: any free port. */
  readonly port?: number
  /** Default: 127.0.0.1. */
  readonly host?: string
  /** Clock for slow answers. The default clock stops while this thread is blocked. */
  readonly clock?: Clock
}

/** A simulated node on loopback. `await using` stops it. */
export interface ServedNode<Node extends ChainNode> extends AsyncDisposable {
  readonly name: string
  readonly port: number
  readonly url: string
  /** WebSocket URL on the same port. */
  readonly socketUrl: string
  readonly node: Node
  readonly faults: FaultSwitch
  readonly calls: CallRecord
  readonly sockets: SocketFace
  /** Reopens the port after `stop`. Does nothing while it is open. */
  start(): Promise<void>
  /** Closes the port and every connection. New connections are refused. */
  stop(): Promise<void>
}

/** Serves a node over HTTP, and over WebSockets if it has a feed. `make` gets its fault switch. */
export async function serveNode<Node extends ChainNode>(
  make: (faults: FaultSwitch) => Node,
  { name = 'sim', port: wantedPort, host = '127.0.0.1', clock = patientClock }: ServeOptions = {},
): Promise<ServedNode<Node>> {
  const faults = new FaultSwitch(seededRandom(digest('served-node', name).readUInt32BE(0)))
  const calls = new CallRecord()
  const node = make(faults)
  const sockets = new SocketFace(node, clock)
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response, { node, faults, calls, clock }).catch((error: unknown) => {
      if (!response.headersSent) send(response, 500, 'text/plain', String(error))
      else response.destroy()
    })
  }
  const open = async (port: number) => {
    const opened = http.createServer({ keepAliveTimeout }, listener)
    if (node.feed) opened.on('upgrade', sockets.upgrade)
    await once(opened.listen(port, host), 'listening')
    return opened
  }
  /** Retries, since a program that reserves no port may take a free port first. */
  const openAnywhere = async (tries = 3): Promise<http.Server> => {
    const opening = open(await freePort())
    return opening.catch((error: unknown) =>
      tries > 1 ? openAnywhere(tries - 1) : Promise.reject(error),
    )
  }
  let server: http.Server | null = wantedPort ? await open(wantedPort) : await openAnywhere()
  const { port } = server.address() as AddressInfo
  const start = async () => {
    server ??= await open(port)
  }
  const stop = async () => {
    sockets.stop()
    const closing = server
    server = null
    if (closing === null) return
    closing.closeAllConnections()
    await closing[Symbol.asyncDispose]()
  }
  const urls = { url: `http://${host}:${port}`, socketUrl: `ws://${host}:${port}` }
  return {
    ...{ name, port, node, faults, calls, sockets, start, stop },
    ...urls,
    [Symbol.asyncDispose]: stop,
  }
}

interface Serving {
  readonly node: ChainNode
  readonly faults: FaultSwitch
  readonly calls: CallRecord
  readonly clock: Clock
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { node, faults, calls, clock }: Serving,
): Promise<void> {
  const body = await buffer(request)
  const { method: verb = '', url: target = '/', headers } = request
  const { pathname, searchParams } = new URL(target, 'http://node')
  const reply = node.answer({ verb, path: pathname, query: searchParams, headers, body })
  calls.add({ path: target, headers, body: body.toString(), methods: reply.methods })
  response.once('close', () => {
    if (!response.writableFinished) calls.addUnanswered()
  })
  await sendReply(response, reply, faults.drawForRequest(reply.methods), clock)
}
