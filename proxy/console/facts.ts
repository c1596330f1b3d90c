// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import { type ConfigState, timeOf } from '../telemetry/config-state.ts'
import type { CallHistory } from '../telemetry/explain/call-history.ts'
import type { Health } from '../telemetry/health.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { type Series, series } from '../telemetry/series.ts'

/*
 * The page `/facts` of the admin address: what `router top` and the page `/` are made from. Counters count since the
 * start of the process, so that a reader takes the difference of two looks. No URL with a key, no parameter of a call.
 */
export type Facts = Awaited<ReturnType<ReturnType<typeof createFacts>>>
export type ChainFacts = Facts['chains'][number]
export type UpstreamFacts = ChainFacts['upstreams'][number]
export type FailedCall = Facts['failed'][number]
/** By a word of the router, such as an outcome. */
export type Counts = Readonly<Record<string, number>>

interface FactsOptions {
  readonly metrics: Pick<Metrics, 'samples'>
  readonly health: Pick<Health, 'look' | 'stores'>
  readonly calls: Pick<CallHistory, 'list'>
  readonly config: Pick<ConfigState, 'facts'>
  readonly clock: Clock
  /** Where the clients of a chain and interface reach it. */
  readonly addresses: (chain: string, apiInterface: string) => readonly string[]
}

/** Reads the facts from the series that exist anyway; nothing is counted for them. */
export function createFacts({ metrics, health, calls, config, clock, addresses }: FactsOptions) {
  const started = timeOf(clock.wallMs())
  return async () => ({
    /** Times of the day are in ISO 8601. */
    at: timeOf(clock.wallMs()),
    /** Another one: the process was started anew, and its counters as well. */
    started,
    /** Why the config that its files have is not served; null while it is. */
    refused: config.facts.refused?.why ?? null,
    /** What fails for want of a store, and since when. */
    stores: [...health.stores.values()],
    /** Each through one interface: `ETH1 jsonrpc`, and where clients reach it. */
    chains: health.look().map(({ pool, name, ...at }) => {
      return { ...pool, name, addresses: addresses(at.chain, at.interface) }
    }),
    counts: await countsOf(metrics),
    failed: failedCalls(calls),
  })
}

/** Each table with its series, and the labels that make up its words. Any other word is used literally. */
const counted: readonly (readonly [string, Series, ...string[]])[] = [
  ['outcomes', series.requests, 'outcome'],
  ['durations', series.requestDuration, 'le'],
  ['cache', series.cacheLookups, 'verdict'],
  ['attempts', series.attempts, 'kind', 'result'],
  ['durations', series.attemptDuration, 'le'],
  ['disputes', series.integrityViolations, 'check'],
  ['disputes', series.finalizedMismatches, 'mismatches'],
  ['disputes', series.missingBlockAnswers, 'missing-blocks'],
]

/** Tables such as `ETH1 jsonrpc outcomes` and `ETH1 jsonrpc node-a attempts`, there by `hedge answer`. */
async function countsOf(metrics: FactsOptions['metrics']) {
  const all: Record<string, Record<string, number>> = {}
  for (const [table, one, ...by] of counted)
    for (const { labels, value } of await metrics.samples(one)) {
      // Lines of a histogram that have no bound are its sum and its count.
      if (by[0] === 'le' && !('le' in labels)) continue
      const { chain, interface: iface, upstream = '' } = labels
      const counts = (all[`${chain} ${iface} ${upstream} ${table}`.replace('  ', ' ')] ??= {})
      const word = by.map((label) => labels[label] ?? label).join(' ')
      counts[word] = (counts[word] ?? 0) + value
    }
  return all
}

/** The last failed calls, the newest first: the short of what `/explain?failed` says. */
function failedCalls(calls: Pick<CallHistory, 'list'>) {
  return calls.list('failed', 20).calls.map(({ error, attempts, ...call }) => {
    const { guid, at, chain, interface: iface, method, outcome, totalMs } = call
    const results = attempts.map(({ upstream, result }) => `${upstream} ${result}`)
    const why = error ?? results.join('; ')
    return { guid, at, chain, interface: iface, method, outcome, totalMs, why }
  })
}
