// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { at, someChain, someFacts, someLook, someUpstream, took } from './facts.fixture.ts'
import { quantile, viewOf } from './view.ts'

test.each<[string, number, readonly [number, number, number, number], number | null]>([
  ['nothing was counted', 0.5, [0, 0, 0, 0], null],
  ['all in the first bucket', 0.5, [10, 0, 0, 0], 0.05],
  ['the middle of the second', 0.5, [0, 10, 0, 0], 0.55],
  ['the edge of two', 0.5, [5, 5, 0, 0], 0.1],
  ['an empty bucket between', 0.99, [99, 0, 1, 0], 0.1],
  ['above all bounds it is the last of them', 0.99, [0, 0, 0, 4], 10],
  ['a single count', 0.99, [0, 1, 0, 0], 0.991],
])('a quantile: %s', (_name, share, counts, value) => {
  const found = quantile(share, took(...counts))
  if (value === null) expect(found).toBeNull()
  else expect(found).toBeCloseTo(value, 6)
})

const early = someFacts(100, [
  someChain(
    [
      someUpstream('a', { attempts: { first: { answer: 10 } }, durations: took(10) }),
      someUpstream('b', { attempts: { first: { answer: 5, 'attempt-timeout': 2 } } }),
    ],
    { outcomes: { success: 20, timeout: 3 }, durations: took(23), cache: { hit: 4, miss: 6 } },
  ),
])
const late = someFacts(110, [
  someChain(
    [
      someUpstream('a', {
        attempts: {
          first: { answer: 40 },
          retry: { answer: 4, 'connection-reset': 1 },
          hedge: { answer: 2, aborted: 3 },
        },
        durations: took(10, 40),
        disputes: { 'block-number': 2 },
      }),
      someUpstream('b', { attempts: { first: { answer: 5, 'attempt-timeout': 12 } } }),
    ],
    {
      outcomes: { success: 100, timeout: 13, 'node-error': 5, abandoned: 1, 'no-upstream': 1 },
      durations: took(23, 97),
      cache: { hit: 9, miss: 6, coalesced: 1 },
      tip: 101,
    },
  ),
])
const look = someLook(late, early)

test('between two samples: rates, errors by class, quantiles, cache, shares, retries, hedges', () => {
  const view = viewOf([look])
  const [chain] = view.chains
  expect(view).toMatchObject({ at: at(110), seconds: 10 })
  expect(chain).toMatchObject({
    ...{ perSecond: 9.7, count: 97, tip: 101, serving: 2 },
    errors: { timeout: 10, 'no-upstream': 1 },
    cacheRatio: 1,
  })
  expect(chain?.errorRatio).toBeCloseTo(11 / 97)
  expect(chain?.p50Seconds).toBeCloseTo(0.55)
  const [a, b] = chain?.upstreams ?? []
  expect(a).toMatchObject({
    ...{ count: 40, perSecond: 4, share: 0.8, retries: 5, hedges: 5, hedgesWon: 2 },
    errors: { 'connection-reset': 1 },
    disputes: { 'block-number': 2 },
  })
  expect(b).toMatchObject({ count: 10, share: 0.2, errorRatio: 1, p50Seconds: null })
})

test('replicas add up; a state is the worst over all replicas', () => {
  const other = (second: number, success: number) =>
    someFacts(second, [
      someChain(
        [
          someUpstream('a', { state: 'disabled', why: 'connection-refused', since: at(50) }),
          someUpstream('b'),
        ],
        { tip: 99, outcomes: { success } },
      ),
    ])
  const view = viewOf([
    look,
    someLook(other(110, 115), other(100, 5), 'two:7779'),
    someLook('no answer: ECONNREFUSED', late, 'three:7779'),
  ])
  expect(view.chains).toMatchObject([{ count: 207, perSecond: 20.7, tip: 101, serving: 1 }])
  expect(view.chains[0]?.upstreams[0]).toMatchObject({
    ...{ state: 'disabled', why: 'connection-refused', since: at(50), seenAt: ' at two:7779 only' },
  })
  expect(view.problems[2]?.what).toBe('disabled at two:7779 only: connection-refused')
  expect(view.replicas.map(({ problem }) => problem)).toEqual([
    null,
    null,
    'no answer: ECONNREFUSED',
  ])
})

test.each([
  ['files', false, 'out-of-resources'],
  ['files', true, 'files-near-limit'],
  ['cpu', true, 'event-loop-delayed'],
  ['memory', true, 'event-loop-delayed'],
  ['buffered-bytes', true, 'out-of-resources'],
] as const)(
  'lack of %s (short: %s) is a problem of the replica alone',
  (resource, isStrain, runbook) => {
    const shortages = [{ resource, isStrain, why: 'no files left (EMFILE)', since: at(90) }]
    const upstream = someUpstream('a', { attempts: { first: { answer: 10, aborted: 30 } } })
    const facts = someFacts(100, [someChain([upstream])], { shortages })
    expect(viewOf([someLook(facts)]).problems).toEqual([
      {
        ...{ severity: 'bad', where: 'one:7779', upstream: null, since: at(90) },
        runbook,
        what: 'the router has no files left (EMFILE)',
      },
    ])
  },
)

test('failed calls of all replicas are listed, newest first', () => {
  const call = (guid: string, second: number) => ({
    ...{ guid, at: at(second), chain: 'ETH1', interface: 'jsonrpc', method: 'eth_call' },
    ...{ outcome: 'timeout', totalMs: 1, why: '' },
  })
  const looks = [[call('a', 3), call('b', 1)], [call('c', 2)]].map((failed) =>
    someLook(someFacts(10, [], { failed })),
  )
  expect(viewOf(looks).calls.map(({ guid }) => guid)).toEqual(['a', 'c', 'b'])
})

test('a view exists even without any answer', () => {
  const view = viewOf([someLook('no answer')])
  expect(view).toMatchObject({ chains: [], problems: [{ what: 'no answer' }] })
})
