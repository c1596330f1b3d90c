// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  createServer,
  type Http2Server as NodeHttp2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import { budgetLimits, clientLimits, controlFrames, http2Limits } from '../../bytes/limits.ts'
import { floodOf } from '../../clock/flood.ts'
import { keepalive } from '../../clock/keepalive.ts'
import type { Address } from '../../config/types.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import { metadataOptions } from '../../upstream/wire/grpc/http2-sessions.ts'
import { type ClientConnection, endConnection, flooded, Http2Exchange } from './http2-exchange.ts'
import {
  closeGraceMs,
  drainQuietMs,
  ReusePortListeners,
  until,
  type Listener,
  type ListenerObserver,
  type ListenerOptions,
} from '../listener.ts'

/** A client silent for one to two intervals gets a ping. It is cut off one interval later. */
const pulseMs = 30_000
const { resets } = http2Limits

/** `maxRequestBytes` limits a single client message. */
export interface Http2ServerOptions extends Pick<
  ListenerOptions,
  'address' | 'isShared' | 'maxRequestBytes' | 'grpcLimits' | 'clock' | 'budget' | 'clients'
> {
  readonly serve: (exchange: Http2Exchange) => void
  readonly observer: Pick<
    ListenerObserver,
    'connectionsChanged' | 'requestRefused' | 'acceptFailed'
  >
}

/** Plaintext HTTP/2 server on `node:http2`. Only this file and its exchange use that library. */
export class Http2Server implements Listener {
  readonly #options: Http2ServerOptions
  readonly #server: NodeHttp2Server
  readonly #doors: ReusePortListeners
  readonly #sessions = new Map<ServerHttp2Session, ClientConnection>()
  #streams = 0
  #lastUsedMs = -Infinity

  constructor(options: Http2ServerOptions) {
    this.#options = options
    this.#server = createServer({
      maxSessionMemory: http2Limits.clientSessionMiB,
      ...metadataOptions,
      // Node resets a stream with more entries. Up to this count, the status names the fault.
      maxHeaderListPairs: 2 * clientLimits.headers,
      // Beyond this, Node sends GOAWAY, as it does for floods of empty, unknown or invalid frames.
      streamResetBurst: resets.count,
      streamResetRate: (1_000 * resets.count) / resets.inMs,
      settings: {
        maxConcurrentStreams: options.grpcLimits.maxStreams,
        initialWindowSize: http2Limits.streamWindowBytes,
        enablePush: false,
      },
    })
    this.#doors = new ReusePortListeners(this.#server, false, options.observer)
    this.#server
      .on('session', (session) => this.#track(session))
      .on('stream', (stream, _headers, _flags, rawHeaders) =>
        this.#receive(stream as ServerHttp2Stream, rawHeaders),
      )
  }

  get isServing(): boolean {
    return this.#streams > 0
  }

  start(): Promise<Address> {
    return this.#doors.open(this.#options.address, this.#options.isShared)
  }

  /** Sends GOAWAY after a connection's first call, because an earlier GOAWAY fails that call. */
  async drain(): Promise<void> {
    const { clock } = this.#options
    await until(clock, () => {
      this.#sayGoodbye(0)
      return !this.isServing && clock.nowMs() - this.#lastUsedMs >= drainQuietMs
    })
  }

  async settle(): Promise<void> {
    void this.#doors.close()
    this.#sayGoodbye()
    await until(this.#options.clock, () => !this.isServing)
  }

  async close(): Promise<void> {
    this.#sayGoodbye()
    await until(this.#options.clock, () => this.#sessions.size === 0, closeGraceMs)
    for (const session of this.#sessions.keys()) session.destroy()
    await this.#doors.close()
  }

  #sayGoodbye(minTurn = -1): void {
    for (const [session, { lastTurn }] of this.#sessions)
      if (lastTurn >= minTurn && !session.closed) session.close()
  }

  #track(session: ServerHttp2Session): void {
    this.#sessions.set(session, newConnection())
    this.#options.observer.connectionsChanged(this.#sessions.size)
    const { clock } = this.#options
    session.setLocalWindowSize(http2Limits.clientWindowBytes)
    // A client that vanished silently must not occupy streams and connections forever.
    const stopPulse = keepalive({
      clock,
      everyMs: pulseMs,
      received: () => session.socket?.bytesRead ?? 0,
      ask: () => {
        if (session.destroyed) return
        // Node refuses to ping a closing session, but a SETTINGS frame is acknowledged too.
        if (session.closed) session.settings({})
        else session.ping(() => {})
      },
      lost: () => session.destroy(),
    })
    const end = () => endConnection(session, flooded)
    const count = floodOf(clock, controlFrames, end)
    session.on('ping', count).on('remoteSettings', count)
    // Node also ends the connection, but only after it starts every stream of a 64 KiB chunk.
    const countReset = floodOf(clock, resets, end)
    session.on('stream', (stream) => stream.on('aborted', countReset))
    session.on('close', () => {
      stopPulse()
      this.#sessions.delete(session)
      this.#options.observer.connectionsChanged(this.#sessions.size)
    })
    // A client that violates the protocol or its limits loses only its own connection.
    session.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (!code?.startsWith('ERR_HTTP2')) return
      const { observer, clients } = this.#options
      const client = clients.client(session.socket?.remoteAddress, [], '')
      observer.requestRefused(new RelayError(errorKinds.badHttp, message), '', client)
    })
  }

  #receive(stream: ServerHttp2Stream, rawHeaders: readonly string[]): void {
    const session = stream.session as ServerHttp2Session
    const connection = this.#sessions.get(session) ?? newConnection()
    // Created before its turn so that the budget counts it.
    const exchange = new Http2Exchange(stream, rawHeaders, this.#options, connection)
    const begin = () => this.#options.serve(exchange)
    const { turns } = this.#options.budget
    let takeBack = () => {}
    this.#count(connection, 1)
    stream
      .on('close', () => {
        takeBack()
        this.#count(connection, -1)
      })
      .on('error', () => {})
    if (connection.lastTurn !== turns.number) {
      connection.lastTurn = turns.number
      turns.spend(budgetLimits.itemBytes)
      begin()
    } else {
      // A client may cancel many queued calls at once.
      takeBack = turns.run(budgetLimits.itemBytes, begin)
    }
  }

  #count(connection: ClientConnection, by: number): void {
    connection.streams += by
    this.#streams += by
    this.#lastUsedMs = this.#options.clock.nowMs()
  }
}

function newConnection(): ClientConnection {
  return { drains: 0, streams: 0, chunks: 0, lastTurn: -1 }
}
