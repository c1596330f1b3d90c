// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { aligned, clean } from '../../telemetry/format.ts'
import type { Difference } from './compare.ts'

/** What can come of a recorded call, the worst first. */
const results = ['differs', 'failed', 'mayDiffer', 'leftOut', 'same'] as const
type Result = (typeof results)[number]

interface Finding extends Difference {
  readonly result: Result
  calls: number
  readonly method: string
  readonly upstream: string | null
  readonly line: number
}

/** So many findings are told apart: names of fields may be data. */
const maxFindings = 200
/** Of a text in a table. */
const maxCellLength = 100

/** What a replay finds. Calls that are alike are one finding, with the texts and the line of the first. */
export class Report {
  readonly calls = Object.fromEntries(results.map((each) => [each, 0])) as Record<Result, number>
  readonly #findings = new Map<string, Finding>()
  readonly #times = new Map<string, { readonly before: number[]; readonly now: number[] }>()

  /**
   * Counts a call.
   * @param line of the recording
   * @param upstream whose answer it is now
   * @param found the fields that differ, or why it failed or was left out
   */
  add(
    result: Result,
    { line, method }: { readonly line: number; readonly method: string },
    upstream: string | null,
    found: readonly Difference[] | string,
  ): void {
    this.calls[result] += 1
    const all = typeof found === 'string' ? [{ what: found, was: null, is: null }] : found
    for (const each of all) {
      const key = [result, method, upstream, each.what].join(' ')
      const known = this.#findings.get(key)
      if (known) known.calls += 1
      else if (this.#findings.size < maxFindings)
        this.#findings.set(key, { result, calls: 1, method, upstream, ...each, line })
    }
  }

  /** @param thenMs null where no upstream was asked then */
  timed(method: string, thenMs: number | null, nowMs: number): void {
    const { before, now } = this.#times.getOrInsertComputed(method, () => ({ before: [], now: [] }))
    if (thenMs !== null) before.push(thenMs)
    now.push(nowMs)
  }

  toJSON() {
    const rank = (result: Result) => results.indexOf(result)
    const findings = [...this.#findings.values()].toSorted(
      (a, b) => rank(a.result) - rank(b.result) || b.calls - a.calls,
    )
    const latencyMs = [...this.#times].map(([method, { before, now }]) => ({
      ...{ method, calls: now.length, p50Then: quantile(before, 0.5), p50Now: quantile(now, 0.5) },
      ...{ p99Then: quantile(before, 0.99), p99Now: quantile(now, 0.99) },
    }))
    return { version: 1, calls: this.calls, findings, latencyMs }
  }

  toText(): string {
    const { findings, latencyMs } = this.toJSON()
    const sums = Object.entries(this.calls).map(([result, calls]) => `${result} ${calls}`)
    return `Calls: ${sums.join(', ')}\n${table(findings)}${table(latencyMs)}`
  }
}

/** Of the nearest rank, to a tenth; null of none. */
function quantile(times: readonly number[], share: number): number | null {
  const ms = times.toSorted((a, b) => a - b)[Math.ceil(share * times.length) - 1]
  return ms === undefined ? null : Math.round(ms * 10) / 10
}

/** Rows under the names of their columns, each on one line; nothing where there are none. */
function table(rows: readonly object[]): string {
  const all = [...rows.slice(0, 1).map(Object.keys), ...rows.map(Object.values)]
  const lines = all.map((row) =>
    row.map((cell) => clean(String(cell ?? '-')).slice(0, maxCellLength)),
  )
  return lines.length === 0 ? '' : `\n${aligned(lines).join('\n')}\n`
}
