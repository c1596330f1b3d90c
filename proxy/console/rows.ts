// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { age, ageBetween, countsText, percent, time } from './format.ts'
import { badnessOf, type ChainView, type Traffic, type UpstreamView, type View } from './view.ts'

/** How a line is coloured; without colours the words say the same. */
export type Tone = 'down' | 'bad' | 'odd' | 'head' | 'faint' | 'plain'

/** A row of the table that console and page have in common. */
export interface Row {
  readonly cells: readonly string[]
  readonly tone: Tone
}

export interface UpstreamRow extends Row {
  /** `ETH1 jsonrpc node-a`. */
  readonly key: string
  /** All that is known of it, a line each. */
  readonly details: readonly string[]
}

/** A chain and its upstreams. */
export interface ChainRows {
  readonly head: Row
  readonly upstreams: readonly UpstreamRow[]
}

/** By what upstreams can be sorted, and chains by the first of theirs. */
const sortedBy = {
  state: ({ state }) => badnessOf(state),
  name: () => 0,
  calls: ({ perSecond }) => perSecond,
  errors: ({ errorRatio }) => errorRatio ?? 0,
  p99: ({ p99Seconds }) => p99Seconds ?? 0,
  lag: ({ lagBlocks }) => lagBlocks ?? 0,
} satisfies Readonly<Record<string, (each: UpstreamView) => number>>
export type Sort = keyof typeof sortedBy
export const sorts = Object.keys(sortedBy) as Sort[]

const ofChain = 'CHAIN|SERVING|RATE/S|P50|P99|ERR %|CACHE|TIP|AGE|||||'.split('|')
const ofUpstream =
  'UPSTREAM|STATE|RATE/S|P50|P99|ERR %|SHARE|LAG|SINCE|RETRY|HEDGES|429|DISP|WHY'.split('|')
/** What stands above the columns: of chains, and below it of upstreams where that is something else. */
export const heads: readonly (readonly string[])[] = [
  ofChain,
  ofUpstream.map((head, at) => (head === ofChain[at] ? '' : at === 0 ? ` ${head}` : head)),
]

export function rowsOf({ chains, at }: View, sort: Sort): readonly ChainRows[] {
  const worst = (all: readonly UpstreamView[]) => Math.max(...all.map(sortedBy[sort]))
  return chains
    .toSorted((a, b) => worst(b.upstreams) - worst(a.upstreams))
    .map((chain) => ({
      head: chainRow(chain),
      upstreams: chain.upstreams
        .toSorted((a, b) => sortedBy[sort](b) - sortedBy[sort](a))
        .map((each) => upstreamRow(each, `${chain.chain} ${chain.interface}`, at)),
    }))
}

function chainRow(chain: ChainView): Row {
  const { tip, tipAgeSeconds, cacheRatio, serving, upstreams, breakerOpen, errors } = chain
  const up = `${serving}/${upstreams.length}${breakerOpen ? ' OPEN' : ''}`
  const cells = [`${chain.chain} ${chain.interface}`, up, ...traffic(chain), percent(cacheRatio)]
  cells.push(String(tip ?? '-'), age(tipAgeSeconds), '', '', '', '', countsText(errors))
  return { cells, tone: serving === 0 ? 'down' : 'plain' }
}

function upstreamRow(each: UpstreamView, chain: string, at: string): UpstreamRow {
  const { name, state, lagBlocks, lagSeconds, hedgesWon, hedges, disputes, why, errors } = each
  const lag = lagBlocks ? `${lagBlocks}/${age(lagSeconds)}` : String(lagBlocks ?? '-')
  const disputed = Object.values(disputes).reduce((a, b) => a + b, 0)
  const known = [name, state, ...traffic(each), percent(each.share), lag]
  known.push(ageBetween(each.since, at), String(each.retries), `${hedgesWon}/${hedges}`)
  known.push(age(each.cooldownSeconds), String(disputed))
  const wrong = [why ?? '', countsText(errors)].filter(Boolean)
  const details: Readonly<Record<string, string>> = {
    ...Object.fromEntries(
      known.map((cell, column) => [ofUpstream[column]?.toLowerCase() ?? '', cell]),
    ),
    since: `${each.since} (${ageBetween(each.since, at)})`,
    why: why ?? '-',
    until: each.until ?? '-',
    errors: countsText(errors) || 'none',
    disputes: countsText(Object.entries(disputes)) || 'none',
    replicas: `${each.replicas.so.join(', ')} (${each.replicas.so.length} of ${each.replicas.all}) say so`,
    block: String(each.latestBlock ?? '-'),
    attempts: `${each.count}; ${each.sessions} in flight; ${each.tier}`,
    latency: `${time(each.latencySeconds)} in the selection, score ${each.score?.toFixed(2) ?? '-'}`,
  }
  return {
    key: `${chain} ${name}`,
    cells: [` ${name}`, ...known.slice(1), wrong.join('; ')],
    tone: (['plain', 'odd'] as const)[badnessOf(state)] ?? 'bad',
    details: Object.entries(details).map(([word, text]) => `${word.padEnd(10)}${text}`),
  }
}

function traffic({ perSecond, p50Seconds, p99Seconds, errorRatio }: Traffic): readonly string[] {
  const rate = perSecond.toFixed(perSecond >= 1_000 ? 0 : 1)
  return [rate, time(p50Seconds), time(p99Seconds), percent(errorRatio)]
}
