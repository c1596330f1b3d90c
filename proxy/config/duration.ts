// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const

/** Milliseconds of `500ms`, `5s`, `1m30s`; null when the text is not a duration. */
export function parseDuration(text: string): number | null {
  if (!/^(?:\d{1,12}(?:\.\d{1,9})?(?:ms|s|m|h))+$/.test(text)) return null
  let totalMs = 0
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ms|s|m|h)/g))
    totalMs += Number(amount) * unitMs[unit as keyof typeof unitMs]
  return totalMs
}
