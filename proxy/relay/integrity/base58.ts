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
  const text = bufferOf(bytes).toString('latin1', start + 1, end - 1)
  const ones = /^1*/.exec(text)?.[0].length ?? 0
  let value = 0n
  for (let first = ones; first < text.length; first += chunkDigits) {
    const last = Math.min(first + chunkDigits, text.length)
    let chunk = 0
    for (let at = first; at < last; at++) {
      const digit = digits[text.charCodeAt(at)] as number
      if (digit < 0) return -1
      chunk = chunk * 58 + digit
    }
    value = value * BigInt(58 ** (last - first)) + BigInt(chunk)
  }
  return ones + (value === 0n ? 0 : Math.ceil(value.toString(16).length / 2))
}
