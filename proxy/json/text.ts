// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

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

/** The most bytes that a character of ASCII takes: `\u0061`. */
const escapedBytes = 6

/**
 * Whether a member's name, from its quote to behind its quote, is this one, whatever escapes it is
 * written with. `name` is plain ASCII with its quotes.
 */
export function isNamed(bytes: Uint8Array, start: number, end: number, name: string): boolean {
  const length = end - start
  if (length <= name.length) return spells(bytes, start, end, name)
  // Any escape is longer than what it stands for.
  if (length > escapedBytes * name.length || !hasBackslash(bytes, start, end)) return false
  return plainName(bytes, start, end) === name
}

/** A member's name with its quotes, without the escapes that it can do without. */
export function plainName(bytes: Uint8Array, start: number, end: number): string {
  const text = bufferOf(bytes).toString('latin1', start, end)
  return text.includes('\\') ? JSON.stringify(JSON.parse(text)) : text
}

/**
 * A name as parsers see it that match names without regard to case, as Go's does: some letters beyond
 * ASCII (\u017f, \u212a) are letters of ASCII to it.
 */
export function foldedName(name: string): string {
  return name.toLowerCase().toUpperCase()
}

/** The same of a member's name with its quotes, where it stands. */
export function foldedNameAt(bytes: Uint8Array, start: number, end: number): string {
  return foldedName(parseSpan(bytes, start, end) as string)
}

function hasBackslash(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === 0x5c) return true
  return false
}

/**
 * The value in a span that a scanner found to be valid JSON in valid UTF-8.
 * @throws SyntaxError when it is not
 */
export function parseSpan(bytes: Uint8Array, start: number, end: number): unknown {
  return JSON.parse(bufferOf(bytes).toString('utf8', start, end)) as unknown
}

/** From here on a search by the machine pays. */
const longTextBytes = 256

/** Where the bytes of a text from `start` on end that neither end the text nor escape anything. */
export function plainEnd(bytes: Uint8Array, start: number): number {
  const near = Math.min(bytes.length, start + longTextBytes)
  let end = start
  while (end < near && bytes[end] !== 0x22 && bytes[end] !== 0x5c) end++
  if (end < near || end === bytes.length) return end
  const quote = bytes.indexOf(0x22, end)
  const rest = bytes.subarray(end, quote < 0 ? bytes.length : quote)
  const backslash = rest.indexOf(0x5c)
  return end + (backslash < 0 ? rest.length : backslash)
}

/** The value of a whole document; undefined when the bytes are not JSON. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(bufferOf(bytes).toString()) as unknown
  } catch {
    return undefined
  }
}
