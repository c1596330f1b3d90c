// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isServing, takesCalls, type UpstreamState, upstreamStates } from '../upstream/observer.ts'
import type { ChainFacts, Counts, Facts, UpstreamFacts } from './facts.ts'
import { clientsOf } from './clients.ts'
import { isFailure } from '../telemetry/call-counters.ts'
import { countsText, percent, time } from '../telemetry/format.ts'

/** The latest answer of one replica, with its history. */
export interface Look {
  /** Address of the replica, as the reader names it. */
  readonly at: string
  /** Facts of one process, for rates; empty before its first answer. */
  readonly past: readonly Facts[]
  /** Why it does not answer; null while it does. */
  readonly problem: string | null
}

/** Content of console and page, which `--json` prints. */
export type View = ReturnType<typeof viewOf>
export type ChainView = ReturnType<typeof chainView>
export type UpstreamView = ChainView['upstreams'][number]
/** Rates and errors of calls, or of attempts. */
export type Traffic = ReturnType<typeof trafficOf>

/** `down`: nothing is served; `bad`: calls fail or something is broken; `odd`: degraded. */
const severities = ['down', 'bad', 'odd'] as const

/** A possible problem; false or null: none. Start time in ISO 8601, if known. */
type Problem = readonly [(typeof severities)[number], what: string | false | null, since?: string]

/** Thresholds for an outage: a minimum count, and a minimum share of the total. */
const failing = { count: 3, ofCalls: 0.02, ofAttempts: 0.1, isDown: 0.9 } as const
/** Thresholds for slowness against a chain's fastest upstream; `callSeconds` applies to calls. */
const slow = { times: 4, ms: 250, attempts: 5, callSeconds: 2 } as const
/** Thresholds for a stalled chain. A pause of a few blocks is normal. */
const still = { blocks: 5, ms: 30_000 } as const

/** How bad a state is; 0 is the best. */
export const badnessOf = (state: UpstreamState) => upstreamStates.indexOf(state)

/**
 * Problems, worst first, and rates, ratios and quantiles between samples, over all replicas. Null:
 * unknown, or no calls.
 */
export function viewOf(looks: readonly Look[]) {
  const answered = looks.filter(({ past, problem }) => past.length > 0 && problem === null)
  const all = answered.map(({ at: replica, past }) => ({ ...(past.at(-1) as Facts), replica }))
  const at = new Date(Math.max(0, ...all.map((each) => Date.parse(each.at)))).toISOString()
  const replicas = looks.map(({ at: replica, past, problem }) => {
    return { at: replica, refused: past.at(-1)?.refused ?? null, problem }
  })
  const growth = growthOf(answered)
  const flat = all.flatMap(({ replica, chains }) => chains.map((each) => ({ ...each, replica })))
  const chains = byName(flat).map((same) => chainView(same, growth))
  /** @param where `ETH1 jsonrpc` or a replica @param upstream null unless it concerns only one */
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
    ...all.flatMap(({ replica, shortages }) =>
      shortages.flatMap(({ why, since }) =>
        found(replica, null, [['bad', `the router has ${why}`, since]]),
      ),
    ),
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
    clients: clientsOf(all),
    /** Latest failed calls, newest first. */
    calls: all.flatMap(({ failed }) => failed).toSorted((a, b) => (a.at < b.at ? 1 : -1)),
  }
}

/** A record from one replica. */
type Part<T> = T & { readonly replica: string }

/** Groups the records of all replicas by name. */
function byName<T extends { readonly name: string }>(all: readonly T[]): readonly T[][] {
  return [...Map.groupBy(all, ({ name }) => name).values()]
}

type Growth = ReturnType<typeof growthOf>

