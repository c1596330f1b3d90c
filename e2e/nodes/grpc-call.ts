// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from 'node:http2'
import { buffer } from 'node:stream/consumers'
import type { WireAnswer, WireCall } from './byte-equality.ts'

/** A target of gRPC calls, with a kept connection. */
export class GrpcTarget implements Disposable {
  readonly session: ClientHttp2Session

  /** @param address `HOST:PORT`, plaintext */
  constructor(address: string) {
    // wasmd ends messages of errors with a space, which would be left out.
    this.session = connect(`http://${address}`, { strictFieldWhitespaceValidation: false })
  }

  [Symbol.dispose](): void {
    this.session.close()
  }
}

export interface GrpcRequest {
  /** `package.Service/Method`. */
  readonly method: string
  /** Messages in protobuf, as they are put into frames. */
  readonly messages: readonly Uint8Array[]
  readonly metadata?: Readonly<Record<string, string>>
}

const { HTTP2_HEADER_METHOD, HTTP2_HEADER_PATH } = constants

/** A call in raw bytes; the client side is closed behind the messages. */
export function grpcCall(
  label: string,
  { method, messages, metadata = {} }: GrpcRequest,
): WireCall<GrpcTarget> {
  return {
    label,
    async send({ session }): Promise<WireAnswer> {
      const stream = session.request({
        [HTTP2_HEADER_METHOD]: 'POST',
        [HTTP2_HEADER_PATH]: `/${method}`,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...metadata,
      })
      let headers: IncomingHttpHeaders = {}
      let trailers: IncomingHttpHeaders = {}
      stream.once('response', (fields) => (headers = fields))
      stream.once('trailers', (fields) => (trailers = fields))
      stream.end(Buffer.concat(messages.map(frame)))
      const bytes = await buffer(stream)
      return answer(headers, bytes, trailers)
    },
  }
}

/** Not compressed, and its length. */
function frame(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** A server may put the status into the headers: to a client that is the same. */
function answer(
  headers: IncomingHttpHeaders,
  bytes: Buffer,
  trailers: IncomingHttpHeaders,
): WireAnswer {
  const { ':status': status = 0, ...fields } = headers
  const isTrailersOnly = bytes.length === 0 && 'grpc-status' in fields
  const contentType = { 'content-type': fields['content-type'] }
  return {
    status: Number(status),
    headers: textOf(isTrailersOnly ? contentType : fields),
    bodies: [bytes],
    trailers: textOf(isTrailersOnly ? { ...fields, 'content-type': undefined } : trailers),
  }
}

function textOf(fields: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      // Space around a value is none of it (RFC 9113, section 8.2.1), and the router passes none on.
      value === undefined ? [] : [[name, [value].flat().join(', ').trim()]],
    ),
  )
}
