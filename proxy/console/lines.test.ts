// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { age, span } from '../telemetry/format.ts'
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
        oldestBlocks: { blocks: 900_000, logs: 1 },
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

test('few mistakes of callers are counted, and are no problem', () => {
  const outcomes = { success: 900, 'node-error': 60, refused: 30 }
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

test('errors as the answer of most calls are no problem, but named', () => {
  const upstream = someUpstream('a', { attempts: { first: { answer: 17, 'node-error': 83 } } })
  const chain = someChain([upstream], { outcomes: { success: 17, 'node-error': 83 } })
  const [first] = linesOf(viewOf([someLook(someFacts(100, [chain]))]), 200)
  const said =
    'Nothing is wrong: every upstream serves, 83% of calls get an error as answer, see CLIENTS.'
  expect(first?.text).toBe(said)
})

test('at 80 columns: problems, chains with the worst upstream first, failed calls', () => {
  expect(texts()).toEqual([
    'BAD  node-b (ETH1 jsonrpc) since 03:00:40 (60s): disabled:',
    '     connection-refused; until 03:15:00 at the latest',
    'CHAIN              SERVING    RATE/S    P50    P99 ERR %  CACHE       TIP    AGE',
    ' UPSTREAM          STATE                                  SHARE       LAG  SINCE',
    'ETH1 jsonrpc       1/2           1.0   50ms   99ms  0.0%    50%       100     3s',
    ' node-b            disabled      0.1      -      -  100%    10%         -    60s',
    ' node-a            eligible      0.9   50ms   99ms  0.0%    90%         0   100s',
    'BTC jsonrpc        1/1           0.0      -      -     -      -       100     3s',
    ' btc-a\ufffd[2J (backu… eligible      0.0      -      -     -      -         0   100s',
    '',
    'LAST FAILED CALLS',
    '03:01:35 940bc41a timeout            30s ETH1 jsonrpc eth\ufffd\ufffdgetLogs: node-b atte…',
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
  expect(lines).toEqual([
    'Upstream    node-b, primary tier',
    'State       disabled for 1 min, since 03:00:40 UTC',
    'Reason      connection-refused',
    'Until       03:15:00 UTC at the latest, in 13 min 20 s',
    'Attempts    10 attempts in the last minute, 10 % of all; 0 in flight',
    'Failures    100 % of attempts: connection-refused 10',
    'Block       100, at the tip',
    'Data        no blocks before 900000',
    'Runbook     https://github.com/rpc-router/rpc-router/blob/main/docs/runbooks/upstream-disabled.md',
  ])
})

test('details are sentences with units, without what is unknown', () => {
  const limit = { method: 'eth_getLogs', why: 'http-rate-limited', until: at(110) }
  const upstream = someUpstream('a', {
    ...{ cooldownLeftMs: 76_250.626, urlsInCooldown: 1, latencyMs: 12.3, score: 0.5 },
    qualities: { availability: 0.98, latency: 0.4, sync: 1, earned: 1 },
    ...{ lagBlocks: 4, lagSeconds: 48, learnedPerSecond: 12.345, methodLimits: [limit] },
    urls: [
      { position: 1, url: 'https://a.example', why: null, since: null },
      { position: 2, url: 'https://b.example', why: 'tls-failed (expired)', since: at(40) },
    ],
    attempts: { first: { answer: 6, overtaken: 4 }, retry: { answer: 1 } },
    durations: took(7),
    since: at(100 - 3 * 86_400),
  })
  const details = detailsOf(viewOf([someLook(someFacts(100, [someChain([upstream])]))]))
  expect(details.get('ETH1 jsonrpc a')?.split('\n').slice(1)).toEqual([
    'State       eligible for 3 d, since 2026-01-28 03:01:40 UTC',
    'Attempts    11 attempts in the last minute, 100 % of all; 0 in flight',
    'Trouble     hangs: another upstream overtook 40% of its first attempts',
    'Retries     1 retry, 0 of 0 hedges won',
    'Latency     12 ms on average; half within 50 ms, 99 % within 99 ms',
    'Block       100, 4 blocks behind (48 s)',
    'Weight      50 % of that of the best upstream: availability 0.98, latency 0.40, sync 1.00',
    'Limit       12.3 requests per second, learned',
    'Cooldown    1 min 16 s left, 1 URL',
    'Method      limits eth_getLogs until 03:01:50 UTC: http-rate-limited',
    'URL 1       https://a.example serves',
    'URL 2       https://b.example out for 1 min: tls-failed (expired)',
    expect.stringMatching(/^Runbook .*upstream-unreliable.md$/),
    expect.stringMatching(/^Runbook .*upstream-in-cooldown.md$/),
  ])
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

test('reports that nothing is wrong only if no call has just failed', () => {
  const chain = (outcomes: Record<string, number>) => someChain([someUpstream('a')], { outcomes })
  const said = (outcomes: Record<string, number>, failed: FailedCall[] = []) =>
    linesOf(viewOf([someLook(someFacts(100, [chain(outcomes)], { failed }))]), 80)
  expect(said({ success: 500 })[0]?.text).toBe(
    'Nothing is wrong: every upstream serves, and calls succeed.',
  )
  const [first] = said({ success: 500, 'upstream-error': 1 })
  expect(first).toEqual({
    text: 'Every upstream serves; 1 call failed in the last minute.',
    tone: 'odd',
  })
  const title = (second: number) => said({}, [{ ...call, at: at(second) }]).at(-2)?.text
  expect(title(95)).toBe('LAST FAILED CALLS')
  expect(title(10)).toBe('LAST FAILED CALLS (none in the last minute)')
})

test('a long name is cut only where there is no space', () => {
  const name = 'a-provider-with-a-long-name'
  const facts = someFacts(100, [someChain([someUpstream(name, { tier: 'backup' })])])
  const row = (columns: number) =>
    linesOf(viewOf([someLook(facts)]), columns).find(({ opens }) => opens)?.text
  expect(row(80)).toMatch(/^ a-provider-with-… eligible/)
  expect(row(160)).toMatch(/^ a-provider-with-a-long-name \(backup\) eligible/)
})

test.each([
  [0.4, '0 ms'],
  [940, '940 ms'],
  [4_500, '4.5 s'],
  [76_250.6, '1 min 16 s'],
  [3_600_000, '1 h'],
  [11_100_000, '3 h 5 min'],
  [190_000_000, '2 d 4 h'],
])('a span of %s ms is %s', (ms, text) => {
  expect(span(ms)).toBe(text)
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
