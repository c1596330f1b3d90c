// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'

/**
 * The txid of a raw transaction of Bitcoin, with or without witnesses (BIP 144): the digest of all
 * but marker, flag and witnesses (BIP 141). Null for bytes that are anything else.
 */
export function bitcoinTxid(bytes: Buffer): string | null {
  let at = 4
  const skip = (count: number) => (at += count)
  const count = (): number => {
    const first = bytes[at] ?? NaN
    at += 1
    if (!(first >= 0xfd)) return first
    const width = first === 0xfd ? 2 : 4
    // No count is as large as to need eight bytes.
    if (first === 0xff || at + width > bytes.length) return NaN
    at += width
    return bytes.readUIntLE(at - width, width)
  }
  const times = (repeats: number, read: () => void) => {
    for (let index = 0; index < repeats && at <= bytes.length; index++) read()
  }
  const skipText = () => skip(count())

  // No transaction is without inputs: a zero in the place of their count is the marker.
  const hasWitnesses = bytes[4] === 0 && bytes[5] === 1
  if (hasWitnesses) skip(2)
  const bodyStart = at
  const inputs = count()
  times(inputs, () => {
    skip(36)
    skipText()
    skip(4)
  })
  times(count(), () => {
    skip(8)
    skipText()
  })
  const bodyEnd = at
  if (hasWitnesses)
    times(inputs, () => {
      times(count(), skipText)
    })
  if (inputs === 0 || at + 4 !== bytes.length) return null
  const parts = [bytes.subarray(0, 4), bytes.subarray(bodyStart, bodyEnd), bytes.subarray(at)]
  const digest = hash('sha256', hash('sha256', Buffer.concat(parts), 'buffer'), 'buffer')
  return Buffer.from(digest.toReversed()).toString('hex')
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const signatureBytes = 64
/** No transaction of Solana is longer. */
const mostBytes = 2_048

/**
 * The first signature of a transaction of Solana, in base58, by which it is called. The text may be
 * in base64 or base58: hardly any is a transaction in both.
 */
export function firstSignature(text: string): string | null {
  if (text.length > 2 * mostBytes) return null
  const bytes = Buffer.from(text, 'base64')
  const isBase64 = bytes.toString('base64') === text
  return (isBase64 ? signatureIn(bytes) : null) ?? signatureIn(fromBase58(text))
}

/** A count of signatures, these, and a message that wants as many signers. */
function signatureIn(bytes: Buffer | null): string | null {
  const count = bytes?.[0] ?? 0
  if (bytes === null || count === 0 || count > 19) return null
  const message = 1 + count * signatureBytes
  const isVersioned = bytes[message] === 0x80
  if (bytes[isVersioned ? message + 1 : message] !== count) return null
  return toBase58(bytes.subarray(1, 1 + signatureBytes))
}

function fromBase58(text: string): Buffer | null {
  let value = 0n
  for (const letter of text) {
    const digit = alphabet.indexOf(letter)
    if (digit < 0) return null
    value = value * 58n + BigInt(digit)
  }
  const ones = /^1*/.exec(text)?.[0].length ?? 0
  const digits = value === 0n ? '' : value.toString(16)
  const even = digits.padStart(digits.length + (digits.length % 2), '0')
  return Buffer.from('00'.repeat(ones) + even, 'hex')
}

function toBase58(bytes: Buffer): string {
  const zeros = bytes.findIndex((byte) => byte !== 0)
  let text = ''
  for (let left = BigInt(`0x0${bytes.toString('hex')}`); left > 0n; left /= 58n)
    text = `${alphabet[Number(left % 58n)]}${text}`
  return '1'.repeat(zeros < 0 ? bytes.length : zeros) + text
}
