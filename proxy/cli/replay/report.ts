// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { lastPoint } from '../../chain/finality.ts'
import type { MethodSpec } from '../../chain/types.ts'
import type { ApiInterface } from '../../config/types.ts'
import { canonicalJson } from '../../json/canonical-json.ts'
import { aligned, clean } from '../../telemetry/format.ts'

/** A field that is another one than was recorded, of lists `[*]`: any element. Or what else is to say of a call. */
export interface Difference {
  readonly what: string
  readonly was?: string | null
  readonly is?: string | null
}

/** The differences of two answers to one call, none twice. The ids of JSON-RPC do not count. */
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
  // No JSON, or a number that only its text tells from the other.
  return found.size === 0 ? [{ what: '(all)', was: then, is: now }] : [...found.values()]
}

/** What lies deeper is one field. */
const maxFieldLength = 200

/** Undefined is what is absent. */
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

/** Lists of different lengths are of different forms. */
function formOf(value: unknown): string {
  if (Array.isArray(value)) return `list of ${value.length}`
  return typeof value === 'object' && value !== null ? 'map' : 'value'
}

/** Whether nodes in order give the same whenever they are asked: what was in a block then, or needs none. */
export function isFixed(
  { deterministic, block, showsBlock }: MethodSpec,
  differences: readonly Difference[],
): boolean {
  const isNamed = block.kind === 'none' || block.kind === 'hash' || lastPoint(block) !== null
  const shown = ['result', ...(showsBlock?.path ?? [])].join('.')
  const wasThere = !differences.some(({ what, was }) => was === 'null' && shown.startsWith(what))
  return deterministic && isNamed && wasThere
}

/** So many findings are told apart: names of fields may be data. */
const maxFindings = 200
/** Of a text in a table. */
const maxCellLength = 100

/** What a replay finds. Calls that are alike are one finding, with the texts and the line of the first. */
export class Report {
  /** By what came of them, the worst first. */
  readonly calls = { differs: 0, failed: 0, mayDiffer: 0, skipped: 0, same: 0 }
  readonly #findings = new Map<string, { result: string; calls: number; line: number }>()
  readonly #times = new Map<string, { readonly before: number[]; readonly now: number[] }>()

  /**
   * Counts a call.
   * @param upstream whose answer it is now
   * @param found the fields that differ, or why it failed or was left out
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

  /** @param thenMs null where no upstream was asked then */
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
