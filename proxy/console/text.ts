// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailedCall } from './replicas.ts'
import { badnessOf, type ChainView, type Traffic, type UpstreamView, type View } from './view.ts'

/** How a line is coloured; without colours the words say the same. */
export type Tone = 'down' | 'bad' | 'odd' | 'head' | 'faint' | 'plain'

export interface Line {
  readonly text: string
  readonly tone: Tone
  /** What Enter shows about it: a call by its guid, or an upstream by `upstreamKey`. */
  readonly opens?: { readonly call?: string; readonly upstream?: string }
}

/** By what upstreams and chains can be sorted. */
export const sorts = ['state', 'name', 'calls', 'errors', 'p99', 'lag'] as const
export type Sort = (typeof sorts)[number]

export interface TableOptions {
  readonly columns: number
  readonly sort: Sort
  /** Rows are shown whose name, chain or state has it. */
  readonly filter: string
  readonly calls: readonly FailedCall[]
}

/** What is wrong, every chain with its upstreams, and the last failed calls: as lines of a terminal. */
export function linesOf(view: View, options: TableOptions): readonly Line[] {
  const { columns, calls, filter } = options
  const has = (text: string) => text.toLowerCase().includes(filter.toLowerCase())
  const failed = calls.filter(({ chain, method, outcome }) => has(`${chain} ${method} ${outcome}`))
  return [
    ...problemLines(view, columns, has),
    ...chainLines(view, options, has),
    { text: '', tone: 'plain' },
    { text: failed.length > 0 ? 'LAST FAILED CALLS' : 'No failed call is kept.', tone: 'head' },
    ...failed.map((call) => callLine(call, columns)),
  ]
}

function upstreamKey(chain: ChainView, { name }: UpstreamView): string {
  return `${chain.chain} ${chain.interface} ${name}`
}

/** Which node, since when, why: in this order. */
function problemLines(view: View, columns: number, has: (text: string) => boolean): Line[] {
  if (view.chains.length === 0 && view.problems.length === 0)
    return [{ text: 'Waiting for the first answer.', tone: 'plain' }]
  if (view.problems.length === 0)
    return [{ text: 'Nothing is wrong: every upstream serves, and calls succeed.', tone: 'plain' }]
  return view.problems.flatMap(({ severity, where, upstream, since, what }) => {
    const at = since === null ? '' : ` since ${since.slice(11, 19)} (${ageBetween(since, view.at)})`
    const name = upstream === null ? where : `${upstream} (${where})`
    if (!has(`${where} ${upstream} ${what}`)) return []
    const text = clean(`${severity.toUpperCase().padEnd(5)}${name}${at}: ${what}`)
    const opens = upstream === null ? {} : { opens: { upstream: `${where} ${upstream}` } }
    const parts = text.match(new RegExp(`.{1,${Math.max(columns - 5, 20)}}(?= |$)`, 'g')) ?? [text]
    return parts.map((part, at): Line => {
      return at === 0
        ? { text: part, tone: severity, ...opens }
        : { text: `    ${part}`, tone: severity }
    })
  })
}

const widths = [16, -10, 6, 6, 6, 5, 6, 9, 6, 5, 6, 5, 5]
const chainHeads = 'CHAIN|SERVING|RATE/S|P50|P99|ERR %|CACHE|TIP|AGE'
const upstreamHeads = ' UPSTREAM|STATE||||||LAG|SINCE|RETRY|HEDGES|429|DISP|WHY'
/** Where the terminal is not as wide as that, the first columns are shown. */
const wideColumns = 110
const narrow = 9

function chainLines(view: View, options: TableOptions, has: (text: string) => boolean): Line[] {
  const { columns, sort } = options
  const heads = upstreamHeads.replace('||||||', '||||| SHARE|')
  const lines: Line[] = [chainHeads, heads].map((each) => ({
    text: row(each.split('|'), columns),
    tone: 'head',
  }))
  const shown = view.chains.map((chain) => {
    const name = `${chain.chain} ${chain.interface}`
    const own = chain.upstreams.filter((each) => has(`${name} ${each.name} ${each.state}`))
    return { chain, name, own: own.toSorted((a, b) => keyOf(sort, b) - keyOf(sort, a)) }
  })
  const worst = (own: readonly UpstreamView[]) => Math.max(...own.map((each) => keyOf(sort, each)))
  const sorted = shown
    .filter(({ own }) => own.length > 0)
    .toSorted((a, b) => worst(b.own) - worst(a.own))
  for (const { chain, name, own } of sorted) {
    const { tip, tipAgeSeconds, cacheRatio, serving } = chain
    const up = `${serving}/${chain.upstreams.length}${chain.breakerOpen ? ' OPEN' : ''}`
    const block = tip === null ? '-' : String(tip)
    const cells = [name, up, ...traffic(chain), percent(cacheRatio), block, age(tipAgeSeconds)]
    const text = row([...cells, '', '', '', '', errorsOf(chain)], columns)
    lines.push({ text, tone: serving === 0 ? 'down' : 'plain' })
    for (const each of own) {
      const tones = ['plain', 'odd'] as const
      const tone = tones[badnessOf(each.state)] ?? 'bad'
      const cells = upstreamCells(each, view.at)
      lines.push({
        text: row(cells, columns),
        tone,
        opens: { upstream: upstreamKey(chain, each) },
      })
    }
  }
  return lines
}

