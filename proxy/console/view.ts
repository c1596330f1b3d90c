// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isServing, type UpstreamState, upstreamStates } from '../upstream/observer.ts'
import type { ChainFacts, Counts, Facts, UpstreamFacts } from './facts.ts'
import { countsText, time } from '../telemetry/format.ts'

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

/** `down`: calls fail. `bad`: an upstream is out of service. `odd`: it serves, but not well. */
const severities = ['down', 'bad', 'odd'] as const

/** Something that may be wrong; false or null: it is not. Since when, in ISO 8601, where that is known. */
type Finding = readonly [(typeof severities)[number], what: string | false | null, since?: string]

/** Few failures are no outage: from so many on, and from this share of all. */
const failing = { count: 3, ofCalls: 0.02, ofAttempts: 0.1 } as const
/** Slower than the fastest other upstream of its chain by so much, and by at least 250 ms. */
const slow = { times: 4, seconds: 0.25, attempts: 5 } as const
/** A chain may pause for some blocks. */
const still = { blocks: 5, ms: 30_000 } as const

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
  const found = (where: string, upstream: string | null, findings: readonly Finding[]) =>
    findings.flatMap(([severity, what, since = null]) =>
      what ? [{ severity, where, upstream, since, what }] : [],
    )
  const problems = [
    ...replicas.flatMap(({ at: replica, refused, problem }) => [
      ...found(replica, null, [['down', problem]]),
      ...found(replica, null, [['odd', refused && `its new config is refused: ${refused}`]]),
    ]),
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

/** By how much counts have grown over all replicas, and in what time. */
function growthOf(looks: readonly Look[]) {
  const tables = new Map<string, Record<string, number>>()
  let seconds = 1
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
    serving: Math.min(...all.map(({ serving }) => serving)),
    upstreams: upstreams.map((each) => ({ ...each, share: ratio(each.count, attempts) })),
  }
}

/** What is known of it is what the replica knows where its state is the worst. */
function upstreamView(all: readonly Part<UpstreamFacts>[], chain: string, growth: Growth) {
  const worst = all.reduce((a, b) => (badnessOf(b.state) > badnessOf(a.state) ? b : a))
  const { replica: _, ...known } = worst
  const key = `${chain} ${known.name}`
  const attempts = growth.of(`${key} attempts`)
  const seenAt = all.filter(({ state }) => state === known.state)
  return {
    ...{ key, ...known },
    /** The replicas where it is in this state, unless all are. */
    seenAt: seenAt.length < all.length ? seenAt.map(({ replica }) => replica) : null,
    ...trafficOf(key, 'attempts', growth),
    retries: totalOf(attempts, 'retry'),
    hedges: totalOf(attempts, 'hedge'),
    /** Hedges that answered first. */
    hedgesWon: totalOf(attempts, 'hedge answer') + totalOf(attempts, 'hedge node-error'),
    /** First attempts that were given up, since a hedge answered first or the client left. */
    aborted: totalOf(attempts, 'first aborted'),
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
    ...{ count, errors, errorRatio: ratio(totalOf(errors), count), perSecond: count / seconds },
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

function ofChain(chain: ChainView, at: string): readonly Finding[] {
  const { upstreams, serving, blockTimeMs, tip } = chain
  const [lastChange = at] = upstreams.map(({ since }) => since).toSorted((a, b) => (a < b ? 1 : -1))
  const tipAgeMs = chain.tipAgeMs ?? 0
  const isStill = tipAgeMs > Math.max(still.ms, still.blocks * blockTimeMs)
  const roseAt = new Date(Date.parse(at) - tipAgeMs).toISOString()
  const pause = `no new block after ${tip}, usually every ${time(blockTimeMs / 1_000)}`
  return [
    ['down', serving === 0 && `none of ${upstreams.length} upstreams serves`, lastChange],
    ['down', failures(chain, failing.ofCalls, 'calls')],
    ['bad', serving > 0 && isStill && pause, roseAt],
  ]
}

function ofUpstream(each: UpstreamView, all: readonly UpstreamView[]): readonly Finding[] {
  const { state, why, until, since, seenAt, count, p50Seconds } = each
  const isEligible = state === 'eligible'
  const some = seenAt === null ? '' : ` at ${seenAt.join(', ')} alone`
  const end = until === null ? '' : `; until ${until.slice(11, 19)} at the latest`
  const standing = `${state}${some}${why === null ? '' : `: ${why}`}${end}`
  const others = all.filter((other) => other !== each && other.state === 'eligible')
  const fastest = Math.min(...others.map((other) => other.p50Seconds ?? Infinity))
  const slowest = Math.max(fastest * slow.times, fastest + slow.seconds)
  const isSlow = count >= slow.attempts && (p50Seconds ?? 0) > slowest
  const slowness = `half of its answers take over ${time(p50Seconds)}, elsewhere ${time(fastest)}`
  // Clients that leave end attempts as well, but no more than hedges have won were overtaken by one.
  const won = others.reduce((sum, { hedgesWon }) => sum + hedgesWon, 0)
  const late = Math.min(each.aborted, won)
  const isLate = late >= failing.count && late >= count * failing.ofAttempts
  const lateness = `another upstream, asked as well, answered first in ${late} of ${count} attempts`
  const doubts = countsText(each.disputes)
  return [
    ['odd', isEligible && why],
    [state === 'lagging' ? 'odd' : 'bad', !isEligible && standing, since],
    // Of one that is out of service the state says it already.
    ['odd', isServing(state) && failures(each, failing.ofAttempts, 'attempts')],
    ['odd', isSlow && `slow: ${slowness}`],
    ['odd', isLate && `late: ${lateness}`],
    ['odd', doubts && `its answers are doubtful: ${doubts}`],
  ]
}

/** `12 % of calls fail: timeout 8, no-upstream 3`; null where too few do. */
function failures({ errors, errorRatio }: Traffic, share: number, what: string) {
  if (totalOf(errors) < failing.count || (errorRatio ?? 0) < share) return null
  return `${Math.round((errorRatio ?? 0) * 100)} % of ${what} fail: ${countsText(errors)}`
}
