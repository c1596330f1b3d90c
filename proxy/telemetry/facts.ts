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
    const tables = Object.values(counted).map(async (one) => {
      const samples = await metrics.samples(one)
      return [one.name, Map.groupBy(samples, ({ labels }) => keyOf(labels))] as const
    })
    const byName = new Map<string, ReadonlyMap<string, readonly Sample[]>>(
      await Promise.all(tables),
    )
    const read: Read = (one, labels) => byName.get(one.name)?.get(keyOf(labels)) ?? []
    return {
      ...{ at: timeOf(clock.wallMs()), started, version, config: config.facts },
      bounds: series.requestDuration.buckets,
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

const counted = {
  outcomes: series.requests,
  durations: series.requestDuration,
  cache: series.cacheLookups,
  breaker: series.breakerOpen,
  attempts: series.attempts,
  attemptDurations: series.attemptDuration,
  violations: series.integrityViolations,
  mismatches: series.finalizedMismatches,
  missing: series.missingBlockAnswers,
}

type Read = (one: Series, labels: Sample['labels']) => readonly Sample[]

function keyOf(labels: Sample['labels']): string {
  return `${labels['chain']} ${labels['interface']} ${labels['upstream'] ?? ''}`
}

function chainFacts(look: ListenerLook, read: Read, options: FactsOptions): ChainFacts {
  const { chain, interface: iface, pool, standings } = look
  const labels = { chain, interface: iface }
  return {
    ...labels,
    addresses: options.addresses(chain, iface),
    tip: pool.tip,
    tipAgeSeconds: secondsOf(pool.tipAgeMs),
    blockSeconds: pool.blockTimeMs / 1_000,
    breakerOpen: totalOf(read(counted.breaker, labels)) > 0,
    outcomes: countsBy('outcome', read(counted.outcomes, labels)),
    durations: bucketsOf(read(counted.durations, labels)),
    cache: countsBy('verdict', read(counted.cache, labels)),
    upstreams: pool.upstreams.map((upstream) =>
      upstreamFacts(
        upstream,
        standings.get(upstream.name),
        (one) => read(one, { ...labels, upstream: upstream.name }),
        options,
      ),
    ),
  }
}

function upstreamFacts(
  upstream: UpstreamSnapshot,
  standing: Standing | undefined,
  read: (one: Series) => readonly Sample[],
  { clock, epochDurationMs }: FactsOptions,
): UpstreamFacts {
  const { name, tier, state, latestBlock, lagBlocks, lagSeconds, score, sessions } = upstream
  const { cooldownLeftMs, latencyMs } = upstream
  const nowMs = clock.wallMs()
  const untilMs = {
    'held-off': cooldownLeftMs && nowMs + cooldownLeftMs,
    disabled: nowMs + epochDurationMs - (nowMs % epochDurationMs),
  }[state as string]
  const attempts = Object.groupBy(read(counted.attempts), ({ labels }) => String(labels['kind']))
  return {
    ...{ name, tier, state },
    why: isServing(state) ? upstream.trouble : (standing?.why ?? null),
    since: timeOf(standing?.sinceMs ?? nowMs),
    until: untilMs ? timeOf(untilMs) : null,
    ...{ latestBlock, lagBlocks, lagSeconds, score, sessions },
    latencySeconds: secondsOf(latencyMs),
    cooldownSeconds: secondsOf(cooldownLeftMs),
    attempts: Object.fromEntries(
      Object.entries(attempts).map(([kind, samples = []]) => [kind, countsBy('result', samples)]),
    ),
    durations: bucketsOf(read(counted.attemptDurations)),
    disputes: {
      violations: totalOf(read(counted.violations)),
      mismatches: totalOf(read(counted.mismatches)),
      'missing-blocks': totalOf(read(counted.missing)),
    },
  }
}

function countsBy(label: string, samples: readonly Sample[]): Counts {
  const counts: Record<string, number> = {}
  for (const { labels, value } of samples) {
    const word = String(labels[label])
    counts[word] = (counts[word] ?? 0) + value
  }
  return counts
}

/** The lines of a histogram count all that is below their bound. */
function bucketsOf(samples: readonly Sample[]): readonly number[] {
  const below = new Map([...series.requestDuration.buckets, '+Inf'].map((le) => [le, 0]))
  for (const { labels, value } of samples) {
    const le = labels['le'] as string | number
    if (below.has(le)) below.set(le, (below.get(le) ?? 0) + value)
  }
  return [...below.values()].map((count, at, all) => count - (all[at - 1] ?? 0))
}

function totalOf(samples: readonly Sample[]): number {
  return samples.reduce((sum, { value }) => sum + value, 0)
}

function secondsOf(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms) / 1_000
}
