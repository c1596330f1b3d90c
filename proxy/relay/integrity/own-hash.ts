// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import type { BlockRef } from '../../chain/types.ts'
import type { Span } from '../../json/span.ts'
import { valueEnd } from '../../json/value.ts'
import { bitcoinHeaderDigest, checkListed, hasTwoVersions } from './bitcoin-header.ts'
import { mayPend } from './block-range.ts'
import type { BlockMemory } from './block-memory.ts'
import type { DigestMemory } from './digest-memory.ts'
import { headerDigest } from './header-digest.ts'
import { ItemCursor } from './item-cursor.ts'
import { ResultDocument } from './result-document.ts'
import { hasTwoChains, hasTwoParities, transactionDigest } from './transaction-digest.ts'
import { hashAt, numberAt, shown } from './values.ts'
import { doubtful, violation, type CheckName, type Violation } from './violation.ts'

/** Of the transactions of a block those are hashed that take no more than this, */
const longTransactionBytes = 4 * 1024
/** and so many, each time others: a block of Ethereum has some 300, and each takes some 50 us. */
const mostTransactions = 16

/** What a digest shows: its form, and null where something is left out that it is made from. */
interface Digest {
  readonly form: string
  readonly digest: string | null
}

/**
 * The hash of a block is that of its header: nothing in it can be changed, and nothing that it
 * tells of its parent either.
 */
export function checkHeader(
  { form }: Extract<CheckRule, { check: 'header' }>,
  document: ResultDocument,
  asked: BlockRef,
  teller: string,
  memory: BlockMemory,
): Violation | null {
  const { bytes } = document
  const hash = hashIn(document)
  // A block that is still to come has no hash, or that of another one.
  if (hash === null || mayPend(asked)) return null
  if (form === 'bitcoin') return checkBitcoinHeader(document, hash, teller, memory.headers)
  const [number, parent] = [document.at(['number']), document.at(['parentHash'])]
  const parentHash = parent && hashAt(bytes, parent.start, parent.end)
  // Nothing is its own parent: that is for the check of parents to say.
  if (parentHash === hash) return null
  const digest = headerDigest(document)
  const found = compare('header-hash', hash, digest, teller, memory.headers)
  if (found || digest.digest !== hash) return found
  if (number && parentHash)
    memory.prove(hash, numberAt(bytes, number.start, number.end), parentHash)
  return null
}

/** What makes its hash also tells which transactions it has; its height it does not tell. */
function checkBitcoinHeader(
  document: ResultDocument,
  hash: string,
  teller: string,
  memory: DigestMemory,
): Violation | null {
  if (hasTwoVersions(document))
    return violation('header-hash', 'version tells another one than versionHex')
  const digest = bitcoinHeaderDigest(document)
  const found = compare('header-hash', hash, { form: 'bitcoin', digest }, teller, memory)
  return digest === hash ? checkListed(document) : found
}

/** The hash of a transaction is that of its members, but for its sender and its place. */
export function checkTransaction(
  { each }: Extract<CheckRule, { check: 'transaction' }>,
  document: ResultDocument,
  teller: string,
  memory: DigestMemory,
): Violation | null {
  if (each === null) return checkOne(document, teller, memory)
  const { bytes } = document
  const list = document.at([each])
  if (list === null || bytes[list.start] !== 0x5b) return null
  const cursor = new ItemCursor(bytes, list.start)
  const short: { readonly index: number; readonly span: Span }[] = []
  while (cursor.next()) {
    if (!cursor.isObject) return null
    const { index, start } = cursor
    const end = valueEnd(bytes, start)
    cursor.ended(end)
    if (end - start <= longTransactionBytes) short.push({ index, span: { start, end } })
  }
  const step = Math.max(1, Math.ceil(short.length / mostTransactions))
  const first = memory.nextTurn() % step
  for (const { index, span } of short.filter((_, at) => at % step === first)) {
    const item = new ResultDocument(bytes, span)
    const found = escapedTwin(item) ?? checkOne(item, teller, memory)
    if (found) return { ...found, evidence: `item ${index}: ${found.evidence}` }
  }
  return null
}

/** What is written with escapes may be there once more. No honest node writes any. */
function escapedTwin(document: ResultDocument): Violation | null {
  const { bytes, span } = document
  const twin = bytes.subarray(span.start, span.end).includes(0x5c) ? document.twin : null
  return twin === null ? null : violation('shape', `${shown(twin)} stands there in two spellings`)
}

function checkOne(
  document: ResultDocument,
  teller: string,
  memory: DigestMemory,
): Violation | null {
  const hash = hashIn(document)
  if (hash === null) return null
  if (hasTwoParities(document))
    return violation('transaction-hash', 'v tells another parity than yParity')
  const found = compare('transaction-hash', hash, transactionDigest(document), teller, memory)
  if (found || !hasTwoChains(document)) return found
  // The hash tells the one chain; nothing is made of the other.
  return doubtful('transaction-hash', 'v tells another chain than chainId')
}

function compare(
  check: CheckName,
  hash: string,
  { form, digest }: Digest,
  teller: string,
  memory: DigestMemory,
): Violation | null {
  const verdict = memory.hear(teller, form, hash, digest)
  if (verdict === 'fits') return null
  const made = digest === null ? 'not all of what it is made from' : `what makes 0x${digest}`
  return { check, evidence: `0x${hash} has ${made}`, certain: verdict === 'contradicted' }
}

/** Null for what tells none. */
function hashIn(document: ResultDocument): string | null {
  const span = document.at(['hash'])
  const hash = span && hashAt(document.bytes, span.start, span.end)
  return hash?.length === 64 ? hash : null
}
