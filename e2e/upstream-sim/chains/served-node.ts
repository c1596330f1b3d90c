// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../../proxy/clock/clock.ts'
import { type Random, seededRandom } from '../../../proxy/clock/random.ts'
import { systemClock } from '../../../proxy/clock/system-clock.ts'
import { CallRecord } from '../call-record.ts'
import { FaultSwitch } from '../faults.ts'
import { digest } from '../hex.ts'
import { send, sendReply } from '../http-reply.ts'
import { bodyOf, openNodeServer, type NodeServer, type NodeServerOptions } from '../node-server.ts'

/** A request as a node without a wire gets it. */
export interface NodeRequest {
  readonly verb: string
  /** Without the query, percent-encoding as sent. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** What a node without a wire answers. */
export interface NodeReply {
  readonly status: number
  readonly contentType: string
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
  /** What was asked, for the record and for faults that strike some methods only. */
  readonly methods: readonly string[]
}

/** A node without a wire: requests in, answers out. */
export interface ChainNode {
  answer(request: NodeRequest): NodeReply
}

export interface ServeOptions {
  /** Tells the node from its peers, and seeds its faults. Default `sim`. */
  readonly name?: string
  /** Default 0: any free port. It stays the same over `stop` and `start`. */
  readonly port?: number
  readonly random?: Random
  readonly clock?: Clock
  /** Takes connections that become WebSockets; without it none do. */
  readonly upgrade?: NodeServerOptions['upgrade']
}

/** A simulated node on loopback. `await using` stops it. */
export interface ServedNode<Node extends ChainNode> extends NodeServer, AsyncDisposable {
  readonly name: string
  readonly node: Node
  readonly faults: FaultSwitch
  readonly calls: CallRecord
}

/** Puts a node on HTTP. `make` gets the switch of its faults. */
export async function serveNode<Node extends ChainNode>(
  make: (faults: FaultSwitch) => Node,
  { name = 'sim', port = 0, random, clock = systemClock, upgrade }: ServeOptions = {},
): Promise<ServedNode<Node>> {
  const seed = digest('served-node', name).readUInt32BE(0)
  const faults = new FaultSwitch(random ?? seededRandom(seed))
  const calls = new CallRecord()
  const node = make(faults)
  const address = { host: '127.0.0.1', port, tls: null }
  const server = await openNodeServer({ ...address, ...(upgrade && { upgrade }) }, (...exchange) =>
    answer(...exchange, { node, faults, calls, clock }),
  )
  return { ...server, name, node, faults, calls, [Symbol.asyncDispose]: () => server.stop() }
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
  const body = await bodyOf(request)
  if (body === null) return send(response, 413, 'text/plain', 'request body too large')
  const { method: verb = '', url: target = '/', headers } = request
  const at = target.indexOf('?')
  const path = at < 0 ? target : target.slice(0, at)
  const query = new URLSearchParams(at < 0 ? '' : target.slice(at))
  const reply = node.answer({ verb, path, query, headers, body })
  calls.add({ verb, path: target, headers, body: body.toString(), methods: reply.methods })
  response.once('close', () => {
    if (!response.writableFinished) calls.addUnanswered()
  })
  await sendReply(response, reply.body, null, faults.drawForRequest(reply.methods), clock, reply)
}
