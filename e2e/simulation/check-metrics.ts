// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Metrics } from '../../proxy/telemetry/metrics.ts'
import type { Arena } from './arena.ts'
import { isRepeatedRefusal } from './check-ending.ts'

/** The series of the real metrics tell what happened, no more and no less. */
export async function checkMetrics(arena: Arena, metrics: Metrics): Promise<void> {
  const samples = parse(await metrics.scrape())
  const calls = [...arena.calls.values()]
  const attempts = calls.flatMap(({ call }) => call.journal.attempts)
  const expected: readonly (readonly [string, RegExp, number])[] = [
    ['router_requests_total', /./, calls.length],
    [
      'router_requests_total',
      /outcome="abandoned"/,
      calls.filter(({ outcome }) => outcome?.kind === 'abandoned').length,
    ],
    ['router_requests_total', /outcome="held-off"/, calls.filter(isRepeatedRefusal).length],
    ['router_attempts_total', /./, attempts.length],
    [
      'router_attempts_total',
      /kind="hedge"/,
      attempts.filter(({ kind }) => kind === 'hedge').length,
    ],
    ['router_attempts_total', /result="running"/, 0],
    ['router_upstream_sessions', /./, 0],
  ]
  for (const [name, labels, count] of expected) {
    const told = samples
      .filter((sample) => sample.name === name && labels.test(sample.labels))
      .reduce((sum, sample) => sum + sample.value, 0)
    if (told !== count)
      arena.report(
        'metrics-add-up',
        `${name} with ${labels.source} says ${told}, there were ${count}`,
      )
  }
}

function parse(page: string) {
  return [...page.matchAll(/^(\w+)\{(.*)\} (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels,
    value: Number(value),
  }))
}
