// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isAscii, isUtf8 } from 'node:buffer'

/** The same bytes with a Buffer's methods; nothing is copied. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Whether the bytes from `start` to `end` are exactly this ASCII text. */
export function spells(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  if (end - start !== text.length) return false
  for (let index = 0; index < text.length; index++)
    if (bytes[start + index] !== text.charCodeAt(index)) return false
  return true
}

/**
 * The value in a span that a scanner found to be valid JSON in valid UTF-8.
 * @throws SyntaxError when it is not
 */
export function parseSpan(bytes: Uint8Array, start: number, end: number): unknown {
  return JSON.parse(bufferOf(bytes).toString('utf8', start, end)) as unknown
}

/** The value of a whole document; undefined when the bytes are not JSON in UTF-8. */
export function parseJson(bytes: Uint8Array): unknown {
  const isPlain = isAscii(bytes)
  if (!isPlain && !isUtf8(bytes)) return undefined
  try {
    return JSON.parse(bufferOf(bytes).toString(isPlain ? 'latin1' : 'utf8')) as unknown
  } catch {
    return undefined
  }
}
