// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ResultPath } from '../chain/types.ts'
import type { Dialect } from './dialect.ts'
import type { Incoming } from './wire.ts'

/** Larger answers are not parsed for the sake of one number. */
const maxParsedBytes = 64 * 1024

/** A value as a block number. @returns null when it is none */
export function toBlockNumber(value: unknown, encoding: ResultPath['encoding']): number | null {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return null
  const form = encoding === 'hex' ? /^0x[0-9a-f]+$/i : /^[0-9]+$/
  const number = form.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(number) ? number : null
}

/** The block number that an answer tells; null when it tells none or is too large to look. */
export function readBlockNumber(
  dialect: Dialect,
  incoming: Incoming,
  place: ResultPath,
): number | null {
  const { body } = incoming
  if (!(body instanceof Uint8Array) || body.length > maxParsedBytes) return null
  const said = dialect.read({ ...incoming, body })
  return said.kind === 'answer' ? toBlockNumber(said.at(place), place.encoding) : null
}
