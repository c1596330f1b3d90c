// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fieldAt } from '../../chain/proto-field.ts'
import type { ProbeCall } from '../../chain/types.ts'
import type { Dialect, Said, WholeAnswer } from '../dialect.ts'
import { header, type Incoming } from '../wire.ts'

/** An empty message, not compressed. */
const emptyMessage = Buffer.alloc(5)

/** Unary gRPC: one message each way, the outcome among the trailers. */
export const grpcDialect: Dialect = {
  ask: ({ path }: ProbeCall) => ({
    verb: 'POST',
    path,
    headers: ['content-type', 'application/grpc'],
    body: emptyMessage,
  }),
  read(answer: WholeAnswer): Said {
    const status = readStatus(answer)
    if (status === null)
      return { kind: 'malformed', why: `HTTP ${answer.status} without grpc-status` }
    if (status.code !== 0) return { kind: 'error', error: { status: answer.status, ...status } }
    const message = soleMessage(answer.body)
    if (message === null) return { kind: 'malformed', why: 'not exactly one whole plain message' }
    return {
      kind: 'answer',
      at: ({ path, header: name }) =>
        name === undefined ? fieldAt(message, path) : (header(answer.headers, name) ?? undefined),
    }
  },
}

/** Before each message: a byte that tells whether it is compressed, and its length. */
const prefixBytes = 5

/** The one message of a body; null when there is another number of them, or it is compressed. */
export function soleMessage(body: Uint8Array): Uint8Array | null {
  if (body.length < prefixBytes || body[0] !== 0) return null
  const length = new DataView(body.buffer, body.byteOffset, body.length).getUint32(1)
  return body.length === prefixBytes + length ? body.subarray(prefixBytes) : null
}

export interface GrpcStatus {
  /** 0 to 16. */
  readonly code: number
  /** Decoded; may be empty. */
  readonly message: string
}

/**
 * The outcome of a gRPC call whose body has been read: from the trailers, or from the headers when
 * there is nothing else ("trailers only"). Null when the answer tells none.
 */
export function readStatus(answer: Pick<Incoming, 'headers' | 'trailers'>): GrpcStatus | null {
  const trailers = answer.trailers()
  const from = header(trailers, 'grpc-status') === null ? answer.headers : trailers
  const code = header(from, 'grpc-status')
  if (code === null || !/^\d{1,2}$/.test(code)) return null
  return { code: Number(code), message: percentDecoded(header(from, 'grpc-message') ?? '') }
}

/** What cannot be decoded stays as it was sent. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}
