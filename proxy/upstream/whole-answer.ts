// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { header, type Incoming } from './wire.ts'

const isRangesType = /^multipart\/byteranges\b/i

/**
 * The body is a range of the whole, or several (RFC 9110, 15.3.7). HTTP 206 without a range is how
 * some REST nodes say that a part of what was sent has failed: that answer is whole.
 */
export function isPartial({ status, headers }: Pick<Incoming, 'status' | 'headers'>): boolean {
  if (status !== 206) return false
  const isRanges = isRangesType.test(header(headers, 'content-type') ?? '')
  return isRanges || header(headers, 'content-range') !== null
}

/**
 * A status under which the whole of what was asked for may come (RFC 9110, 15.3): JSON-RPC knows 200,
 * and servers on some frameworks say 201 to every POST. A redirection, no content, content that the
 * client must reset, or a part of it: none of these is an answer, whatever stands in the body.
 */
export function mayBeWhole(status: number): boolean {
  return status >= 200 && status <= 203
}
