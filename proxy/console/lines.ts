// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isServing } from '../upstream/observer.ts'
import { clientLines } from './clients.ts'
import type { FailedCall } from './facts.ts'
import { counted } from '../words/counted.ts'
import { age, clean, countsText, percent, span, time } from '../telemetry/format.ts'
import { badnessOf, type ChainView, type Traffic, type UpstreamView, type View } from './view.ts'

const runbooksUrl = 'https://github.com/rpc-router/rpc-router/blob/main/docs/runbooks/'

/** One line of the console or the page. */
export interface Line {
  readonly text: string
  /** Colour of the line. Without colours, the text says the same. */
  readonly tone: 'down' | 'bad' | 'odd' | 'fine' | 'head' | 'plain'
  /** Columns of a table with their titles, for readers too narrow for `text`. */
  readonly cells?: readonly (readonly [title: string, value: string])[]
  /** URL of the page about this problem. */
  readonly runbook?: string
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
  const isRecent = calls.some((call) => Date.parse(at) - Date.parse(call.at) < 60_000)
  const title = `LAST FAILED CALLS${isRecent ? '' : ' (none in the last minute)'}`
  const longest = view.chains.flatMap(({ name, upstreams }) => {
    return [name.length, ...upstreams.map((each) => nameOf(each).length)]
  })
  const layout = { columns, nameWidth: nameWidthOf(Math.max(16, ...longest), columns) }
  const worth = sortedBy[sort]
  const worst = ({ upstreams }: ChainView) => Math.max(...upstreams.map(worth))
  const chains = view.chains.toSorted((a, b) => worst(b) - worst(a))
  return [
    ...problemLines(view, columns),
    ...heads.map((cells): Line => ({ text: fitted(cells, layout), tone: 'head', cells: [] })),
    ...chains.flatMap((chain) => {
      const upstreams = chain.upstreams.toSorted((a, b) => worth(b) - worth(a))
      const own = upstreams.map((each) => upstreamLine(each, at, layout))
      return [chainLine(chain, own, layout), ...refusedLines(chain, columns), ...own]
    }),
    ...clientLines(view.clients, columns),
    { text: '', tone: 'plain' },
    { text: calls.length > 0 ? title : 'No failed calls recorded.', tone: 'head' },
    ...calls.map((call) => callLine(call, view, columns)),
  ]
}

export function isShown({ about }: Line, filter: string): boolean {
  return about === undefined || about.toLowerCase().includes(filter.toLowerCase())
}

const ageBetween = (from: string, to: string) => age(Date.parse(to) - Date.parse(from))

/** Formats node, start time and reason, in this order. */
function problemLines(
  { at, problems, failed, nodeErrorRatio }: View,
  columns: number,
): readonly Line[] {
  if (problems.length === 0 && failed > 0) {
    const count = counted(failed, 'call')
    return [{ text: `Every upstream serves; ${count} failed in the last minute.`, tone: 'odd' }]
  }
  if (problems.length === 0) {
    const errors = `${percent(nodeErrorRatio)} of calls get an error as answer, see CLIENTS`
    const most = (nodeErrorRatio ?? 0) > 0.5 ? errors : 'and calls succeed'
    return [{ text: `Nothing is wrong: every upstream serves, ${most}.`, tone: 'fine' }]
  }
  return problems.flatMap(({ severity: tone, where, upstream, since, what, runbook: page }) => {
    const when = since === null ? '' : ` since ${since.slice(11, 19)} (${ageBetween(since, at)})`
    const name = upstream === null ? where : `${upstream} (${where})`
    const text = clean(`${tone.toUpperCase().padEnd(5)}${name}${when}: ${what}`)
    const wrapped = text.match(new RegExp(`.{1,${Math.max(columns - 5, 20)}}(?= |$)`, 'g'))
    const [first = text, ...rest] = wrapped ?? []
    const about = `${where} ${upstream} ${what}`
    const opens = upstream === null ? null : `${where} ${upstream}`
    return [
      { text: first, tone, about, opens, runbook: `${runbooksUrl}${page}.md` },
      ...rest.map((part): Line => ({ text: `    ${part}`, tone, about })),
    ]
  })
}

/** Column titles of chains and, if different, of upstreams. */
const heads = [
  'CHAIN|SERVING|RATE/S|P50|P99|ERR %|CACHE|TIP|AGE|||||'.split('|'),
  ' UPSTREAM|STATE|||||SHARE|LAG|SINCE|RETRY|HEDGES|COOL|DISP|WHY'.split('|'),
]
/** Width of each column after the name, but the last; negative: left-aligned. */
const widths = [-10, 6, 6, 6, 5, 6, 9, 6, 5, 6, 5, 5]
/** Narrower screens show only the first columns. */
const wideColumns = 110
const narrow = 9
/** Least width of the reasons, which come last. */
const whyWidth = 30

