// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'

/** Hexadecimal digits of a digest: 64 bits, short enough for the end of an object's name. */
const digestLength = 16

/**
 * A short hash of a list of texts. Each is preceded by its length, so that no two lists make the same input:
 * `['ab', 'c']` and `['a', 'bc']` differ.
 *
 * @returns 16 lower-case hexadecimal digits
 */
export function digest(parts: Iterable<string>): string {
  return shorten(sha256(parts))
}

/**
 * The same in full.
 *
 * @returns 64 lower-case hexadecimal digits
 */
export function sha256(parts: Iterable<string>): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`)
  return hash.digest('hex')
}

/** The digest that is the beginning of a whole hash. */
export function shorten(hash: string): string {
  return hash.slice(0, digestLength)
}

/** The hash of a map, whatever the order of its keys. */
export function digestEntries(entries: Iterable<readonly [key: string, value: string]>): string {
  return shorten(hashEntries(entries))
}

/**
 * The same in full, for what a stranger may have written: a text that he makes to fit a digest takes work, one that fits
 * all of it takes more than there is.
 *
 * @returns 64 lower-case hexadecimal digits
 */
export function hashEntries(entries: Iterable<readonly [key: string, value: string]>): string {
  return sha256([...entries].toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))).flat())
}