function upstreamCells(each: UpstreamView, at: string): readonly string[] {
  const { lagBlocks, lagSeconds, retries, hedgesWon, hedges, cooldownSeconds, disputes } = each
  const lag = lagBlocks ? `${lagBlocks}/${age(lagSeconds)}` : String(lagBlocks ?? '-')
  const why = [each.state === 'eligible' ? '' : (each.why ?? ''), errorsOf(each)]
  return [
    ` ${each.name}`,
    each.state,
    ...traffic(each),
    percent(each.share),
    lag,
    ageBetween(each.since, at),
    String(retries),
    `${hedgesWon}/${hedges}`,
    age(cooldownSeconds),
    String(Object.values(disputes).reduce((a, b) => a + b, 0)),
    why.filter((text) => text !== '').join('; '),
  ]
}

/** All that is known of one upstream. */
export function upstreamLines(view: View, key: string): readonly Line[] {
  for (const chain of view.chains)
    for (const each of chain.upstreams) {
      if (upstreamKey(chain, each) !== key) continue
      const { replicas, since, until, disputes, cooldownSeconds, lagBlocks, lagSeconds } = each
      const rows = {
        state: `${each.state} at ${replicas.so} of ${replicas.all} replicas, ${each.tier}`,
        since: `${since} (${ageBetween(since, view.at)})`,
        why: each.why ?? '-',
        until: until ?? '-',
        head: `${each.latestBlock ?? '-'}, ${lagBlocks ?? '-'} blocks (${age(lagSeconds)}) behind the tip`,
        attempts: `${each.count}, ${each.perSecond.toFixed(1)} a second, ${percent(each.share)} of its chain; ${each.sessions} in flight`,
        latency: `p50 ${time(each.p50Seconds)}, p99 ${time(each.p99Seconds)}, of the selection ${time(each.latencySeconds)}; score ${each.score?.toFixed(2) ?? '-'}`,
        errors: errorsOf(each) || 'none',
        retries: `${each.retries}; hedges ${each.hedges}, won ${each.hedgesWon}`,
        cooldown: cooldownSeconds === null ? 'none' : `${age(cooldownSeconds)} left`,
        disputes: Object.entries(disputes)
          .map(([word, count]) => `${word} ${count}`)
          .join(', '),
      }
      const lines = Object.entries(rows).map(([name, text]) => `${name.padEnd(10)}${text}`)
      return [key, '', ...lines].map((text) => ({ text: clean(text), tone: 'plain' }))
    }
  return [{ text: `${key} is not there any more.`, tone: 'plain' }]
}

function callLine(call: FailedCall, columns: number): Line {
  const { at, guid, chain, interface: iface, method, outcome, totalMs } = call
  const took = time(totalMs / 1_000).padStart(6)
  const name = columns < wideColumns ? guid.slice(0, 8) : guid
  const text = `${at.slice(11, 19)} ${name} ${outcome.padEnd(15)} ${took} ${chain} ${iface} ${method}`
  return { text: clean(text), tone: 'plain', opens: { call: guid } }
}

function keyOf(sort: Sort, each: UpstreamView): number {
  if (sort === 'calls') return each.perSecond
  if (sort === 'errors') return each.errorRatio ?? 0
  if (sort === 'p99') return each.p99Seconds ?? 0
  if (sort === 'lag') return each.lagBlocks ?? 0
  return sort === 'name' ? 0 : badnessOf(each.state)
}

function row(cells: readonly string[], columns: number): string {
  const shown = columns < wideColumns ? cells.slice(0, narrow) : cells
  const fitted = shown.map((cell, at) => {
    const width = widths[at] ?? Infinity
    const text = clean(cell)
    if (width === Infinity) return text
    const most = Math.abs(width)
    const cut = text.length > most ? `${text.slice(0, most - 1)}…` : text
    return at === 0 || width < 0 ? cut.padEnd(most) : cut.padStart(most)
  })
  return fitted.join(' ').trimEnd().slice(0, Math.max(columns, 80))
}

function traffic({ perSecond, p50Seconds, p99Seconds, errorRatio }: Traffic): readonly string[] {
  const rate = perSecond >= 1_000 ? perSecond.toFixed(0) : perSecond.toFixed(1)
  return [rate, time(p50Seconds), time(p99Seconds), percent(errorRatio)]
}

function errorsOf({ errors }: Traffic): string {
  return errors.map(([word, count]) => `${word} ${count}`).join(', ')
}

function percent(ratio: number | null): string {
  return ratio === null ? '-' : `${(ratio * 100).toFixed(ratio < 0.1 ? 1 : 0)}%`
}

function time(seconds: number | null): string {
  if (seconds === null) return '-'
  if (seconds < 0.9995) return `${(seconds * 1_000).toFixed(seconds < 0.01 ? 1 : 0)}ms`
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)}s`
}

/** `45s`, `3m12s`, `2h05m`, `3d`. */
export function age(seconds: number | null): string {
  if (seconds === null) return '-'
  const whole = Math.max(0, Math.round(seconds))
  const two = (n: number) => String(n).padStart(2, '0')
  if (whole < 60) return `${whole}s`
  if (whole < 3_600) return `${Math.floor(whole / 60)}m${two(whole % 60)}s`
  if (whole < 172_800) return `${Math.floor(whole / 3_600)}h${two(Math.floor(whole / 60) % 60)}m`
  return `${Math.floor(whole / 86_400)}d`
}

function ageBetween(from: string, to: string): string {
  return age((Date.parse(to) - Date.parse(from)) / 1_000)
}

/** Names come from configs, methods from clients: nothing of them may move the cursor. */
function clean(text: string): string {
  return text.replaceAll(/\p{C}/gu, '\u{fffd}')
}
