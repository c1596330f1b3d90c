// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ResultPath } from '../chain/types.ts'
import type { Body } from './wire.ts'

/** Larger answers are not parsed for the sake of one number. */
const maxParsedBytes = 64 * 1024

/** Follows a path from `result` down. @returns undefined when there is nothing at its end */
export function valueAt(document: unknown, { path }: ResultPath): unknown {
  let value = (document as { result?: unknown } | null)?.result
  for (const key of path) value = (value as Record<string | number, unknown> | null)?.[key]
  return value
}

/** A value as a block number. @returns null when it is none */
export function toBlockNumber(value: unknown, encoding: ResultPath['encoding']): number | null {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return null
  const form = encoding === 'hex' ? /^0x[0-9a-f]+$/i : /^[0-9]+$/
  const number = form.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(number) ? number : null
}

/** The block number that an answer tells; null when it tells none or is too large to look. */
export function readBlockNumber(body: Body, path: ResultPath): number | null {
  if (!(body instanceof Uint8Array) || body.length > maxParsedBytes) return null
  try {
    const document: unknown = JSON.parse(
      Buffer.from(body.buffer, body.byteOffset, body.length).toString(),
    )
    return toBlockNumber(valueAt(document, path), path.encoding)
  } catch {
    return null
  }
}