interface Layout {
  readonly columns: number
  readonly nameWidth: number
}

/** Names get the space that no other column needs. */
function nameWidthOf(longest: number, columns: number): number {
  const own = columns < wideColumns ? widths.slice(0, narrow - 1) : [...widths, whyWidth]
  const others = own.reduce((sum, width) => sum + Math.abs(width) + 1, 0)
  return Math.max(16, Math.min(longest, columns - others))
}

/** The titles of the columns that have a value. */
function titled(titles: readonly string[] | undefined, cells: readonly string[]) {
  return cells.flatMap((cell, at) => {
    const isEmpty = cell === '' || cell === '-'
    return isEmpty ? [] : [[(titles?.[at] || heads[0]?.[at] || '').trim(), clean(cell)] as const]
  })
}

function fitted(cells: readonly string[], { columns, nameWidth }: Layout): string {
  const shown = cells.slice(0, columns < wideColumns ? narrow : Infinity).map((cell, at) => {
    const width = at === 0 ? -nameWidth : (widths[at - 1] ?? Infinity)
    const most = Math.abs(width)
    const text = clean(cell)
    const cut = cutTo(most, text)
    return width < 0 ? cut.padEnd(most) : width < Infinity ? cut.padStart(width) : cut
  })
  return cutTo(columns, shown.join(' ').trimEnd())
}

/** Shortens a text, visibly: half a port number would look like another port. */
function cutTo(length: number, text: string): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}

function chainLine(chain: ChainView, own: readonly Line[], layout: Layout): Line {
  const { name, tip, tipAgeMs, cacheRatio, serving, upstreams, errors } = chain
  const cells = [name, `${serving}/${upstreams.length}`, ...traffic(chain), percent(cacheRatio)]
  cells.push(String(tip ?? '-'), age(tipAgeMs), '', '', '', '', countsText(errors))
  const about = own.map((line) => line.about).join('\n')
  const tone = serving === 0 ? 'down' : 'plain'
  return { text: fitted(cells, layout), tone, about, cells: titled(heads[0], cells) }
}

/** Mistakes of callers have no list of calls, so their counts never expire. */
function refusedLines({ name, refused }: ChainView, columns: number): readonly Line[] {
  const counts = countsText(refused)
  const text = cutTo(columns, clean(` refused requests since the start: ${counts}`))
  return counts === '' ? [] : [{ text, tone: 'plain', about: name }]
}

/** ` node-c (backup)` */
function nameOf({ name, tier }: UpstreamView): string {
  return ` ${name}${tier === 'backup' ? ' (backup)' : ''}`
}

/** Data that an upstream lacks. Some chains begin at block 1, so that is no gap. */
function prunedOf({ oldestBlocks }: UpstreamView): readonly string[] {
  const pruned = Object.entries(oldestBlocks).filter(([, block]) => block > 1)
  return pruned.map(([data, block]) => `no ${data} before ${block}`)
}

