// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect, type Socket } from 'node:net'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import type { ChainInterface, Question } from '../../chain/types.ts'
import { type Clock, systemClock } from '../../clock/clock.ts'
import type { ClientsConfig, SocketLimits } from '../../config/types.ts'
import type { Call, Client } from '../../relay/call.ts'
import type { RelayError } from '../../relay/errors.ts'
import type { Reply } from '../../relay/reply.ts'
import type { Relay } from '../../relay/relay.ts'
import type { Body, BodyStream, HeaderList } from '../../upstream/wire.ts'
import { ClientAddresses } from '../client-address.ts'
import { createJsonRpcListener } from '../jsonrpc.ts'
import type { CallEnd, Listener, ListenerOptions, SubscriptionServing } from '../listener.ts'

/** A loopback listener over the test's relay, and the recordings of its observer. */
export interface Fixture extends AsyncDisposable {
  readonly port: number
  readonly url: string
  readonly calls: Call[]
  readonly ends: CallEnd[]
  readonly refusals: RelayError[]
  readonly refusedClients: (Client | null)[]
  readonly openConnections: () => number
  readonly openSockets: () => number
  drain(): Promise<void>
  settle(): Promise<void>
  close(): Promise<void>
}

const socketLimits: SocketLimits = {
  maxMessageBytes: 10 * 1024 * 1024,
  maxCalls: 100,
  maxSubscriptions: 100,
  maxBufferedBytes: 8 * 1024 * 1024,
  idleTimeoutMs: 600_000,
}

const noProxies: ClientsConfig = { trustedProxies: null, addressHeader: 'x-forwarded-for' }
/** Clients that connect without proxies. */
export const directClients = new ClientAddresses(noProxies)

export interface FixtureOptions {
  readonly socketLimits?: Partial<SocketLimits>
  readonly subscriptions?: SubscriptionServing
  readonly clock?: Clock
  readonly maxRequestBytes?: number
  readonly budget?: ByteBudget
  readonly health?: () => boolean
  readonly allowedOrigins?: readonly string[]
  readonly clients?: Partial<ClientsConfig>
  readonly create?: (options: ListenerOptions) => Listener
  readonly requestHeaders?: readonly string[]
  readonly responseHeaders?: readonly string[]
  readonly internalPaths?: readonly string[]
}

/** An interface without methods: every call is an unknown read. */
export function anyInterface(options: FixtureOptions): ChainInterface {
  return {
    apiInterface: 'jsonrpc',
    addons: new Set(),
    archiveAfterBlocks: null,
    impliedVersion: null,
    requestHeaders: new Set(options.requestHeaders),
    responseHeaders: new Set(options.responseHeaders),
    latestBlock: null,
    syncing: null,
    tagBlocks: new Map(),
    oldestBlock: null,
    latestTime: null,
    verifications: [],
    verificationNames: new Set(),
    internalPaths: new Set(options.internalPaths),
    methods: new Set(),
    aliases: new Map(),
    classify: (question: Question) => ({
      name: 'method' in question ? question.method : '',
      known: false,
      kind: 'method' in question && question.method.endsWith('ubscribe') ? 'subscribe' : 'read',
      block: { kind: 'none' },
      addon: null,
      cost: 10,
      cacheable: false,
      deterministic: false,
      byHash: false,
      stateful: null,
      waitsForBlock: false,
      timeoutMs: null,
      tellsTip: null,
      checks: [],
      internalPath: 'internalPath' in question ? question.internalPath : '',
    }),
  }
}

