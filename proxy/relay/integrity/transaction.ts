// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import { parseSpan } from '../../json/text.ts'
import { isText } from './bitcoin-block.ts'
import { bitcoinTxid } from './bitcoin-transaction.ts'
import { shownSpan } from './block.ts'
import { keccak256 } from '../../integrity/keccak256.ts'
import type { ResultDocument } from './result-document.ts'
import { sentHash } from './sent-hash.ts'
import { isOfKnownType, transactionHash } from './transaction-hash.ts'
import { bareHash, hexAt, isNull, shown, spellsHash, spellsText } from './values.ts'
import { violation, type Violation } from './violation.ts'

/**
 * Who took a transaction gives its hash back. Where that cannot be told any hash is believed; nothing at
 * all is none.
 */
export function checkSent(
  { digest, result }: Extract<CheckRule, { check: 'sent' }>,
  document: ResultDocument,
  raw: unknown,
): Violation | null {
  const { bytes } = document
  const hash = digest === 'sha256' ? null : sentHash(digest, raw)
  const span = document.at(result)
  if (hash === null) {
    if (span && !isNull(bytes, span.start)) return null
    return violation('transaction-hash', 'null for the hash of what was sent')
  }
  // Of base58 the case counts.
  const fits =
    digest === 'solana-signature'
      ? span && spellsText(bytes, span.start, span.end, hash)
      : span && spellsHash(bytes, span.start, span.end, bareHash(hash))
  if (fits) return null
  const got = shownSpan(bytes, span)
  return violation('transaction-hash', `the hash of what was sent is ${hash}, got ${got}`)
}

/** What `web3_sha3` makes of bytes. What is no bytes in hex the node refuses. */
export function checkDigest({ bytes, span }: ResultDocument, wanted: unknown): Violation | null {
  if (typeof wanted !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(wanted)) return null
  const digest = keccak256(Buffer.from(wanted.slice(2), 'hex')).toString('hex')
  if (spellsHash(bytes, span.start, span.end, digest)) return null
  const got = shownSpan(bytes, span)
  return violation('identity', `the digest of what was sent is 0x${digest}, got ${got}`)
}

/** At its end stand the two numbers of the signature: none, or one byte each. */
const unsigned = /(?:80|[0-7][0-9a-f]){2}$/i

/** A raw transaction has the hash by which it was asked for. */
export function checkRaw(
  { digest }: Extract<CheckRule, { check: 'raw' }>,
  document: ResultDocument,
  wanted: unknown,
): Violation | null {
  if (typeof wanted !== 'string') return null
  if (digest === 'bitcoin-txid') return checkTxid(document, wanted)
  return isText(document) ? checkKeccak(document, wanted) : null
}

/** An object is one that is not raw. Of one that is not held as a whole only the length is known. */
function checkTxid(
  { bytes, span, longTextBytes }: ResultDocument,
  wanted: string,
): Violation | null {
  if (bytes[span.start] === 0x7b) return null
  if (longTextBytes !== null)
    return longTextBytes % 2 === 1 ? violation('shape', 'half a byte of a transaction') : null
  const raw = hexAt(bytes, span.start, span.end)
  const txid = raw && bitcoinTxid(raw)
  if (txid === null) return violation('shape', 'the answer is no transaction in hex')
  if (txid === bareHash(wanted)) return null
  return violation('transaction-hash', `asked for ${shown(wanted)}, got one of txid ${txid}`)
}

function checkKeccak(document: ResultDocument, wanted: string): Violation | null {
  const { bytes, span, longTextBytes } = document
  // Of a long one only the beginning is there.
  if (longTextBytes !== null) return null
  const raw = parseSpan(bytes, span.start, span.end)
  const hash = transactionHash(raw)
  if (hash === null) {
    if (!isOfKnownType(raw)) return null
    return violation('transaction-hash', `asked for ${shown(wanted)}, got no whole transaction`)
  }
  if (bareHash(hash) === bareHash(wanted)) return null
  const found = violation('transaction-hash', `asked for ${shown(wanted)}, got one of hash ${hash}`)
  // What nobody signed, as test nodes let one send it, has whatever hash they give it.
  return { ...found, certain: !(typeof raw === 'string' && unsigned.test(raw)) }
}
