// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import type { Registry } from 'prom-client'
import type { ByteBudget } from '../bytes/byte-budget.ts'
import { maxFiles, openFiles, readAt } from '../bytes/open-files.ts'
import {
  isOnBackup,
  isServing,
  type PoolSnapshot,
  type UpstreamSnapshot,
  upstreamStates,
} from '../upstream/observer.ts'
import { mirror, type Labels } from './call-counters.ts'
import type { ConfigState } from './config-state.ts'
import { resources, type Resources } from './resources.ts'
import { series, type Series } from './series.ts'

type Sample = readonly [labels: Labels, value: number | null]

const ofUpstream: readonly (readonly [Series, (upstream: UpstreamSnapshot) => number | null])[] = [
  [series.upstreamStateSince, ({ since }) => Date.parse(since) / 1_000],
  [series.sessions, ({ sessions }) => sessions],
  [series.latestBlock, ({ latestBlock }) => latestBlock],
  [series.lagBlocks, ({ lagBlocks }) => lagBlocks],
  [series.lagSeconds, ({ lagSeconds }) => lagSeconds],
  [series.score, ({ score }) => score],
  [series.urlsInCooldown, ({ urlsInCooldown }) => urlsInCooldown],
  [series.learnedLimit, ({ learnedPerSecond }) => learnedPerSecond],
  [series.learnedLogBlocks, ({ learnedLogBlocks }) => learnedLogBlocks],
]

/** Size and counters of the answer cache. */
export interface CacheFigures {
  readonly store: { readonly bytes: number; readonly count: number; readonly evictions: number }
  /** The store shared by all replicas. */
  readonly shared: {
    readonly figures: { readonly failures: number; readonly broken: number }
  } | null
}

/** Registers the series of the answer cache, which each scrape reads. */
export function registerCache(registry: Registry, cache: CacheFigures | null): void {
  const row = (one: Series, read: (figures: CacheFigures) => number) => {
    mirror(registry, one, () => [{ labels: {}, value: cache === null ? 0 : read(cache) }])
  }
  row(series.cacheBytes, ({ store }) => store.bytes)
  row(series.cacheEntries, ({ store }) => store.count)
  row(series.cacheEvictions, ({ store }) => store.evictions)
  row(series.cacheStoreFailures, ({ shared }) => shared?.figures.failures ?? 0)
  row(series.cacheStoreBroken, ({ shared }) => shared?.figures.broken ?? 0)
}

/** Registers the series of the active config, which each scrape reads. */
export function registerConfig(registry: Registry, state: ConfigState): void {
  const row = (one: Series, samples: () => readonly Sample[]) =>
    mirror(registry, one, () => samples().map(([labels, value]) => ({ labels, value })))
  row(series.config, () => [[{ hash: state.sha256 }, 1]])
  row(series.configLoaded, () => [[{}, state.sinceMs / 1_000]])
  row(series.configCurrent, () => [[{}, state.refusal ? 0 : 1]])
  row(series.configReloads, () => [
    [{ result: 'applied' }, state.reloads.applied],
    [{ result: 'refused' }, state.reloads.refused],
  ])
}

/** Gauges that mirror the pools. Only scrapes read the pools, so calls pay nothing. */
export class PoolGauges {
  readonly #pools: { readonly listener: Labels; readonly snapshot: () => PoolSnapshot }[] = []
  /** Open breakers by chain and interface: the number of relays that fail calls immediately. */
  readonly #openBreakers = new Map<string, number>()
  /** Labels of the upstreams whose counters exist. */
  readonly #started = new Set<string>()

