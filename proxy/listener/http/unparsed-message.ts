// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { targetMessage } from './request-target.ts'

/** What Node's parser of HTTP says when it gives up. */
export interface ParseError extends NodeJS.ErrnoException {
  /** What it did not like, in words. */
  readonly reason?: string
  /** What came last of the connection, and how much of it was read. */
  readonly rawPacket?: Uint8Array
  readonly bytesParsed?: number
}

/** What is wrong with bytes that are no request, as far as the parser tells. */
export function unparsedMessage({ code, reason = '', rawPacket, bytesParsed }: ParseError): string {
  if (code !== 'HPE_INVALID_URL') return 'this is not a request in HTTP/1.1'
  const byte = rawPacket?.[bytesParsed ?? -1]
  // The parser names the part; of a host nothing is percent-encoded.
  if (byte === undefined || !/in url (?:path|query)$/.test(reason)) return targetMessage
  const hex = byte.toString(16).padStart(2, '0')
  return `the target of the request has bytes that must be percent-encoded, such as 0x${hex}, which is %${hex.toUpperCase()}`
}
