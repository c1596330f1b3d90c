// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isServing } from '../upstream/observer.ts'
import { clientLines } from './clients.ts'
import type { FailedCall } from './facts.ts'
import { age, clean, countsText, percent, time } from '../telemetry/format.ts'
import { badnessOf, type ChainView, type Traffic, type UpstreamView, type View } from './view.ts'

/** One line of the console or the page. */
export interface Line {
  readonly text: string
  /** Colour of the line. Without colours, the text says the same. */
  readonly tone: 'down' | 'bad' | 'odd' | 'fine' | 'head' | 'plain'
  /** Text that a filter searches. Lines without it are always shown. */
  readonly about?: string
  /** What Enter opens: an upstream's key, such as `ETH1 jsonrpc node-a`, or a call's guid. */
  readonly opens?: string | null
  /** Command that sends this line's call again. */
  readonly curl?: string | null
}

/** Sort keys of upstreams; chains sort by their first upstream. */
const sortedBy = {
  state: ({ state }) => badnessOf(state),
  name: () => 0,
  calls: ({ perSecond }) => perSecond,
  errors: ({ errorRatio }) => errorRatio ?? 0,
} satisfies Readonly<Record<string, (each: UpstreamView) => number>>
type Sort = keyof typeof sortedBy
export const sorts = Object.keys(sortedBy) as Sort[]

/** Problems, then every chain with its upstreams, then the latest failed calls. */
export function linesOf(view: View, columns: number, sort: Sort = 'state'): readonly Line[] {
  const { at, calls } = view
  const worth = sortedBy[sort]
  const worst = ({ upstreams }: ChainView) => Math.max(...upstreams.map(worth))
  const chains = view.chains.toSorted((a, b) => worst(b) - worst(a))
  return [
    ...problemLines(view, columns),
    ...heads.map((cells): Line => ({ text: fitted(cells, columns), tone: 'head' })),
    ...chains.flatMap((chain) => {
      const upstreams = chain.upstreams.toSorted((a, b) => worth(b) - worth(a))
      const own = upstreams.map((each) => upstreamLine(each, at, columns))
      return [chainLine(chain, own, columns), ...refusedLines(chain, columns), ...own]
    }),
    ...clientLines(view.clients, columns),
    { text: '', tone: 'plain' },
    { text: calls.length > 0 ? 'LAST FAILED CALLS' : 'No failed calls recorded.', tone: 'head' },
    ...calls.map((call) => callLine(call, view, columns)),
  ]
}

export function isShown({ about }: Line, filter: string): boolean {
  return about === undefined || about.toLowerCase().includes(filter.toLowerCase())
}

const ageBetween = (from: string, to: string) => age(Date.parse(to) - Date.parse(from))

/** Formats node, start time and reason, in this order. */
function problemLines({ at, problems, seconds }: View, columns: number): readonly Line[] {
  if (seconds === 0 && problems.length === 0) return [{ text: 'Measuring ...', tone: 'plain' }]
  if (problems.length === 0)
    return [{ text: 'Nothing is wrong: every upstream serves, and calls succeed.', tone: 'fine' }]
  return problems.flatMap(({ severity: tone, where, upstream, since, what }) => {
    const when = since === null ? '' : ` since ${since.slice(11, 19)} (${ageBetween(since, at)})`
    const name = upstream === null ? where : `${upstream} (${where})`
    const text = clean(`${tone.toUpperCase().padEnd(5)}${name}${when}: ${what}`)
    const wrapped = text.match(new RegExp(`.{1,${Math.max(columns - 5, 20)}}(?= |$)`, 'g'))
    const [first = text, ...rest] = wrapped ?? []
    const about = `${where} ${upstream} ${what}`
    const opens = upstream === null ? null : `${where} ${upstream}`
    return [
      { text: first, tone, about, opens },
      ...rest.map((part): Line => ({ text: `    ${part}`, tone, about })),
    ]
  })
}

/** Column titles of chains and, if different, of upstreams. */
const heads = [
  'CHAIN|SERVING|RATE/S|P50|P99|ERR %|CACHE|TIP|AGE|||||'.split('|'),
  ' UPSTREAM|STATE|||||SHARE|LAG|SINCE|RETRY|HEDGES|429|DISP|WHY'.split('|'),
]
/** Width of each column but the last; negative: left-aligned. */
const widths = [-16, -10, 6, 6, 6, 5, 6, 9, 6, 5, 6, 5, 5]
/** Narrower screens show only the first columns. */
const wideColumns = 110
const narrow = 9