/** Counters of all replicas, their growth, and over which time: zero before the second sample. */
function growthOf(looks: readonly Look[]) {
  const tables = new Map<string, Record<string, number>>()
  const totals = new Map<string, Record<string, number>>()
  let seconds = 0
  for (const { past } of looks) {
    const [before, now] = [past[0], past.at(-1)] as [Facts, Facts]
    seconds = Math.max(seconds, (Date.parse(now.at) - Date.parse(before.at)) / 1_000)
    for (const [table, counts] of Object.entries(now.counts)) {
      const sum = tables.getOrInsertComputed(table, () => ({}))
      const total = totals.getOrInsertComputed(table, () => ({}))
      for (const [word, count] of Object.entries(counts)) {
        sum[word] = (sum[word] ?? 0) + count - (before.counts[table]?.[word] ?? 0)
        total[word] = (total[word] ?? 0) + count
      }
    }
  }
  return {
    seconds,
    of: (table: string): Counts => tables.get(table) ?? {},
    total: (table: string): Counts => totals.get(table) ?? {},
  }
}

/** A chain as reported by the replica with the highest tip. */
function chainView(all: readonly Part<ChainFacts>[], growth: Growth) {
  const best = all.reduce((a, b) => ((b.tip ?? 0) > (a.tip ?? 0) ? b : a))
  const { name, addresses, tip, tipAgeMs, blockTimeMs } = best
  const reorgs = all.map((each) => each.reorgs).find((each) => each !== null) ?? null
  const cache = growth.of(`${name} cache`)
  const flat = all.flatMap(({ replica, upstreams }) =>
    upstreams.map((each) => ({ ...each, replica })),
  )
  const upstreams = byName(flat).map((same) => upstreamView(same, name, growth))
  const attempts = upstreams.reduce((sum, { count }) => sum + count, 0)
  return {
    ...{ name, addresses, tip, tipAgeMs, blockTimeMs, reorgs },
    ...trafficOf(name, 'outcomes', growth),
    /** Counts of requests that the routers refused since they started, by reason. */
    refused: growth.total(`${name} refused`),
    cacheRatio: ratio(totalOf(cache, 'hit') + totalOf(cache, 'coalesced'), totalOf(cache)),
    /** Number of serving upstreams, at the replica with the fewest. */
    serving: Math.min(...all.map((each) => each.upstreams.filter(takesCalls).length)),
    upstreams: upstreams.map((each) => ({ ...each, share: ratio(each.count, attempts) })),
  }
}

/** An upstream as reported by the replica where its state is worst, or where it has a fault. */
function upstreamView(all: readonly Part<UpstreamFacts>[], chain: string, growth: Growth) {
  const badness = ({ state, fault, isDayUsed }: UpstreamFacts) =>
    2 * badnessOf(state) + Number(fault !== null || isDayUsed)
  const worst = all.reduce((a, b) => (badness(b) > badness(a) ? b : a))
  const { replica: _, ...known } = worst
  const key = `${chain} ${known.name}`
  const attempts = growth.of(`${key} attempts`)
  return {
    ...{ key, ...known },
    /** Clauses that say where it is in this state, and where it has a fault. */
    seenAt: only(all, ({ state }) => state === known.state),
    faultAt: only(all, ({ fault }) => fault !== null),
    ...trafficOf(key, 'attempts', growth),
    retries: totalOf(attempts, 'retry'),
    hedges: totalOf(attempts, 'hedge'),
    /** Hedges that answered before the first request. */
    hedgesWon: totalOf(attempts, 'hedge answer') + totalOf(attempts, 'hedge node-error'),
    /** First attempts that another upstream overtook, and their share. */
    overtaken: attempts['first overtaken'] ?? 0,
    overtakenRatio: ratio(attempts['first overtaken'] ?? 0, totalOf(attempts, 'first ')),
    /** Counts of disputed answers. */
    disputes: growth.of(`${key} disputes`),
  }
}

const notFailed = ['answer', 'overtaken', 'aborted', 'running']

/** @param table of finished calls; the last part of a key is the result */
function trafficOf(key: string, table: string, { of, seconds }: Growth) {
  const [counts, durations] = [of(`${key} ${table}`), of(`${key} durations`)]
  const count = totalOf(counts)
  /** Errors by class. */
  const errors: Record<string, number> = {}
  for (const [word, n] of Object.entries(counts)) {
    const result = word.split(' ').at(-1) ?? word
    if (n > 0 && isFailure(result) && !notFailed.includes(result))
      errors[result] = (errors[result] ?? 0) + n
  }
  return {
    ...{ count, errors, errorRatio: ratio(totalOf(errors), count) },
    perSecond: count / (seconds || 1),
    ...{ p50Seconds: quantile(0.5, durations), p99Seconds: quantile(0.99, durations) },
  }
}

