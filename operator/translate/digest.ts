// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'

/**
 * A short hash of a list of texts. Each is preceded by its length, so that no two lists make the same input:
 * `['ab', 'c']` and `['a', 'bc']` differ.
 *
 * @returns 16 lower-case hexadecimal digits: 64 bits, short enough for the end of an object's name
 */
export function digest(parts: Iterable<string>): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`)
  return hash.digest('hex').slice(0, 16)
}

/** The hash of a map, whatever the order of its keys. */
export function digestEntries(entries: Iterable<readonly [key: string, value: string]>): string {
  return digest([...entries].toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))).flat())
}