function fitted(cells: readonly string[], columns: number): string {
  const shown = cells.slice(0, columns < wideColumns ? narrow : Infinity).map((cell, at) => {
    const width = widths[at] ?? Infinity
    const most = Math.abs(width)
    const text = clean(cell)
    const cut = text.length > most ? `${text.slice(0, most - 1)}…` : text
    return width < 0 ? cut.padEnd(most) : width < Infinity ? cut.padStart(width) : cut
  })
  return shown.join(' ').trimEnd().slice(0, columns)
}

function chainLine(chain: ChainView, own: readonly Line[], columns: number): Line {
  const { name, tip, tipAgeMs, cacheRatio, serving, upstreams, errors } = chain
  const cells = [name, `${serving}/${upstreams.length}`, ...traffic(chain), percent(cacheRatio)]
  cells.push(String(tip ?? '-'), age(tipAgeMs), '', '', '', '', countsText(errors))
  const about = own.map((line) => line.about).join('\n')
  return { text: fitted(cells, columns), tone: serving === 0 ? 'down' : 'plain', about }
}

/** Mistakes of callers have no list of calls, so their counts never expire. */
function refusedLines({ name, refused }: ChainView, columns: number): readonly Line[] {
  const counts = countsText(refused)
  const text = clean(` refused requests since the start: ${counts}`).slice(0, columns)
  return counts === '' ? [] : [{ text, tone: 'plain', about: name }]
}

function upstreamLine(each: UpstreamView, at: string, columns: number): Line {
  const { key, state, lagBlocks, lagSeconds, hedgesWon, hedges, disputes, why } = each
  const pruned = Object.entries(each.oldestBlocks).map(([data, at]) => `no ${data} before ${at}`)
  const ageText = lagBlocks && lagSeconds ? `/${age(lagSeconds * 1_000)}` : ''
  // The head of an upstream out of service is stale.
  const lag = isServing(state) ? `${lagBlocks ?? '-'}${ageText}` : '-'
  const disputed = Object.values(disputes).reduce((a, b) => a + b, 0)
  const cells = [` ${each.name}`, state, ...traffic(each), percent(each.share), lag]
  cells.push(ageBetween(each.since, at), String(each.retries), `${hedgesWon}/${hedges}`)
  cells.push(age(each.cooldownLeftMs), String(disputed), [why ?? [], pruned].flat().join('; '))
  const tone = (['plain', 'odd'] as const)[badnessOf(state)] ?? 'bad'
  return { text: fitted(cells, columns), tone, about: `${key} ${state}`, opens: key }
}

function traffic({ perSecond, p50Seconds, p99Seconds, errorRatio }: Traffic): readonly string[] {
  const rate = perSecond.toFixed(perSecond >= 1_000 ? 0 : 1)
  return [rate, time(p50Seconds), time(p99Seconds), percent(errorRatio)]
}

function callLine(call: FailedCall, { chains }: View, columns: number): Line {
  const { at, guid, chain, interface: iface, method, outcome, totalMs, why } = call
  const took = time(totalMs / 1_000).padStart(6)
  const id = columns < wideColumns ? guid.slice(0, 8) : guid
  const name = `${chain} ${iface}`
  const head = `${at.slice(11, 19)} ${id} ${outcome.padEnd(15)} ${took} ${name} ${method ?? '-'}`
  const text = clean(why === '' ? head : `${head}: ${why}`).slice(0, columns)
  const address = chains.find((each) => each.name === name)?.addresses[0] ?? '0.0.0.0:3360'
  const about = `${chain} ${method} ${outcome}`
  return { text, tone: 'plain', about, opens: guid, curl: curlOf(call, address) }
}

/** Parameters are not recorded, so braces mark what to fill in. Null: curl cannot send it. */
function curlOf({ interface: iface, method }: FailedCall, address: string): string | null {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const url = `http://${address}`
  // `other` is a method that the spec lacks; paths in a spec begin with a slash.
  if (iface === 'grpc' || method === null || method === 'other') return null
  if (iface === 'rest') return `curl -gsi -X '{GET or POST}' ${quoted(url + method)}`
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
  const type = `-H 'content-type: application/json'`
  return `curl -si ${quoted(url)} ${type} -d ${quoted(body)}`
}

/** One line of details per upstream, by its key. */
export function detailsOf({ chains }: View): ReadonlyMap<string, string> {
  const all = chains.flatMap(({ upstreams }) => upstreams)
  const rowsOf = (each: UpstreamView) =>
    Object.entries(each).map(([word, value]) => {
      return clean(word.padEnd(16) + (typeof value === 'string' ? value : JSON.stringify(value)))
    })
  return new Map(all.map((each) => [each.key, rowsOf(each).join('\n')]))
}
