// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Counter, Registry } from 'prom-client'
import { type CacheFigures, registerCache, registerProcess } from './gauges.ts'
import { series } from './series.ts'

/** The metrics of `router cache`: of its process, of what it keeps, and of its calls. */
export function createCacheMetrics(version: string, store: CacheFigures['store']) {
  const registry = new Registry()
  registerProcess(registry, version)
  registerCache(registry, { store, shared: null })
  const { name, help, labels } = series.cacheServerCalls
  const calls = new Counter({ name, help, labelNames: labels, registers: [registry] })
  return {
    contentType: registry.contentType,
    scrape: () => registry.metrics(),
    count: (call: string, verdict: string) => {
      calls.inc({ call, verdict })
    },
  }
}
