// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { ByteBudget } from '../bytes/byte-budget.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import type { FailureClass } from '../chain/failure-table.ts'
import type { CallEnd } from '../listener/listener.ts'
import { Journal } from '../relay/call.ts'
import { errorKinds, RelayError } from '../relay/errors.ts'
import { aCall, aFailure, anAttempt, repliedBy } from './call.fixture.ts'
import { CallTroubles } from './call-trouble.ts'
import { ConfigState } from './config-state.ts'
import { createMetrics } from './metrics.ts'
import { RecentCounts } from './recent-counts.ts'

const poolFull: FailureClass = { ...aFailure('pool-full'), origin: 'node', weight: 0 }
const refusals: Readonly<Record<string, FailureClass>> = {
  f: poolFull,
  // Every node fails with it, so the outcome is `upstream-error`.
  b: aFailure('internal-error'),
  r: { ...poolFull, name: 'execution-reverted', retry: false },
  c: { ...poolFull, name: 'malformed-argument', origin: 'caller' },
  t: { ...poolFull, name: 'underpriced', transaction: 'refused' },
  l: { ...poolFull, name: 'result-limit', range: { limits: 'results', blocks: null } },
}

/** `.` succeeds, `d` is denied, keys of `refusals` fail, and a blank is a pause. */
async function after(calls: string, { method = 'eth_call', known = true, everyMs = 3_000 } = {}) {
  const clock = new VirtualClock()
  const config = new ConfigState(clock, 'ab12')
  const metrics = createMetrics({ version: '1', budget: new ByteBudget(1e9), config })
  const log: string[] = []
  const changed = (of: { method: string }, why: string | null) =>
    void log.push(`${of.method} ${why === null ? 'works' : 'fails'} at ${clock.nowMs() / 1_000}`)
  const troubles = new CallTroubles(clock, metrics, changed)
  const counts = new RecentCounts(metrics, clock, (grown) => troubles.sampled(grown))
  counts.start()
  const { callEnded } = metrics.listenerObserver('ETH1', 'jsonrpc')
  const startMs = clock.wallMs()
  for (const each of calls) {
    const call = { ...aCall({ method, known }), journal: new Journal(clock.nowMs()) }
    const refusal = refusals[each] ?? null
    if (each !== 'd' && each !== ' ') {
      const attempt = anAttempt(call, 'node-a', refusal && each !== 'b' ? 'node-error' : refusal)
      if (refusal) Object.assign(attempt, { code: -32_000, detail: 'txpool is full' })
      else attempt.result = 'answer'
    }
    const denied: CallEnd = {
      kind: 'error',
      error: new RelayError(errorKinds.methodDenied, 'eth_getLogs is denied'),
    }
    if (each !== ' ') callEnded(call, each === 'd' ? denied : repliedBy('node-a', refusal), 0)
    await clock.advance(everyMs)
  }
  counts.stop()
  const second = (iso: string) => (Date.parse(iso) - startMs) / 1_000
  const refused = Object.entries(troubles.refused).map(([key, { since, last }]) => {
    return `${key} ${second(since)} ${last}`
  })
  const found = troubles.methods.map((each) => ({ ...each, since: second(each.since) }))
  return { found, log, refused: refused.toSorted() }
}

const well = '.'.repeat(40)
describe('a method of which the calls', () => {
  test.each<[string, string, before: object | null | undefined, log: string[]]>([
    ['succeed', well, undefined, []],
    ['fail since 120 s', `${well}${'f'.repeat(20)}`, { failed: 0, calls: 40 }, ['fails at 150']],
    ['all fail at upstreams', `${well}${'b'.repeat(20)}`, { failed: 0 }, ['fails at 150']],
    ['always failed', 'f'.repeat(30), null, ['fails at 30']],
    ['mostly failed before', `${'fff.'.repeat(20)}${'f'.repeat(40)}`, undefined, []],
    ['fail in one of five', `${well}${'f....'.repeat(9)}`, undefined, []],
    ['revert', `${well}${'r'.repeat(40)}`, undefined, []],
    ['are malformed', 'c'.repeat(40), undefined, []],
    ['send transactions that are rejected', 't'.repeat(40), undefined, []],
    ['read too long ranges', 'l'.repeat(40), undefined, []],
    ['fail and succeed again', `${well}${'f'.repeat(20)}${well}`, undefined, ['fails', 'works']],
    ['fail, and succeed once', `${well}${'f'.repeat(30)}.${'f'.repeat(9)}`, {}, ['fails at 150']],
    [
      'fail until nobody calls',
      `${well}${'f'.repeat(20)}${' '.repeat(120)}`,
      undefined,
      ['fails at 150', 'works at 480'],
    ],
  ])('%s', async (_case, calls, before, expected) => {
    const { found, log } = await after(calls)
    expect(log).toHaveLength(expected.length)
    for (const [at, each] of expected.entries()) expect(log[at]).toContain(`eth_call ${each}`)
    const [trouble] = found
    if (before === undefined || before === null) expect(trouble?.before).toBe(before)
    else expect(trouble?.before).toMatchObject(before)
  })

  test('are rare fails, too', async () => {
    const { found } = await after(`${'.'.repeat(10)}${'f'.repeat(11)}`, { everyMs: 25_000 })
    expect(found).toMatchObject([{ since: 250, why: 'code -32000: txpool is full' }])
  })

  test('are unknown to the spec is no trouble', async () => {
    expect((await after('f'.repeat(40), { known: false })).found).toEqual([])
  })
})

test('refusals have a start and a last error, until a minute without any', async () => {
  const refused = ['ETH1 jsonrpc method-denied 130 eth_getLogs is denied']
  expect((await after(`${well} ${'d'.repeat(30)}`)).refused).toEqual(refused)
  expect((await after(`d${well}`)).refused).toEqual([])
})