/**
 * Quantile of a histogram, interpolated linearly within a bucket.
 * @param durations cumulative counts by upper bound
 */
export function quantile(share: number, durations: Counts): number | null {
  const buckets = Object.entries(durations)
    .map(([bound, count]) => [bound === '+Inf' ? Infinity : Number(bound), count] as const)
    .toSorted(([a], [b]) => a - b)
  const rank = share * (durations['+Inf'] ?? 0)
  const at = buckets.findIndex(([, count]) => count >= rank)
  const [lower, below] = buckets[at - 1] ?? [0, 0]
  const [upper, count] = buckets[at] ?? [0, 0]
  if (rank === 0) return null
  return upper === Infinity ? lower : lower + ((upper - lower) * (rank - below)) / (count - below)
}

/** @param begin prefix of the keys to sum */
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
  const { length } = upstreams
  const dark =
    length === 1 ? 'the only upstream does not serve' : `none of ${length} upstreams serves`
  const pause = `no new block after ${tip}, usually every ${time(blockTimeMs / 1_000)}`
  return [
    ['down', serving === 0 && dark, lastChange],
    [failed, failures(chain, failing.ofCalls, 'calls')],
    ['bad', serving > 0 && isStill && pause, roseAt],
    ['odd', slowest > slow.callSeconds && slowness],
    ['odd', chain.reorgs && `more reorgs than usual: ${chain.reorgs}`],
  ]
}

function ofUpstream(each: UpstreamView, all: readonly UpstreamView[]): readonly Problem[] {
  const { state, why, until, since, seenAt, count, latencyMs, fault, isDayUsed } = each
  const isEligible = state === 'eligible'
  const end = until === null ? '' : `; until ${until.slice(11, 19)} at the latest`
  const standing = `${state}${seenAt}${why === null ? '' : `: ${why}`}${end}`
  const fastest = Math.min(...all.map((one) => one.latencyMs ?? Infinity))
  const isSlow = (latencyMs ?? 0) > Math.max(fastest * slow.times, fastest + slow.ms)
  const slowness = `slow: ${time((latencyMs ?? 0) / 1_000)} on average, the fastest one ${time(fastest / 1_000)}`
  const disputes = countsText(each.disputes)
  const share = each.overtakenRatio ?? 0
  const isHanging = each.overtaken >= failing.count && share >= failing.ofAttempts
  const overtaken = `hangs: another upstream overtook ${percent(share)} of its first attempts`
  return [
    ['bad', fault && `${fault}${each.faultAt}; it still serves ${percent(each.share)}`],
    [isDayUsed ? 'bad' : 'odd', isEligible && why],
    [state === 'lagging' && !isDayUsed ? 'odd' : 'bad', !isEligible && standing, since],
    // The state of an upstream out of service already says so.
    ['odd', isServing(state) && failures(each, failing.ofAttempts, 'attempts')],
    ['odd', isServing(state) && isHanging && overtaken],
    ['odd', isSlow && count >= slow.attempts && fault === null && slowness],
    ['odd', fault === null && disputes && `its answers are doubtful: ${disputes}`],
  ]
}

/** Clause such as ` at one:7779 only`; empty when none or all match. */
function only<T>(all: readonly Part<T>[], has: (each: Part<T>) => boolean): string {
  const some = all.filter(has).map(({ replica }) => replica)
  return some.length > 0 && some.length < all.length ? ` at ${some.join(', ')} only` : ''
}

/** Clause such as `12 % of calls fail: timeout 8, no-upstream 3`; null below the threshold. */
function failures({ errors, errorRatio }: Traffic, share: number, what: string) {
  if (totalOf(errors) < failing.count || (errorRatio ?? 0) < share) return null
  return `${Math.round((errorRatio ?? 0) * 100)} % of ${what} fail: ${countsText(errors)}`
}
