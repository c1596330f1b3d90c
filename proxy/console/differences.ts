// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainFacts, Counts, Facts, UpstreamFacts } from './facts.ts'
import { problemsOf } from './problems.ts'
import { badnessOf, type ChainView, type Traffic, type UpstreamView, type View } from './view.ts'

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
const fromCache = ['hit', 'coalesced']

/** Works out what lies between the looks, and what is wrong. */
export function viewOf(looks: readonly Look[]): View {
  const heard = looks.flatMap(({ before, now }) => {
    if (!now) return []
    const same = before?.started === now.started ? before : null
    return [{ now, before: same, seconds: secondsBetween(same?.at ?? now.started, now.at) }]
  })
  const seconds = Math.max(0, ...heard.map((each) => each.seconds))
  const parts = heard.flatMap(({ now, before, seconds: own }) =>
    now.chains.map((chain): ChainPart => {
      const isSame = (other: ChainFacts) => keyOf(other) === keyOf(chain)
      return { now: chain, before: before?.chains.find(isSame), seconds: own, bounds: now.bounds }
    }),
  )
  const groups = Map.groupBy(parts, ({ now }) => keyOf(now))
  const chains = [...groups.values()].map(chainView)
  const replicas = looks.map(({ at, now, problem }) => ({
    ...{ at, version: now?.version ?? null, problem },
    refused: now?.config.refused?.why ?? null,
  }))
  const at =
    heard
      .map(({ now }) => now.at)
      .toSorted()
      .at(-1) ?? ''
  return { at, seconds, replicas, problems: problemsOf(replicas, chains, at), chains }
}

/** The same thing at one replica, now and before. */
interface Part<T> {
  readonly now: T
  readonly before: T | undefined
  readonly seconds: number
  readonly bounds: readonly number[]
}
type ChainPart = Part<ChainFacts>
type UpstreamPart = Part<UpstreamFacts>

function keyOf({ chain, interface: iface }: ChainFacts): string {
  return `${chain} ${iface}`
}

function chainView(parts: readonly ChainPart[]): ChainView {
  const [{ now: first }] = parts as [ChainPart]
  const cache = grown(parts, ({ cache: counts }) => counts)
  const lookups = totalOf(cache)
  const kept = fromCache.reduce((sum, word) => sum + (cache[word] ?? 0), 0)
  const ofUpstreams = Map.groupBy(
    parts.flatMap(({ now, before, seconds, bounds }) =>
      now.upstreams.map((upstream): UpstreamPart => {
        const same = before?.upstreams.find(({ name }) => name === upstream.name)
        return { now: upstream, before: same, seconds, bounds }
      }),
    ),
    ({ now }) => now.name,
  )
  const upstreams = [...ofUpstreams.values()].map(upstreamView)
  const attempts = upstreams.reduce((sum, { count }) => sum + count, 0)
  const servingAt = ({ now }: ChainPart) =>
    now.upstreams.filter(({ state }) => badnessOf(state) < 2).length
  return {
    ...{ chain: first.chain, interface: first.interface },
    addresses: [...new Set(parts.flatMap(({ now }) => now.addresses))],
    ...trafficOf(parts, ({ outcomes }) => outcomes),
    cacheRatio: ratio(kept, lookups),
    tip: most(parts.map(({ now }) => now.tip)),
    tipAgeSeconds: least(parts.map(({ now }) => now.tipAgeSeconds)),
    blockSeconds: first.blockSeconds,
    breakerOpen: parts.some(({ now }) => now.breakerOpen),
    serving: Math.min(...parts.map(servingAt)),
    upstreams: upstreams.map((each) => ({ ...each, share: ratio(each.count, attempts) })),
  }
}

function upstreamView(parts: readonly UpstreamPart[]): UpstreamView {
  const worst = parts
    .map(({ now }) => now)
    .toSorted((a, b) => badnessOf(b.state) - badnessOf(a.state))[0] as UpstreamFacts
  const so = parts.filter(({ now }) => now.state === worst.state)
  const kinds = ({ attempts }: UpstreamFacts, kind: string) => attempts[kind] ?? {}
  const hedges = grown(parts, (facts) => kinds(facts, 'hedge'))
  const { name, tier, state, why, until } = worst
  // Of one that is out of service the head is an old one, and so would be its lag.
  const isJudged = badnessOf(state) < 2
  return {
    ...{ name, tier, state, why, until },
    since: so.map(({ now }) => now.since).toSorted()[0] ?? worst.since,
    replicas: { so: so.length, all: parts.length },
    ...trafficOf(parts, ({ attempts }) => summed(Object.values(attempts))),
    latestBlock: most(parts.map(({ now }) => now.latestBlock)),
    lagBlocks: isJudged ? most(parts.map(({ now }) => now.lagBlocks)) : null,
    lagSeconds: isJudged ? most(parts.map(({ now }) => now.lagSeconds)) : null,
    latencySeconds: most(parts.map(({ now }) => now.latencySeconds)),
    cooldownSeconds: most(parts.map(({ now }) => now.cooldownSeconds)),
    score: least(parts.map(({ now }) => now.score)),
    sessions: parts.reduce((sum, { now }) => sum + now.sessions, 0),
    share: null,
    retries: totalOf(grown(parts, (facts) => kinds(facts, 'retry'))),
    hedges: totalOf(hedges),
    hedgesWon: (hedges['answer'] ?? 0) + (hedges['node-error'] ?? 0),
    disputes: grown(parts, ({ disputes }) => disputes),
  }
}

function trafficOf<T extends { readonly durations: readonly number[] }>(
  parts: readonly Part<T>[],
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
function grown<T>(parts: readonly Part<T>[], read: (facts: T) => Counts): Counts {
  return summed(
    parts.map(({ now, before }) => {
      const past = before ? read(before) : {}
      const words = Object.entries(read(now))
      return Object.fromEntries(
        words.map(([word, n]) => [word, Math.max(0, n - (past[word] ?? 0))]),
      )
    }),
  )
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

function most(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.max(...known)
}

function least(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.min(...known)
}

function secondsBetween(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from)) / 1_000
}
