// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isServing, type UpstreamState, upstreamStates } from '../upstream/observer.ts'
import type { ChainFacts, Counts, Facts, UpstreamFacts } from './facts.ts'
import { countsText, percent, time } from '../telemetry/format.ts'

/** What one replica said. */
export interface Look {
  /** Its address, as the reader has it. */
  readonly at: string
  /** Of one process, from where rates begin; empty before its first answer. */
  readonly past: readonly Facts[]
  /** Why it does not answer; null while it does. */
  readonly problem: string | null
}

/** What console and page show, and `--json` prints. */
export type View = ReturnType<typeof viewOf>
export type ChainView = ReturnType<typeof chainView>
export type UpstreamView = ChainView['upstreams'][number]
/** Of calls, or of attempts. */
export type Traffic = ReturnType<typeof trafficOf>

/** `down`: nothing is served. `bad`: calls fail, or something is broken. `odd`: it serves, but not well. */
const severities = ['down', 'bad', 'odd'] as const

/** Something that may be wrong; false or null: it is not. Since when, in ISO 8601, where that is known. */
type Problem = readonly [(typeof severities)[number], what: string | false | null, since?: string]

/** Few failures are no outage: from so many on, and from this share of all. */
const failing = { count: 3, ofCalls: 0.02, ofAttempts: 0.1, isDown: 0.9 } as const
/** Slower than the fastest upstream of its chain by so much, and by at least 250 ms. Calls: from 2 s on. */
const slow = { times: 4, ms: 250, attempts: 5, callSeconds: 2 } as const
/** A chain may pause for some blocks. */
const still = { blocks: 5, ms: 30_000 } as const

const serves = ({ state }: UpstreamFacts) => isServing(state)
/** How bad a state is, 0 for the best. */
export const badnessOf = (state: UpstreamState) => upstreamStates.indexOf(state)

/**
 * What is wrong, the worst first, and rates, ratios and quantiles of the time between the looks, over all replicas.
 * Null: unknown, or no calls.
 */
export function viewOf(looks: readonly Look[]) {
  const heard = looks.filter(({ past, problem }) => past.length > 0 && problem === null)
  const all = heard.map(({ at: replica, past }) => ({ ...(past.at(-1) as Facts), replica }))
  const at = new Date(Math.max(0, ...all.map((each) => Date.parse(each.at)))).toISOString()
  const replicas = looks.map(({ at: replica, past, problem }) => {
    return { at: replica, refused: past.at(-1)?.refused ?? null, problem }
  })
  const growth = growthOf(heard)
  const parts = all.flatMap(({ replica, chains }) => chains.map((each) => ({ ...each, replica })))
  const chains = byName(parts).map((same) => chainView(same, growth))
  /** @param where `ETH1 jsonrpc` or a replica. @param upstream where it is of one alone */
  const found = (where: string, upstream: string | null, findings: readonly Problem[]) =>
    findings.flatMap(([severity, what, since = null]) =>
      what ? [{ severity, where, upstream, since, what }] : [],
    )
  const problems = [
    ...replicas.flatMap(({ at: replica, refused, problem }) => {
      const refusal = refused && `its new config is refused: ${refused}`
      return found(replica, null, [
        ['down', problem],
        ['odd', refusal],
      ])
    }),
    ...byName(all.flatMap(({ stores }) => stores)).flatMap((same) => {
      const [{ name, since }] = same as [(typeof same)[number]]
      const why = [...new Set(same.map((each) => each.why))].join('; ')
      const where = only(all, ({ stores }) => stores.some((each) => each.name === name))
      return found(`store ${name}`, null, [['bad', `${why}${where}`, since]])
    }),
    ...chains.flatMap((chain) => found(chain.name, null, ofChain(chain, at))),
    ...chains.flatMap(({ name, upstreams }) =>
      upstreams.flatMap((each) => found(name, each.name, ofUpstream(each, upstreams))),
    ),
  ]
  return {
    ...{ at, seconds: growth.seconds, replicas },
    problems: severities.flatMap((rank) => problems.filter(({ severity }) => severity === rank)),
    chains,
    /** The last failed ones, the newest first. */
    calls: all.flatMap(({ failed }) => failed).toSorted((a, b) => (a.at < b.at ? 1 : -1)),
  }
}

