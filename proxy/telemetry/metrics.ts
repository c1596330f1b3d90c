// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Counter, Gauge, Registry } from 'prom-client'
import type { ByteBudget } from '../bytes/byte-budget.ts'
import type { ApiInterface } from '../config/types.ts'
import type { CrossValidationObserver } from '../cross-validation/cross-validation.ts'
import type { ListenerObserver } from '../listener/listener.ts'
import { logsVerdicts, type RelayObserver } from '../relay/call.ts'
import { checkNames } from '../integrity/violation.ts'
import { callersKinds, type RelayError } from '../relay/errors.ts'
import { hasStalled, type SubscriptionObserver } from '../subscription/subscriptions.ts'
import {
  type PoolObserver,
  type PoolSnapshot,
  type UpstreamSnapshot,
  upstreamStates,
} from '../upstream/observer.ts'
import type { ConfigState } from './config-state.ts'
import {
  attemptCounter,
  callCounter,
  histogramCells,
  type Labels,
  mirror,
  type Streak,
} from './call-counters.ts'
import { metricsPage } from './metrics-page.ts'
import { perListener } from './observers.ts'
import {
  type CacheFigures,
  PoolGauges,
  registerCache,
  registerConfig,
  registerProcess,
  registerResources,
} from './gauges.ts'
import type { Resources } from './resources.ts'
import { type Series, series } from './series.ts'

/** Counts what the router does, and exports it as text for Prometheus. */
export type Metrics = ReturnType<typeof createMetrics>

/** One value of a series. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/** Labels of reorgs by depth: most services wait for six blocks at least. */
const depths = { one: '1', few: '2-6', many: '7+' } as const

interface MetricsOptions {
  /** The running build. */
  readonly version: string
  readonly budget: ByteBudget
  /** Null or absent if no answers are cached. */
  readonly cache?: CacheFigures | null
  readonly config: ConfigState
  /** Absent: reports no shortage. */
  readonly resources?: Pick<Resources, 'shortages'>
}