export async function startListener(relay: Relay, options: FixtureOptions = {}): Promise<Fixture> {
  const calls: Call[] = []
  const ends: CallEnd[] = []
  const refusals: RelayError[] = []
  const refusedClients: (Client | null)[] = []
  let open = 0
  let openSockets = 0
  let guids = 0
  const listener = (options.create ?? createJsonRpcListener)({
    address: { host: '127.0.0.1', port: 0 },
    iface: anyInterface(options),
    relay: (call) => {
      calls.push(call)
      return relay(call)
    },
    clock: options.clock ?? systemClock,
    observer: {
      callEnded: (_, end) => ends.push(end),
      requestRefused: (error, _, client) => {
        refusals.push(error)
        refusedClients.push(client)
      },
      connectionsChanged: (now) => (open = now),
      socketsChanged: (now) => (openSockets = now),
    },
    maxRequestBytes: options.maxRequestBytes ?? 10 * 1024 * 1024,
    budget: options.budget ?? new ByteBudget(Infinity),
    allowedOrigins: options.allowedOrigins ? new Set(options.allowedOrigins) : null,
    clients: new ClientAddresses({ ...noProxies, ...options.clients }),
    socketLimits: { ...socketLimits, ...options.socketLimits },
    grpcLimits: { maxStreams: 128, idleTimeoutMs: 600_000 },
    subscriptions: options.subscriptions ?? null,
    version: '1.2.3',
    newGuid: () => `guid${++guids}`,
    health: options.health ?? (() => true),
  })
  const { port } = await listener.start()
  return {
    port,
    url: `http://127.0.0.1:${port}/`,
    calls,
    ends,
    refusals,
    refusedClients,
    openConnections: () => open,
    openSockets: () => openSockets,
    drain: () => listener.drain(),
    settle: () => listener.settle(),
    close: () => listener.close(),
    [Symbol.asyncDispose]: () => listener.close(),
  }
}

/** Builds an upstream answer. */
export function reply(
  body: Body | string,
  more: { status?: number; headers?: HeaderList } = {},
): Reply {
  return {
    upstream: 'alpha',
    refusal: null,
    latestBlock: 7,
    incoming: {
      status: more.status ?? 200,
      headers: more.headers ?? ['content-type', 'application/json'],
      body: wireBody(body),
      trailers: () => [],
    },
  }
}

/** Wraps a stream without a head: the relay validates streams, the listener does not. */
function wireBody(body: Body | string): Uint8Array | BodyStream {
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array || 'head' in body) return body as Uint8Array | BodyStream
  return { head: [], [Symbol.asyncIterator]: () => body[Symbol.asyncIterator]() }
}

/** Text sent to the upstream. */
export function sentText(call: Call): string {
  return Buffer.from(call.request.body as Uint8Array).toString('utf8')
}

/** A correct node: it answers with the id it received. */
export const echoRelay: Relay = (call) => {
  call.journal.begin('alpha', 'first', 0).result = 'answer'
  const text = sentText(call)
  const sent = JSON.parse(text) as { id?: unknown; method: string }
  // Finds the bytes of the id with a simple pattern.
  const id = /"id"\s*:\s*("(?:[^"\\]|\\.)*"|[-+.\deE]+|null)/.exec(text)?.[1]
  const idText = id ?? JSON.stringify(sent.id ?? null)
  const result = JSON.stringify(sent.method)
  return Promise.resolve(reply(`{"jsonrpc":"2.0","id":${idText},"result":${result}}`))
}

/** A connection on which a test writes raw bytes and collects the response. */
export class RawClient implements Disposable {
  readonly socket: Socket
  #text = ''
  #isClosed = false
  #error: Error | null = null
  #wake: () => void = () => undefined

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    this.socket.on('data', (data) => {
      this.#text += data.toString('latin1')
      this.#wake()
    })
    this.socket.on('error', (error) => {
      this.#error = error
    })
    for (const event of ['end', 'close'])
      this.socket.on(event, () => {
        this.#isClosed = true
        this.#wake()
      })
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  }

  get text(): string {
    return this.#text
  }

  get error(): Error | null {
    return this.#error
  }

  /** Everything received, once it matches. @throws Error if the server closes earlier */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#text)) {
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(this.#text)}`)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    return this.#text
  }

  /** Everything received until the server closed. */
  async untilClosed(): Promise<string> {
    while (!this.#isClosed) await new Promise<void>((resolve) => (this.#wake = resolve))
    return this.#text
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }
}

/** A request as bytes, with a matching length. */
export function rawPost(body: string | Uint8Array, headers: readonly string[] = []): Buffer {
  const bytes = Buffer.from(body as string)
  const head = ['POST / HTTP/1.1', 'Host: x', `Content-Length: ${bytes.length}`, ...headers]
  return Buffer.concat([Buffer.from(head.join('\r\n') + '\r\n\r\n'), bytes])
}
