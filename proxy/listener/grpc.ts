// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { http2Limits } from '../bytes/limits.ts'
import type { MethodSpec } from '../chain/types.ts'
import { type Call, Journal } from '../relay/call.ts'
import { CallAborted, RelayError, errorKinds, overloaded } from '../relay/errors.ts'
import type { Reply } from '../relay/reply.ts'
import { soleMessage } from '../upstream/dialect.ts'
import { header } from '../upstream/wire.ts'
import { Calls, brokenOff, errorOf } from './calls.ts'
import { readDirectives } from './directives.ts'
import { ResponseMetadata } from './headers.ts'
import { metadataForClient, metadataForNode, readTimeout, statusOf } from './grpc/grpc-headers.ts'
import { grpcReplyReader } from './grpc/grpc-messages.ts'
import { Http2Server } from './grpc/http2-server.ts'
import type { Listener, ListenerOptions } from './listener.ts'
import type { Http2Exchange } from './grpc/http2-exchange.ts'
import { faultOfPath, healthAnswer } from './http/http-exchange.ts'
import { faultOfCount, listOf } from './request-head.ts'

/** Listener for gRPC over plaintext HTTP/2: any service and method, unary or streaming. */
export function createGrpcListener(options: ListenerOptions): Listener {
  const handler = new GrpcHandler(options)
  return new Http2Server({ ...options, serve: (exchange) => void handler.serve(exchange) })
}

const grpc = 'application/grpc'
/** Accepts any message encoding, but not gRPC-Web, which is a different protocol. */
const isGrpc = /^application\/grpc(?:[+;]|$)/i
/** Matches Protobuf messages only. */
const isProtobuf = /^application\/grpc(?:\+proto)?(?:;|$)/i
/** How long after its first message a read may take to end. Then it is forwarded as a stream. */
const readMomentMs = 2
/** The same for a write. Longer, because a complete write is broadcast and a stream is not. */
const writeMomentMs = 5_000
const onlyGrpc =
  'this listener serves gRPC: POST with the content type application/grpc, and GET /health'