/** Creates an independent set of series, which shares nothing with others in the process. */
export function createMetrics(options: MetricsOptions) {
  const registry = new Registry()
  registerProcess(registry, options.version, options.budget)
  registerCache(registry, options.cache ?? null)
  registerConfig(registry, options.config)
  registerResources(registry, options.resources)
  const counter = ({ name, help, labels }: Series) =>
    new Counter({ name, help, labelNames: labels, registers: [registry] })
  const gauge = ({ name, help, labels, workers }: Series) => {
    const aggregator = workers ?? 'sum'
    return new Gauge({ name, help, aggregator, labelNames: labels, registers: [registry] })
  }
  const refusalWords = new Map<string, string>()
  const streaks = new Map<string, Streak>()
  const countCalls = callCounter(registry, streaks)
  const attempts = attemptCounter(registry)
  const violations = counter(series.integrityViolations)
  const missingBlocks = counter(series.missingBlockAnswers)
  const logsMismatches = counter(series.logsMismatches)
  const logsBlocks = counter(series.logsBlocks)
  const logsRequests = counter(series.logsRequests)
  const refused = counter(series.refused)
  const connections = gauge(series.connections)
  const sockets = gauge(series.sockets)
  const validations = counter(series.crossValidations)
  const finalizedMismatches = counter(series.finalizedMismatches)
  const breakerTrips = counter(series.breakerTrips)
  const pools = new PoolGauges(registry)
  const stateChanges = counter(series.stateChanges)
  const cooldowns = counter(series.cooldowns)
  const verificationFailures = counter(series.verificationFailures)
  const probes = counter(series.probes)
  const reorgs = counter(series.reorgs)
  const subscriptions = gauge(series.subscriptions)
  const upstreamSubscriptions = gauge(series.upstreamSubscriptions)
  const moves = counter(series.subscriptionMoves)
  const filled = counter(series.subscriptionFilled)
  const duplicates = counter(series.subscriptionDuplicates)
  const fetchFailures = counter(series.subscriptionFetchFailures)
  const ended = counter(series.subscriptionsEnded)
  const storeDuration = histogramCells(registry, series.storeDuration)
  /** Starts event counters at 0: `increase` misses the first event of a series that starts at 1. */
  const startUpstream = (upstream: Labels, { urls, verifications }: UpstreamSnapshot) => {
    const events = [missingBlocks, finalizedMismatches, cooldowns, probes]
    for (const one of events) one.inc(upstream, 0)
    for (const verdict of logsVerdicts) logsMismatches.inc({ ...upstream, verdict }, 0)
    for (const check of checkNames) violations.inc({ ...upstream, check }, 0)
    for (const to of upstreamStates) stateChanges.inc({ ...upstream, to }, 0)
    for (const verification of verifications)
      verificationFailures.inc({ ...upstream, verification }, 0)
    attempts.start(upstream, urls)
  }
  const startNew = () => pools.eachNew(startUpstream)
  const page = (accept?: string) => {
    startNew()
    return metricsPage(registry, accept)
  }

  return {
    page,
    /** Starts the counters of new upstreams at 0, as each page does. */
    startNew,
    /** The series as JSON, for the aggregate of several processes. */
    json() {
      startNew()
      return registry.getMetricsAsJSON()
    },
    /** The page's samples of one series, if any. Histogram lines have their bound as `le`. */
    async samples({ name }: Series): Promise<readonly Sample[]> {
      const { values } = (await registry.getSingleMetric(name)?.get()) ?? { values: [] }
      return values as unknown as Sample[]
    },
    /** The last error of refused requests, by key, such as `ETH1 jsonrpc method-denied`. */
    refusalWords: refusalWords as ReadonlyMap<string, string>,
    /** By key, such as `ETH1 jsonrpc eth_call`. */
    streaks: streaks as ReadonlyMap<string, Readonly<Streak>>,
    /** Registers gauges that read `snapshot` at each scrape. Call it once per listener. */
    registerPool(chainId: string, apiInterface: ApiInterface, snapshot: () => PoolSnapshot) {
      pools.register({ chain: chainId, interface: apiInterface }, snapshot)
    },
    /** The gauge reads `size` at each scrape. @returns counters of outcomes and of losses */
    registerSticky(outcomes: readonly string[], size: () => number) {
      const claims = counter(series.stickyClaims)
      for (const outcome of outcomes) claims.inc({ outcome }, 0)
      mirror(registry, series.stickySessions, () => [{ labels: {}, value: size() }])
      const losses = counter(series.stickyStoreLosses)
      losses.inc(0)
      return {
        count: (outcome: string) => claims.inc({ outcome }),
        storeLost: () => losses.inc(),
      }
    },
    /** Records a finished command at the shared store. */
    storeCommandEnded: (command: string, outcome: string, ms: number) =>
      storeDuration({ command, outcome }).observe(ms / 1_000),
    relayObserver: perListener<RelayObserver>((listener) => {
      breakerTrips.inc(listener, 0)
      const countAttempt = attempts.countOf(listener)
      return {
        attemptEnded(call, attempt) {
          countAttempt(call, attempt)
          const { upstream, violation, missedBlock } = attempt
          if (violation) violations.inc({ ...listener, upstream, check: violation.check })
          if (missedBlock) missingBlocks.inc({ ...listener, upstream })
        },
        logsMismatched(_call, upstreams, verdict) {
          for (const upstream of upstreams) logsMismatches.inc({ ...listener, upstream, verdict })
        },
        breakerChanged(open) {
          pools.breakerChanged(listener, open)
          if (open) breakerTrips.inc(listener)
        },
      }
    }),
    crossValidationObserver: perListener<CrossValidationObserver>((listener) => ({
      validated({ method: { known, name } }, failure) {
        const validation = failure ?? 'success'
        validations.inc({ ...listener, method: known ? name : 'other', validation })
      },
      finalizedMismatch: (_call, { upstream }) =>
        finalizedMismatches.inc({ ...listener, upstream }),
    })),
    poolObserver: perListener<PoolObserver>((listener) => {
      const { chain } = listener
      for (const depth of Object.values(depths)) reorgs.inc({ chain, depth }, 0)
      return {
        stateChanged: (upstream, _, { state: to }) =>
          stateChanges.inc({ ...listener, upstream, to }),
        cooldownBegan: (upstream) => cooldowns.inc({ ...listener, upstream }),
        probeSent: (upstream) => probes.inc({ ...listener, upstream }),
        probeEnded: (upstream, ...result) =>
          attempts.countProbe({ ...listener, upstream }, ...result),
        verificationFailed: (upstream, _url, verification) =>
          verificationFailures.inc({ ...listener, upstream, verification }),
        reorged: ({ depth }) => {
          const { one, few, many } = depths
          reorgs.inc({ chain, depth: depth > 6 ? many : depth > 1 ? few : one })
        },
      }
    }),
    listenerObserver: perListener<ListenerObserver>((listener) => {
      // Two listeners with the same chain and interface are added up.
      const follow = (of: Gauge) => {
        let last = 0
        of.inc(listener, 0)
        return (open: number) => {
          of.inc(listener, open - last)
          last = open
        }
      }
      const countCall = countCalls(listener)
      for (const source of ['client', 'cache', 'upstream'])
        logsBlocks.inc({ ...listener, source }, 0)
      logsRequests.inc(listener, 0)
      const requestRefused = ({ kind: { reason }, message }: RelayError) => {
        refused.inc({ ...listener, reason })
        refusalWords.set(`${listener.chain} ${listener.interface} ${reason}`, message)
      }
      for (const { reason } of callersKinds) refused.inc({ ...listener, reason }, 0)
      return {
        callEnded(call, end, durationMs) {
          countCall(call, end, durationMs)
          const { logs } = call.journal
          if (logs) {
            logsBlocks.inc({ ...listener, source: 'client' }, logs.blocks)
            logsBlocks.inc({ ...listener, source: 'cache' }, logs.cachedBlocks)
            logsBlocks.inc({ ...listener, source: 'upstream' }, logs.requestedBlocks)
            logsRequests.inc(listener, logs.requests)
          }
          if (end.kind === 'error' && end.error.isCallersFault) requestRefused(end.error)
        },
        requestRefused,
        connectionsChanged: follow(connections),
        socketsChanged: follow(sockets),
      }
    }),
    subscriptionObserver: perListener<Partial<SubscriptionObserver>>((listener) => ({
      clientsChanged(topic, change) {
        subscriptions.inc({ ...listener, topic }, change)
        for (const one of [filled, duplicates, fetchFailures, ended])
          one.inc({ ...listener, topic }, 0)
      },
      joined(topic, upstream) {
        for (const reason of ['stalled', 'other'])
          moves.inc({ ...listener, upstream, topic, reason }, 0)
      },
      upstreamChanged: (upstream, change) =>
        upstreamSubscriptions.inc({ ...listener, upstream }, change),
      left(topic, upstream, why) {
        const reason = why === hasStalled ? 'stalled' : 'other'
        moves.inc({ ...listener, upstream, topic, reason })
      },
      filled: (topic, blocks) => filled.inc({ ...listener, topic }, blocks),
      duplicateDropped: (topic) => duplicates.inc({ ...listener, topic }),
      fetchFailed: (topic) => fetchFailures.inc({ ...listener, topic }),
      ended: (topic) => ended.inc({ ...listener, topic }),
    })),
  }
}

/** The metrics of `router cache`: its process, its store and its calls. */
export function createCacheMetrics(version: string, store: CacheFigures['store']) {
  const registry = new Registry()
  registerProcess(registry, version)
  registerCache(registry, { store, shared: null })
  const { name, help, labels } = series.cacheServerCalls
  const calls = new Counter({ name, help, labelNames: labels, registers: [registry] })
  return {
    page: (accept?: string) => metricsPage(registry, accept),
    count: (call: string, verdict: string) => {
      calls.inc({ call, verdict })
    },
  }
}
