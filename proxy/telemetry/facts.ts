// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { ChainFacts, Facts, Tables, UpstreamFacts } from '../console/facts.ts'
import { isServing, type UpstreamSnapshot } from '../upstream/observer.ts'
import { type ConfigState, timeOf } from './config-state.ts'
import type { Health, ListenerLook } from './health.ts'
import type { Metrics } from './metrics.ts'
import { type Series, series } from './series.ts'
import type { Standing } from './upstream-states.ts'

export interface FactsOptions {
  readonly metrics: Pick<Metrics, 'samples'>
  readonly health: Pick<Health, 'look'>
  readonly config: ConfigState
  readonly clock: Clock
  readonly version: string
  /** At the end of an epoch disabled upstreams are tried again. */
  readonly epochDurationMs: number
  /** Where the clients of a chain and interface reach it. */
  readonly addresses: (chain: string, apiInterface: string) => readonly string[]
}

/** Who asks sooner gets the same again: to gather them costs as much as a scrape. */
const freshMs = 500

/** Reads the facts from the series that exist anyway; nothing is counted for them. */
export function createFacts(options: FactsOptions): () => Promise<Facts> {
  const { metrics, health, config, clock, version } = options
  const started = timeOf(clock.wallMs())
  const gather = async (): Promise<Facts> => {
    const tables = await tablesOf(metrics)
    return {
      ...{ at: timeOf(clock.wallMs()), started, version, config: config.facts },
      chains: health.look().map((look) => chainFacts(look, tables, options)),
    }
  }
  let last = { untilMs: -Infinity, facts: null as Promise<Facts> | null }
  return () => {
    const nowMs = clock.nowMs()
    if (!last.facts || nowMs >= last.untilMs) last = { untilMs: nowMs + freshMs, facts: gather() }
    return last.facts as Promise<Facts>
  }
}

/** Each table with its series, and the labels that its words are made of. */
const counted: readonly (readonly [string, Series, ...string[]])[] = [
  ['outcomes', series.requests, 'outcome'],
  ['durations', series.requestDuration, 'le'],
  ['cache', series.cacheLookups, 'verdict'],
  ['attempts', series.attempts, 'kind', 'result'],
  ['durations', series.attemptDuration, 'le'],
  ['violations', series.integrityViolations, 'check'],
  ['mismatches', series.finalizedMismatches, 'upstream'],
  ['missing-blocks', series.missingBlockAnswers, 'upstream'],
]

/** The tables of each chain, and of each upstream, by their names. */
async function tablesOf(metrics: FactsOptions['metrics']): Promise<ReadonlyMap<string, Tables>> {
  const all = new Map<string, Record<string, Record<string, number>>>()
  for (const [table, one, ...by] of counted)
    for (const { labels, value } of await metrics.samples(one)) {
      // Lines of a histogram that have no bound are its sum and its count.
      if (!by.every((label) => label in labels)) continue
      const { chain, interface: iface, upstream = '' } = labels
      const tables = all.getOrInsertComputed(`${chain} ${iface} ${upstream}`, () => ({}))
      const counts = (tables[table] ??= {})
      const word = by.map((label) => labels[label]).join(' ')
      counts[word] = (counts[word] ?? 0) + value
    }
  return all
}

function chainFacts(
  { chain, interface: iface, pool, standings }: ListenerLook,
  tables: ReadonlyMap<string, Tables>,
  options: FactsOptions,
): ChainFacts {
  const name = `${chain} ${iface}`
  return {
    ...{ name, addresses: options.addresses(chain, iface) },
    ...{ tip: pool.tip, tipAgeSeconds: secondsOf(pool.tipAgeMs) },
    blockSeconds: pool.blockTimeMs / 1_000,
    counts: tables.get(`${name} `) ?? {},
    upstreams: pool.upstreams.map((each) => ({
      ...upstreamFacts(each, standings.get(each.name), options),
      counts: tables.get(`${name} ${each.name}`) ?? {},
    })),
  }
}

function upstreamFacts(
  upstream: UpstreamSnapshot,
  standing: Standing | undefined,
  { clock, epochDurationMs }: FactsOptions,
): Omit<UpstreamFacts, 'counts'> {
  const { name, tier, state, latestBlock, lagBlocks, lagSeconds, cooldownLeftMs } = upstream
  const nowMs = clock.wallMs()
  const untilMs = {
    'held-off': cooldownLeftMs && nowMs + cooldownLeftMs,
    disabled: nowMs + epochDurationMs - (nowMs % epochDurationMs),
  }[state as string]
  return {
    ...{ name, tier, state },
    why: isServing(state) ? upstream.trouble : (standing?.why ?? null),
    since: timeOf(standing?.sinceMs ?? nowMs),
    until: untilMs ? timeOf(untilMs) : null,
    ...{ latestBlock, lagBlocks, lagSeconds, cooldownSeconds: secondsOf(cooldownLeftMs) },
  }
}

function secondsOf(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms) / 1_000
}
