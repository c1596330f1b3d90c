// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ByteBudget } from '../bytes/byte-budget.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { RelayError, errorKinds, overloaded } from '../relay/errors.ts'
import { aCall, aFailure, anAttempt } from './call.fixture.ts'
import { ConfigState } from './config-state.ts'
import { Health } from './health.ts'
import { readMetricsPage } from './metrics-page.fixture.ts'
import { createMetrics } from './metrics.ts'

type Observed = ReturnType<typeof fixture>['observed']

function fixture() {
  const clock = new VirtualClock()
  const config = new ConfigState(clock, 'ab12')
  const began: string[] = []
  const health = new Health(clock, config, ({ resource }) => began.push(resource))
  const { resources } = health
  const metrics = createMetrics({ version: '1', budget: new ByteBudget(1), config, resources })
  return {
    ...{ clock, health, began },
    observed: {
      ...resources.relayObserver(),
      ...resources.poolObserver(),
      ...resources.listenerObserver(),
    },
    /** The lines of `/readyz?verbose` about the router, and the series that are 1. */
    async shown() {
      const { samples } = readMetricsPage((await metrics.page()).text)
      const gauges = [...samples].filter(([, value]) => value === 1)
      return {
        lines: health.readiness(true).body.split('\n').slice(1, -2),
        used: gauges.flatMap(
          ([id]) => /^router_out_of_resources.resource="(.*)"/.exec(id)?.[1] ?? [],
        ),
      }
    },
  }
}

const exhausted = { ...aFailure('router-exhausted'), origin: 'router', weight: 0 } as const
function fail(observed: Observed, detail: string): void {
  const call = aCall()
  observed.attemptEnded?.(call, anAttempt(call, 'node-a', exhausted, { detail }))
}
const refuse = (observed: Observed, error: RelayError) =>
  observed.requestRefused?.(error, 'g', null)
const end = (observed: Observed, error: RelayError) =>
  observed.callEnded?.(aCall(), { kind: 'error', error }, 1)

const why = {
  files: 'no files left (EMFILE): raise the limit of open files',
  ports: 'no ports left (EADDRNOTAVAIL): the machine has no local port left',
  'kernel-memory': 'no kernel memory left (ENOBUFS): the kernel has no memory left',
  'buffered-bytes':
    'no memory for buffered requests and answers left: raise `--max-buffered-bytes`',
}

test.each<[string, (observed: Observed) => unknown, (keyof typeof why)?]>([
  ['an attempt without a file', (to) => fail(to, 'EMFILE'), 'files'],
  ['an attempt without a port', (to) => fail(to, 'EADDRNOTAVAIL'), 'ports'],
  ['an attempt without a buffer', (to) => fail(to, 'ENOBUFS'), 'kernel-memory'],
  ['a connection without a file', (to) => to.acceptFailed?.('EMFILE'), 'files'],
  ['a probe without a file', (to) => to.exhausted?.('EMFILE'), 'files'],
  ['a request beyond the budget', (to) => refuse(to, overloaded()), 'buffered-bytes'],
  ['a call beyond the budget', (to) => end(to, overloaded()), 'buffered-bytes'],
  ['a broken request', (to) => refuse(to, new RelayError(errorKinds.parse, 'no'))],
  ['a call that timed out', (to) => end(to, new RelayError(errorKinds.timeout, 'no'))],
])('%s shows which resource the router lacks', async (_, happens, resource) => {
  const { clock, observed, shown } = fixture()
  await clock.advance(5_000)
  const since = new Date(clock.wallMs()).toISOString()
  happens(observed)
  const { lines, used } = await shown()
  expect(used).toEqual(resource ? [resource] : [])
  expect(lines).toHaveLength(used.length)
  if (resource === undefined) return
  expect(lines[0]).toContain(`the router has ${why[resource]}`)
  expect(lines[0]).toMatch(`; since ${since}`)
})

test('a shortage is reported for a minute after its last request, since its first', async () => {
  const { clock, health, observed, shown, began } = fixture()
  const sinceMs = () => health.resources.shortages.map(({ since }) => Date.parse(since))
  const startMs = clock.wallMs()
  fail(observed, 'EMFILE')
  await clock.advance(59_000)
  fail(observed, 'ENFILE')
  await clock.advance(59_000)
  expect(sinceMs()).toEqual([startMs])
  expect(health.readiness(true).body).toContain('no files left (ENFILE)')
  await clock.advance(1_000)
  expect(await shown()).toEqual({ lines: [], used: [] })
  fail(observed, 'EMFILE')
  expect(sinceMs()).toEqual([startMs + 119_000])
  // One line of the log for each shortage.
  expect(began).toEqual(['files', 'files'])
})

test('a strain is reported like a shortage, and is none in the metrics', async () => {
  const { health, shown } = fixture()
  health.resources.strained('files', '950 of 1000 are open')
  health.resources.strained('cpu', 'timers 320 ms late')
  const { lines, used } = await shown()
  expect(used).toEqual([])
  expect(lines.map((line) => line.split(';')[0])).toEqual([
    'the router has few open files left (950 of 1000 are open): raise the limit of open files, or lower the number of connections',
    'the router has little CPU left (timers 320 ms late): give it more CPU, or add replicas',
  ])
})
