// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainFacts, Counts, Facts, Tables, UpstreamFacts } from './facts.ts'

/** What one replica said at two instants. */
export interface Look {
  /** Its address, as the reader has it. */
  readonly at: string
  /** Null: rates count from the start of the process. */
  readonly before: Facts | null
  /** Null: it does not answer, and `problem` says why. */
  readonly now: Facts | null
  readonly problem: string | null
}

type Differences = ReturnType<typeof differencesOf>
export type ChainView = Differences['chains'][number]
export type UpstreamView = ChainView['upstreams'][number]
/** Of calls, or of attempts. */
export type Traffic = ReturnType<typeof trafficOf>

/** From the best to the worst. */
const states = ['eligible', 'lagging', 'held-off', 'unverified', 'disabled', 'rejected']
/** How bad a state is, 0 for the best; a word that is not known is the worst. */
export function badnessOf(state: string): number {
  return (states.indexOf(state) + 1 || states.length + 1) - 1
}

export function isServing({ state }: { readonly state: string }): boolean {
  return badnessOf(state) < 2
}

/** Rates, ratios and quantiles of the time between the looks, over all replicas. Null: unknown, or no calls. */
export function differencesOf(looks: readonly Look[]) {
  const heard = looks.flatMap(({ at, before, now }) => {
    if (!now) return []
    const same = before?.started === now.started ? before : null
    const ms = Date.parse(now.at) - Date.parse(same?.at ?? now.started)
    return [{ at, now, before: same, seconds: Math.max(0, ms) / 1_000 }]
  })
  const replicas = looks.map(({ at, now, problem }) => ({
    ...{ at, version: now?.version ?? null, problem },
    /** Why it does not serve the config that its files have. */
    refused: now?.config.refused?.why ?? null,
  }))
  return {
    at:
      heard
        .map(({ now }) => now.at)
        .toSorted()
        .at(-1) ?? '',
    seconds: Math.max(0, ...heard.map((each) => each.seconds)),
    replicas,
    chains: grouped(heard, ({ chains }) => chains).map(chainView),
  }
}

/** The same thing at one replica, now and before. */
interface Part<T> {
  /** The replica. */
  readonly at: string
  readonly seconds: number
  readonly now: T
  readonly before: T | null | undefined
}
type Parts<T> = readonly Part<T>[]

/** The parts of what the parts hold, those of one name together. */
function grouped<T, U extends { readonly name: string }>(
  parts: Parts<T>,
  held: (facts: T) => readonly U[],
): readonly Parts<U>[] {
  const all = parts.flatMap(({ now, before, ...same }) =>
    held(now).map((one): Part<U> => {
      const past = before && held(before).find(({ name }) => name === one.name)
      return { ...same, now: one, before: past }
    }),
  )
  return [...Map.groupBy(all, ({ now }) => now.name).values()]
}

/** The tip is that of the replica where it is the highest. */
function chainView(parts: Parts<ChainFacts>) {
  const all = parts.map(({ now }) => now).toSorted((a, b) => (b.tip ?? 0) - (a.tip ?? 0))
  const [{ name, blockSeconds, tip, tipAgeSeconds }] = all as [ChainFacts]
  const cache = grown(parts, 'cache')
  const upstreams = grouped(parts, (facts) => facts.upstreams).map(upstreamView)
  const attempts = upstreams.reduce((sum, { count }) => sum + count, 0)
  return {
    ...{ name, blockSeconds, tip, tipAgeSeconds },
    addresses: [...new Set(all.flatMap(({ addresses }) => addresses))],
    ...trafficOf(parts, 'outcomes'),
    cacheRatio: ratio((cache['hit'] ?? 0) + (cache['coalesced'] ?? 0), totalOf(cache)),
    /** How many of its upstreams serve, at the replica where they are the fewest. */
    serving: Math.min(...all.map((facts) => facts.upstreams.filter(isServing).length)),
    upstreams: upstreams.map((each) => ({ ...each, share: ratio(each.count, attempts) })),
  }
}