/** What one replica knows of something. */
type Part<T> = T & { readonly replica: string }

/** The same thing at each replica. */
function byName<T extends { readonly name: string }>(all: readonly T[]): readonly T[][] {
  return [...Map.groupBy(all, ({ name }) => name).values()]
}

type Growth = ReturnType<typeof growthOf>

/** By how much counts have grown over all replicas, and in what time: none before the second look. */
function growthOf(looks: readonly Look[]) {
  const tables = new Map<string, Record<string, number>>()
  let seconds = 0
  for (const { past } of looks) {
    const [before, now] = [past[0], past.at(-1)] as [Facts, Facts]
    seconds = Math.max(seconds, (Date.parse(now.at) - Date.parse(before.at)) / 1_000)
    for (const [table, counts] of Object.entries(now.counts)) {
      const sum = tables.getOrInsertComputed(table, () => ({}))
      for (const [word, count] of Object.entries(counts))
        sum[word] = (sum[word] ?? 0) + count - (before.counts[table]?.[word] ?? 0)
    }
  }
  return { seconds, of: (table: string): Counts => tables.get(table) ?? {} }
}

/** What is known of it is what the replica knows where the tip is the highest. */
function chainView(all: readonly Part<ChainFacts>[], growth: Growth) {
  const best = all.reduce((a, b) => ((b.tip ?? 0) > (a.tip ?? 0) ? b : a))
  const { name, addresses, tip, tipAgeMs, blockTimeMs } = best
  const cache = growth.of(`${name} cache`)
  const parts = all.flatMap(({ replica, upstreams }) =>
    upstreams.map((each) => ({ ...each, replica })),
  )
  const upstreams = byName(parts).map((same) => upstreamView(same, name, growth))
  const attempts = upstreams.reduce((sum, { count }) => sum + count, 0)
  return {
    ...{ name, addresses, tip, tipAgeMs, blockTimeMs },
    ...trafficOf(name, 'outcomes', growth),
    cacheRatio: ratio(totalOf(cache, 'hit') + totalOf(cache, 'coalesced'), totalOf(cache)),
    /** How many of its upstreams serve, at the replica where they are the fewest. */
    serving: Math.min(...all.map((each) => each.upstreams.filter(serves).length)),
    upstreams: upstreams.map((each) => ({ ...each, share: ratio(each.count, attempts) })),
  }
}

/** What is known of it is what the replica knows where its state is the worst, or it has a fault. */
function upstreamView(all: readonly Part<UpstreamFacts>[], chain: string, growth: Growth) {
  const badness = ({ state, fault }: UpstreamFacts) => 2 * badnessOf(state) + Number(fault !== null)
  const worst = all.reduce((a, b) => (badness(b) > badness(a) ? b : a))
  const { replica: _, ...known } = worst
  const key = `${chain} ${known.name}`
  const attempts = growth.of(`${key} attempts`)
  return {
    ...{ key, ...known },
    /** Where it is in this state, and where it has a fault: a clause. */
    seenAt: only(all, ({ state }) => state === known.state),
    faultAt: only(all, ({ fault }) => fault !== null),
    ...trafficOf(key, 'attempts', growth),
    retries: totalOf(attempts, 'retry'),
    hedges: totalOf(attempts, 'hedge'),
    /** Hedges that answered first. */
    hedgesWon: totalOf(attempts, 'hedge answer') + totalOf(attempts, 'hedge node-error'),
    /** What speaks against its answers. */
    disputes: growth.of(`${key} disputes`),
  }
}

const notFailed = ['success', 'node-error', 'abandoned', 'answer', 'aborted', 'running']

