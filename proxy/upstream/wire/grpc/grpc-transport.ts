// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { constants, type ClientHttp2Stream } from 'node:http2'
import { http2Limits } from '../../../bytes/limits.ts'
import type { Cancel } from '../../../clock/clock.ts'
import { Http2Sessions } from './http2-sessions.ts'
import { faultOf } from '../wire-fault.ts'
import { Exchange, exchange, type WireOptions } from '../exchange.ts'
import { drained, TransportError } from '../../wire.ts'
import type { Body, HeaderList, Outgoing, Transport } from '../../wire.ts'
import { UpstreamTarget, type WireConfig } from '../upstream-target.ts'

/** Size in HTTP/2. Common servers refuse some requests of 8 KiB; others may be stricter. */
const largeListBytes = 4 * 1024

/**
 * How long to wait for the end of an answer once it has begun. The trailers of a unary answer
 * arrive with its message; a longer answer becomes a stream.
 */
const lingerMs = 5

/**
 * gRPC over HTTP/2 to one URL: plaintext for `grpc` and `http`, TLS for `grpcs` and `https`.
 * Messages are bytes, which are never decoded.
 * @throws TlsFileError
 */
export function createGrpcTransport(config: WireConfig, options: WireOptions): Transport {
  const target = new UpstreamTarget(config, { 'user-agent': options.userAgent })
  const isTls = config.scheme === 'grpcs' || config.scheme === 'https'
  const authority = `${isTls ? 'https' : 'http'}://${target.host}`
  const sessions = new Http2Sessions(authority, target.tls, options.clock)
  return {
    send: (request, signal) =>
      exchange(signal, (resolve, reject) => {
        new GrpcExchange(options, signal, resolve, reject).begin(sessions, request, target)
      }),
    close(isGentle) {
      // Idle connections close by themselves, and never keep a process alive.
      if (!isGentle) sessions.close()
      return Promise.resolve()
    },
  }
}

/** One call and its answer on an HTTP/2 stream. */
class GrpcExchange extends Exchange {
  /** A stream may be silent forever; its connection shows whether the node is alive. */
  protected readonly stallMs = null
  protected override readonly behindBytes = http2Limits.streamWindowBytes
  #stream: ClientHttp2Stream | null = null
  #cancelLinger: Cancel = () => {}
  #lingers = false
  /** Resets the stream. `close` would first send what looks like the end of the request. */
  readonly #reset = new AbortController()

  begin(sessions: Http2Sessions, request: Outgoing, target: UpstreamTarget): void {
    const session = sessions.take()
    const { http2 } = session
    const { verb, path, headers, body, awaitsMessage = false } = request
    let stream: ClientHttp2Stream
    try {
      stream = http2.request(
        [
          ...[':method', verb, ':path', target.pathOf(path)],
          ...[':scheme', http2.encrypted ? 'https' : 'http', ':authority', target.host],
          ...target.headersWith(headers),
          // A hop-by-hop header that gRPC requires: servers abort calls without it.
          ...['te', 'trailers'],
        ],
        { signal: this.#reset.signal },
      )
    } catch (error) {
      sessions.leave(session)
      const { code = 'not sent' } = error as NodeJS.ErrnoException
      return this.fail(new TransportError('reset', code, false, { cause: error }))
    }
    this.#stream = stream
    let cause: Error | null = null
    const lost = () => this.fail(http2Fault(stream.rstCode, cause, isLargeMetadata(headers)))
    stream
      .on('headers', () => this.interim())
      .on('response', (_, flags: number, raw: string[]) => {
        if (this.isOver) return
        const { headers: answerHeaders, status } = split(raw)
        this.headers = answerHeaders
        this.status = status
        this.flow = stream
        const isAll = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
        if (!isAll && !awaitsMessage) this.#linger()
      })
      .on('data', (chunk: Buffer) => {
        this.push(chunk)
        if (awaitsMessage) this.#linger()
      })
      .on('trailers', (_, __, raw?: string[]) => {
        this.trailers = raw ?? []
      })
      .on('end', () => {
        if (this.isOver) return
        // Node also reports an end after a reset.
        const isCut = stream.rstCode !== 0 && this.trailers.length === 0
        if (this.status === 0 || isCut) return lost()
        this.complete()
        // The rest of the request is useless.
        if (!stream.writableEnded) this.#reset.abort()
      })
      .on('error', (error) => {
        cause = error
      })
      .on('close', () => {
        sessions.leave(session, this.#reset.signal.aborted)
        lost()
      })
    void this.#sendBody(stream, body)
  }

  /** Waits briefly for the end of the answer; a longer one becomes a stream. Called once. */
  #linger(): void {
    if (this.#lingers) return
    this.#lingers = true
    const { clock } = this.options
    this.#cancelLinger = clock.after(lingerMs, () => {
      // Reads what arrived while this process was busy before the second timer.
      this.#cancelLinger = clock.after(0, () => this.handOn())
    })
  }

  /** Sends at the pace of the node. The answer may end first, which makes the rest useless. */
  async #sendBody(stream: ClientHttp2Stream, body: Body | null): Promise<void> {
    if (body === null || body instanceof Uint8Array) {
      stream.end(body ?? undefined)
      return
    }
    try {
      for await (const piece of body) {
        if (this.isOver || stream.destroyed) return
        if (!stream.write(piece)) await drained(stream)
      }
      if (!this.isOver) stream.end()
    } catch (cause) {
      this.fail(new TransportError('aborted', 'the request broke off', true, { cause }))
    }
  }

  protected reset(): void {
    if (this.#stream?.closed === false) this.#reset.abort()
  }

  protected override end(): void {
    this.#cancelLinger()
    super.end()
  }
}

function split(raw: readonly string[]): { headers: HeaderList; status: number } {
  const headers: string[] = []
  let status = 0
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string
    if (name === ':status') status = Number(raw[at + 1])
    else headers.push(name, raw[at + 1] as string)
  }
  return { headers, status }
}

/** Whether metadata may exceed a server's limit, by its bytes and entries (RFC 9113, 6.5.2). */
function isLargeMetadata(headers: HeaderList): boolean {
  const bytes = headers.reduce((sum, { length }) => sum + length, 0)
  return bytes + 16 * headers.length > largeListBytes
}

/**
 * The fault for the end of an HTTP/2 stream without an answer. The node has not processed a refused
 * stream (RFC 9113, 8.7).
 * @param hasLargeMetadata servers reset a stream when its metadata is too large
 */
function http2Fault(
  resetCode: number,
  cause: Error | null,
  hasLargeMetadata: boolean,
): TransportError {
  if (resetCode === constants.NGHTTP2_REFUSED_STREAM)
    return new TransportError('reset', 'REFUSED_STREAM', false)
  const { code = '' } = (cause ?? {}) as NodeJS.ErrnoException
  // The connection of the stream failed to open; the cause says why.
  if (code.startsWith('ERR_HTTP2_STREAM_CANCEL') && cause?.cause instanceof Error)
    return http2Fault(resetCode, cause.cause, hasLargeMetadata)
  if (cause && !code.startsWith('ERR_HTTP2')) return faultOf(cause)
  const isOfTheStream = cause === null || code === 'ERR_HTTP2_STREAM_ERROR'
  const fault = isOfTheStream && hasLargeMetadata ? 'declined' : 'reset'
  return new TransportError(fault, code || `stream reset with ${resetCode}`, true, { cause })
}
