// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { lastPoint } from '../../chain/finality.ts'
import type { MethodSpec } from '../../chain/types.ts'
import type { ApiInterface } from '../../config/types.ts'
import { canonicalJson } from '../../json/canonical-json.ts'
import { aligned, clean } from '../../telemetry/format.ts'

/** A field that changed (`[*]`: any element), or another remark about a call. */
export interface Difference {
  readonly what: string
  readonly was?: string | null
  readonly is?: string | null
}

/** Distinct differences between two answers to a call. JSON-RPC ids are ignored. */
export function compare(
  then: string,
  now: string,
  apiInterface: ApiInterface,
): readonly Difference[] {
  const ignored = apiInterface === 'rest' ? [] : ['id']
  const [was, is] = [then, now].map((each) => canonicalJson(Buffer.from(each), null, ignored))
  if (then === now || (was && was === is)) return []
  const fields = was && is ? fieldsOf(JSON.parse(was), JSON.parse(is), '') : []
  const found = new Map(Array.from(fields, (each) => [each.what, each]))
  // Not JSON, or numbers that differ only in their text.
  return found.size === 0 ? [{ what: '(all)', was: then, is: now }] : [...found.values()]
}

/** A path this long is not split further: deeper levels count as one field. */
const maxFieldLength = 200

/** Undefined stands for an absent value. */
function* fieldsOf(was: unknown, is: unknown, what: string): Generator<Difference, void, void> {
  const [then = 'absent', now = 'absent'] = [was, is].map((each) => JSON.stringify(each))
  if (then === now) return
  const form = formOf(was)
  if (form === 'value' || form !== formOf(is) || what.length > maxFieldLength)
    return yield { what, was: then, is: now }
  const [before, after] = [was, is] as readonly Readonly<Record<string, unknown>>[]
  for (const name of Object.keys({ ...before, ...after })) {
    const inner = form === 'map' ? `${what}.${name}`.replace(/^\./, '') : `${what}[*]`
    yield* fieldsOf(before?.[name], after?.[name], inner)
  }
}

/** Lists of different lengths differ in form. */
function formOf(value: unknown): string {
  if (Array.isArray(value)) return `list of ${value.length}`
  return typeof value === 'object' && value !== null ? 'map' : 'value'
}

/** Whether correct nodes always return the same answer: about a past block, or about none. */
export function isFixed(
  { deterministic, block, showsBlock }: MethodSpec,
  differences: readonly Difference[],
): boolean {
  const isNamed = block.kind === 'none' || block.kind === 'hash' || lastPoint(block) !== null
  const shown = ['result', ...(showsBlock?.path ?? [])].join('.')
  const wasThere = !differences.some(({ what, was }) => was === 'null' && shown.startsWith(what))
  return deterministic && isNamed && wasThere
}

/** Maximum number of distinct findings, because field names may be data. */
const maxFindings = 200
/** Maximum length of the text in a table cell. */
const maxCellLength = 100

/** Results of a replay. Similar calls share a finding with the texts and line of the first. */
export class Report {
  /** Calls by result, worst first. */
  readonly calls = { differs: 0, failed: 0, mayDiffer: 0, skipped: 0, same: 0 }
  readonly #findings = new Map<string, { result: string; calls: number; line: number }>()
  readonly #times = new Map<string, { readonly before: number[]; readonly now: number[] }>()

  /**
   * Counts a call.
   * @param upstream the upstream that answered in the replay
   * @param found the fields that differ, or why the call failed or was skipped
   */
  add(
    result: keyof Report['calls'],
    { line, method }: { readonly line: number; readonly method: string },
    upstream: string | null = null,
    ...found: readonly Difference[]
  ): void {
    this.calls[result] += 1
    for (const { what, was = null, is = null } of found) {
      const key = [result, method, upstream, what].join(' ')
      const first = { result, calls: 0, method, upstream, what, was, is, line }
      const known = this.#findings.get(key)
      const finding = known && known.line < line ? known : first
      finding.calls = (known?.calls ?? 0) + 1
      if (known || this.#findings.size < maxFindings) this.#findings.set(key, finding)
    }
  }

  /** @param thenMs null if no upstream was called in the recording */
  timed(method: string, thenMs: number | null, nowMs: number): void {
    const { before, now } = this.#times.getOrInsertComputed(method, () => ({ before: [], now: [] }))
    if (thenMs !== null) before.push(thenMs)
    now.push(nowMs)
  }

  toText(): string {
    const all = [...this.#findings.values()].toSorted((a, b) => b.calls - a.calls)
    const findings = Object.keys(this.calls).flatMap((result) =>
      all.filter((each) => each.result === result),
    )
    const latencyMs = [...this.#times].map(([method, { before, now }]) => ({
      ...{ method, calls: now.length, p50Then: quantile(before, 0.5), p50Now: quantile(now, 0.5) },
      ...{ p99Then: quantile(before, 0.99), p99Now: quantile(now, 0.99) },
    }))
    const calls = Object.entries(this.calls).map(([result, count]) => `${result} ${count}`)
    return `Calls: ${calls.join(', ')}\n${table(findings)}${table(latencyMs)}`
  }
}

/** Nearest-rank quantile, rounded to a tenth; null without values. */
function quantile(times: readonly number[], share: number): number | null {
  const ms = times.toSorted((a, b) => a - b)[Math.ceil(share * times.length) - 1]
  return ms === undefined ? null : Math.round(ms * 10) / 10
}

/** Rows under column names, one line each; empty without rows. */
function table(rows: readonly object[]): string {
  const all = [...rows.slice(0, 1).map(Object.keys), ...rows.map(Object.values)]
  const lines = all.map((row) =>
    row.map((cell) => clean(String(cell ?? '-')).slice(0, maxCellLength)),
  )
  return lines.length === 0 ? '' : `\n${aligned(lines).join('\n')}\n`
}