class GrpcHandler {
  readonly #options: ListenerOptions
  readonly #calls: Calls

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#calls = new Calls(options)
  }

  /** Never rejects. */
  async serve(exchange: Http2Exchange): Promise<void> {
    const { newGuid, observer, version } = this.#options
    const guid = newGuid()
    try {
      await this.#serve(exchange, guid)
    } catch (cause) {
      const error = errorOf(cause)
      observer.requestRefused(error, guid, exchange)
      exchange.end(new ResponseMetadata(guid, version).toHeaders(grpc), statusOf(error))
      // The response head may already be sent.
      exchange.cutOffWith(statusOf(error))
    }
  }

  async #serve(exchange: Http2Exchange, guid: string): Promise<void> {
    if (exchange.verb === 'GET' && exchange.path === '/health') {
      const { status, text } = healthAnswer(this.#options.health())
      return exchange.answerText(status, text, ['router-version', this.#options.version])
    }
    const refusal = refusalOf(exchange)
    if (refusal !== null) return exchange.answerText(refusal, `${onlyGrpc}\n`)
    const call = await this.#makeCall(exchange, guid)
    if (call.signal.aborted) return this.#calls.ended(call, new CallAborted())
    const outcome = await this.#calls.run(call)
    if (outcome instanceof RelayError) this.#fail(exchange, call, outcome)
    else if (outcome instanceof CallAborted) this.#calls.ended(call, outcome)
    else await this.#pass(exchange, call, outcome)
  }

  /** @throws RelayError if the request is invalid */
  async #makeCall(exchange: Http2Exchange, guid: string): Promise<Call> {
    const { iface, clock, budget } = this.#options
    const { path, headers, signal } = exchange
    if (budget.isFull) throw overloaded()
    const fault = faultOf(exchange)
    if (fault) throw fault
    const directives = readDirectives(headers)
    if (directives instanceof RelayError) throw directives
    const timeoutMs = readTimeout(headers)
    if (timeoutMs instanceof RelayError) throw timeoutMs
    const receivedMs = clock.nowMs()
    const { method, body, mayStream } = await this.#classify(exchange)
    if (body === null) this.#endWhenIdle(exchange, guid)
    const journal = new Journal(clock.nowMs())
    journal.mayStream = mayStream
    journal.isOneOfMany = exchange.isOneOfMany
    if (timeoutMs !== null) journal.clientDeadlineMs = receivedMs + timeoutMs
    return {
      guid,
      method,
      request: {
        verb: 'POST',
        path,
        headers: metadataForNode(headers, iface.requestHeaders),
        body: body ?? exchange.body,
        awaitsMessage: !mayStream,
      },
      reader: grpcReplyReader,
      directives,
      signal,
      journal,
      client: exchange,
    }
  }

  /** Cuts off an idle client, because its open request occupies a stream on a node. */
  #endWhenIdle(exchange: Http2Exchange, guid: string): void {
    const { grpcLimits, observer } = this.#options
    const { idleTimeoutMs } = grpcLimits
    if (idleTimeoutMs === null) return
    exchange.whenIdle(idleTimeoutMs, () => {
      const message = `the request is still open, and neither side sent anything for ${idleTimeoutMs / 1000} s`
      const error = new RelayError(errorKinds.slowRequest, message)
      observer.requestRefused(error, guid, exchange)
      exchange.cutOffWith(statusOf(error))
    })
  }

  /**
   * Classifies a call. A read or write in the spec that has one message is unary and has a `body`.
   * Any other call may be a stream, whose start must not be delayed.
   */
  async #classify(
    exchange: Http2Exchange,
  ): Promise<{ method: MethodSpec; body: Uint8Array | null; mayStream: boolean }> {
    const { iface } = this.#options
    const question = {
      apiInterface: 'grpc',
      method: exchange.path.slice(1),
      header: (name: string) => listOf(exchange.headers, name),
    } as const
    const method = iface.classify(question)
    const isRead = method.kind === 'read'
    if (!method.known || !(isRead || method.kind === 'write'))
      return { method, body: null, mayStream: true }
    const body = await exchange.wholeBody(isRead ? readMomentMs : writeMomentMs)
    const isPlain = isProtobuf.test(listOf(exchange.headers, 'content-type') ?? '')
    const message = body && isPlain ? soleMessage(body) : null
    return {
      method: message ? iface.classify({ ...question, message }) : method,
      body,
      mayStream: body === null || exchange.messages > 1,
    }
  }

  #fail(exchange: Http2Exchange, call: Call, error: RelayError): void {
    const metadata = new ResponseMetadata(call.guid, this.#options.version)
    metadata.add(call.journal, null, call.directives.debugRelay)
    this.#calls.ended(call, error)
    exchange.end(metadata.toHeaders(grpc), statusOf(error))
  }

  /** Forwards messages, metadata and status unchanged. */
  async #pass(exchange: Http2Exchange, call: Call, reply: Reply): Promise<void> {
    const metadata = new ResponseMetadata(call.guid, this.#options.version)
    const own = metadata.add(call.journal, reply, call.directives.debugRelay).toHeaders(null)
    const { incoming } = reply
    const { body } = incoming
    const headers = [...metadataForClient(incoming.headers), ...own]
    if (header(headers, 'grpc-status') !== null) {
      // "Trailers only": a single block carries head and status.
      exchange.end(headers, [])
      return this.#calls.ended(call, reply)
    }
    const trailers = () => {
      const trailers = metadataForClient(incoming.trailers())
      if (header(trailers, 'grpc-status') !== null) return trailers
      return statusOf({
        kind: errorKinds.upstreamFailed,
        message: 'the upstream ended without a status',
      })
    }
    try {
      await exchange.respond(headers, body, trailers)
      this.#calls.ended(call, reply)
    } catch (cause) {
      const error = brokenOff(cause)
      exchange.cutOffWith(statusOf(error))
      this.#calls.ended(call, error)
    }
  }
}

/** HTTP status for a request that is not gRPC; null for a gRPC request. */
function refusalOf({ verb, headers }: Http2Exchange): number | null {
  if (verb !== 'POST') return 405
  return isGrpc.test(header(headers, 'content-type') ?? '') ? null : 415
}

/** Describes what is wrong with the form of a request; null if it is valid. */
function faultOf({ path, headers }: Http2Exchange): RelayError | null {
  if (!isMethodPath.test(path)) {
    const message = `the path ${path} is not of the form /package.Service/Method`
    return new RelayError(errorKinds.methodNotFound, message)
  }
  const fault = faultOfPath(path) ?? faultOfCount(headers)
  if (fault) return fault
  const { metadataBytes } = http2Limits
  if (headers.reduce((sum, { length }) => sum + length, 0) <= metadataBytes) return null
  const message = `the metadata is longer than ${metadataBytes} bytes`
  return new RelayError(errorKinds.headersTooLarge, message)
}

/** A service, whose name may contain slashes, and a method ("Path" in gRPC over HTTP/2). */
const isMethodPath = /^\/.+\/[^/]+$/
