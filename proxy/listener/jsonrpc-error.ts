// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ErrorKind } from '../relay/errors.ts'
import type { JsonRpcRequest, Span } from './jsonrpc-request.ts'

const nullId = Buffer.from('null')

/** The id of a request as the client wrote it; `null` where it wrote none. */
export function idBytes(body: Uint8Array, id: Span | null): Uint8Array {
  return id ? body.subarray(id.start, id.end) : nullId
}

/** An error of the router's own, as JSON-RPC. */
export function errorBytes(
  kind: ErrorKind,
  message: string,
  id: Uint8Array,
  guid: string,
): Uint8Array {
  const error = { code: kind.jsonRpcCode, message, data: { guid, reason: kind.reason } }
  return Buffer.concat([
    Buffer.from('{"jsonrpc":"2.0","id":'),
    id,
    Buffer.from(`,"error":${JSON.stringify(error)}}`),
  ])
}

/**
 * The bytes to send for a notification. Nodes answer nothing to one, so whether it arrived would
 * not be known and nothing could be retried: it goes out as a call with an id.
 */
export function withId(request: JsonRpcRequest): { body: Uint8Array; id: Span } {
  const { start, end } = request.span
  const head = Buffer.from('{"id":1,')
  return {
    body: Buffer.concat([head, request.body.subarray(start + 1, end)]),
    id: { start: 6, end: 7 },
  }
}
