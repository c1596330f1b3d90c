// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Counter, Gauge, Registry } from 'prom-client'
import type { ApiInterface } from '../config/types.ts'
import type { ListenerObserver } from '../listener/observer.ts'
import type { RelayObserver } from '../relay/observer.ts'
import type { PoolSnapshot } from '../upstream/snapshot.ts'
import { counterCells, histogramCells } from './cells.ts'
import type { CounterCell, HistogramCell, Labels } from './cells.ts'
import type { Observers } from './observers.ts'
import { outcomeOf, resultOf } from './outcome.ts'
import { PoolGauges } from './pool-gauges.ts'
import { registerProcess } from './process-series.ts'
import { series } from './series.ts'
import { countSubscriptions } from './subscription-metrics.ts'
import type { Series } from './series.ts'

/** Counts what the router does, and tells it in the text format of Prometheus. */
export interface Metrics extends Observers {
  /** The pool's gauges are read from `snapshot` whenever somebody scrapes. Once for each listener. */
  registerPool(chainId: string, apiInterface: ApiInterface, snapshot: () => PoolSnapshot): void
  /** The whole page. */
  scrape(): Promise<string>
  /** The content type of the page. */
  readonly contentType: string
}

interface MetricsOptions {
  /** The running build. */
  readonly version: string
}

/** Makes an independent set of series; nothing is shared with another set in the process. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry()
  registerProcess(registry, options.version)
  const calls = callFamilies(registry)
  const attempts = {
    total: counterCells(registry, series.attempts),
    duration: histogramCells(registry, series.attemptDuration),
  }
  const violations = counter(registry, series.integrityViolations)
  const doubts = counter(registry, series.integrityDoubts)
  const missingBlocks = counter(registry, series.missingBlockAnswers)
  const refused = counter(registry, series.refused)
  const connections = gauge(registry, series.connections)
  const sockets = gauge(registry, series.sockets)
  const breakerTrips = counter(registry, series.breakerTrips)
  const pools = new PoolGauges(registry)
  const stateChanges = counter(registry, series.stateChanges)
  const holdOffs = counter(registry, series.holdOffs)
  const verificationFailures = counter(registry, series.verificationFailures)
  const subscriptionObserver = countSubscriptions(registry)

  return {
    subscriptionObserver,
    contentType: registry.contentType,
    scrape: () => registry.metrics(),
    registerPool(chainId, apiInterface, snapshot) {
      pools.register({ chain: chainId, interface: apiInterface }, snapshot)
    },
    relayObserver(chain, apiInterface) {
      const listener = { chain, interface: apiInterface }
      breakerTrips.inc(listener, 0)
      const countAttempt = countAttempts(attempts, listener)
      return {
        attemptEnded(call, attempt) {
          countAttempt(call, attempt)
          const { upstream, violation, missedBlock } = attempt
          if (violation?.certain === true)
            violations.inc({ ...listener, upstream, check: violation.check })
          if (violation?.certain === false) doubts.inc({ ...listener, upstream })
          if (missedBlock) missingBlocks.inc({ ...listener, upstream })
        },
        breakerChanged(open) {
          pools.breakerChanged(listener, open)
          if (open) breakerTrips.inc(listener)
        },
      }
    },
    poolObserver(chain, apiInterface) {
      const listener = { chain, interface: apiInterface }
      return {
        stateChanged(upstream, _from, to) {
          stateChanges.inc({ ...listener, upstream, to })
        },
        heldOff(upstream) {
          holdOffs.inc({ ...listener, upstream })
        },
        verificationFailed(upstream, _url, verification) {
          verificationFailures.inc({ ...listener, upstream, verification })
        },
      }
    },
    listenerObserver(chain, apiInterface) {
      const listener = { chain, interface: apiInterface }
      let connected = 0
      let upgraded = 0
      connections.inc(listener, 0)
      sockets.inc(listener, 0)
      return {
        callEnded: countCalls(calls, listener),
        requestRefused(error) {
          refused.inc({ ...listener, reason: error.kind.reason })
        },
        connectionsChanged(open) {
          connections.inc(listener, open - connected)
          connected = open
        },
        socketsChanged(open) {
          sockets.inc(listener, open - upgraded)
          upgraded = open
        },
      }
    },
  }
}

function counter(registry: Registry, { name, help, labels }: Series): Counter {
  return new Counter({ name, help, labelNames: labels, registers: [registry] })
}

function gauge(registry: Registry, { name, help, labels }: Series): Gauge {
  return new Gauge({ name, help, labelNames: labels, registers: [registry] })
}

function callFamilies(registry: Registry) {
  return {
    total: counterCells(registry, series.requests),
    duration: histogramCells(registry, series.requestDuration),
    retries: counterCells(registry, series.retries),
  }
}

interface MethodCells {
  readonly outcomes: Map<string, CounterCell>
  readonly duration: HistogramCell
  readonly retries: CounterCell
}

function countCalls(
  families: ReturnType<typeof callFamilies>,
  listener: Labels,
): ListenerObserver['callEnded'] {
  const methods = new Map<string, MethodCells>()
  const addMethod = (method: string): MethodCells => {
    const labels = { ...listener, method }
    const cells = {
      outcomes: new Map<string, CounterCell>(),
      duration: families.duration(labels),
      retries: families.retries(labels),
    }
    methods.set(method, cells)
    return cells
  }
  const addOutcome = (cells: MethodCells, method: string, outcome: string): CounterCell => {
    const cell = families.total({ ...listener, method, outcome })
    cells.outcomes.set(outcome, cell)
    return cell
  }
  return (call, end, durationMs) => {
    const method = call.asked.known ? call.asked.method : 'other'
    const cells = methods.get(method) ?? addMethod(method)
    const outcome = outcomeOf(call, end)
    const total = cells.outcomes.get(outcome) ?? addOutcome(cells, method, outcome)
    total.count += 1
    if (end.kind !== 'abandoned') cells.duration.observe(durationMs / 1_000)
    if (call.journal.attempts.length > 1) cells.retries.count += call.journal.retries
  }
}

interface AttemptFamilies {
  readonly total: (labels: Labels) => CounterCell
  readonly duration: (labels: Labels) => HistogramCell
}

interface UpstreamCells {
  /** By the attempt's kind, then by its result. */
  readonly kinds: Map<string, Map<string, CounterCell>>
  readonly duration: HistogramCell
}

