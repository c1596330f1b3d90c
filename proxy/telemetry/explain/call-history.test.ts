// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { explainLimits } from '../../bytes/limits.ts'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import type { CallEnd } from '../../listener/listener.ts'
import { type AttemptKind, type AttemptRecord, Journal } from '../../relay/call.ts'
import { errorKinds, RelayError } from '../../relay/errors.ts'
import { aCall, aFailure, anAttempt, aRecord, repliedBy } from '../call.fixture.ts'
import { explainPage } from './explain-page.ts'
import { CallHistory } from './call-history.ts'

const timedOut: CallEnd = {
  kind: 'error',
  error: new RelayError(errorKinds.timeout, 'no upstream answered (node-a: attempt-timeout)'),
}
const answered = repliedBy('node-a')

class Fixture {
  readonly clock = new VirtualClock()
  readonly calls = new CallHistory(this.clock)
  readonly observer = this.calls.listenerObserver('ETH1', 'jsonrpc')

  end(guid: string, end = answered, tookMs = 5): void {
    const call = { ...aCall({ guid }), journal: new Journal(this.clock.nowMs() - tookMs) }
    if (end === answered) anAttempt(call, 'node-a', 'answer')
    this.observer.callEnded(call, end, tookMs)
  }

  page(guid: string | null, query: Readonly<Record<string, string>> = {}) {
    return explainPage(this.calls, guid, query)
  }

  list(
    kind: 'recent' | 'failed' | 'slow' | 'retried' | null,
    limit = 100,
    upstream?: string,
  ): string {
    const { calls, more } = this.calls.list(kind, limit, upstream)
    return `${calls.map(({ guid }) => guid).join(' ')} +${more}`
  }
}

test('the last calls are stored, failed and slow ones apart, up to a limit per kind', async () => {
  const fixture = new Fixture()
  fixture.end('failed-1', timedOut)
  fixture.end('slow-1', answered, explainLimits.slowMs)
  for (let at = 1; at <= explainLimits.recent + 2; at += 1) {
    await fixture.clock.advance(1)
    fixture.end(`plain-${at}`)
  }
  expect(fixture.list('recent', 2)).toBe('plain-2002 plain-2001 +1998')
  expect(fixture.calls.find('plain-2').calls).toEqual([])
  expect(fixture.calls.find('plain-3').calls).toHaveLength(1)
  expect(fixture.list('failed')).toBe('failed-1 +0')
  expect(fixture.list('slow')).toBe('slow-1 +0')
  for (let at = 2; at <= explainLimits.failed + 1; at += 1) {
    await fixture.clock.advance(1)
    fixture.end(`failed-${at}`, timedOut)
  }
  expect(fixture.list('failed', 2)).toBe('failed-1001 failed-1000 +998')
  expect(fixture.calls.find('failed-1').calls).toEqual([])
})

test('rescued calls are stored apart, and found by an upstream that took part', () => {
  const fixture = new Fixture()
  const rescue = (guid: string, result: AttemptRecord['result'], by: AttemptKind, tookMs = 5) => {
    const call = aCall({ guid })
    anAttempt(call, 'node-b', result)
    anAttempt(call, 'node-a', 'answer', { kind: by })
    fixture.observer.callEnded(call, answered, tookMs)
  }
  rescue('retried', aFailure('reset'), 'retry')
  rescue('hedged', 'overtaken', 'hedge')
  rescue('slow', aFailure('attempt-timeout'), 'retry', explainLimits.slowMs)
  rescue('broadcast', 'overtaken', 'broadcast')
  rescue('late-hedge', 'answer', 'hedge')
  fixture.end('plain')
  expect(fixture.list('retried')).toBe('retried hedged slow +0')
  expect(fixture.list('recent')).toBe('broadcast late-hedge plain +0')
  expect(fixture.list(null, 100, 'node-b')).toBe('slow retried hedged +0')
  expect(fixture.list('slow', 100, 'node-b')).toBe('slow +0')
  expect(fixture.list(null, 100, 'node-c')).toBe(' +0')
  const page = fixture.page(null, { retried: '', upstream: 'node-b', format: 'text' })
  expect(page.body.split('\n')[0]).toMatch(
    /retried .* success {2}5.0ms {2}node-b reset; node-a answer$/,
  )
})

