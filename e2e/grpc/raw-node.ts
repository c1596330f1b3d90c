// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'

/** The behaviour of a node for one call. */
export type Manner = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void

/** A message with its gRPC frame header. */
export function framed(message: string | Buffer, isCompressed = false): Buffer {
  const bytes = Buffer.from(message)
  const prefix = Buffer.alloc(5)
  prefix[0] = isCompressed ? 1 : 0
  prefix.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([prefix, bytes])
}

const head = [':status', '200', 'content-type', 'application/grpc']

export function answerWith(
  stream: ServerHttp2Stream,
  messages: readonly string[],
  trailers: OutgoingHttpHeaders = { 'grpc-status': '0' },
): void {
  begin(stream, trailers)
  for (const message of messages) stream.write(framed(message))
  stream.end()
}

/** Sends the head; the trailers follow when the stream ends. */
export function begin(
  stream: ServerHttp2Stream,
  trailers: OutgoingHttpHeaders = { 'grpc-status': '0' },
  metadata: readonly string[] = [],
): void {
  stream.on('wantTrailers', () => stream.sendTrailers(trailers))
  stream.respond([...head, ...metadata], { waitForTrailers: true })
}

/** A gRPC node with control over every frame, which can violate the protocol. */
export class RawNode implements AsyncDisposable {
  readonly #server: Http2Server
  readonly sessions = new Set<ServerHttp2Session>()
  manner: Manner
  calls = 0
  /** Number of streams that the router reset. */
  cancelled = 0
  open = 0

  /** @param maxEntries limit of header entries per request; Node's default is 128 */
  constructor(manner: Manner, maxEntries = 10_000) {
    this.manner = manner
    this.#server = createServer({
      // Like grpc-go, which limits neither memory nor resets per connection.
      ...{ maxSessionMemory: 1_000, maxSessionRejectedStreams: 1e9 },
      ...{ streamResetBurst: 1e6, streamResetRate: 1e6, maxSessionInvalidFrames: 1e6 },
      strictSingleValueFields: false,
      maxHeaderListPairs: maxEntries,
      maxSendHeaderBlockLength: 1_000_000,
    })
    this.#server.on('session', (session) => {
      this.sessions.add(session)
      session.on('close', () => this.sessions.delete(session)).on('error', () => {})
    })
    this.#server.on('stream', (stream: ServerHttp2Stream, headers) => {
      this.calls += 1
      this.open += 1
      stream.on('error', () => {})
      stream.on('aborted', () => (this.cancelled += 1))
      stream.on('close', () => (this.open -= 1))
      this.manner(stream, headers)
    })
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.sessions) session.destroy()
    if (this.#server.listening) await this.#server[Symbol.asyncDispose]()
  }
}
