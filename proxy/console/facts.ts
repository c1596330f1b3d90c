// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import { type ConfigState, timeOf } from '../telemetry/config-state.ts'
import type { CallHistory } from '../telemetry/explain/call-history.ts'
import type { Health } from '../telemetry/health.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { type Series, series } from '../telemetry/series.ts'

/*
 * The page `/facts` of the admin address, the source of `router top` and of the page `/`. Counters
 * start with the process, so a reader subtracts two samples. Contains no keys in URLs and no
 * params.
 */
export type Facts = Awaited<ReturnType<ReturnType<typeof createFacts>>>
export type ChainFacts = Facts['chains'][number]
export type UpstreamFacts = ChainFacts['upstreams'][number]
export type FailedCall = Facts['failed'][number]
/** Keyed by a router term, such as an outcome. */
export type Counts = Readonly<Record<string, number>>

interface FactsOptions {
  readonly metrics: Pick<Metrics, 'samples'>
  readonly health: Pick<Health, 'look' | 'stores' | 'resources' | 'clients'>
  readonly calls: Pick<CallHistory, 'list'>
  readonly config: Pick<ConfigState, 'facts'>
  readonly clock: Clock
  /** Addresses at which clients reach a chain and interface. */
  readonly addresses: (chain: string, apiInterface: string) => readonly string[]
}

/** Reads the facts from existing metric series, without extra counters. */
export function createFacts({ metrics, health, calls, config, clock, addresses }: FactsOptions) {
  const started = timeOf(clock.wallMs())
  return async () => ({
    /** Times are in ISO 8601. */
    at: timeOf(clock.wallMs()),
    /** A different value means that the process restarted, and its counters with it. */
    started,
    /** Why the config in the files is not in use; null while it is. */
    refused: config.facts.refused?.why ?? null,
    /** Failing stores, and since when they fail. */
    stores: [...health.stores.values()],
    /** Resources that the router itself lacks, and since when. */
    shortages: health.resources.shortages,
    /** One entry per chain and interface, such as `ETH1 jsonrpc`, with its addresses. */
    chains: health.look().map(({ pool, name, ...at }) => {
      return { ...pool, name, addresses: addresses(at.chain, at.interface) }
    }),
    counts: await countsOf(metrics),
    /** Clients with most calls and most refusals, in the last minute. */
    clients: health.clients.top(),
    failed: failedCalls(calls),
  })
}

/** Each table with its series, and the labels that form its keys. Other words are literal. */
const counted: readonly (readonly [string, Series, ...string[]])[] = [
  ['outcomes', series.requests, 'outcome'],
  ['durations', series.requestDuration, 'le'],
  ['refused', series.refused, 'reason'],
  ['cache', series.cacheLookups, 'verdict'],
  ['attempts', series.attempts, 'kind', 'result'],
  ['durations', series.attemptDuration, 'le'],
  ['disputes', series.integrityViolations, 'check'],
  ['disputes', series.finalizedMismatches, 'mismatches'],
  ['disputes', series.missingBlockAnswers, 'missing-blocks'],
]

/** Tables such as `ETH1 jsonrpc node-a attempts`, keyed by phrases such as `hedge answer`. */
async function countsOf(metrics: FactsOptions['metrics']) {
  const all: Record<string, Record<string, number>> = {}
  for (const [table, one, ...by] of counted)
    for (const { labels, value } of await metrics.samples(one)) {
      // Histogram lines without a bound are its sum and its count.
      if (by[0] === 'le' && !('le' in labels)) continue
      const { chain, interface: iface, upstream = '' } = labels
      const counts = (all[`${chain} ${iface} ${upstream} ${table}`.replace('  ', ' ')] ??= {})
      const word = by.map((label) => labels[label] ?? label).join(' ')
      counts[word] = (counts[word] ?? 0) + value
    }
  return all
}

/** Latest failed calls, newest first: a summary of `/explain?failed`. */
function failedCalls(calls: Pick<CallHistory, 'list'>) {
  return calls.list('failed', 20).calls.map(({ error, attempts, ...call }) => {
    const { guid, at, chain, interface: iface, method, outcome, totalMs } = call
    const results = attempts.map(({ upstream, result }) => `${upstream} ${result}`)
    const why = error ?? results.join('; ')
    return { guid, at, chain, interface: iface, method, outcome, totalMs, why }
  })
}