test.each<
  [string, [method: string, node: string, AttemptRecord['result'], count: number][], string | null]
>([
  [
    'one method hangs',
    [
      ['eth_call', 'node-b', 'answer', 9],
      ['eth_getLogs', 'node-b', 'overtaken', 9],
    ],
    'eth_getLogs',
  ],
  [
    'one fails, beside bad luck',
    [
      ['eth_call', 'node-b', 'answer', 9],
      ['eth_call', 'node-b', 'overtaken', 1],
      ['eth_getLogs', 'node-b', aFailure('reset'), 9],
    ],
    'eth_getLogs',
  ],
  [
    'all calls are of one method',
    [
      ['eth_call', 'node-b', 'answer', 9],
      ['eth_call', 'node-b', 'overtaken', 9],
    ],
    null,
  ],
  [
    'several fail',
    [
      ['eth_call', 'node-b', 'overtaken', 5],
      ['eth_getLogs', 'node-b', 'overtaken', 5],
    ],
    null,
  ],
  [
    'another node hangs',
    [
      ['eth_call', 'node-b', 'answer', 9],
      ['eth_getLogs', 'node-c', 'overtaken', 9],
    ],
    null,
  ],
])('the trouble of an upstream has a method if %s', async (_case, attempts, expected) => {
  const fixture = new Fixture()
  for (const [name, node, result, count] of attempts)
    for (let at = 0; at < count; at += 1) {
      const call = aCall({ method: name })
      anAttempt(call, node, result)
      if (result !== 'answer') anAttempt(call, 'node-a', 'answer', { kind: 'hedge' })
      fixture.observer.callEnded(call, answered, 5)
    }
  const find = () => fixture.calls.methodOfTrouble('ETH1', 'jsonrpc', 'node-b')
  expect(find()).toBe(expected)
  await fixture.clock.advance(5 * 60_000 + 1)
  expect(find()).toBeNull()
})

test('a call shows who sent it, without keys, parameters and control characters', () => {
  const fixture = new Fixture()
  const client = { address: '203.0.113.7', userAgent: 'viem\u009b31m', path: '/v3/5f3e9b0c7a' }
  fixture.observer.callEnded({ ...aCall({ guid: 'g' }), client }, answered, 5)
  fixture.observer.requestRefused(new RelayError(errorKinds.parse, 'not JSON'), 'r', client)
  const shown = { address: '203.0.113.7', userAgent: 'viem\ufffd31m', path: '/v3/*' }
  expect(fixture.calls.find('g').calls).toMatchObject([{ client: shown }])
  expect(fixture.calls.find('r').calls).toMatchObject([{ client: shown }])
  expect(fixture.page('g', { format: 'text' }).body).toContain(
    '\nfrom 203.0.113.7, path /v3/*, viem\ufffd31m\n',
  )
  expect(fixture.page(null, { format: 'text' }).body).toContain('  from 203.0.113.7\n')
})

test('a guid finds its call or all items of its batch; an expired guid gets a message', () => {
  const fixture = new Fixture()
  fixture.end('one')
  fixture.end('two-0')
  fixture.end('two-1', timedOut)
  expect(fixture.calls.find('two').calls.map(({ guid }) => guid)).toEqual(['two-0', 'two-1'])
  expect(fixture.calls.find('two-1').calls).toMatchObject([{ outcome: 'timeout' }])
  expect(fixture.page('three')).toEqual({
    status: 404,
    isText: true,
    body: 'no call has this guid here; stored: 2 recent, 1 failed, 0 slow, 0 retried\n',
  })
})

