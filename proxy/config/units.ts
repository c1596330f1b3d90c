// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

const unitMs = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Syntax of `parseDuration`, as an unanchored regular expression. */
export const durationPattern = '(?:[0-9]+(?:\\.[0-9]+)?(?:ns|us|µs|ms|s|m|h))+|0'
const wholeDuration = new RegExp(`^(?=.{1,64}$)(?:${durationPattern})$`)

/**
 * Parses `500ms`, `5s`, `1m30s`, `1.5h`, `0`.
 *
 * @returns non-negative milliseconds, possibly fractional; null when invalid
 */
export function parseDuration(text: string): number | null {
  if (!wholeDuration.test(text)) return null
  let ms = 0
  for (const [, amount, unit] of text.matchAll(/([0-9.]+)([^0-9.]+)/g))
    ms += Number(amount) * unitMs[unit as keyof typeof unitMs]
  return ms <= Number.MAX_SAFE_INTEGER ? ms : null
}

const unitBytes: Readonly<Record<string, number>> = {
  ...{ B: 1, kB: 1000, KB: 1000, MB: 1000 ** 2, GB: 1000 ** 3 },
  ...{ Ki: 1024, KiB: 1024, Mi: 1024 ** 2, MiB: 1024 ** 2, Gi: 1024 ** 3, GiB: 1024 ** 3 },
}

/** Syntax of `parseByteSize`, as an unanchored regular expression. */
export const byteSizePattern = '[0-9]{1,15}(?:\\.[0-9]{1,3})? ?(?:B|[kK]B|[MG]B|[KMG]iB?)?'
const wholeByteSize = new RegExp(`^(?:${byteSizePattern})$`)

/**
 * Parses `10MiB`, `512KiB`, `1.5GB`, `10485760`.
 *
 * @returns whole bytes, rounded down; null when invalid
 */
export function parseByteSize(text: string): number | null {
  if (!wholeByteSize.test(text)) return null
  const [, amount = '', unit = ''] = /^([0-9.]+) ?(.*)$/.exec(text) ?? []
  const bytes = Math.floor(Number(amount) * (unitBytes[unit] ?? 1))
  return bytes <= Number.MAX_SAFE_INTEGER ? bytes : null
}
