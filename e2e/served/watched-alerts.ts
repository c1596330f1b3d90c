// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { ByteBudget } from '../../proxy/bytes/byte-budget.ts'
import { patientClock } from '../../proxy/clock/testing/patient-clock.ts'
import { ConfigState } from '../../proxy/telemetry/config-state.ts'
import { createMetrics, type Sample } from '../../proxy/telemetry/metrics.ts'
import { Resources } from '../../proxy/telemetry/resources.ts'
import { series, type Series } from '../../proxy/telemetry/series.ts'
import type { Pool } from '../../proxy/upstream/pool.ts'

const rules = new URL('../../charts/rpc-router/files/prometheus-rules.yaml', import.meta.url)
const [, spared = ''] = /outcome!~"(.*?)"/.exec(readFileSync(rules, 'utf8')) ?? []

type Test = (labels: Sample['labels'], value: number) => boolean

/** What raises an alert or blames an upstream, by series: samples that are not 0. */
const bad: readonly (readonly [Series, Test])[] = [
  [series.requests, ({ outcome }) => !spared.split('|').includes(String(outcome))],
  [
    series.attempts,
    ({ result }) => !['answer', 'node-error', 'overtaken', 'aborted'].includes(`${result}`),
  ],
  [series.upstreamState, ({ state }) => state !== 'eligible'],
  [series.stateChanges, ({ to }) => to !== 'eligible'],
  ...[series.urlsInCooldown, series.cooldowns, series.breakerOpen, series.breakerTrips].map(always),
  ...[series.integrityViolations, series.finalizedMismatches].map(always),
  ...[series.missingBlockAnswers, series.outOfResources].map(always),
]

function always(one: Series): readonly [Series, Test] {
  return [one, () => true]
}

/** Observes a router in front of one chain and interface, as its alerts and consoles do. */
export function watchAlerts() {
  const config = new ConfigState(patientClock, 'ab12')
  const resources = new Resources(patientClock)
  const metrics = createMetrics({ version: '1', budget: new ByteBudget(1), config, resources })
  const samplesOf = async (one: Series, test: Test) => {
    const samples = (await metrics.samples(one)).filter((each) => test(each.labels, each.value))
    return samples.filter(({ value }) => value > 0).map((sample) => ({ name: one.name, ...sample }))
  }
  return {
    observers: [metrics, resources],
    /** All that would raise an alert, or blame an upstream of the pool. */
    async findings(pool: Pool) {
      metrics.registerPool('the chain', 'jsonrpc', () => pool.snapshot())
      const found = await Promise.all(bad.map((each) => samplesOf(...each)))
      const worse = pool.upstreams.flatMap(({ name, urls, score, availability }) => [
        ...urls.filter(({ failures }) => failures > 0).map(() => `${name}: failures`),
        ...(availability.isOnTrial ? [`${name}: on trial`] : []),
        ...(score.availability(patientClock.nowMs()) < 1 ? [`${name}: score`] : []),
      ])
      return [...found.flat(), ...worse]
    },
    /** Sum of a counter by the values of one label. */
    async counts(one: Series, label: string) {
      const sums: Record<string, number> = {}
      for (const { labels, value } of await metrics.samples(one))
        if (value > 0) sums[String(labels[label])] = (sums[String(labels[label])] ?? 0) + value
      return sums
    },
  }
}