/** @param table of what has ended; the last part of a word is the result */
function trafficOf(key: string, table: string, { of, seconds }: Growth) {
  const [counts, durations] = [of(`${key} ${table}`), of(`${key} durations`)]
  const count = totalOf(counts)
  /** By class. */
  const errors: Record<string, number> = {}
  for (const [word, n] of Object.entries(counts)) {
    const result = word.split(' ').at(-1) ?? word
    if (n > 0 && !notFailed.includes(result)) errors[result] = (errors[result] ?? 0) + n
  }
  return {
    ...{ count, errors, errorRatio: ratio(totalOf(errors), count) },
    perSecond: count / (seconds || 1),
    ...{ p50Seconds: quantile(0.5, durations), p99Seconds: quantile(0.99, durations) },
  }
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

/** @param begin of the words that are counted */
function totalOf(counts: Counts, begin = ''): number {
  const counted = Object.entries(counts).filter(([word]) => word.startsWith(begin))
  return counted.reduce((sum, [, count]) => sum + count, 0)
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}

function ofChain(chain: ChainView, at: string): readonly Problem[] {
  const { upstreams, serving, blockTimeMs, tip } = chain
  const [lastChange = at] = upstreams.map(({ since }) => since).toSorted((a, b) => (a < b ? 1 : -1))
  const [tipAgeMs, slowest] = [chain.tipAgeMs ?? 0, chain.p99Seconds ?? 0]
  const slowness = `slow calls: P99 ${time(slowest)}, see router explain --slow`
  const failed = (chain.errorRatio ?? 0) < failing.isDown ? 'bad' : 'down'
  const isStill = tipAgeMs > Math.max(still.ms, still.blocks * blockTimeMs)
  const roseAt = new Date(Date.parse(at) - tipAgeMs).toISOString()
  const pause = `no new block after ${tip}, usually every ${time(blockTimeMs / 1_000)}`
  return [
    ['down', serving === 0 && `none of ${upstreams.length} upstreams serves`, lastChange],
    [failed, failures(chain, failing.ofCalls, 'calls')],
    ['bad', serving > 0 && isStill && pause, roseAt],
    ['odd', slowest > slow.callSeconds && slowness],
  ]
}

function ofUpstream(each: UpstreamView, all: readonly UpstreamView[]): readonly Problem[] {
  const { state, why, until, since, seenAt, count, latencyMs, fault } = each
  const isEligible = state === 'eligible'
  const end = until === null ? '' : `; until ${until.slice(11, 19)} at the latest`
  const standing = `${state}${seenAt}${why === null ? '' : `: ${why}`}${end}`
  const fastest = Math.min(...all.map((one) => one.latencyMs ?? Infinity))
  const isSlow = (latencyMs ?? 0) > Math.max(fastest * slow.times, fastest + slow.ms)
  const slowness = `slow: ${time((latencyMs ?? 0) / 1_000)} on average, the fastest one ${time(fastest / 1_000)}`
  const doubts = countsText(each.disputes)
  return [
    ['bad', fault && `${fault}${each.faultAt}; it still serves ${percent(each.share)}`],
    ['odd', isEligible && why],
    [state === 'lagging' ? 'odd' : 'bad', !isEligible && standing, since],
    // Of one that is out of service the state says it already.
    ['odd', isServing(state) && failures(each, failing.ofAttempts, 'attempts')],
    ['odd', isSlow && count >= slow.attempts && fault === null && slowness],
    ['odd', fault === null && doubts && `its answers are doubtful: ${doubts}`],
  ]
}

/** ` at one:7779 only`; empty where that is none, or all. */
function only<T>(all: readonly Part<T>[], has: (each: Part<T>) => boolean): string {
  const some = all.filter(has).map(({ replica }) => replica)
  return some.length > 0 && some.length < all.length ? ` at ${some.join(', ')} only` : ''
}

/** `12 % of calls fail: timeout 8, no-upstream 3`; null where too few do. */
function failures({ errors, errorRatio }: Traffic, share: number, what: string) {
  if (totalOf(errors) < failing.count || (errorRatio ?? 0) < share) return null
  return `${Math.round((errorRatio ?? 0) * 100)} % of ${what} fail: ${countsText(errors)}`
}
