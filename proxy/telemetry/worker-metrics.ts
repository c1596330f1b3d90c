// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { AggregatorRegistry, Registry } from 'prom-client'
import { mirror } from './call-counters.ts'
import type { ConfigState } from './config-state.ts'
import { registerConfig, registerProcess } from './gauges.ts'
import { type MetricsPage, metricsPage } from './metrics-page.ts'
import { series } from './series.ts'

type Families = readonly { readonly type: unknown }[]

interface Workers {
  readonly version: string
  readonly config: ConfigState
  /** Number of workers that serve. */
  readonly serving: () => number
  readonly restarts: () => number
}

/** The metrics of a router with several workers: those of each, aggregated as its series says. */
export function createWorkerMetrics({ version, config, serving, restarts }: Workers) {
  const own = new Registry()
  registerProcess(own, version)
  registerConfig(own, config)
  mirror(own, series.workers, () => [{ labels: {}, value: serving() }])
  mirror(own, series.workerRestarts, () => [{ labels: {}, value: restarts() }])
  let last = new Map<object, Families>()
  /** Counters of workers that ended: a sum that falls would look like a restart of the router. */
  let ended: Families = []
  const sumOf = (all: readonly Families[]) => AggregatorRegistry.aggregate([...all] as object[])
  return {
    /** @param all the metrics of each worker as JSON; null if it does not answer */
    async page(all: ReadonlyMap<object, object | null>, accept?: string): Promise<MetricsPage> {
      for (const [worker, families] of last)
        if (!all.has(worker)) {
          const counters = families.filter(({ type }) => type !== 'gauge')
          ended = await sumOf([ended, counters]).getMetricsAsJSON()
        }
      const now = [...all].map(([worker, families]) => {
        return [worker, (families as Families | null) ?? last.get(worker) ?? []] as const
      })
      last = new Map(now)
      // The first registry is that of the supervisor, whose config is the one for all.
      const registries = [await own.getMetricsAsJSON(), ...last.values(), ended]
      const sum = sumOf(registries)
      return metricsPage(sum as Registry, accept)
    },
  }
}
