// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainFacts, Counts, Facts, UpstreamFacts } from './facts.ts'
import { problemsOf } from './problems.ts'
import {
  badnessOf,
  isServing,
  type ChainView,
  type Traffic,
  type UpstreamView,
  type View,
} from './view.ts'

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

const notFailed = ['success', 'node-error', 'abandoned', 'answer', 'aborted', 'running']

/** Works out what lies between the looks, and what is wrong. */
export function viewOf(looks: readonly Look[]): View {
  const heard = looks.flatMap(({ at, before, now }) => {
    if (!now) return []
    const same = before?.started === now.started ? before : null
    const ms = Date.parse(now.at) - Date.parse(same?.at ?? now.started)
    return [{ at, now, before: same, seconds: Math.max(0, ms) / 1_000, bounds: now.bounds }]
  })
  const chains = grouped(heard, (facts) => facts.chains, nameOf).map(chainView)
  const replicas = looks.map(({ at, now, problem }) => ({
    ...{ at, version: now?.version ?? null, problem },
    refused: now?.config.refused?.why ?? null,
  }))
  const [at = ''] = heard.map(({ now }) => now.at).toSorted((a, b) => (a < b ? 1 : -1))
  const seconds = Math.max(0, ...heard.map((each) => each.seconds))
  return { at, seconds, replicas, problems: problemsOf(replicas, chains, at), chains }
}

/** The same thing at one replica, now and before. */
interface Part<T> {
  /** The replica. */
  readonly at: string
  readonly now: T
  readonly before: T | null
  readonly seconds: number
  readonly bounds: readonly number[]
}
type Parts<T> = readonly Part<T>[]

const upstreamsOf = ({ upstreams }: ChainFacts) => upstreams
const nameOf = ({ chain, interface: iface }: ChainFacts) => `${chain} ${iface}`

/** The parts of what the parts hold, those of one name together. */
function grouped<T, U>(
  parts: Parts<T>,
  held: (facts: T) => readonly U[],
  nameIn: (one: U) => string,
): readonly Parts<U>[] {
  const all = parts.flatMap(({ now, before, ...same }) =>
    held(now).map((one): Part<U> => {
      const past = before && held(before).find((other) => nameIn(other) === nameIn(one))
      return { ...same, now: one, before: past ?? null }
    }),
  )
  return [...Map.groupBy(all, ({ now }) => nameIn(now)).values()]
}

function chainView(parts: Parts<ChainFacts>): ChainView {
  const all = parts.map(({ now }) => now)
  const [first] = all as [ChainFacts]
  const cache = grown(parts, (facts) => facts.cache)
  const kept = (cache['hit'] ?? 0) + (cache['coalesced'] ?? 0)
  const upstreams = grouped(parts, upstreamsOf, ({ name }) => name).map(upstreamView)
  const attempts = upstreams.reduce((sum, { count }) => sum + count, 0)
  return {
    ...{ chain: first.chain, interface: first.interface, blockSeconds: first.blockSeconds },
    addresses: [...new Set(all.flatMap(({ addresses }) => addresses))],
    ...trafficOf(parts, ({ outcomes }) => outcomes),
    cacheRatio: ratio(kept, totalOf(cache)),
    tip: ofKnown(Math.max, all, 'tip'),
    tipAgeSeconds: ofKnown(Math.min, all, 'tipAgeSeconds'),
    breakerOpen: all.some(({ breakerOpen }) => breakerOpen),
    serving: Math.min(...all.map((facts) => upstreamsOf(facts).filter(isServing).length)),
    upstreams: upstreams.map((each) => ({ ...each, share: ratio(each.count, attempts) })),
  }
}

