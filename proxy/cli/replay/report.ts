// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { lastPoint } from '../../chain/finality.ts'
import type { MethodSpec } from '../../chain/types.ts'
import type { ApiInterface } from '../../config/types.ts'
import { canonicalJson } from '../../json/canonical-json.ts'
import { aligned, clean } from '../../telemetry/format.ts'

/** A field that changed (`[*]`: any entry of a list), or another remark about a call. */
export interface Difference {
  readonly what: string
  /** The entries of lists that differ, such as `[3] [7] and 4 more`. */
  readonly entries?: string | null
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
  const fields = was && is ? fieldsOf(JSON.parse(was), JSON.parse(is), '', '') : []
  const found = [...Map.groupBy(fields, ({ what }) => what).values()]
  // Not JSON, or numbers that differ only in their text.
  if (found.length === 0) return [{ what: '(all)', was: then, is: now }]
  return found.map((same) => {
    const [first] = same as [Found]
    const entries = [...new Set(same.map(({ at }) => at))].filter((at) => at !== '')
    const more = entries.length - maxEntries
    const shown = [...entries.slice(0, maxEntries), ...(more > 0 ? [`and ${more} more`] : [])]
    return { what: first.what, entries: shown.join(' ') || null, was: first.was, is: first.is }
  })
}

/** A path this long is not split further: deeper levels count as one field. */
const maxFieldLength = 200
/** Entries of a list that a difference names. */
const maxEntries = 3
/** Members that identify an entry of a list, in an answer of any chain. */
const keyNames = ['hash', 'transactionHash', 'txid', 'signature', 'logIndex', 'id', 'key', 'name']

/** A difference, and its indexes in the lists above it. */
interface Found {
  readonly what: string
  readonly at: string
  readonly was: string
  readonly is: string
}

/** Undefined stands for an absent value. */
function* fieldsOf(
  was: unknown,
  is: unknown,
  what: string,
  at: string,
): Generator<Found, void, void> {
  const [then = 'absent', now = 'absent'] = [was, is].map((each) => JSON.stringify(each))
  if (then === now) return
  const form = formOf(was)
  if (form === 'value' || form !== formOf(is) || what.length > maxFieldLength)
    return yield { what, at, was: then, is: now }
  if (Array.isArray(was) && Array.isArray(is)) return yield* entriesOf(was, is, `${what}[*]`, at)
  const [before, after] = [was, is] as readonly Readonly<Record<string, unknown>>[]
  for (const name of Object.keys({ ...before, ...after }))
    yield* fieldsOf(before?.[name], after?.[name], `${what}.${name}`.replace(/^\./, ''), at)
}

/** Pairs entries that identify the same object at any position, and other entries by position. */
function* entriesOf(
  was: readonly unknown[],
  is: readonly unknown[],
  what: string,
  at: string,
): Generator<Found, void, void> {
  const isPlaced = was.length === is.length && [...was, ...is].some((each) => keyOf(each) === null)
  const keyAt = (list: readonly unknown[]) => (place: number) =>
    isPlaced ? String(place) : (keyOf(list[place]) ?? JSON.stringify(list[place]))
  const places = Map.groupBy(is.keys(), keyAt(is))
  const pairs = was.map((_, from) => [from, places.get(keyAt(was)(from))?.shift() ?? null] as const)
  const added = [...places.values()].flat().map((to) => [null, to] as const)
  let isSame = true
  for (const [from, to] of [...pairs, ...added]) {
    const place = `${at}[${from ?? to}]`
    const [before, after] = [
      from === null ? undefined : was[from],
      to === null ? undefined : is[to],
    ]
    for (const each of fieldsOf(before, after, what, place)) {
      isSame = false
      yield each
    }
  }
  const moved = pairs.find(([from, to]) => from !== to)?.[0]
  if (isSame) yield { what, at: `${at}[${moved}]`, was: 'this order', is: 'another order' }
}

/** Identifies an entry in an answer of any chain; null if it has no such members. */
function keyOf(entry: unknown): string | null {
  if (formOf(entry) !== 'map') return null
  const values = keyNames.map((name) => (entry as Readonly<Record<string, unknown>>)[name])
  const isKnown = values.some((each) => typeof each === 'string' || typeof each === 'number')
  return isKnown ? JSON.stringify(values) : null
}

function formOf(value: unknown): string {
  if (Array.isArray(value)) return 'list'
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
    // Any field of a call about the tip may differ, so one row says that the method does.
    const listed = result === 'mayDiffer' ? found.slice(0, 1) : found
    for (const { what, entries = null, was = null, is = null } of listed) {
      const key = [result, method, upstream, result === 'mayDiffer' ? '' : what].join(' ')
      const first = { result, calls: 0, method, upstream, what, entries, was, is, line }
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
