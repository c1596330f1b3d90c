// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Numbers and tables for people; null, which is unknown, is `-`. */
export function percent(ratio: number | null): string {
  return ratio === null ? '-' : `${(ratio * 100).toFixed(ratio < 0.1 ? 1 : 0)}%`
}

/** `0.9ms`, `12ms`, `1.2s`. */
export function time(seconds: number | null): string {
  if (seconds === null) return '-'
  if (seconds < 0.9995) return `${(seconds * 1_000).toFixed(seconds < 0.01 ? 1 : 0)}ms`
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)}s`
}

/** `45s`, `3m12s`, `2h05m`, `3d`. */
export function age(seconds: number | null): string {
  if (seconds === null) return '-'
  const whole = Math.max(0, Math.round(seconds))
  const two = (n: number) => String(n).padStart(2, '0')
  if (whole < 60) return `${whole}s`
  if (whole < 3_600) return `${Math.floor(whole / 60)}m${two(whole % 60)}s`
  if (whole < 172_800) return `${Math.floor(whole / 3_600)}h${two(Math.floor(whole / 60) % 60)}m`
  return `${Math.floor(whole / 86_400)}d`
}

/** The same between two times in ISO 8601. */
export function ageBetween(from: string, to: string): string {
  return age((Date.parse(to) - Date.parse(from)) / 1_000)
}

/** `timeout 8, no-upstream 3`. */
export function countsText(counts: Readonly<Record<string, number>>, most = Infinity): string {
  const words = Object.entries(counts).slice(0, most)
  return words.map(([word, count]) => `${word} ${count}`).join(', ')
}

/** Names come from configs, methods from clients: nothing of them may move the cursor. */
export function clean(text: string): string {
  return text.replaceAll(/\p{C}/gu, '\u{fffd}')
}

/** One line a row, each column as wide as its widest cell. */
export function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  )
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0))
  return rows.map((row) => line(row).join('  ').trimEnd())
}
