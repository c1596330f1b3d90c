// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseSpan } from '../../json/text.ts'
import { headerBytes, merkleRoot, rootStart } from './bitcoin-block.ts'
import { doubleSha256, shownDigest } from './bitcoin-transaction.ts'
import { FieldReader } from './field-reader.ts'
import { ItemCursor } from './item-cursor.ts'
import type { ResultDocument } from './result-document.ts'
import { hashAt, shown, shownAt } from './values.ts'
import { violation, type Violation } from './violation.ts'

/** The members that a header of Bitcoin in words is made of, and what stands beside them. */
export const bitcoinHeaderMembers: readonly string[] = [
  ...['version', 'versionHex', 'previousblockhash', 'merkleroot', 'time', 'bits', 'nonce'],
  ...['hash', 'tx', 'txid', 'nTx'],
]

/** Where the transactions may be listed; `rawtx` is btcd's name for whole ones. */
const lists = ['tx', 'rawtx'] as const

const noParent = '00'.repeat(32)

/**
 * The hash that the members of a header in words make, as 64 digits; null when one of them is missing.
 * The first block has no parent.
 */
export function bitcoinHeaderDigest(document: ResultDocument): string | null {
  const parent = digestOf(valueAt(document, 'previousblockhash') ?? noParent)
  const root = digestOf(valueAt(document, 'merkleroot'))
  const bits = valueAt(document, 'bits')
  const numbers = [
    [0, numericVersion(document) ?? hexVersion(document)],
    [68, uint32(valueAt(document, 'time'))],
    [72, ofDigits(bits) ?? uint32(bits)],
    [76, uint32(valueAt(document, 'nonce'))],
  ] as const
  if (parent === null || root === null) return null
  const header = Buffer.alloc(headerBytes)
  header.set(parent, 4)
  header.set(root, rootStart)
  for (const [at, number] of numbers) {
    if (number === null) return null
    header.writeUInt32LE(number, at)
  }
  return shownDigest(doubleSha256(header))
}

/** The version is told as a number and in hex, and one of them is not it. */
export function hasTwoVersions(document: ResultDocument): boolean {
  const [number, hex] = [numericVersion(document), hexVersion(document)]
  return number !== null && hex !== null && number !== hex
}

/**
 * The transactions listed in a block make the root in its header, and are as many as it says. Of a
 * long list that has passed in part only the number is known.
 */
export function checkListed(document: ResultDocument): Violation | null {
  for (const name of lists) {
    const list = document.at([name])
    if (list === null || document.bytes[list.start] !== 0x5b) continue
    const skipped = document.skippedAt([name])
    const txids = txidsIn(document.bytes, new ItemCursor(document.bytes, list.start))
    const found = 'check' in txids ? txids : compareAll(document, txids, skipped)
    if (found) return found
  }
  return null
}

function compareAll(
  document: ResultDocument,
  txids: readonly Buffer[],
  skipped: number,
): Violation | null {
  const told = valueAt(document, 'nTx')
  const count = skipped + txids.length
  if (told !== null && told !== count)
    return violation(
      'items-count',
      `${count} transactions, and nTx is ${shown(JSON.stringify(told))}`,
    )
  if (skipped > 0) return null
  const wanted = digestOf(valueAt(document, 'merkleroot'))
  if (wanted && merkleRoot(txids)?.equals(wanted)) return null
  return violation('transaction-hash', 'the transactions are not those of the header')
}

/** Each item is a txid, or an object that has one. */
function txidsIn(bytes: Uint8Array, cursor: ItemCursor): readonly Buffer[] | Violation {
  const fields = new FieldReader(['txid'])
  const txids: Buffer[] = []
  while (cursor.next()) {
    const { start, isObject } = cursor
    if (isObject) cursor.ended(fields.read(bytes, start))
    else cursor.skip()
    const span = isObject ? fields.span(0) : { start, end: cursor.end }
    const txid = span && digestOf(hashAt(bytes, span.start, span.end))
    if (txid === null || (isObject && fields.twin !== null))
      return violation('shape', `no txid in ${shownAt(bytes, start, cursor.end)}`)
    txids.push(txid)
  }
  return txids
}

/** Null where there is nothing as well. */
function valueAt(document: ResultDocument, name: string): unknown {
  const span = document.at([name])
  return span && parseSpan(document.bytes, span.start, span.end)
}

/** Its bytes in the order in which they are hashed; null for what is no digest in hex. */
function digestOf(text: unknown): Buffer | null {
  if (typeof text !== 'string' || !/^[0-9a-f]{64}$/i.test(text)) return null
  return Buffer.from(Buffer.from(text, 'hex').toReversed())
}

/** Null for anything else. */
function uint32(value: unknown): number | null {
  return typeof value === 'number' && value === value >>> 0 ? value : null
}

/** A number of four bytes in hex; null for anything else. */
function ofDigits(value: unknown): number | null {
  return typeof value === 'string' && /^[0-9a-f]{8}$/i.test(value)
    ? Number.parseInt(value, 16)
    : null
}

/** With or without a sign; null for anything else. */
function numericVersion(document: ResultDocument): number | null {
  const version = valueAt(document, 'version')
  return typeof version === 'number' && version === (version | 0) ? version >>> 0 : uint32(version)
}

function hexVersion(document: ResultDocument): number | null {
  return ofDigits(valueAt(document, 'versionHex'))
}
