// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { constants, type ServerHttp2Stream } from 'node:http2'
import type { Clock } from '../clock/clock.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { Body, HeaderList } from '../upstream/wire.ts'
import { tooLarge } from './compression.ts'
import { grpcStatusOf } from './grpc-error.ts'
import { GrpcFrames } from './grpc-frames.ts'
import { ReplayableBody } from './replayable-body.ts'

/** What of a request is kept to be sent again. */
const keptBytes = 1024 * 1024

/** One request of a client and its answer, on an HTTP/2 stream. */
export class Http2Exchange {
  readonly verb: string
  readonly path: string
  /** Names are lower case; those of HTTP/2 itself begin with a colon. */
  readonly headers: HeaderList
  readonly body: ReplayableBody
  readonly #stream: ServerHttp2Stream
  readonly #abort = new AbortController()

  /** @param maxMessageBytes of one message of the client */
  constructor(stream: ServerHttp2Stream, headers: HeaderList, maxMessageBytes: number) {
    const pseudo = (name: string) => headers[headers.indexOf(name) + 1] ?? ''
    this.#stream = stream
    this.verb = pseudo(':method')
    this.path = pseudo(':path')
    this.headers = headers
    const body = new ReplayableBody(keptBytes, {
      pause: () => void stream.pause(),
      resume: () => void stream.resume(),
    })
    this.body = body
    const frames = new GrpcFrames()
    stream
      .on('data', (chunk: Buffer) => {
        frames.push(chunk)
        if (frames.longestBytes > maxMessageBytes) this.#refuse(tooLarge(maxMessageBytes))
        else body.push(chunk)
      })
      .on('end', () => {
        if (frames.isWhole) return body.end()
        // A node would take it for trouble of its own, or for all there is.
        const error = new RelayError(
          errorKinds.badGrpc,
          'the request ends in the middle of a message',
        )
        body.fail(error)
        this.#refuse(error)
      })
      .on('close', () => {
        body.fail(new Error('the client left'))
        if (!stream.writableFinished || stream.rstCode !== constants.NGHTTP2_NO_ERROR)
          this.#abort.abort()
      })
      // Whatever it was, the stream closes.
      .on('error', () => {})
  }

  /** Aborted when the client took its call back before it was answered. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** The whole body where it ends within so many milliseconds and is kept; null for one that goes on. */
  wholeBody(withinMs: number, clock: Clock): Promise<Uint8Array | null> {
    return new Promise((resolve) => {
      const cancel = clock.after(withinMs, () => {
        resolve(null)
      })
      this.body.ended(() => {
        cancel()
        resolve(this.body.whole)
      })
    })
  }

  /** Answers in HTTP what is not gRPC. */
  refuse(status: number, message: string): void {
    const stream = this.#stream
    if (stream.destroyed || stream.headersSent) return
    stream.respond([':status', String(status), 'content-type', 'text/plain'])
    stream.end(`${message}\n`)
    stream.resume()
  }

  /** Answers without a message: head and status in one block. */
  end(headers: HeaderList, status: HeaderList): void {
    if (this.#stream.destroyed || this.#stream.headersSent) return
    this.#stream.respond([':status', '200', ...lowerCase(headers), ...status], { endStream: true })
  }

  /** Ends with this status what may be in the middle of its messages. */
  cutOff(status: HeaderList): void {
    const stream = this.#stream
    if (stream.destroyed) return
    if (!stream.headersSent) this.end(['content-type', 'application/grpc'], status)
    else {
      this.#trailers = () => status
      stream.end()
    }
    this.#abort.abort()
  }

  #refuse({ kind, message }: RelayError): void {
    this.cutOff(grpcStatusOf(kind, message))
  }

  #trailers: () => HeaderList = () => []

  /**
   * Answers with messages, as fast as the client takes them, and the status when they have passed.
   * @throws the error of the stream
   */
  async respond(headers: HeaderList, body: Body, trailers: () => HeaderList): Promise<void> {
    const stream = this.#stream
    if (stream.destroyed || stream.headersSent) return
    this.#trailers = trailers
    stream.on('wantTrailers', () => {
      try {
        stream.sendTrailers(toObject(this.#trailers()))
      } catch (error) {
        // What cannot be written ends this call, and nothing else.
        stream.destroy(error as Error)
      }
    })
    stream.respond([':status', '200', ...lowerCase(headers)], { waitForTrailers: true })
    if (body instanceof Uint8Array) {
      stream.end(body)
      return
    }
    for await (const chunk of body) {
      if (stream.destroyed || stream.writableEnded) return
      if (!stream.write(chunk)) await drained(stream)
    }
    if (!stream.destroyed) stream.end()
  }
}

function lowerCase(headers: HeaderList): HeaderList {
  return headers.map((each, at) => (at % 2 === 0 ? each.toLowerCase() : each))
}

/** Names that come twice keep all their values. */
function toObject(headers: HeaderList): Record<string, string[]> {
  // A node may name a trailer `__proto__`.
  const object = Object.create(null) as Record<string, string[]>
  for (let at = 0; at < headers.length; at += 2)
    (object[headers[at] as string] ??= []).push(headers[at + 1] as string)
  return object
}

function drained(stream: ServerHttp2Stream): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      stream.off('drain', go).off('close', go)
      resolve()
    }
    stream.on('drain', go).on('close', go)
  })
}
