// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ErrorKind } from '../../relay/errors.ts'
import type { Span } from '../../json/cursor.ts'

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
