// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

const date = /^(\d{4})-(\d{2})-(\d{2})$/
const time =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:Z|([-+])(\d{2}):(\d{2}))$/

/**
 * A day, as nodes read one in a query or in the value of an attribute.
 * @returns nanoseconds since 1970, of its beginning in UTC; null for what is none
 */
export function readDate(text: string): bigint | null {
  const [whole, ...parts] = date.exec(text) ?? []
  return whole === undefined ? null : midnight(parts)
}

/**
 * A point in time in the form of RFC 3339, with what nodes let pass beside it: an hour of one digit,
 * a comma before the fraction, an offset of up to 24 hours. Of the fraction nine digits count.
 * @returns nanoseconds since 1970; null for what is none
 */
export function readTime(text: string): bigint | null {
  const [whole, year, month, day, hour, minute, second, fraction = '', sign, ...offset] =
    time.exec(text) ?? []
  if (whole === undefined) return null
  const [hours, minutes, seconds] = [Number(hour), Number(minute), Number(second)]
  const [offsetHours = 0, offsetMinutes = 0] = sign === undefined ? [] : offset.map(Number)
  const start = midnight([year, month, day])
  if (start === null || hours > 23 || minutes > 59 || seconds > 59) return null
  if (offsetHours > 24 || offsetMinutes > 60) return null
  const offsetSeconds = (offsetHours * 60 + offsetMinutes) * 60 * (sign === '-' ? -1 : 1)
  const inDay = (hours * 60 + minutes) * 60 + seconds - offsetSeconds
  return start + BigInt(inDay) * 1_000_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'))
}

function midnight(parts: readonly (string | undefined)[]): bigint | null {
  const [year = 0, month = 0, day = 0] = parts.map(Number)
  const at = new Date(0)
  // Not `Date.UTC`, which takes the years below 100 for others.
  at.setUTCFullYear(year, month - 1, day)
  const isReal = at.getUTCMonth() === month - 1 && at.getUTCDate() === day
  return isReal ? BigInt(at.getTime()) * 1_000_000n : null
}
