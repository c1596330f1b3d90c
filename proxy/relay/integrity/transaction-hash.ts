// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { keccak256 } from '../../integrity/keccak256.ts'

/** EIP-2718 types whose hash is that of their bytes. Other chains' own types may differ. */
const plainTypes: ReadonlySet<number> = new Set([1, 2, 3, 4])
const blobType = 3

/**
 * The hash of a raw transaction of Ethereum, as `0x` and 64 digits.
 * @returns null for what is no transaction of a known type
 */
export function transactionHash(raw: unknown): string | null {
  if (typeof raw !== 'string' || !/^0x(?:[0-9a-f]{2})+$/i.test(raw)) return null
  const bytes = Buffer.from(raw.slice(2), 'hex')
  const type = bytes[0] as number
  const isTyped = plainTypes.has(type)
  const start = isTyped ? 1 : 0
  const list = listAt(bytes, start)
  if (list === null || list.end !== bytes.length) return null
  // Sent with its blobs, a blob transaction is the first item of a list (EIP-4844).
  const inner = type === blobType && isTyped ? listAt(bytes, list.start) : null
  const hashed = inner
    ? Buffer.concat([bytes.subarray(0, 1), bytes.subarray(list.start, inner.end)])
    : bytes
  return `0x${keccak256(hashed).toString('hex')}`
}

/** Whether something begins as a transaction does whose hash is known: as a list, or with a type of Ethereum. */
export function isOfKnownType(raw: unknown): boolean {
  const [, first] = typeof raw === 'string' ? (/^0x([0-9a-f]{2})/i.exec(raw) ?? []) : []
  if (first === undefined) return false
  const type = Number.parseInt(first, 16)
  return type >= 0xc0 || plainTypes.has(type)
}

/** Where the content of an RLP list starts and ends; null where there is no whole list. */
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
