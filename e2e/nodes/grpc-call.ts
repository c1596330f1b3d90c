// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ClientHttp2Session } from 'node:http2'
import { answerOf, headOf, valuesOf } from '../grpc/raw-call.ts'
import { framed } from '../grpc/raw-node.ts'
import type { WireAnswer, WireCall } from './byte-equality.ts'

export interface GrpcRequest {
  /** `package.Service/Method`. */
  readonly method: string
  /** Protobuf messages without frame headers. */
  readonly messages: readonly Buffer[]
  readonly metadata?: Readonly<Record<string, string>>
}

/** A call in raw bytes, which half-closes after the messages. */
export function grpcCall(
  label: string,
  { method, messages, metadata = {} }: GrpcRequest,
): WireCall<ClientHttp2Session> {
  return {
    label,
    async send(session): Promise<WireAnswer> {
      const stream = session.request([...headOf(`/${method}`), ...Object.entries(metadata).flat()])
      stream.end(Buffer.concat(messages.map((message) => framed(message))))
      const { head, body, trailers } = await answerOf(stream)
      const { ':status': status, 'content-type': contentType = '', ...fields } = textOf(head)
      // A trailers-only answer is equal to a client.
      const isTrailersOnly = trailers === head
      return {
        status: Number(status),
        headers: { 'content-type': contentType, ...(isTrailersOnly ? {} : fields) },
        bodies: [body],
        trailers: isTrailersOnly ? fields : textOf(trailers),
      }
    },
  }
}

function textOf(headers: readonly string[]): Record<string, string> {
  const names = headers.filter((_, at) => at % 2 === 0)
  // Space around a value is not part of it (RFC 9113, section 8.2.1), and the router removes it.
  return Object.fromEntries(names.map((name) => [name, valuesOf(headers, name).join(', ').trim()]))
}
