// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

const unitMs: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
])

const longestText = 64

/** The syntax that `parseDuration` reads, as a source of a regular expression without anchors. */
export const durationPattern = '(?:[0-9]+(?:\\.[0-9]+)?(?:ns|us|µs|ms|s|m|h))+|0'

const whole = new RegExp(`^(?:${durationPattern})$`)

/**
 * Reads `500ms`, `5s`, `1m30s`, `1.5h`, `0`.
 *
 * @returns milliseconds, never negative, possibly with a fraction; null when it is not a duration
 */
export function parseDuration(text: string): number | null {
  if (text.length > longestText || !whole.test(text)) return null
  let ms = 0
  for (const [, amount, unit] of text.matchAll(/([0-9.]+)([^0-9.]+)/g)) {
    ms += Number(amount) * (unitMs.get(unit ?? '') ?? Number.NaN)
  }
  return ms <= Number.MAX_SAFE_INTEGER ? ms : null
}

/** Writes milliseconds so that `parseDuration` reads the same value: `1m30s`, `500ms`, `0s`. */
export function formatDuration(ms: number): string {
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor((ms % 3_600_000) / 60_000)
  const seconds = Math.floor((ms % 60_000) / 1000)
  const rest = ms % 1000
  const parts = [
    hours > 0 ? `${hours}h` : '',
    minutes > 0 ? `${minutes}m` : '',
    seconds > 0 ? `${seconds}s` : '',
    rest > 0 ? `${Number(rest.toFixed(6))}ms` : '',
  ]
  return parts.join('') || '0s'
}
