// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isServing, takesCalls, type UpstreamState, upstreamStates } from '../upstream/observer.ts'
import type { ChainFacts, Facts, UpstreamFacts } from './facts.ts'
import { failingMethods, refusalOf } from './call-problems.ts'
import { clientsOf } from './clients.ts'
import { only, type Part, type Replica } from './parts.ts'
import { type Counts, failuresOf, slownessOf, totalOf, troublesOf } from '../telemetry/trouble.ts'
import { countsText, percent, time } from '../telemetry/format.ts'
import { counted } from '../words/counted.ts'

/** The latest answer of one replica. */
export interface Look {
  /** Address of the replica, as the reader names it. */
  readonly at: string
  /** Null before its first answer. */
  readonly facts: Facts | null
  /** Why it does not answer; null while it does. */
  readonly problem: string | null
  /** Start of the problem in ISO 8601, if known. */
  readonly since?: string | null
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
type Problem = readonly [
  (typeof severities)[number],
  runbook: string,
  what: string | false | null,
  since?: string | null,
]

/** Thresholds for calls in the last minute: a minimum count, and minimum shares of the total. */
const failing = { count: 3, share: 0.02, isDown: 0.9 } as const
/** A chain is slow above this P99. */
const slowSeconds = 2
/** Thresholds for a stalled chain. A pause of a few blocks is normal. */
const still = { blocks: 5, ms: 30_000 } as const

/** How bad a state is; 0 is the best. */
export const badnessOf = (state: UpstreamState) => upstreamStates.indexOf(state)

/**
 * Problems, worst first, and rates, ratios and quantiles of the last minute, over all replicas.
 * Null: unknown, or no calls.
 */
export function viewOf(looks: readonly Look[]) {
  const all = looks.flatMap(({ at: replica, facts, problem }) =>
    facts === null || problem !== null ? [] : { ...facts, replica },
  )
  const at = new Date(Math.max(0, ...all.map((each) => Date.parse(each.at)))).toISOString()
  const replicas = looks.map(({ at: replica, facts, problem, since = null }) => {
    return { at: replica, refused: facts?.config.refused?.why ?? null, problem, since }
  })
  const growth = growthOf(all)
  const flat = all.flatMap(({ replica, chains }) => chains.map((each) => ({ ...each, replica })))
  const chains = byName(flat).map((same) => chainView(same, growth, all))
  const clients = clientsOf(all)
  const cutOffs = totalOf(growth.of('cut-offs'))
  const whyCut = 'slow clients held half of `--max-buffered-bytes`'
  const cutOff = `${counted(cutOffs, 'slow transfer')} cut off in the last minute: ${whyCut}`
  /** @param where `ETH1 jsonrpc` or a replica @param upstream null unless it concerns only one */
  const found = (where: string, upstream: string | null, findings: readonly Problem[]) =>
    findings.flatMap(([severity, runbook, what, since = null]) =>
      what ? [{ severity, where, upstream, since, what, runbook }] : [],
    )
  const problems = [
    ...replicas.flatMap(({ at: replica, refused, problem, since }) => {
      const refusal = refused && `its new config is refused: ${refused}`
      return found(replica, null, [
        ['down', 'router-down', problem, since],
        ['odd', 'config-refused', refusal],
      ])
    }),
    ...found('replicas', null, [['odd', 'replicas-differ', differences(all)]]),
    ...all.flatMap(({ replica, shortages }) =>
      shortages.flatMap((each) =>
        found(replica, null, [['bad', runbookOf(each), `the router has ${each.why}`, each.since]]),
      ),
    ),
    ...byName(all.flatMap(({ stores }) => stores)).flatMap((same) => {
      const [{ name, since }] = same as [(typeof same)[number]]
      const why = [...new Set(same.map((each) => each.why))].join('; ')
      const has = all.filter(({ stores }) => stores.some((each) => each.name === name))
      const isSticky = same.some(({ feature }) => feature === 'sessions')
      const runbook = isSticky ? 'sticky-sessions-fail' : 'cache-store-fails'
      return found(`store ${name}`, null, [['bad', runbook, `${why}${only(has, all)}`, since]])
    }),
    ...found('clients', null, [['odd', 'out-of-resources', cutOffs > 0 && cutOff]]),
    ...chains.flatMap((chain) => found(chain.name, null, ofChain(chain, at))),
    ...failingMethods(all).flatMap(({ name, before, what, since }) =>
      found(name, null, [[before ? 'bad' : 'odd', 'method-fails', what, since]]),
    ),
    ...chains.flatMap(({ name, upstreams }) =>
      upstreams.flatMap((each) => found(name, each.name, ofUpstream(each))),
    ),
  ]
  return {
    ...{ at, seconds: growth.seconds, replicas },
    /** Calls of the last minute that failed. */
    failed: chains.reduce((sum, { errors }) => sum + totalOf(errors), 0),
    /** Share of all calls that the nodes answered with an error. */
    nodeErrorRatio: ratio(
      chains.reduce((sum, { nodeErrors }) => sum + nodeErrors, 0),
      chains.reduce((sum, { count }) => sum + count, 0),
    ),
    problems: severities.flatMap((rank) => problems.filter(({ severity }) => severity === rank)),
    chains,
    clients,
    /** Latest failed calls, newest first. */
    calls: all.flatMap(({ failed }) => failed).toSorted((a, b) => (a.at < b.at ? 1 : -1)),
  }
}

/** Differences between replicas: hashes of configs, and upstreams that only some of them have. */
function differences(all: readonly Part<Facts>[]): string | null {
  const configs = [...Map.groupBy(all, ({ config }) => config.sha256)].map(
    ([hash, same]) => `${hash.slice(0, 8)}${only(same, all).replace(' only', '')}`,
  )
  const upstreams = all.flatMap(({ replica, chains }) =>
    chains.flatMap((chain) =>
      chain.upstreams.map((each) => ({ name: `${each.name} (${chain.name})`, replica })),
    ),
  )
  const some = byName(upstreams).flatMap((same) => {
    const where = only(same, all)
    return where === '' ? [] : `${same[0]?.name}${where}`
  })
  const parts = [
    ...(configs.length > 1 ? [`different configs are active: ${configs.join(', ')}`] : []),
    ...(some.length > 0 ? [`upstreams that not every replica has: ${some.join(', ')}`] : []),
  ]
  return parts.join('; ') || null
}

/** Groups the records of all replicas by name. */
function byName<T extends { readonly name: string }>(all: readonly T[]): readonly T[][] {
  return [...Map.groupBy(all, ({ name }) => name).values()]
}

type Growth = ReturnType<typeof growthOf>

/** Counters of all replicas, and their growth within the last minute. */
function growthOf(all: readonly Pick<Facts, 'counts' | 'minute' | 'recent'>[]) {
  const sumOf = (tables: readonly Facts['counts'][]) => (table: string) => {
    const counts: Record<string, number> = {}
    for (const each of tables)
      for (const [word, count] of Object.entries(each[table] ?? {}))
        counts[word] = (counts[word] ?? 0) + count
    return counts as Counts
  }
  return {
    seconds: Math.max(0, ...all.map(({ minute }) => minute.seconds)),
    of: sumOf(all.map(({ minute }) => minute.counts)),
    total: sumOf(all.map(({ counts }) => counts)),
    /** Attempts that show whether an upstream works only in part. */
    recent: sumOf(all.map(({ recent }) => recent)),
  }
}

/** A chain as reported by the replica with the highest tip. */
function chainView(
  all: readonly Part<ChainFacts>[],
  growth: Growth,
  replicas: readonly Part<Facts>[],
) {
  const best = all.reduce((a, b) => ((b.tip ?? 0) > (a.tip ?? 0) ? b : a))
  const { name, addresses, tip, tipAgeMs, blockTimeMs } = best
  const reorgs = all.map((each) => each.reorgs).find((each) => each !== null) ?? null
  const cache = growth.of(`${name} cache`)
  // The router's own shortages have a line of their own.
  const { overloaded: _, ...refusals } = growth.of(`${name} refused`)
  const outcomes = growth.of(`${name} outcomes`)
  const requests = totalOf(outcomes) - (outcomes['refused'] ?? 0) + totalOf(refusals)
  const onBackup = all.filter(({ isOnBackup }) => isOnBackup)
  const flat = all.flatMap(({ replica, upstreams }) =>
    upstreams.map((each) => ({ ...each, replica })),
  )
  const upstreams = byName(flat).map((same) => upstreamView(same, name, growth, replicas))
  const attempts = upstreams.reduce((sum, { count }) => sum + count, 0)
  return {
    ...{ name, addresses, tip, tipAgeMs, blockTimeMs, reorgs },
    ...trafficOf(name, 'outcomes', growth),
    /** Where the backup tier serves, because no primary takes calls: a clause; null: nowhere. */
    onBackupAt: onBackup.length === 0 ? null : only(onBackup, replicas),
    /** Counts of requests that the routers refused since they started, by reason. */
    refused: growth.total(`${name} refused`),
    nodeErrors: outcomes['node-error'] ?? 0,
    refusal: refusalOf({ name, refusals, requests }, replicas),
    cacheRatio: ratio(totalOf(cache, 'hit') + totalOf(cache, 'coalesced'), totalOf(cache)),
    /** Number of serving upstreams, at the replica with the fewest. */
    serving: Math.min(...all.map((each) => each.upstreams.filter(takesCalls).length)),
    upstreams: upstreams.map((each) => {
      const recent = growth.recent(`${each.key} attempts`)
      const slowness = slownessOf(each, upstreams, recent)
      const [troubledSince = null] = replicas
        .flatMap((one) => one.troubledSince[each.key] ?? [])
        .toSorted()
      const [method] = replicas.flatMap((one) => one.troubledMethods[each.key] ?? [])
      const urls = growth.recent(`${each.key} urls`)
      /** Why it works only in part. */
      const troubles = troublesOf(recent, urls, troubledSince !== null, slowness, method)
      const share = ratio(each.count, attempts)
      return { ...each, slowness, troubles, troubledSince, share }
    }),
  }
}

/** An upstream as reported by the replica where its state is worst, or where it has a fault. */
function upstreamView(
  all: readonly Part<UpstreamFacts>[],
  chain: string,
  growth: Growth,
  replicas: readonly Replica[],
) {
  const badness = ({ state, fault, isDayUsed }: UpstreamFacts) =>
    2 * badnessOf(state) + Number(fault !== null || isDayUsed)
  const worst = all.reduce((a, b) => (badness(b) > badness(a) ? b : a))
  const { replica: _, ...known } = worst
  const where = (has: (each: UpstreamFacts) => boolean) => only(all.filter(has), replicas)
  const key = `${chain} ${known.name}`
  const attempts = growth.of(`${key} attempts`)
  return {
    ...{ key, ...known },
    /** Clauses that say where it is in this state, and where it has a fault. */
    seenAt: where(({ state }) => state === known.state),
    faultAt: where(({ fault }) => fault !== null),
    methodLimits: all.flatMap((each) => each.methodLimits),
    ...trafficOf(key, 'attempts', growth),
    retries: totalOf(attempts, 'retry'),
    hedges: totalOf(attempts, 'hedge'),
    /** Hedges that answered before the first request. */
    hedgesWon: totalOf(attempts, 'hedge answer') + totalOf(attempts, 'hedge node-error'),
    /** Counts of disputed answers. */
    disputes: growth.of(`${key} disputes`),
  }
}

/** @param table of finished calls; the last part of a key is the result */
function trafficOf(key: string, table: string, { of, seconds }: Growth) {
  const [counts, durations] = [of(`${key} ${table}`), of(`${key} durations`)]
  const count = totalOf(counts)
  /** By class. */
  const errors = failuresOf(counts)
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

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}

function runbookOf({ resource, isStrain }: Facts['shortages'][number]): string {
  if (!isStrain || resource === 'buffered-bytes') return 'out-of-resources'
  return resource === 'files' ? 'files-near-limit' : 'event-loop-delayed'
}

function ofChain(chain: ChainView, at: string): readonly Problem[] {
  const { upstreams, serving, blockTimeMs, tip } = chain
  const [lastChange = at] = upstreams.map(({ since }) => since).toSorted((a, b) => (a < b ? 1 : -1))
  const [tipAgeMs, slowest] = [chain.tipAgeMs ?? 0, chain.p99Seconds ?? 0]
  const slowness = `slow calls: P99 ${time(slowest)}, see router explain --slow`
  const failed = (chain.errorRatio ?? 0) < failing.isDown ? 'bad' : 'down'
  const isStill = tipAgeMs > Math.max(still.ms, still.blocks * blockTimeMs)
  const roseAt = new Date(Date.parse(at) - tipAgeMs).toISOString()
  const backups = upstreams.filter(({ tier }) => tier === 'backup').map((each) => each.name)
  const onBackup =
    chain.onBackupAt !== null &&
    `no primary serves, so the backup tier does${chain.onBackupAt}: ${backups.join(', ')}`
  const { length } = upstreams
  const dark =
    length === 1 ? 'the only upstream does not serve' : `none of ${length} upstreams serves`
  const pause = `no new block after ${tip}, usually every ${time(blockTimeMs / 1_000)}`
  return [
    ['down', 'no-endpoint-serving', serving === 0 && dark, lastChange],
    [failed, 'error-ratio-high', failures(chain)],
    ['odd', 'requests-refused', chain.refusal?.what ?? null, chain.refusal?.since ?? null],
    ['bad', 'upstream-lagging', serving > 0 && isStill && pause, roseAt],
    ['odd', 'latency-high', slowest > slowSeconds && slowness],
    ['odd', 'reorgs', chain.reorgs && `more reorgs than usual: ${chain.reorgs}`],
    ['odd', 'no-endpoint-serving', onBackup],
  ]
}

const unreliable = 'upstream-unreliable'
/** The page of `docs/runbooks/` about each state. */
const runbooks: Readonly<Record<UpstreamState, string>> = {
  eligible: unreliable,
  lagging: 'upstream-lagging',
  cooldown: 'upstream-in-cooldown',
  unverified: 'upstream-rejected',
  disabled: 'upstream-disabled',
  rejected: 'upstream-rejected',
}

/** Runbook pages of faults, by a word in the fault. */
const faultPages = [
  ['final', 'finalized-mismatch'],
  ['WebSocket', 'subscription-stuck'],
  ['head', 'upstream-lagging'],
] as const

function ofUpstream(each: UpstreamView): readonly Problem[] {
  const { tier, state, why, until, since, seenAt, fault, isDayUsed, slowness, troubles } = each
  const isEligible = state === 'eligible'
  const end = until === null ? '' : `; until ${until.slice(11, 19)} at the latest`
  const standing = `${tier === 'backup' ? 'backup ' : ''}${state}${seenAt}${why === null ? '' : `: ${why}`}${end}`
  const disputes = countsText(each.disputes)
  const isFinal = ['mismatches', 'logs undecided'].some((word) => each.disputes[word])
  const doubtful = isFinal ? 'finalized-mismatch' : 'integrity-violation'
  const isUrlLost = each.urls.length > 1 && each.urls.some((url) => url.why !== null)
  const notice = isDayUsed ? runbooks.cooldown : isUrlLost ? 'redundancy-lost' : unreliable
  const [, faultPage] = faultPages.find(([word]) => fault?.includes(word)) ?? [null, unreliable]
  const byMethod = Map.groupBy(each.methodLimits, ({ method }) => method)
  const limits = [...byMethod].map(([method, [limit]]) => `limits ${method}: ${limit?.why}`)
  return [
    ['bad', faultPage, fault && `${fault}${each.faultAt}; it still serves ${percent(each.share)}`],
    [isDayUsed ? 'bad' : 'odd', notice, isEligible && why],
    [
      state === 'lagging' && !isDayUsed ? 'odd' : 'bad',
      runbooks[state],
      !isEligible && standing,
      since,
    ],
    // The state of an upstream out of service already says so.
    ...Object.values(troubles).map((what): Problem => {
      return ['odd', unreliable, isServing(state) && what, each.troubledSince]
    }),
    ['odd', unreliable, slowness && !troubles.overtaken?.includes(slowness) && slowness],
    ['odd', doubtful, fault === null && disputes && `its answers are doubtful: ${disputes}`],
    ...limits.map((limit): Problem => ['odd', runbooks.cooldown, limit]),
  ]
}

/** Clause such as `12 % of calls fail: timeout 8, no-upstream 3`; null below the threshold. */
function failures({ errors, errorRatio }: Traffic) {
  if (totalOf(errors) < failing.count || (errorRatio ?? 0) < failing.share) return null
  return `${Math.round((errorRatio ?? 0) * 100)} % of calls fail: ${countsText(errors)}`
}
