// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { ChainFacts, Counts, Facts, UpstreamFacts } from '../console/facts.ts'
import { isServing, type UpstreamSnapshot } from '../upstream/observer.ts'
import { type ConfigState, timeOf } from './config-state.ts'
import type { Health, ListenerLook } from './health.ts'
import type { Metrics, Sample } from './metrics.ts'
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
    const samples = await Promise.all(counted.map((one) => metrics.samples(one)))
    const tables = new Map(counted.map((one, at) => [one, Map.groupBy(samples[at] ?? [], keyOf)]))
    const read: Read = (one, labels) => tables.get(one)?.get(keyOf({ labels })) ?? []
    return {
      ...{ at: timeOf(clock.wallMs()), started, version, config: config.facts },
      chains: health.look().map((look) => chainFacts(look, read, options)),
    }
  }
  let last = { untilMs: -Infinity, facts: null as Promise<Facts> | null }
  return () => {
    const nowMs = clock.nowMs()
    if (!last.facts || nowMs >= last.untilMs) last = { untilMs: nowMs + freshMs, facts: gather() }
    return last.facts as Promise<Facts>
  }
}

const counted: readonly Series[] = [
  ...[series.requests, series.requestDuration, series.cacheLookups],
  ...[series.attempts, series.attemptDuration],
  ...[series.integrityViolations, series.finalizedMismatches, series.missingBlockAnswers],
]

type Read = (one: Series, labels: Sample['labels']) => readonly Sample[]

function keyOf({ labels }: Pick<Sample, 'labels'>): string {
  return `${labels['chain']} ${labels['interface']} ${labels['upstream']}`
}

function chainFacts(look: ListenerLook, read: Read, options: FactsOptions): ChainFacts {
  const { chain, interface: iface, pool, standings } = look
  const labels = { chain, interface: iface }
  return {
    ...labels,
    addresses: options.addresses(chain, iface),
    ...{ tip: pool.tip, tipAgeSeconds: secondsOf(pool.tipAgeMs) },
    blockSeconds: pool.blockTimeMs / 1_000,
    outcomes: countsBy('outcome', read(series.requests, labels)),
    durations: countsBy('le', read(series.requestDuration, labels)),
    cache: countsBy('verdict', read(series.cacheLookups, labels)),
    upstreams: pool.upstreams.map((each) => {
      const readOwn = (one: Series) => read(one, { ...labels, upstream: each.name })
      return upstreamFacts(each, standings.get(each.name), readOwn, options)
    }),
  }
}

function upstreamFacts(
  upstream: UpstreamSnapshot,
  standing: Standing | undefined,
  read: (one: Series) => readonly Sample[],
  { clock, epochDurationMs }: FactsOptions,
): UpstreamFacts {
  const { name, tier, state, latestBlock, lagBlocks, lagSeconds, cooldownLeftMs } = upstream
  const nowMs = clock.wallMs()
  const untilMs = {
    'held-off': cooldownLeftMs && nowMs + cooldownLeftMs,
    disabled: nowMs + epochDurationMs - (nowMs % epochDurationMs),
  }[state as string]
  const attempts = Map.groupBy(read(series.attempts), ({ labels }) => String(labels['kind']))
  const byResult = [...attempts].map(([kind, all]) => [kind, countsBy('result', all)] as const)
  return {
    ...{ name, tier, state },
    why: isServing(state) ? upstream.trouble : (standing?.why ?? null),
    since: timeOf(standing?.sinceMs ?? nowMs),
    until: untilMs ? timeOf(untilMs) : null,
    ...{ latestBlock, lagBlocks, lagSeconds, cooldownSeconds: secondsOf(cooldownLeftMs) },
    attempts: Object.fromEntries(byResult),
    durations: countsBy('le', read(series.attemptDuration)),
    disputes: {
      violations: totalOf(read(series.integrityViolations)),
      mismatches: totalOf(read(series.finalizedMismatches)),
      'missing-blocks': totalOf(read(series.missingBlockAnswers)),
    },
  }
}

/** Lines of a histogram that have no bound are left out. */
function countsBy(label: string, samples: readonly Sample[]): Counts {
  const counts: Record<string, number> = {}
  for (const { labels, value } of samples) {
    const word = labels[label]
    if (word !== undefined) counts[word] = (counts[word] ?? 0) + value
  }
  return counts
}

function totalOf(samples: readonly Sample[]): number {
  return samples.reduce((sum, { value }) => sum + value, 0)
}

function secondsOf(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms) / 1_000
}