function upstreamLine(each: UpstreamView, at: string, layout: Layout): Line {
  const { key, state, lagBlocks, lagSeconds, hedgesWon, hedges, disputes, why } = each
  const pruned = prunedOf(each)
  const ageText = lagBlocks && lagSeconds ? `/${age(lagSeconds * 1_000)}` : ''
  // The head of an upstream out of service is stale.
  const lag = isServing(state) ? `${lagBlocks ?? '-'}${ageText}` : '-'
  const disputed = Object.values(disputes).reduce((a, b) => a + b, 0)
  const cells = [nameOf(each), state, ...traffic(each), percent(each.share), lag]
  cells.push(ageBetween(each.since, at), String(each.retries), `${hedgesWon}/${hedges}`)
  cells.push(age(each.cooldownLeftMs), String(disputed), [why ?? [], pruned].flat().join('; '))
  const tone = (['plain', 'odd'] as const)[badnessOf(state)] ?? 'bad'
  const own = { cells: titled(heads[1], cells), about: `${key} ${state}`, opens: key }
  return { text: fitted(cells, layout), tone, ...own }
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
  const text = cutTo(columns, clean(why === '' ? head : `${head}: ${why}`))
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

/** Details of each upstream in words, by its key. */
export function detailsOf({ at, chains, problems }: View): ReadonlyMap<string, string> {
  const pages = (key: string) =>
    problems.filter(({ where, upstream }) => `${where} ${upstream}` === key)
  return new Map(
    chains.flatMap(({ upstreams }) =>
      upstreams.map((each) => {
        const rows = detailRows(each, at).filter(([, text]) => text)
        const found = pages(each.key).map(({ runbook }) => runbooksUrl + runbook + '.md')
        const runbooks = [...new Set(found)].map((url) => ['Runbook', url] as const)
        const lines = [...rows, ...runbooks].map(([title, text]) => clean(title.padEnd(12) + text))
        return [each.key, lines.join('\n')] as const
      }),
    ),
  )
}

/** The parts of a score, for example `: availability 0.98, latency 0.40, sync 1.00`. */
function partsOf(qualities: UpstreamView['qualities']): string {
  const { earned = 1, ...parts } = qualities ?? {}
  const shown = Object.entries(earned < 1 ? { ...parts, 'slow start': earned } : parts)
  const texts = shown.map(([name, value]) => `${name} ${value.toFixed(2)}`)
  return texts.length === 0 ? '' : `: ${texts.join(', ')}`
}

/** Rows without a text say nothing. */
function detailRows(
  each: UpstreamView,
  at: string,
): readonly (readonly [title: string, text: string | number | null])[] {
  const { state, since, until, lagBlocks, lagSeconds, latencyMs, p50Seconds, p99Seconds } = each
  const spanTo = (to: string) => span(Math.abs(Date.parse(to) - Date.parse(at)))
  const dayOf = (time: string) => (time.startsWith(at.slice(0, 10)) ? '' : `${time.slice(0, 10)} `)
  const utc = (time: string) => `${dayOf(time)}${time.slice(11, 19)} UTC`
  const seconds = (value: number | null) => (value === null ? '-' : span(value * 1_000))
  const share = (value: number | null) => (value === null ? '-' : `${Math.round(value * 100)} %`)
  const failed = countsText(each.errors)
  const attempts = counted(each.count, 'attempt')
  const quantiles = `half within ${seconds(p50Seconds)}, 99 % within ${seconds(p99Seconds)}`
  const lag = lagBlocks ? `${counted(lagBlocks, 'block')} behind` : 'at the tip'
  const lagTime = lagBlocks && lagSeconds ? ` (${span(lagSeconds * 1_000)})` : ''
  const hedges = `${each.hedgesWon} of ${counted(each.hedges, 'hedge')} won`
  const troubles = Object.values(each.troubles).filter((what) => what !== null)
  const data = prunedOf(each)
  return [
    ['Upstream', `${each.name}, ${each.tier} tier`],
    ['State', `${state}${each.seenAt} for ${spanTo(since)}, since ${utc(since)}`],
    ['Reason', each.why],
    ['Until', until && `${utc(until)} at the latest, in ${spanTo(until)}`],
    ['Fault', each.fault && `${each.fault}${each.faultAt}`],
    [
      'Attempts',
      `${attempts} in the last minute, ${share(each.share)} of all; ${each.sessions} in flight`,
    ],
    ['Failures', failed && `${share(each.errorRatio)} of attempts: ${failed}`],
    ['Trouble', isServing(state) ? troubles.join('; ') : null],
    [
      'Retries',
      each.retries + each.hedges > 0
        ? `${counted(each.retries, 'retry', 'retries')}, ${hedges}`
        : null,
    ],
    ['Latency', latencyMs === null ? null : `${span(latencyMs)} on average; ${quantiles}`],
    ['Block', each.latestBlock === null ? null : `${each.latestBlock}, ${lag}${lagTime}`],
    ['Data', data.join(', ')],
    [
      'Weight',
      each.score && `${share(each.score)} of that of the best upstream${partsOf(each.qualities)}`,
    ],
    ['Doubts', countsText(each.disputes)],
    [
      'Limit',
      each.learnedPerSecond && `${each.learnedPerSecond.toFixed(1)} requests per second, learned`,
    ],
    [
      'Cooldown',
      each.cooldownLeftMs &&
        `${span(each.cooldownLeftMs)} left, ${counted(each.urlsInCooldown, 'URL')}`,
    ],
    ...each.methodLimits.map(({ method, why, until: end }) => {
      return ['Method', `limits ${method} until ${utc(end)}: ${why}`] as const
    }),
    ...each.urls.map(({ position, url, why, since: from }) => {
      const out = from === null ? why : `out for ${spanTo(from)}: ${why}`
      return [`URL ${position}`, `${url} ${why === null ? 'serves' : out}`] as const
    }),
  ]
}
