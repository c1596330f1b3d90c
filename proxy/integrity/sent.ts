// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import type { CheckRule } from '../chain/checks.ts'
import { mismatch } from './identity.ts'
import { keccak256 } from './keccak256.ts'
import { bitcoinTxid, firstSignature } from './transaction-names.ts'
import { valueAt } from './values.ts'
import type { Violation } from './violation.ts'

type SentRule = Extract<CheckRule, { check: 'sent' }>

/** The answer names the transaction that was sent. */
export function checkSent(
  { digest, result: path = [] }: SentRule,
  result: unknown,
  raw: unknown,
): Violation | null {
  const names = typeof raw === 'string' ? namesBy[digest](raw) : []
  // Of a form that is not known the name is the node's to say.
  const [name] = names
  if (name === undefined) return null
  const told = valueAt(result, path)
  const isName = typeof told === 'string' && names.includes(isHex[digest] ? bareHex(told) : told)
  return isName ? null : mismatch('sent-hash', name, told)
}

/** What a node calls a transaction that it was sent; null for one in a form that is not known. */
export function nameOfSent(digest: SentRule['digest'], raw: unknown): string | null {
  const [name] = typeof raw === 'string' ? namesBy[digest](raw) : []
  if (name === undefined) return null
  if (digest === 'keccak256') return `0x${name}`
  if (digest !== 'sha256') return name
  const isBase64 = Buffer.from(String(raw), 'base64').toString('base64') === raw
  return isBase64 ? name.toUpperCase() : null
}

const isHex = { keccak256: true, sha256: true, 'bitcoin-txid': true, 'solana-signature': false }

function bareHex(text: string): string {
  return text.toLowerCase().replace(/^0x/, '')
}

/** What a transaction may be called: one name for each encoding that its text may be in. */
const namesBy: Readonly<Record<SentRule['digest'], (raw: string) => readonly string[]>> = {
  keccak256: (raw) => some(ethereumHash(raw)),
  'bitcoin-txid': (raw) => some(isWholeHex(raw) ? bitcoinTxid(Buffer.from(raw, 'hex')) : null),
  'solana-signature': (raw) => some(firstSignature(raw)),
  // In URI style a text in quotes is the bytes themselves, and hex has its `0x`.
  sha256: (raw) =>
    [Buffer.from(raw, 'base64'), Buffer.from(raw), Buffer.from(bareHex(raw), 'hex')].map((bytes) =>
      hash('sha256', bytes, 'hex'),
    ),
}

function some(name: string | null): readonly string[] {
  return name === null ? [] : [name]
}

function isWholeHex(text: string): boolean {
  return /^(?:[0-9a-f]{2})+$/i.test(text)
}

/** EIP-2718 types whose hash is that of their bytes. Other chains' own types may differ. */
const plainTypes: ReadonlySet<number> = new Set([1, 2, 3, 4])
const blobType = 3

/** Keccak-256 of a raw transaction of Ethereum; null for what is none of a known type. */
function ethereumHash(raw: string): string | null {
  if (!/^0x/i.test(raw) || !isWholeHex(raw.slice(2))) return null
  const bytes = Buffer.from(raw.slice(2), 'hex')
  const isTyped = plainTypes.has(bytes[0] as number)
  const list = listAt(bytes, isTyped ? 1 : 0)
  if (list === null || list.end !== bytes.length) return null
  // Sent with its blobs, a blob transaction is the first item of a list (EIP-4844).
  const inner = isTyped && bytes[0] === blobType ? listAt(bytes, list.start) : null
  const hashed = inner
    ? Buffer.concat([bytes.subarray(0, 1), bytes.subarray(list.start, inner.end)])
    : bytes
  return keccak256(hashed).toString('hex')
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
