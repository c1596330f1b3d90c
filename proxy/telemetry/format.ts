// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { StateRecord } from '../upstream/observer.ts'

/** Numbers and tables for human readers; `-` stands for null, an unknown value. */
export function percent(ratio: number | null): string {
  return ratio === null ? '-' : `${(ratio * 100).toFixed(ratio < 0.1 ? 1 : 0)}%`
}

/** Formats `0.9ms`, `12ms`, `1.2s`. */
export function time(seconds: number | null): string {
  if (seconds === null) return '-'
  if (seconds < 0.9995) return `${(seconds * 1_000).toFixed(seconds < 0.01 ? 1 : 0)}ms`
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)}s`
}

/** Formats `76 ms`, `4.5 s`, `1 min 16 s`, `3 h 5 min`, `2 d 4 h` for sentences. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${Number((ms / 1_000).toFixed(1))} s`
  const seconds = Math.round(ms / 1_000)
  const sizes = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ] as const
  const at = sizes.findIndex(([, size]) => seconds >= size)
  const parts = sizes.slice(at, at + 2).map(([unit, size], index) => {
    const whole = index === 0 ? seconds : seconds % (sizes[at]?.[1] ?? 1)
    return [Math.floor(whole / size), unit] as const
  })
  return parts.flatMap(([count, unit]) => (count === 0 ? [] : `${count} ${unit}`)).join(' ')
}

const units = { d: 86_400_000, h: 3_600_000, m: 60_000 }

/** Formats `45s`, `119s`, `3m`, `5h`, `2d`. */
export function age(ms: number | null): string {
  if (ms === null) return '-'
  const unit = Object.entries(units).find(([, size]) => ms >= 2 * size) ?? ['s', 1_000]
  return `${Math.floor(ms / unit[1])}${unit[0]}`
}

/** Formats `timeout 8, no-upstream 3`, most frequent first; empty without counts. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  const words = Object.entries(counts).filter(([, count]) => count > 0)
  const sorted = words.toSorted(([, a], [, b]) => b - a)
  return sorted.map(([word, count]) => `${word} ${count}`).join(', ')
}

/** Formats `disabled since 2026-01-31T03:00:00.000Z: reset; until 2026-01-31T03:15:00.000Z`. */
export function stateText({ state, since, why, until }: StateRecord): string {
  const end = until === null ? '' : `; until ${until}`
  return `${state} since ${since}${why === null ? '' : `: ${why}`}${end}`
}

/** Removes control characters, because names come from configs and methods from clients. */
export function clean(text: string): string {
  return text.replaceAll(/\p{C}/gu, '\u{fffd}')
}

/** Returns one line per row. Each column is as wide as its widest cell. */
export function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  )
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0))
  return rows.map((row) => line(row).join('  ').trimEnd())
}
