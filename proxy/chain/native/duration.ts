// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** Milliseconds of a duration that the schema has checked, such as `1m30s`. */
export function durationMs(text: string): number {
  const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 }
  let total = 0
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ms|h|m|s)/g))
    total += Number(amount) * (unitMs[unit ?? ''] ?? 0)
  return Math.round(total)
}
