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
