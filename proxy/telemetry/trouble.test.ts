// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { ByteBudget } from '../bytes/byte-budget.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { aCall, aFailure, anAttempt, anUpstream, aPool } from './call.fixture.ts'
import { ConfigState } from './config-state.ts'
import { createEventLog } from './event-log.ts'
import { createLogger } from './log.ts'
import { createMetrics } from './metrics.ts'
import { RecentCounts } from './recent-counts.ts'
import { Troubles, troublesOf } from './trouble.ts'

describe('an upstream works only in part if this many of its attempts', () => {
  test.each<['failed' | 'overtaken', bad: number, all: number, isTrouble: boolean]>([
    ['failed', 1, 1, false],
    ['failed', 2, 2, false],
    ['failed', 3, 3, true],
    ['failed', 3, 20, true],
    ['failed', 3, 21, false],
    ['failed', 52, 1_000, true],
    ['failed', 51, 1_000, false],
    ['overtaken', 2, 2, false],
    ['overtaken', 3, 20, true],
    ['overtaken', 3, 21, false],
  ])('%s: %i of %i: %s', (kind, bad, all, isTrouble) => {
    const result = { failed: 'attempt-timeout', overtaken: 'overtaken' }[kind]
    const counts = { 'first answer': all - bad, [`first ${result}`]: bad }
    expect(troublesOf(counts, {})[kind] !== null).toBe(isTrouble)
  })
})

describe('requests to a URL, probes included', () => {
  const answered = { 'first answer': 10 }
  test.each<[string, Record<string, number>, string | null]>([
    [
      'hung and failed',
      { '1 answered': 6, '1 failed': 2, '1 overtaken': 2 },
      'failed or hung in 4 of 10 requests',
    ],
    ['failed', { '1 answered': 6, '1 failed': 3 }, 'failed 3 of 9 requests'],
    ['two failed', { '1 answered': 6, '1 failed': 2 }, null],
    ['the only failures', { '1 answered': 0, '1 failed': 9 }, null],
    [
      'one of two',
      { '1 answered': 9, '2 answered': 6, '2 failed': 3 },
      'URL 2 of 2 failed 3 of 9 requests',
    ],
  ])('%s', (_case, urls, expected) => {
    const { failed, overtaken } = troublesOf(answered, urls)
    expect(failed ?? overtaken).toBe(expected)
  })
})

/** Attempts every 3 seconds: `.` and `s` are answered by URL 1 and 2, `x` hangs, `f` fails. */
async function linesOf(attempts: string, state = 'eligible'): Promise<readonly string[]> {
  const clock = new VirtualClock()
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const redact = (text: string) => text
  const logger = createLogger({ level: 'info', format: 'json', redact, destination })
  const config = new ConfigState(clock, 'ab12')
  const metrics = createMetrics({ version: '1', budget: new ByteBudget(1e9), config })
  const url = (position: number) => ({ position, url: '', why: null, since: null })
  const urls = [url(1), url(2)]
  const pool = aPool([anUpstream('node-a', state as 'eligible', { urls })])
  metrics.registerPool('ETH1', 'jsonrpc', () => pool)
  const troubles = new Troubles(clock, createEventLog({ logger, clock }).troubleChanged)
  const seen = [{ name: 'ETH1 jsonrpc', chain: 'ETH1', interface: 'jsonrpc', pool }]
  const counts = new RecentCounts(metrics, clock, ({ recent }) => troubles.sampled(recent, seen))
  counts.start()
  const { attemptEnded } = metrics.relayObserver('ETH1', 'jsonrpc')
  for (const each of attempts) {
    const call = aCall()
    const result = { x: 'overtaken', f: aFailure('http-server-error') }[each] ?? 'answer'
    const attempt = anAttempt(call, 'node-a', result as 'answer')
    attemptEnded(call, Object.assign(attempt, { position: /[fs]/.test(each) ? 2 : 1 }))
    await clock.advance(3_000)
  }
  counts.stop()
  return lines.map((line) => {
    const { msg, why } = JSON.parse(line) as Record<string, string>
    return [msg, why].filter(Boolean).join(' | ')
  })
}

describe('the log of an upstream', () => {
  const well = '.'.repeat(40)
  const began = 'upstream works only in part'
  test.each<[string, string, (string | RegExp)[]]>([
    ['that is well', well, []],
    ['with two unlucky calls', `${well}xx${well}ff${well}`, []],
    [
      'that hangs in half of its calls and recovers',
      `${well}${'x.'.repeat(10)}${well}${well}`,
      [
        `${began} | hangs: another upstream overtook 20% of its first attempts; URL 1 of 2 hung in 4 of 20 requests`,
        'upstream works again',
      ],
    ],
    [
      'that fails by its second URL',
      `${well}s${'.f'.repeat(8)}`,
      [new RegExp(`^${began} \\| .*URL 2 of 2 failed \\d of \\d requests$`)],
    ],
  ])('%s', async (_case, attempts, expected) => {
    const lines = await linesOf(attempts)
    expect(lines).toHaveLength(expected.length)
    for (const [at, each] of expected.entries()) expect(lines[at]).toMatch(each)
  })

  test('that is out of service has other lines', async () => {
    expect(await linesOf('f'.repeat(20), 'disabled')).toEqual([])
  })
})

test('an upstream that others overtake because it is slow is slow in the log, too', () => {
  const clock = new VirtualClock()
  const found: (string | null)[] = []
  const troubles = new Troubles(clock, (_, why) => found.push(why))
  const upstreams = [
    anUpstream('node-a', 'eligible', { latencyMs: 2_550 }),
    anUpstream('node-b', 'eligible', { latencyMs: 50 }),
  ]
  const pool = { name: 'ETH1 jsonrpc', chain: 'ETH1', interface: 'jsonrpc', pool: { upstreams } }
  const recent = { 'ETH1 jsonrpc node-a attempts': { 'first answer': 2, 'first overtaken': 18 } }
  troubles.sampled(recent, [pool])
  const slow = 'slow: 2.5s on average, the fastest one 50ms'
  expect(found).toEqual([`${slow}; another upstream overtook 90% of its first attempts`])
  expect(Object.keys(troubles.since)).toEqual(['ETH1 jsonrpc node-a'])
  troubles.sampled({}, [pool])
  expect(found.slice(1)).toEqual([null])
})