function upstreamView(parts: Parts<UpstreamFacts>): UpstreamView {
  const all = parts
    .map(({ now }) => now)
    .toSorted((a, b) => badnessOf(b.state) - badnessOf(a.state) || (a.since < b.since ? -1 : 1))
  const [{ name, tier, state, why, since, until }] = all as [UpstreamFacts]
  const hedges = grown(parts, ({ attempts }) => attempts['hedge'] ?? {})
  // Of one that is out of service the head is an old one, and so would be its lag.
  const judged = all.filter(() => isServing({ state }))
  return {
    ...{ name, tier, state, why, since, until },
    replicas: {
      so: parts.filter(({ now }) => now.state === state).map(({ at }) => at),
      all: all.length,
    },
    ...trafficOf(parts, ({ attempts }) => summed(Object.values(attempts))),
    latestBlock: ofKnown(Math.max, all, 'latestBlock'),
    lagBlocks: ofKnown(Math.max, judged, 'lagBlocks'),
    lagSeconds: ofKnown(Math.max, judged, 'lagSeconds'),
    latencySeconds: ofKnown(Math.max, all, 'latencySeconds'),
    cooldownSeconds: ofKnown(Math.max, all, 'cooldownSeconds'),
    score: ofKnown(Math.min, all, 'score'),
    sessions: all.reduce((sum, { sessions }) => sum + sessions, 0),
    share: null,
    retries: totalOf(grown(parts, ({ attempts }) => attempts['retry'] ?? {})),
    hedges: totalOf(hedges),
    hedgesWon: (hedges['answer'] ?? 0) + (hedges['node-error'] ?? 0),
    aborted: grown(parts, ({ attempts }) => attempts['first'] ?? {})['aborted'] ?? 0,
    disputes: grown(parts, ({ disputes }) => disputes),
  }
}

function trafficOf<T extends { readonly durations: readonly number[] }>(
  parts: Parts<T>,
  ended: (facts: T) => Counts,
): Traffic {
  const counts = grown(parts, ended)
  const count = totalOf(counts)
  const errors = Object.entries(counts)
    .filter(([word, failed]) => failed > 0 && !notFailed.includes(word))
    .toSorted(([, a], [, b]) => b - a)
  const buckets = grown(parts, ({ durations }) => Object.fromEntries(durations.entries()))
  const durations = Object.values(buckets)
  const bounds = parts[0]?.bounds ?? []
  const failed = errors.reduce((sum, [, each]) => sum + each, 0)
  const rates = parts.map((part) => totalOf(grown([part], ended)) / Math.max(part.seconds, 0.001))
  return {
    ...{ count, errors, errorRatio: ratio(failed, count) },
    perSecond: rates.reduce((sum, rate) => sum + rate, 0),
    p50Seconds: quantile(0.5, durations, bounds),
    p99Seconds: quantile(0.99, durations, bounds),
  }
}

/** By how much counts have grown, over all replicas. */
function grown<T>(parts: Parts<T>, read: (facts: T) => Counts): Counts {
  const growths = parts.map(({ now, before }) => {
    const past = before ? read(before) : {}
    const words = Object.entries(read(now))
    return Object.fromEntries(words.map(([word, n]) => [word, Math.max(0, n - (past[word] ?? 0))]))
  })
  return summed(growths)
}

function summed(all: readonly Counts[]): Counts {
  const sum: Record<string, number> = {}
  for (const counts of all)
    for (const [word, count] of Object.entries(counts)) sum[word] = (sum[word] ?? 0) + count
  return sum
}

/**
 * The value that this share of what was counted is not above; within a bucket it is taken to be spread evenly.
 * @param counts in each bucket, one more than bounds
 */
export function quantile(
  share: number,
  counts: readonly number[],
  bounds: readonly number[],
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = share * total
  for (const [at, count] of counts.entries()) {
    const lower = bounds[at - 1] ?? 0
    if (left <= count) return lower + ((bounds[at] ?? lower) - lower) * (left / (count || 1))
    left -= count
  }
  return bounds.at(-1) ?? null
}

function totalOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}

/** Of those that are known. */
function ofKnown<K extends string>(
  choose: typeof Math.max,
  all: readonly Readonly<Record<K, number | null>>[],
  key: K,
): number | null {
  const known = all.map((each) => each[key]).filter((value) => value !== null)
  return known.length === 0 ? null : choose(...known)
}
