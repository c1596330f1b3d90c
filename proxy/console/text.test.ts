// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { viewOf } from './differences.ts'
import { at, someChain, someFacts, someUpstream } from './facts.fixture.ts'
import type { FailedCall } from './replicas.ts'
import { age } from './format.ts'
import { linesOf, type TableOptions, upstreamLines } from './text.ts'

const now = someFacts(100, [
  someChain(
    [
      someUpstream('node-a', {
        attempts: { first: { answer: 90 } },
        durations: [90, 0, 0, 0],
      }),
      someUpstream('node-b', {
        ...{ state: 'disabled', why: 'connection-refused', since: at(40), until: at(900) },
        attempts: { first: { 'connection-refused': 10 } },
      }),
    ],
    { outcomes: { success: 100 }, durations: [100, 0, 0, 0], cache: { hit: 1, miss: 1 } },
  ),
  { ...someChain([someUpstream('btc-a\u001b[2J', { tier: 'backup' })]), chain: 'BTC' },
])
const view = viewOf([{ at: 'one:7779', before: null, now, problem: null }])
const call: FailedCall = {
  ...{ guid: '940bc41a-8302-4fbd-9885-fea133588923', at: at(95), chain: 'ETH1' },
  ...{ interface: 'jsonrpc', method: 'eth\r\ngetLogs', outcome: 'timeout', totalMs: 30_000 },
}
const options: TableOptions = { columns: 80, sort: 'state', filter: '', calls: [call] }
const texts = (more: Partial<TableOptions> = {}) =>
  linesOf(view, { ...options, ...more }).map(({ text }) => text)

test('at 80 columns: what is wrong, the chains with the worst upstream first, the failed calls', () => {
  expect(texts()).toEqual([
    'BAD  node-b (ETH1 jsonrpc) since 03:00:40 (1m00s): disabled:',
    '     connection-refused; until 03:15:00 at the latest',
    'CHAIN            SERVING    RATE/S    P50    P99 ERR %  CACHE       TIP    AGE',
    ' UPSTREAM        STATE                                  SHARE       LAG  SINCE',
    'ETH1 jsonrpc     1/2           1.0   50ms   99ms  0.0%    50%       100     3s',
    ' node-b          disabled      0.1      -      -  100%    10%         -  1m00s',
    ' node-a          eligible      0.9   50ms   99ms  0.0%    90%         0  1m40s',
    'BTC jsonrpc      1/1           0.0      -      -     -      -       100     3s',
    ' btc-a\ufffd[2J       eligible      0.0      -      -     -      -         0  1m40s',
    '',
    'LAST FAILED CALLS',
    '03:01:35 940bc41a timeout            30s ETH1 jsonrpc eth\ufffd\ufffdgetLogs',
  ])
})

test('a wide terminal has retries, hedges, cooldowns, disputes and why', () => {
  expect(texts({ columns: 150 }).find((line) => line.startsWith(' node-b'))).toMatch(
    / 1m00s +0 +0\/0 +- +0 connection-refused; connection-refused 10$/,
  )
  expect(texts({ columns: 150 }).at(-1)).toContain(` ${call.guid} timeout `)
  for (const columns of [80, 109, 110, 200])
    for (const line of linesOf(view, { ...options, columns, calls: [] }))
      expect(line.text.length).toBeLessThanOrEqual(columns)
})

test('rows are filtered and sorted, and calls with them', () => {
  const rows = (more: Partial<TableOptions>) =>
    texts(more)
      .filter((line) => /^ [a-z]/.test(line))
      .map((line) => line.trim().split(' ')[0])
  expect(rows({ filter: 'ETH1' })).toEqual(['node-b', 'node-a'])
  expect(rows({ filter: 'disabled' })).toEqual(['node-b'])
  expect(texts({ filter: 'btc' }).at(-1)).toBe('No failed call is kept.')
  expect(rows({ sort: 'calls', filter: 'node' })).toEqual(['node-a', 'node-b'])
  expect(rows({ sort: 'name', filter: 'node' })).toEqual(['node-a', 'node-b'])
  expect(rows({ sort: 'errors', filter: 'node' })).toEqual(['node-b', 'node-a'])
})

test('Enter opens the call or the upstream of a line', () => {
  const opened = linesOf(view, options).map(({ opens }) => opens)
  expect(opened.at(-1)).toEqual({ call: call.guid })
  expect(opened[0]).toEqual({ upstream: 'ETH1 jsonrpc node-b' })
  const lines = upstreamLines(view, 'ETH1 jsonrpc node-b').map(({ text }) => text)
  expect(lines).toContain('why       connection-refused')
  expect(lines).toContain('errors    connection-refused 10')
  expect(upstreamLines(view, 'ETH1 jsonrpc gone')).toMatchObject([{ tone: 'plain' }])
})

test('when nothing is wrong, or nothing was heard yet, it says so', () => {
  const well = someFacts(100, [someChain([someUpstream('a')])])
  const looks = [{ at: 'one:7779', before: null, now: well, problem: null }]
  const [first] = linesOf(viewOf(looks), options)
  expect(first?.text).toBe('Nothing is wrong: every upstream serves, and calls succeed.')
  const [none] = linesOf(
    viewOf([{ at: 'one:7779', before: null, now: null, problem: null }]),
    options,
  )
  expect(none?.text).toBe('Waiting for the first answer.')
})

test.each([
  [null, '-'],
  [0.4, '0s'],
  [59, '59s'],
  [192, '3m12s'],
  [7_500, '2h05m'],
  [400_000, '4d'],
])('an age of %s s is %s', (seconds, text) => {
  expect(age(seconds)).toBe(text)
})
