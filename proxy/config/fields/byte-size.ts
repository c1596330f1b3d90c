// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

const unitBytes: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['B', 1],
  ['kB', 1000],
  ['KB', 1000],
  ['MB', 1000 ** 2],
  ['GB', 1000 ** 3],
  ['Ki', 1024],
  ['KiB', 1024],
  ['Mi', 1024 ** 2],
  ['MiB', 1024 ** 2],
  ['Gi', 1024 ** 3],
  ['GiB', 1024 ** 3],
])

/** The syntax that `parseByteSize` reads, as a source of a regular expression without anchors. */
export const byteSizePattern = '[0-9]{1,15}(?:\\.[0-9]{1,3})? ?(?:B|[kK]B|[MG]B|[KMG]iB?)?'

const whole = new RegExp(`^(?:${byteSizePattern})$`)

/**
 * Reads `10MiB`, `512KiB`, `1.5GB`, `10485760`.
 *
 * @returns whole bytes, rounded down; null when it is not a size
 */
export function parseByteSize(text: string): number | null {
  if (!whole.test(text)) return null
  const [, amount = '', unit = ''] = /^([0-9.]+) ?(.*)$/.exec(text) ?? []
  const bytes = Math.floor(Number(amount) * (unitBytes.get(unit) ?? Number.NaN))
  return bytes <= Number.MAX_SAFE_INTEGER ? bytes : null
}

/** Writes bytes in the largest binary unit that divides them: `10MiB`, `1KiB`, `1500`. */
export function formatByteSize(bytes: number): string {
  for (const unit of ['GiB', 'MiB', 'KiB']) {
    const size = unitBytes.get(unit) ?? 1
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`
  }
  return String(bytes)
}
