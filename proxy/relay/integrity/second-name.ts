// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { sameBytes } from '../../json/text.ts'
import type { Span } from '../../json/span.ts'
import { digitsAt, isNull } from './values.ts'

/**
 * Whether a member under its second name says something else than under its own. Some clients read
 * the one first, some the other: ethers takes a transaction's `data` before its `input`, and its `index`
 * before its `transactionIndex`. Where one of
 * them is not there nothing is said twice.
 */
export function contradicts(bytes: Uint8Array, own: Span | null, second: Span | null): boolean {
  if (own === null || second === null || isNull(bytes, own.start)) return false
  if (sameBytes(bytes, own.start, own.end, bytes, second.start, second.end)) return false
  const digits = digitsAt(bytes, own.start, own.end)?.toLowerCase()
  return digits === undefined || digitsAt(bytes, second.start, second.end)?.toLowerCase() !== digits
}