/** What is known of it is what the replica knows where its state is the worst. */
function upstreamView(parts: Parts<UpstreamFacts>) {
  const [{ now: worst }] = parts.toSorted(
    ({ now: a }, { now: b }) =>
      badnessOf(b.state) - badnessOf(a.state) || (a.since < b.since ? -1 : 1),
  ) as [Part<UpstreamFacts>]
  const { counts: _, ...known } = worst
  const attempts = grown(parts, 'attempts')
  const ofKind = (kind: string) =>
    totalOf(Object.fromEntries(Object.entries(attempts).filter(([word]) => word.startsWith(kind))))
  const disputes = ['violations', 'mismatches', 'missing-blocks'].map(
    (table) => [table, totalOf(grown(parts, table))] as const,
  )
  return {
    ...known,
    // Of one that is out of service the head is an old one, and so would be its lag.
    ...(!isServing(known) && { lagBlocks: null, lagSeconds: null }),
    /** The replicas where it is in this state. */
    seenAt: parts.filter(({ now }) => now.state === known.state).map(({ at }) => at),
    replicas: parts.length,
    ...trafficOf(parts, 'attempts'),
    ...{ retries: ofKind('retry'), hedges: ofKind('hedge') },
    /** Hedges that answered first. */
    hedgesWon: (attempts['hedge answer'] ?? 0) + (attempts['hedge node-error'] ?? 0),
    /** First attempts that were given up, since a hedge answered first or the client left. */
    aborted: attempts['first aborted'] ?? 0,
    disputes: Object.fromEntries(disputes) as Counts,
  }
}

const notFailed = ['success', 'node-error', 'abandoned', 'answer', 'aborted', 'running']

/** @param table of what has ended; the last part of its words is the result */
function trafficOf(parts: Parts<{ readonly counts: Tables }>, table: string) {
  const counts = grown(parts, table)
  const count = totalOf(counts)
  const errors: Record<string, number> = {}
  for (const [word, n] of Object.entries(counts)) {
    const result = word.split(' ').at(-1) ?? word
    if (n > 0 && !notFailed.includes(result)) errors[result] = (errors[result] ?? 0) + n
  }
  const failed = totalOf(errors)
  const sorted = Object.entries(errors).toSorted(([, a], [, b]) => b - a)
  const durations = grown(parts, 'durations')
  const rates = parts.map((part) => totalOf(grown([part], table)) / Math.max(part.seconds, 0.001))
  return {
    /** Of that time, by class, the most frequent first. */
    errors: Object.fromEntries(sorted) as Counts,
    ...{ count, failed, errorRatio: ratio(failed, count) },
    perSecond: rates.reduce((sum, rate) => sum + rate, 0),
    p50Seconds: quantile(0.5, durations),
    p99Seconds: quantile(0.99, durations),
  }
}

/** By how much the counts of a table have grown, over all replicas. */
function grown(parts: Parts<{ readonly counts: Tables }>, table: string): Counts {
  const sum: Record<string, number> = {}
  for (const { now, before } of parts)
    for (const [word, count] of Object.entries(now.counts[table] ?? {})) {
      const growth = Math.max(0, count - (before?.counts[table]?.[word] ?? 0))
      sum[word] = (sum[word] ?? 0) + growth
    }
  return sum
}

/**
 * The value that this share of what was counted is not above; within a bucket it is taken to be spread evenly.
 * @param durations how many are not above each bound
 */
export function quantile(share: number, durations: Counts): number | null {
  const buckets = Object.entries(durations)
    .map(([bound, count]) => [bound === '+Inf' ? Infinity : Number(bound), count] as const)
    .toSorted(([a], [b]) => a - b)
  const wanted = share * (durations['+Inf'] ?? 0)
  const at = buckets.findIndex(([, count]) => count >= wanted)
  const [lower, below] = buckets[at - 1] ?? [0, 0]
  const [upper, count] = buckets[at] ?? [0, 0]
  if (wanted === 0) return null
  return upper === Infinity ? lower : lower + ((upper - lower) * (wanted - below)) / (count - below)
}

function totalOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}
