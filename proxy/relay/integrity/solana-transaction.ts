// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fromBase58, toBase58 } from './base58.ts'

const [signatureBytes, keyBytes] = [64, 32]
/** No transaction is as long. */
const mostLetters = 8_192

/**
 * The signature that names a transaction of Solana, in base58: its first one. Which of base58 and
 * base64 the transaction is in, it tells itself: hardly any text is a whole transaction in both.
 * @returns null for what is none, or of a version that is not known
 */
export function firstSignature(text: string): string | null {
  if (text.length > mostLetters) return null
  const inBase64 = Buffer.from(text, 'base64')
  const isBase64 = inBase64.toString('base64') === text
  return (isBase64 ? signatureIn(inBase64) : null) ?? signatureIn(fromBase58(text))
}

function signatureIn(bytes: Buffer | null): string | null {
  if (bytes === null) return null
  let at = 0
  /** One to three bytes, seven bits each, the lowest first. */
  const count = () => {
    let value = 0
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = bytes[at++] ?? 0
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    return value
  }
  const skip = (length: number) => (at += length)
  const signatures = count()
  const start = at
  skip(signatures * signatureBytes)
  const prefix = bytes[at] ?? 0
  const isVersioned = prefix >= 0x80
  if (isVersioned) skip(1)
  const signers = bytes[at] ?? 0
  skip(3)
  skip(count() * keyBytes)
  skip(keyBytes)
  for (let left = count(); left > 0 && at < bytes.length; left--) {
    skip(1)
    skip(count())
    skip(count())
  }
  if (isVersioned)
    for (let left = count(); left > 0 && at < bytes.length; left--) {
      skip(keyBytes)
      skip(count())
      skip(count())
    }
  // Of versions beside the first one nothing is known.
  const isWhole = at === bytes.length && signatures > 0 && signers === signatures
  if (!isWhole || prefix > 0x80) return null
  return toBase58(bytes.subarray(start, start + signatureBytes))
}