test('a request refused before it became a call is stored under its guid', () => {
  const fixture = new Fixture()
  fixture.observer.requestRefused(
    new RelayError(errorKinds.parse, 'the request is not JSON'),
    'g',
    null,
  )
  fixture.observer.requestRefused(
    new RelayError(errorKinds.parse, 'the request is not JSON'),
    '',
    null,
  )
  const [call, ...others] = fixture.calls.list('recent', 100).calls
  expect(others).toEqual([])
  expect(call).toMatchObject({ guid: 'g', method: null, outcome: 'parse-error' })
  expect(call?.error).toBe('the request is not JSON')
})

test('an unknown REST path, which may contain parameters, is not shown', () => {
  const { calls } = new Fixture()
  const call = aCall({ method: '/accounts/5e5e', known: false })
  calls.listenerObserver('HUBCHAIN', 'rest').callEnded(call, answered, 5)
  expect(calls.list('recent', 1).calls[0]?.method).toBe('other')
})

test('neither the request nor the answer of a stored call stays in memory', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const fixture = new Fixture()
  const end = () => {
    const body = Buffer.alloc(1_000)
    const method = `${'m'.repeat(200)}${'x'.repeat(20_000_000)}`
    const call = aCall({ method, known: false, guid: 'big' })
    const whole = { ...call, request: { ...call.request, body } }
    const reply = repliedBy('node-a')
    fixture.observer.callEnded(whole, reply, 1)
    return [whole, whole.request, whole.signal, reply].map((each) => new WeakRef<object>(each))
  }
  collect()
  const beforeBytes = process.memoryUsage().heapUsed
  const gone = end()
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  expect(gone.map((each) => each.deref())).toEqual(gone.map(() => undefined))
  expect(process.memoryUsage().heapUsed - beforeBytes).toBeLessThan(10_000_000)
  expect(fixture.calls.find('big').calls[0]?.method).toHaveLength(100)
})

test.each<[Record<string, string>, string, boolean]>([
  [{}, 'one', false],
  [{ format: 'json' }, 'one', false],
  [{ failed: '' }, 'two', false],
  [{ failed: '', format: 'text' }, 'two', true],
  [{ slow: '', format: 'text' }, 'three', true],
])('the list for %j', (query, guid, isText) => {
  const fixture = new Fixture()
  fixture.end('one')
  fixture.end('two', timedOut)
  fixture.end('three', answered, explainLimits.slowMs)
  const page = fixture.page(null, query)
  expect(page).toMatchObject({ status: 200, isText })
  expect(page.body.match(/\b(one|two|three)\b/g)).toEqual([guid])
})

test('a list has the last twenty, and the number of others', () => {
  const fixture = new Fixture()
  expect(fixture.page(null, { format: 'text' }).body).toBe(
    'no call; stored: 0 recent, 0 failed, 0 slow, 0 retried\n',
  )
  for (let at = 0; at < 25; at += 1) fixture.end(`call-${at}`)
  expect(fixture.page(null, { format: 'text' }).body).toMatch(/^(20.*\n){20}and 5 more\n$/)
})

