// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ageBetween, clean, time } from './format.ts'
import type { FailedCall } from './replicas.ts'
import { heads, type Row, rowsOf, type Sort, type Tone, type UpstreamRow } from './rows.ts'
import type { View } from './view.ts'

export interface Line {
  readonly text: string
  readonly tone: Tone
  /** What Enter shows about it: a call by its guid, or an upstream by the key of its row. */
  readonly opens?: { readonly call?: string; readonly upstream?: string }
}

export interface TableOptions {
  readonly columns: number
  readonly sort: Sort
  /** Rows are shown whose name, chain or state has it. */
  readonly filter: string
  readonly calls: readonly FailedCall[]
}

/** What is wrong, every chain with its upstreams, and the last failed calls: as lines of a terminal. */
export function linesOf(view: View, options: TableOptions): readonly Line[] {
  const { columns, calls, filter, sort } = options
  const has = (text: string) => text.toLowerCase().includes(filter.toLowerCase())
  const failed = calls.filter(({ chain, method, outcome }) => has(`${chain} ${method} ${outcome}`))
  const rows = rowsOf(view, sort).flatMap(({ head, upstreams }): (Row | UpstreamRow)[] => {
    const own = upstreams.filter(({ key, cells }) => has(`${key} ${cells[1]}`))
    return own.length === 0 ? [] : [head, ...own]
  })
  return [
    ...problemLines(view, columns, has),
    ...heads.map((cells): Line => ({ text: fitted(cells, columns), tone: 'head' })),
    ...rows.map((row): Line => {
      const line = { text: fitted(row.cells, columns), tone: row.tone }
      return 'key' in row ? { ...line, opens: { upstream: row.key } } : line
    }),
    { text: '', tone: 'plain' },
    { text: failed.length > 0 ? 'LAST FAILED CALLS' : 'No failed call is kept.', tone: 'head' },
    ...failed.map((call) => callLine(call, columns)),
  ]
}

/** Which node, since when, why: in this order. */
function problemLines(view: View, columns: number, has: (text: string) => boolean): Line[] {
  const said =
    view.chains.length === 0
      ? 'Waiting for the first answer.'
      : 'Nothing is wrong: every upstream serves, and calls succeed.'
  if (view.problems.length === 0) return [{ text: said, tone: 'plain' }]
  return view.problems.flatMap(({ severity, where, upstream, since, what }) => {
    const at = since === null ? '' : ` since ${since.slice(11, 19)} (${ageBetween(since, view.at)})`
    const name = upstream === null ? where : `${upstream} (${where})`
    if (!has(`${where} ${upstream} ${what}`)) return []
    const text = clean(`${severity.toUpperCase().padEnd(5)}${name}${at}: ${what}`)
    const opens = upstream === null ? {} : { opens: { upstream: `${where} ${upstream}` } }
    const parts = text.match(new RegExp(`.{1,${Math.max(columns - 5, 20)}}(?= |$)`, 'g')) ?? [text]
    return parts.map((part, line): Line => {
      return line === 0
        ? { text: part, tone: severity, ...opens }
        : { text: `    ${part}`, tone: severity }
    })
  })
}

/** All that is known of one upstream. */
export function upstreamLines(view: View, key: string): readonly Line[] {
  const rows = rowsOf(view, 'name').flatMap(({ upstreams }) => upstreams)
  const found = rows.find((row) => row.key === key)
  const lines = found ? [key, '', ...found.details] : [`${key} is not there any more.`]
  return lines.map((text) => ({ text: clean(text), tone: 'plain' }))
}

function callLine(call: FailedCall, columns: number): Line {
  const { at, guid, chain, interface: iface, method, outcome, totalMs } = call
  const took = time(totalMs / 1_000).padStart(6)
  const name = columns < wideColumns ? guid.slice(0, 8) : guid
  const text = `${at.slice(11, 19)} ${name} ${outcome.padEnd(15)} ${took} ${chain} ${iface} ${method}`
  return { text: clean(text), tone: 'plain', opens: { call: guid } }
}

/** Of each column but the last; below 0: to the left. */
const widths = [-16, -10, 6, 6, 6, 5, 6, 9, 6, 5, 6, 5, 5]
/** Where the terminal is not as wide as that, the first columns are shown. */
const wideColumns = 110
const narrow = 9

function fitted(cells: readonly string[], columns: number): string {
  const shown = cells.slice(0, columns < wideColumns ? narrow : Infinity).map((cell, at) => {
    const width = widths[at] ?? 0
    const most = Math.abs(width) || Infinity
    const text = clean(cell)
    const cut = text.length > most ? `${text.slice(0, most - 1)}…` : text
    return width < 0 ? cut.padEnd(-width) : cut.padStart(width)
  })
  return shown.join(' ').trimEnd().slice(0, Math.max(columns, 80))
}
