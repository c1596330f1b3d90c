// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { age } from '../telemetry/format.ts'
import { at, someChain, someFacts, someLook, someUpstream, took } from './facts.fixture.ts'
import type { FailedCall } from './facts.ts'
import { detailsOf, isShown, linesOf } from './lines.ts'
import { viewOf } from './view.ts'

const now = someFacts(100, [
  someChain(
    [
      someUpstream('node-a', {
        attempts: { first: { answer: 90 } },
        durations: took(90),
      }),
      someUpstream('node-b', {
        oldestBlocks: { blocks: 900_000 },
        ...{ state: 'disabled', why: 'connection-refused', since: at(40), until: at(900) },
        attempts: { first: { 'connection-refused': 10 } },
      }),
    ],
    { outcomes: { success: 100 }, durations: took(100), cache: { hit: 1, miss: 1 } },
  ),
  { ...someChain([someUpstream('btc-a\u001b[2J', { tier: 'backup' })]), name: 'BTC jsonrpc' },
])
const call: FailedCall = {
  ...{ guid: '940bc41a-8302-4fbd-9885-fea133588923', at: at(95), chain: 'ETH1' },
  ...{ interface: 'jsonrpc', method: 'eth\r\ngetLogs', outcome: 'timeout', totalMs: 30_000 },
  why: 'node-b attempt-timeout',
}
/** @param failed the failed calls */
const viewWith = (...failed: FailedCall[]) => viewOf([someLook({ ...now, failed })])
const view = viewWith(call)
interface Shown {
  readonly columns?: number
  readonly filter?: string
  readonly sort?: Parameters<typeof linesOf>[2]
}
const texts = ({ columns = 80, filter = '', sort }: Shown = {}) =>
  linesOf(view, columns, sort)
    .filter((line) => isShown(line, filter))
    .map(({ text }) => text)

test('mistakes of callers are counted, and are no problem', () => {
  const outcomes = { success: 10, 'node-error': 60, refused: 30 }
  const refused = { 'parse-error': 5, 'bad-directive': 30 }
  const attempts = { first: { answer: 10, 'node-error': 60 } }
  const chain = someChain([someUpstream('a', { attempts })], { outcomes, refused })
  const facts = someFacts(100, [chain])
  // Two equal samples: the requests were refused before.
  for (const look of [someLook(facts), someLook(someFacts(103, [chain]), facts)])
    for (const columns of [80, 200]) {
      const all = linesOf(viewOf([look]), columns).map(({ text }) => text)
      expect(all[0]).toBe('Nothing is wrong: every upstream serves, and calls succeed.')
      expect(all[4]).toBe(' refused requests since the start: bad-directive 30, parse-error 5')
    }
})

test('at 80 columns: problems, chains with the worst upstream first, failed calls', () => {
  expect(texts()).toEqual([
    'BAD  node-b (ETH1 jsonrpc) since 03:00:40 (60s): disabled:',
    '     connection-refused; until 03:15:00 at the latest',
    'CHAIN            SERVING    RATE/S    P50    P99 ERR %  CACHE       TIP    AGE',
    ' UPSTREAM        STATE                                  SHARE       LAG  SINCE',
    'ETH1 jsonrpc     1/2           1.0   50ms   99ms  0.0%    50%       100     3s',
    ' node-b          disabled      0.1      -      -  100%    10%         -    60s',
    ' node-a          eligible      0.9   50ms   99ms  0.0%    90%         0   100s',
    'BTC jsonrpc      1/1           0.0      -      -     -      -       100     3s',
    ' btc-a\ufffd[2J       eligible      0.0      -      -     -      -         0   100s',
    '',
    'LAST FAILED CALLS',
    '03:01:35 940bc41a timeout            30s ETH1 jsonrpc eth\ufffd\ufffdgetLogs: node-b attem',
  ])
})

