// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Gauge } from 'prom-client'
import type { Metric, Registry } from 'prom-client'
import { series } from './series.ts'
import type { Series } from './series.ts'

const startSeconds = Math.round(performance.timeOrigin) / 1_000

const readings: readonly (readonly [Series, () => number])[] = [
  [series.startTime, () => startSeconds],
  [series.cpu, () => (process.cpuUsage().user + process.cpuUsage().system) / 1_000_000],
  [series.residentMemory, () => process.memoryUsage.rss()],
  [series.heapUsed, () => process.memoryUsage().heapUsed],
  [series.externalMemory, () => process.memoryUsage().external],
  [series.eventLoopBusy, () => performance.eventLoopUtilization().active / 1_000],
]

/**
 * Registers the series of the process and its build. All of it is read at each scrape:
 * prom-client's own default set keeps a 10 ms timer for the event loop, which an idle router pays.
 */
export function registerProcess(registry: Registry, version: string): void {
  const { name, help, labels: labelNames } = series.build
  const build = new Gauge({ name, help, labelNames, registers: [registry] })
  build.set({ version, runtime: process.version }, 1)
  for (const [{ name: reading, help: meaning, type }, read] of readings) {
    const get = async () => ({
      ...{ name: reading, help: meaning, type },
      values: [{ value: read(), labels: {} }],
    })
    registry.registerMetric({ name: reading, get } as unknown as Metric)
  }
}
