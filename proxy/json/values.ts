// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/*
 * Normalizes values of answers for comparison: nodes write hashes in any case, and quantities with
 * leading zeros.
 */

/** A height: hex with `0x`, decimal digits or a number; null for anything else. */
export function toNumber(value: unknown): number | null {
  if (typeof value === 'string' && !/^(?:0x[0-9a-f]+|[0-9]+)$/i.test(value)) return null
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : NaN
  return Number.isSafeInteger(number) ? number : null
}

/** A number as Ethereum nodes write it: `0x1a`. */
export function toQuantity(number: number): string {
  return `0x${number.toString(16)}`
}

const hex = /^(?:0x[0-9a-f]{1,64}|[0-9a-f]{64})$/i
const base64 = /^[0-9a-z+/_-]{43}=?$/i

/**
 * A hash of up to 32 bytes, in hex or base64, as lower-case hex without `0x` and leading zeros.
 * Null for other formats, which cannot be compared.
 */
export function toHash(value: unknown): string | null {
  if (typeof value !== 'string') return null
  if (hex.test(value)) return value.toLowerCase().replace(/^(?:0x)?0*/, '')
  if (!base64.test(value)) return null
  return Buffer.from(value, 'base64').toString('hex').replace(/^0*/, '')
}

/** A value of an answer, for a log line: numbers and hashes unchanged, nothing else. */
export function shown(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value === 'string' && /^[\w+/=-]{1,90}$/.test(value)) return value
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`
}