  constructor(registry: Registry) {
    const gauge = (one: Series, read: () => readonly Sample[]) => {
      mirror(registry, one, () =>
        read().flatMap(([labels, value]) => (value === null ? [] : [{ labels, value }])),
      )
    }
    gauge(series.tip, () => this.#pools.map(({ listener, snapshot }) => [listener, snapshot().tip]))
    gauge(series.breakerOpen, () =>
      this.#pools.map(({ listener, snapshot }) => {
        const isEmpty = !snapshot().upstreams.some(({ state }) => isServing(state))
        const open = this.#openBreakers.get(labelsKey(listener)) ?? 0
        return [listener, open > 0 && isEmpty ? 1 : 0]
      }),
    )
    gauge(series.onBackup, () =>
      this.#pools.map(({ listener, snapshot }) => [listener, Number(isOnBackup(snapshot()))]),
    )
    gauge(series.upstreamState, () =>
      this.#upstreams().flatMap(([labels, upstream]) =>
        upstreamStates.map((state): Sample => [
          { ...labels, state },
          upstream.state === state ? 1 : 0,
        ]),
      ),
    )
    gauge(series.urlServing, () =>
      this.#upstreams().flatMap(([labels, { urls }]) =>
        urls.map(({ position, why }): Sample => {
          return [{ ...labels, url: String(position) }, Number(why === null)]
        }),
      ),
    )
    for (const [one, value] of ofUpstream)
      gauge(one, () => this.#upstreams().map(([labels, upstream]) => [labels, value(upstream)]))
  }

  register(listener: Labels, snapshot: () => PoolSnapshot): void {
    this.#pools.push({ listener, snapshot })
  }

  /** The breaker of one relay opened or closed. */
  breakerChanged(listener: Labels, open: boolean): void {
    const key = labelsKey(listener)
    this.#openBreakers.set(key, (this.#openBreakers.get(key) ?? 0) + (open ? 1 : -1))
  }

  /** Calls `start` once for each upstream, also for those that a reload adds. */
  eachNew(start: (upstream: Labels, snapshot: UpstreamSnapshot) => void): void {
    for (const [{ tier: _, ...labels }, snapshot] of this.#upstreams()) {
      const key = labelsKey(labels)
      if (!this.#started.has(key)) start(labels, snapshot)
      this.#started.add(key)
    }
  }

  #upstreams(): readonly (readonly [Labels, UpstreamSnapshot])[] {
    return this.#pools.flatMap(({ listener, snapshot }) =>
      snapshot().upstreams.map((upstream) => {
        const { name, tier } = upstream
        return [{ ...listener, upstream: name, tier }, upstream] as const
      }),
    )
  }
}

function labelsKey(labels: Labels): string {
  return Object.values(labels).join(' ')
}

/** Registers which resources the router lacks. */
export function registerResources(registry: Registry, of?: Pick<Resources, 'shortages'>): void {
  mirror(registry, series.outOfResources, () => {
    const lacking = new Set<string>()
    for (const { resource, isStrain } of of?.shortages ?? []) if (!isStrain) lacking.add(resource)
    return resources.map((resource) => {
      return { labels: { resource }, value: Number(lacking.has(resource)) }
    })
  })
}

/** Includes the time between two samples. */
const sampleMs = 20
const loopDelay = monitorEventLoopDelay({ resolution: sampleMs })
/** Shortest period of the delays, so that two scrapers see about the same. */
const leastPeriodMs = 5_000
let earlierSamples = 0
/** Time since the start in which the event loop turned as often as it should. */
export const turnedMs = () => (earlierSamples + loopDelay.count) * sampleMs
let lastDelays = { untilMs: 0, values: [] as readonly object[] }

/** The delays since the last scrape. */
function eventLoopDelays(): readonly object[] {
  const nowMs = performance.now()
  if (nowMs < lastDelays.untilMs) return lastDelays.values
  const values = [0.5, 0.99, 1].map((quantile) => {
    const delayMs = loopDelay.percentile(quantile * 100) / 1e6 - sampleMs
    return { labels: { quantile }, value: Math.max(0, delayMs / 1_000) }
  })
  earlierSamples += loopDelay.count
  loopDelay.reset()
  lastDelays = { untilMs: nowMs + leastPeriodMs, values }
  return values
}

let collectedMs = 0
const collections = new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) collectedMs += duration
})
/** Time that garbage collection has taken. */
export const gcSeconds = () => collectedMs / 1_000

const startSeconds = Math.round(performance.timeOrigin) / 1_000

const readings: readonly (readonly [Series, () => number | null])[] = [
  [series.startTime, () => startSeconds],
  [series.cpu, () => (process.cpuUsage().user + process.cpuUsage().system) / 1_000_000],
  [series.residentMemory, () => process.memoryUsage.rss()],
  [series.heapUsed, () => process.memoryUsage().heapUsed],
  [series.externalMemory, () => process.memoryUsage().external],
  [series.openFiles, openFiles],
  [series.maxFiles, () => maxFiles],
  [series.gc, gcSeconds],
  [series.eventLoopBusy, () => performance.eventLoopUtilization().active / 1_000],
]

/**
 * Registers the series of the process, its build and its budget, which each scrape reads.
 * prom-client's default set costs an idle router a 10 ms timer for the event loop.
 */
export function registerProcess(registry: Registry, version: string, budget?: ByteBudget): void {
  const labels = { version, runtime: process.version }
  mirror(registry, series.build, () => [{ labels, value: 1 }])
  const ofBudget: typeof readings =
    budget === undefined
      ? []
      : [
          [series.heldBytes, () => budget.heldBytes],
          [series.maxHeldBytes, () => budget.maxBytes],
          [series.cutOffs, () => budget.cutOffs],
        ]
  for (const [one, read] of [...readings, ...ofBudget])
    mirror(registry, one, () => {
      const value = readAt(read)
      return value === null ? [] : [{ labels: {}, value }]
    })
  loopDelay.enable()
  collections.observe({ entryTypes: ['gc'] })
  mirror(registry, series.eventLoopDelay, eventLoopDelays)
}
