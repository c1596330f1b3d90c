// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Metrics } from '../../proxy/telemetry/metrics.ts'
import type { Arena } from './arena.ts'
import { isRepeatedRefusal } from './check-ending.ts'

const attemptKinds = ['first', 'retry', 'failover', 'hedge', 'broadcast', 'confirm'] as const
/** Series that are never below 0 or above 1. */
const shares = /^router_(upstream_score|upstream_state|breaker_open)$/

/** The series of the real metrics tell what happened, no more and no less. */
export async function checkMetrics(arena: Arena, metrics: Metrics): Promise<void> {
  const samples = parse(await metrics.scrape())
  const calls = [...arena.calls.values()]
  const attempts = calls.flatMap(({ call }) => call.journal.attempts)
  const { told, seats, clock, pool } = arena
  const violations = attempts.flatMap(({ violation }) => violation ?? [])
  const expected: readonly (readonly [string, RegExp, number])[] = [
    ['router_requests_total', /./, calls.length],
    [
      'router_requests_total',
      /outcome="abandoned"/,
      calls.filter(({ outcome }) => outcome?.kind === 'abandoned').length,
    ],
    ['router_requests_total', /outcome="held-off"/, calls.filter(isRepeatedRefusal).length],
    ['router_attempts_total', /./, attempts.length],
    ...attemptKinds.map(
      (one) =>
        [
          'router_attempts_total',
          new RegExp(`kind="${one}"`),
          attempts.filter(({ kind }) => kind === one).length,
        ] as const,
    ),
    ['router_retries_total', /./, attempts.filter(({ kind }) => kind === 'retry').length],
    ['router_integrity_violations_total', /./, violations.length],
    [
      'router_missing_block_answers_total',
      /./,
      attempts.filter(({ missedBlock }) => missedBlock).length,
    ],
    ['router_upstream_hold_offs_total', /./, told.holdOffs],
    [
      'router_upstream_urls_held_off',
      /./,
      [...seats.values()].filter(({ heldOffUntilMs }) => heldOffUntilMs > clock.nowMs()).length,
    ],
    ['router_upstream_state_changes_total', /./, told.stateChanges],
    ['router_upstream_state', /./, pool.upstreams.length],
    ['router_upstream_verification_failures_total', /./, told.failedVerifications],
    ['router_breaker_trips_total', /./, told.breakerTrips],
    ['router_attempts_total', /result="running"/, 0],
    ['router_upstream_sessions', /./, 0],
  ]
  for (const [name, labels, count] of expected) {
    const sum = samples
      .filter((sample) => sample.name === name && labels.test(sample.labels))
      .reduce((sum, sample) => sum + sample.value, 0)
    if (sum !== count)
      arena.report(
        'metrics-add-up',
        `${name} with ${labels.source} says ${sum}, there were ${count}`,
      )
  }
  for (const { name, labels, value } of samples)
    if (shares.test(name) && !(value >= 0 && value <= 1))
      arena.report('metrics-add-up', `${name} of ${labels} is ${value}`)
}

function parse(page: string) {
  return [...page.matchAll(/^(\w+)\{(.*)\} (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels,
    value: Number(value),
  }))
}
