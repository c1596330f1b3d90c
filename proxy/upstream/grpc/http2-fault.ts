// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { constants } from 'node:http2'
import { faultOf } from '../http/http-fault.ts'
import { TransportError } from '../transport.ts'

/**
 * What the end of an HTTP/2 stream without an answer means. A stream that was refused was not looked
 * at by the node (RFC 9113, 8.7).
 */
export function http2Fault(resetCode: number, cause: Error | null): TransportError {
  if (resetCode === constants.NGHTTP2_REFUSED_STREAM)
    return new TransportError('reset', 'REFUSED_STREAM', false)
  // What servers say to metadata that is too much for them, which is the client's.
  if (resetCode === constants.NGHTTP2_ENHANCE_YOUR_CALM)
    return new TransportError('declined', 'ENHANCE_YOUR_CALM', true, { cause })
  // A stream whose connection never came about; why is in its cause.
  if (isCode(cause, 'ERR_HTTP2_STREAM_CANCEL') && cause?.cause instanceof Error)
    return http2Fault(resetCode, cause.cause)
  if (cause && !isCode(cause, 'ERR_HTTP2')) return faultOf(cause)
  const name = cause ? (cause as NodeJS.ErrnoException).code : null
  return new TransportError('reset', name ?? `stream reset with ${resetCode}`, true, { cause })
}

function isCode(error: NodeJS.ErrnoException | null, prefix: string): boolean {
  return error?.code?.startsWith(prefix) ?? false
}
