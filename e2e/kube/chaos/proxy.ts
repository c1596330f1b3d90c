// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, type Dispatcher } from 'undici'
import { type AnswerFault, type FaultSource, noFaults, type RequestKind } from './faults.ts'
import { relayWatch } from './watch.ts'
import type { Access } from '../access.ts'

/**
 * A proxy between a client and an API server that injects faults. It serves plain HTTP on loopback,
 * and authenticates to the server with the given credentials.
 */
export class ChaosProxy implements AsyncDisposable {
  /** Number of injections per fault. */
  readonly tally = new Map<string, number>()
  /** Access to the server through this proxy. */
  readonly access: Access
  readonly #server: Server
  readonly #agent: Agent
  readonly #target: string
  readonly #stop = new AbortController()
  readonly #firstVersions = new Map<string, string>()
  #faults: FaultSource

  private constructor(target: Access, faults: FaultSource, server: Server) {
    const { port } = server.address() as AddressInfo
    this.access = { ...target, server: `http://127.0.0.1:${port}` }
    this.#server = server
    this.#target = target.server
    this.#faults = faults
    const { ca, cert, key } = target
    this.#agent = new Agent({ connect: { ca, cert, key }, headersTimeout: 0, bodyTimeout: 0 })
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(request, response).catch(() => response.destroy())
    })
  }

  static async start(target: Access, faults: FaultSource): Promise<ChaosProxy> {
    const server = createServer()
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return new ChaosProxy(target, faults, server)
  }

  /** Ends all faults, and cuts silenced watches. */
  calm(): void {
    this.#faults = noFaults
    this.#stop.abort()
  }

  disturb(faults: FaultSource): void {
    this.#faults = faults
  }

  cutAll(): void {
    this.#server.closeAllConnections()
  }

  /** Calls the listener on every later client connection. */
  onConnection(listener: () => void): void {
    this.#server.on('connection', listener)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.calm()
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
    await this.#agent.destroy()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const kind = kindOf(request)
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const fault = this.#faults.answer(kind)
    if (fault !== null) this.#count(`${kind} ${fault.do}`)
    if (fault?.do === 'refuse') return refuse(response, fault)
    if (fault?.do === 'cut-before') return void response.destroy()
    if (fault?.do === 'slow') await pause(fault.delayMs, undefined, { signal: gone.signal })
    const path = fault?.do === 'rewind' ? this.#rewound(request.url!) : request.url!
    if (kind === 'watch') this.#remember(request.url!)
    const answer = await this.#forward(request, path, gone.signal)
    if (kind !== 'watch' || answer.statusCode !== 200) return finish(response, answer, fault)
    if (fault !== null && fault.do !== 'slow' && fault.do !== 'rewind')
      return void response.destroy()
    const inside = this.#faults.watch()
    if (inside !== null) this.#count(`watch ${inside.do}`)
    const version = new URL(request.url!, 'http://any').searchParams.get('resourceVersion') ?? '1'
    await relayWatch(response, answer, inside, version, this.#stop.signal)
  }

  /** Stores the first version of a watch per kind. */
  #remember(url: string): void {
    const { pathname, searchParams } = new URL(url, 'http://any')
    const version = searchParams.get('resourceVersion')
    if (version !== null && !this.#firstVersions.has(pathname))
      this.#firstVersions.set(pathname, version)
  }

  #rewound(url: string): string {
    const { pathname, searchParams } = new URL(url, 'http://any')
    const first = this.#firstVersions.get(pathname)
    if (first !== undefined) searchParams.set('resourceVersion', first)
    return `${pathname}?${searchParams.toString()}`
  }

  #forward(
    request: IncomingMessage,
    path: string,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { host: _, connection: __, ...headers } = request.headers
    return this.#agent.request({
      origin: this.#target,
      path,
      method: request.method as Dispatcher.HttpMethod,
      headers,
      body: request.method === 'GET' ? null : request,
      signal,
    })
  }

  #count(what: string): void {
    this.tally.set(what, (this.tally.get(what) ?? 0) + 1)
  }
}

function kindOf({ method, url = '' }: IncomingMessage): RequestKind {
  if (method !== 'GET') return 'write'
  const { pathname, searchParams } = new URL(url, 'http://any')
  if (searchParams.get('watch') === 'true') return 'watch'
  // /api/v1/pods, /apis/apps/v1/namespaces/n/deployments and similar paths.
  const scoped = pathname.replace(/^\/apis?\//, '').replace(/namespaces\/[^/]+\//, '')
  return scoped.split('/').length <= (pathname.startsWith('/apis/') ? 3 : 2) ? 'list' : 'get'
}

function refuse(response: ServerResponse, fault: AnswerFault & { do: 'refuse' }): void {
  const { status: code, reason, retryAfterSeconds } = fault
  const message = 'disturbed by the test'
  const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }
  response.setHeader('content-type', 'application/json')
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds)
  response.writeHead(code)
  response.end(JSON.stringify(body))
}

async function finish(
  response: ServerResponse,
  answer: Dispatcher.ResponseData,
  fault: AnswerFault | null,
): Promise<void> {
  const body = Buffer.from(await answer.body.arrayBuffer())
  if (fault?.do === 'cut-after') return void response.destroy()
  const half = body.subarray(0, body.length / 2)
  const {
    'transfer-encoding': _,
    'content-length': __,
    connection: ___,
    ...headers
  } = answer.headers
  const sent = fault?.do === 'truncate' ? half : body
  response.writeHead(answer.statusCode, { ...headers, 'content-length': sent.length })
  if (fault?.do !== 'cut-within') return void response.end(sent)
  response.write(half, () => response.destroy())
}
