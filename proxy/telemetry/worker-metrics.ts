// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { AggregatorRegistry, Registry } from 'prom-client'
import { mirror } from './call-counters.ts'
import type { ConfigState } from './config-state.ts'
import { registerConfig, registerProcess } from './gauges.ts'
import { type MetricsPage, metricsPage } from './metrics-page.ts'
import { series } from './series.ts'

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
  return {
    /** @param all the metrics of each worker as JSON */
    async page(all: readonly object[], accept?: string): Promise<MetricsPage> {
      // The first registry is that of the supervisor, whose config is the one for all.
      const registries = [await own.getMetricsAsJSON(), ...all]
      const sum = AggregatorRegistry.aggregate(registries)
      return metricsPage(sum as Registry, accept)
    },
  }
}
