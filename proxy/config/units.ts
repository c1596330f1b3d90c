// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

const unitMs = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** The syntax that `parseDuration` reads, as a source of a regular expression without anchors. */
export const durationPattern = '(?:[0-9]+(?:\\.[0-9]+)?(?:ns|us|µs|ms|s|m|h))+|0'
const wholeDuration = new RegExp(`^(?=.{1,64}$)(?:${durationPattern})$`)

/**
 * Reads `500ms`, `5s`, `1m30s`, `1.5h`, `0`.
 *
 * @returns milliseconds, never negative, possibly with a fraction; null when it is not a duration
 */
export function parseDuration(text: string): number | null {
  if (!wholeDuration.test(text)) return null
  let ms = 0
  for (const [, amount, unit] of text.matchAll(/([0-9.]+)([^0-9.]+)/g))
    ms += Number(amount) * unitMs[unit as keyof typeof unitMs]
  return ms <= Number.MAX_SAFE_INTEGER ? ms : null
}

/** Writes milliseconds so that `parseDuration` reads the same value: `1m30s`, `500ms`, `0s`. */
export function formatDuration(ms: number): string {
  const parts: readonly (readonly [amount: number, unit: string])[] = [
    [Math.floor(ms / 3_600_000), 'h'],
    [Math.floor((ms % 3_600_000) / 60_000), 'm'],
    [Math.floor((ms % 60_000) / 1000), 's'],
    [Number((ms % 1000).toFixed(6)), 'ms'],
  ]
  return parts.map(([amount, unit]) => (amount > 0 ? `${amount}${unit}` : '')).join('') || '0s'
}

const unitBytes: Readonly<Record<string, number>> = {
  ...{ B: 1, kB: 1000, KB: 1000, MB: 1000 ** 2, GB: 1000 ** 3 },
  ...{ Ki: 1024, KiB: 1024, Mi: 1024 ** 2, MiB: 1024 ** 2, Gi: 1024 ** 3, GiB: 1024 ** 3 },
}

/** The syntax that `parseByteSize` reads, as a source of a regular expression without anchors. */
export const byteSizePattern = '[0-9]{1,15}(?:\\.[0-9]{1,3})? ?(?:B|[kK]B|[MG]B|[KMG]iB?)?'
const wholeByteSize = new RegExp(`^(?:${byteSizePattern})$`)

/**
 * Reads `10MiB`, `512KiB`, `1.5GB`, `10485760`.
 *
 * @returns whole bytes, rounded down; null when it is not a size
 */
export function parseByteSize(text: string): number | null {
  if (!wholeByteSize.test(text)) return null
  const [, amount = '', unit = ''] = /^([0-9.]+) ?(.*)$/.exec(text) ?? []
  const bytes = Math.floor(Number(amount) * (unitBytes[unit] ?? 1))
  return bytes <= Number.MAX_SAFE_INTEGER ? bytes : null
}

/** Writes bytes in the largest binary unit that divides them: `10MiB`, `1KiB`, `1500`. */
export function formatByteSize(bytes: number): string {
  const unit = ['GiB', 'MiB', 'KiB'].find(
    (each) => bytes > 0 && bytes % (unitBytes[each] ?? 1) === 0,
  )
  return unit === undefined ? String(bytes) : `${bytes / (unitBytes[unit] ?? 1)}${unit}`
}
