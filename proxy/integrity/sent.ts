// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../chain/native/schema.ts'
import { mismatch } from './identity.ts'
import { keccak256 } from './keccak256.ts'
import { valueAt } from '../json/value-at.ts'
import { toHash } from '../json/values.ts'
import type { Violation } from './violation.ts'

type SentRule = Extract<CheckRule, { check: 'sent' }>

/** Checks that the answer is the hash of the sent transaction. */
export function checkSent(
  { result: path = [] }: SentRule,
  result: unknown,
  raw: unknown,
): Violation | null {
  const name = typeof raw === 'string' ? ethereumHash(raw) : null
  // The hash of an unknown form cannot be computed.
  if (name === null) return null
  const got = valueAt(result, path)
  return toHash(got) === toHash(name) ? null : mismatch('sent-hash', name, got)
}

/** EIP-2718 types whose hash is that of their bytes. Other chains may differ. */
const plainTypes: ReadonlySet<number> = new Set([1, 2, 3, 4])
const blobType = 3

/** Keccak-256 of a raw Ethereum transaction; null if its type is unknown. */
function ethereumHash(raw: string): string | null {
  if (!/^0x(?:[0-9a-f]{2})+$/i.test(raw)) return null
  const bytes = Buffer.from(raw.slice(2), 'hex')
  const isTyped = plainTypes.has(bytes[0] as number)
  const list = listAt(bytes, isTyped ? 1 : 0)
  if (list === null || list.end !== bytes.length) return null
  // A blob transaction with its blobs is the first item of a list (EIP-4844).
  const inner = isTyped && bytes[0] === blobType ? listAt(bytes, list.start) : null
  const hashed = inner
    ? Buffer.concat([bytes.subarray(0, 1), bytes.subarray(list.start, inner.end)])
    : bytes
  return keccak256(hashed).toString('hex')
}

/** Start and end of the content of an RLP list; null if the list is incomplete. */
function listAt(bytes: Uint8Array, at: number): { start: number; end: number } | null {
  const head = bytes[at] ?? 0
  if (head < 0xc0) return null
  const lengthBytes = Math.max(0, head - 0xf7)
  let length = head < 0xf8 ? head - 0xc0 : 0
  for (let index = 1; index <= lengthBytes; index++)
    length = length * 256 + (bytes[at + index] ?? 0)
  const start = at + 1 + lengthBytes
  const end = start + length
  return length > 0 && end <= bytes.length ? { start, end } : null
}
