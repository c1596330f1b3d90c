// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf } from '../../json/text.ts'

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Of 64 bytes, the most that is asked for. */
const mostDigits = 88
/** So many digits at once are a number without loss. */
const chunkDigits = 9
const digits = new Int8Array(256).fill(-1)
for (let digit = 0; digit < alphabet.length; digit++) digits[alphabet.charCodeAt(digit)] = digit

/** How many bytes a JSON string tells in base58; -1 when it is none, or longer than a signature. */
export function base58Length(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] !== 0x22 || end - start - 2 > mostDigits) return -1
  return fromBase58(bufferOf(bytes).toString('latin1', start + 1, end - 1))?.length ?? -1
}

/** Null for what is no base58. */
export function fromBase58(text: string): Buffer | null {
  const ones = /^1*/.exec(text)?.[0].length ?? 0
  let value = 0n
  for (let first = ones; first < text.length; first += chunkDigits) {
    const last = Math.min(first + chunkDigits, text.length)
    let chunk = 0
    for (let at = first; at < last; at++) {
      const digit = digits[text.charCodeAt(at)] ?? -1
      if (digit < 0) return null
      chunk = chunk * 58 + digit
    }
    value = value * BigInt(58 ** (last - first)) + BigInt(chunk)
  }
  const hex = value === 0n ? '' : value.toString(16)
  return Buffer.from('00'.repeat(ones) + hex.padStart(2 * Math.ceil(hex.length / 2), '0'), 'hex')
}

export function toBase58(bytes: Buffer): string {
  const firstOther = bytes.findIndex((byte) => byte !== 0)
  const zeros = firstOther < 0 ? bytes.length : firstOther
  let text = ''
  for (let left = BigInt(`0x0${bytes.toString('hex')}`); left > 0n; left /= 58n)
    text = `${alphabet[Number(left % 58n)]}${text}`
  return '1'.repeat(zeros) + text
}