test('a wide terminal adds retries, hedges, cooldowns, disputes, reasons, and errors by class', () => {
  expect(texts({ columns: 150 }).find((line) => line.startsWith(' node-b'))).toMatch(
    / 60s +0 +0\/0 +- +0 connection-refused; no blocks before 900000$/,
  )
  const outcomes = { success: 98, timeout: 1, 'no-upstream': 1 }
  const failing = viewOf([someLook(someFacts(100, [someChain([someUpstream('a')], { outcomes })]))])
  const chain = linesOf(failing, 150).find(({ text }) => text.startsWith('ETH1 jsonrpc '))
  expect(chain?.text).toMatch(/ 3s +timeout 1, no-upstream 1$/)
  expect(texts({ columns: 150 }).at(-1)).toContain(` ${call.guid} timeout `)
  for (const columns of [80, 109, 110, 200])
    for (const line of linesOf(view, columns)) expect(line.text.length).toBeLessThanOrEqual(columns)
})

test('rows are filtered and sorted, including calls', () => {
  const rows = (more: Shown) =>
    texts(more)
      .filter((line) => /^ [a-z]/.test(line))
      .map((line) => line.trim().split(' ')[0])
  expect(rows({ filter: 'ETH1' })).toEqual(['node-b', 'node-a'])
  expect(rows({ filter: 'disabled' })).toEqual(['node-b'])
  expect(texts({ filter: 'btc' }).at(-1)).toBe('LAST FAILED CALLS')
  expect(texts({ filter: 'getlogs' }).at(-1)).toContain('940bc41a')
  expect(rows({ sort: 'calls', filter: 'node' })).toEqual(['node-a', 'node-b'])
  expect(rows({ sort: 'name', filter: 'node' })).toEqual(['node-a', 'node-b'])
  expect(rows({ sort: 'errors', filter: 'node' })).toEqual(['node-b', 'node-a'])
})

test('Enter opens the call or the upstream of a line', () => {
  const opened = linesOf(view, 80).map(({ opens }) => opens)
  expect(opened.at(-1)).toBe(call.guid)
  expect(opened[0]).toBe('ETH1 jsonrpc node-b')
  const lines = detailsOf(view).get('ETH1 jsonrpc node-b')?.split('\n')
  expect(lines).toContain('why             connection-refused')
  expect(lines).toContain('errors          {"connection-refused":10}')
  expect(lines).toContain('share           0.1')
  expect(lines).toContain('p99Seconds      null')
  expect(lines).toContain('disputes        {}')
  expect(lines).toContain('oldestBlocks    {"blocks":900000}')
})

test('a failed call shows its reason and how to send it again', () => {
  const last = (more: Partial<FailedCall>, columns = 200) =>
    linesOf(viewWith({ ...call, ...more }), columns).at(-1)
  expect(last({ why: 'no\nanswer' })?.text).toMatch(/getLogs: no\ufffdanswer$/)
  expect(last({ method: null, why: '' })?.text).toMatch(/ ETH1 jsonrpc -$/)
  expect(last({ method: `eth_it's` })?.curl).toBe(
    `curl -si 'http://0.0.0.0:3360' -H 'content-type: application/json' ` +
      `-d '{"jsonrpc":"2.0","id":1,"method":"eth_it'\\''s","params":[]}'`,
  )
  expect(last({ method: '/bank/{address}', interface: 'rest' })?.curl).toBe(
    `curl -gsi -X '{GET or POST}' 'http://0.0.0.0:3360/bank/{address}'`,
  )
  for (const none of [{ method: null }, { method: 'other' }, { interface: 'grpc' }])
    expect(last(none)?.curl).toBeNull()
  expect(last({ method: 'other', interface: 'rest' })?.curl).toBeNull()
})

test('reports that nothing is wrong, once it has measured something', () => {
  const well = someFacts(100, [someChain([someUpstream('a')])])
  const once = viewOf([someLook(well, well)])
  expect(linesOf(once, 80)[0]).toMatchObject({ text: 'Measuring ...', tone: 'plain' })
  const dark = someFacts(100, [someChain([someUpstream('a', { state: 'disabled' })])])
  expect(linesOf(viewOf([someLook(dark, dark)]), 80)[0]?.tone).toBe('down')
  const [first] = linesOf(viewOf([someLook(well)]), 80)
  expect(first?.text).toBe('Nothing is wrong: every upstream serves, and calls succeed.')
})

test.each([
  [null, '-'],
  [0.4, '0s'],
  [119, '119s'],
  [192, '3m'],
  [7_500, '2h'],
  [400_000, '4d'],
])('an age of %s s is %s', (seconds, text) => {
  expect(age(seconds && seconds * 1_000)).toBe(text)
})
