// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Counter, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'
import { series } from './series.ts'
import type { Series } from './series.ts'

/**
 * Registers what is told of the process and its build. All of it is read when somebody scrapes:
 * prom-client's own default set keeps a 10 ms timer for the event loop, which an idle router pays.
 */
export function registerProcess(registry: Registry, version: string): void {
  const registers = [registry]
  const gauge = (one: Series, read: () => number): void => {
    new Gauge({
      name: one.name,
      help: one.help,
      registers,
      collect() {
        this.set(read())
      },
    })
  }
  const counter = (one: Series, read: () => number): void => {
    new Counter({
      name: one.name,
      help: one.help,
      registers,
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  }
  new Gauge({
    name: series.build.name,
    help: series.build.help,
    labelNames: series.build.labels,
    registers,
  }).set({ version, runtime: process.version }, 1)
  const startSeconds = Math.round(performance.timeOrigin) / 1_000
  gauge(series.startTime, () => startSeconds)
  counter(series.cpu, () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000_000
  })
  gauge(series.residentMemory, () => process.memoryUsage.rss())
  gauge(series.heapUsed, () => process.memoryUsage().heapUsed)
  gauge(series.externalMemory, () => process.memoryUsage().external)
  counter(series.eventLoopBusy, () => performance.eventLoopUtilization().active / 1_000)
}