function countAttempts(families: AttemptFamilies, listener: Labels): RelayObserver['attemptEnded'] {
  const upstreams = new Map<string, UpstreamCells>()
  const addUpstream = (upstream: string): UpstreamCells => {
    const duration = families.duration({ ...listener, upstream })
    const cells = { kinds: new Map<string, Map<string, CounterCell>>(), duration }
    upstreams.set(upstream, cells)
    return cells
  }
  const addResult = (cells: UpstreamCells, labels: Labels & ResultLabels): CounterCell => {
    const results = cells.kinds.get(labels.kind) ?? new Map<string, CounterCell>()
    cells.kinds.set(labels.kind, results)
    const cell = families.total(labels)
    results.set(labels.result, cell)
    return cell
  }
  return (_call, attempt) => {
    const { upstream, kind, startedMs, endedMs } = attempt
    const cells = upstreams.get(upstream) ?? addUpstream(upstream)
    const result = resultOf(attempt)
    const total =
      cells.kinds.get(kind)?.get(result) ??
      addResult(cells, { ...listener, upstream, kind, result })
    total.count += 1
    if (result !== 'aborted' && endedMs !== null)
      cells.duration.observe((endedMs - startedMs) / 1_000)
  }
}

interface ResultLabels {
  readonly kind: string
  readonly result: string
}