test('the text of a call has every detail, and a list has a line for each', () => {
  const fixture = new Fixture()
  const call = aCall({ guid: 'g-1', method: 'eth_\u001b[31mred', known: false })
  const { journal } = call
  const candidate = { rank: 0, exclusionReason: null, amount: null, record: null }
  const best = { availability: 1, latency: 1, sync: 1, earned: 1, weight: 1, why: null }
  const paused = aRecord(
    'cooldown',
    'rate limited: http-rate-limited (HTTP 429: busy) at https://c.example',
  )
  const behind = aRecord('lagging', '7 blocks behind the tip')
  const considered = [
    { name: 'node-a', ...best, ...candidate, weight: 0.5 },
    { name: 'node-b', ...best, ...candidate },
    {
      name: 'node-c',
      ...best,
      rank: null,
      exclusionReason: 'cooldown',
      amount: 22_400,
      record: paused,
    } as const,
    {
      name: 'node-d',
      ...best,
      rank: 0,
      exclusionReason: 'lagging',
      amount: 7,
      record: behind,
    } as const,
    {
      name: 'node-e',
      ...best,
      rank: 8,
      exclusionReason: 'pruned',
      amount: 900_000,
      record: null,
    } as const,
  ]
  journal.considered = considered
  anAttempt(call, 'node-a', aFailure('connection-refused'), { detail: 'ECONNREFUSED', tookMs: 2 })
  const violation = { check: 'block-number', detail: 'asked for 5, got 6' } as const
  anAttempt(call, 'node-b', aFailure('violated'), { kind: 'retry', tookMs: 1_234.56789, violation })
  const request = { rank: null, exclusionReason: 'tried', amount: null, record: null } as const
  journal.considered = considered.map((each) => ({ ...each, ...request }))
  journal.cache = { verdict: 'miss', ageClass: 'latest', why: 'error' }
  journal.session = { node: 'node-a', choice: 'new', isDropped: true, considered: null }
  const names = { agreeing: ['node-a'], disagreeing: ['node-b'], all: ['node-a', 'node-b'] }
  journal.crossValidation = { ...names, failure: 'no-agreement' }
  fixture.observer.callEnded(call, timedOut, 30_000)
  expect(fixture.page('g-1', { format: 'text' }).body).toMatchInlineSnapshot(`
    "ETH1 jsonrpc eth_�[31mred  g-1
    2026-01-01T00:00:00.000Z  timeout after 30s
    error: no upstream answered (node-a: attempt-timeout)
    cache: miss (error), class latest
    session: node-a, new; dropped, it failed
    vote: no-agreement; asked node-a, node-b
        agree node-a; differ node-b
    +0.0ms  first  node-a  connection-refused in 2.0ms (ECONNREFUSED)
        upstream  rank  score  availability  latency  sync  candidate
        node-a    0     0.50   1.00          1.00     1.00  yes
        node-b    0     1.00   1.00          1.00     1.00  yes
        node-c    -     1.00   1.00          1.00     1.00  no: cooldown since 2026-01-01T00:00:00.000Z: rate limited: http-rate-limited (HTTP 429: busy) at https://c.example
        node-d    0     1.00   1.00          1.00     1.00  no: lagging since 2026-01-01T00:00:00.000Z: 7 blocks behind the tip
        node-e    8     1.00   1.00          1.00     1.00  no: pruned, before block 900000
    +0.0ms  retry  node-b  violated in 1.2s (block-number: asked for 5, got 6)
    no other upstream was available
        upstream  rank  score  availability  latency  sync  candidate
        node-a    -     0.50   1.00          1.00     1.00  no: tried
        node-b    -     1.00   1.00          1.00     1.00  no: tried
        node-c    -     1.00   1.00          1.00     1.00  no: tried
        node-d    -     1.00   1.00          1.00     1.00  no: tried
        node-e    -     1.00   1.00          1.00     1.00  no: tried
    "
  `)
  expect(fixture.page(null, { failed: '', format: 'text' }).body).toMatchInlineSnapshot(`
    "2026-01-01T00:00:00.000Z  g-1  ETH1 jsonrpc eth_�[31mred  timeout  30s  node-a connection-refused; node-b violated
    "
  `)
  const { calls } = JSON.parse(fixture.page('g-1').body) as { calls: object[] }
  expect(calls).toMatchObject([
    {
      ...{ guid: 'g-1', chain: 'ETH1', interface: 'jsonrpc', outcome: 'timeout', totalMs: 30_000 },
      answeredBy: null,
      attempts: [
        {
          ...{ upstream: 'node-a', kind: 'first', startMs: 0, tookMs: 2, budgetMs: null },
          ...{ result: 'connection-refused', detail: 'ECONNREFUSED' },
          considered: [
            {},
            { exclusionReason: null },
            { amount: 22_400 },
            { amount: 7 },
            { amount: 900_000 },
          ],
        },
        { kind: 'retry', tookMs: 1_234.568, detail: 'block-number: asked for 5, got 6' },
      ],
    },
  ])
})
