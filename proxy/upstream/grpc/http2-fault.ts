// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { constants } from 'node:http2'
import { faultOf } from '../http/http-fault.ts'
import { TransportError } from '../transport.ts'

/**
 * What the end of an HTTP/2 stream without an answer means. A stream that was refused was not looked
 * at by the node (RFC 9113, 8.7).
 * @param hasLargeMetadata servers reset a stream whose metadata is too much for them
 */
export function http2Fault(
  resetCode: number,
  cause: Error | null,
  hasLargeMetadata: boolean,
): TransportError {
  if (resetCode === constants.NGHTTP2_REFUSED_STREAM)
    return new TransportError('reset', 'REFUSED_STREAM', false)
  // A stream whose connection never came about; why is in its cause.
  if (isCode(cause, 'ERR_HTTP2_STREAM_CANCEL') && cause?.cause instanceof Error)
    return http2Fault(resetCode, cause.cause, hasLargeMetadata)
  if (cause && !isCode(cause, 'ERR_HTTP2')) return faultOf(cause)
  const name = cause ? (cause as NodeJS.ErrnoException).code : null
  const isOfTheStream = name === null || name === 'ERR_HTTP2_STREAM_ERROR'
  const fault = isOfTheStream && hasLargeMetadata ? 'declined' : 'reset'
  return new TransportError(fault, name ?? `stream reset with ${resetCode}`, true, { cause })
}

function isCode(error: NodeJS.ErrnoException | null, prefix: string): boolean {
  return error?.code?.startsWith(prefix) ?? false
}
