// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { type Look, quantile } from './differences.ts'
import { at, someChain, someFacts, someUpstream, took } from './facts.fixture.ts'
import { viewOf } from './problems.ts'
import { History } from './replicas.ts'

test.each<[string, number, readonly [number, number, number, number], number | null]>([
  ['nothing was counted', 0.5, [0, 0, 0, 0], null],
  ['all in the first bucket', 0.5, [10, 0, 0, 0], 0.05],
  ['the middle of the second', 0.5, [0, 10, 0, 0], 0.55],
  ['the edge of two', 0.5, [5, 5, 0, 0], 0.1],
  ['an empty bucket between', 0.99, [99, 0, 1, 0], 0.1],
  ['above all bounds it is the last of them', 0.99, [0, 0, 0, 4], 10],
  ['one alone', 0.99, [0, 1, 0, 0], 0.991],
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
        disputes: { violations: 2 },
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
const look = (more: Partial<Look> = {}): Look => {
  return { at: 'one:7779', before: early, now: late, problem: null, ...more }
}

test('between two looks: rates, errors by class, quantiles, cache, shares, retries, hedges', () => {
  const view = viewOf([look()])
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
    disputes: { violations: 2 },
  })
  expect(b).toMatchObject({ count: 10, share: 0.2, errorRatio: 1, p50Seconds: null })
})

test('a process that was started anew, or was seen once, counts from its start', () => {
  const anew = viewOf([look({ before: { ...early, started: at(-5) } })])
  expect(anew).toMatchObject({ seconds: 110, chains: [{ count: 120 }] })
  expect(viewOf([look({ before: null })])).toMatchObject({ seconds: 110, chains: [{ count: 120 }] })
})

test('replicas add up; a state is that of the replica where it is the worst', () => {
  const other = someFacts(110, [
    someChain(
      [
        someUpstream('a', { state: 'disabled', why: 'connection-refused', since: at(50) }),
        someUpstream('b'),
      ],
      { tip: 99, outcomes: { success: 110 } },
    ),
  ])
  const view = viewOf([
    look(),
    look({ at: 'two:7779', before: null, now: other }),
    look({ at: 'three:7779', before: null, now: null, problem: 'no answer: ECONNREFUSED' }),
  ])
  expect(view.chains).toMatchObject([{ count: 207, perSecond: 10.7, tip: 101, serving: 1 }])
  expect(view.chains[0]?.upstreams[0]).toMatchObject({
    ...{ state: 'disabled', why: 'connection-refused', since: at(50), lagBlocks: null },
    ...{ seenAt: ['two:7779'], replicas: 2 },
  })
  expect(view.replicas.map(({ problem }) => problem)).toEqual([
    null,
    null,
    'no answer: ECONNREFUSED',
  ])
})

test('without any answer there is a view all the same', () => {
  const view = viewOf([look({ before: null, now: null, problem: 'no answer' })])
  expect(view).toMatchObject({ at: '', seconds: 0, chains: [], problems: [{ what: 'no answer' }] })
})

test('a history goes back 30 s, or to the last look before a failure', () => {
  const history = new History('one:7779')
  expect(history.look).toEqual({ at: 'one:7779', before: null, now: null, problem: null })
  for (let second = 0; second <= 100; second += 8) history.heard(someFacts(second, []))
  expect(history.look).toMatchObject({ before: { at: at(64) }, now: { at: at(96) } })
  history.heard('no answer')
  expect(history.look).toMatchObject({ before: null, now: null, problem: 'no answer' })
  history.heard(someFacts(200, []))
  expect(history.look).toMatchObject({ before: { at: at(96) }, now: { at: at(200) } })
})

test('failures of long ago are no outage at the first look, nor after a look that failed', () => {
  const old = (second: number) =>
    someFacts(second, [
      someChain([someUpstream('a')], { outcomes: { success: 900, timeout: 100 } }),
    ])
  const history = new History('one:7779')
  const said = () => viewOf([history.look]).problems.map(({ what }) => what)
  history.heard(old(90_000))
  expect(said()).toEqual([])
  history.heard('no answer')
  history.heard(old(90_003))
  expect(said()).toEqual([])
  const young = new History('two:7779')
  young.heard(old(20))
  expect(viewOf([young.look]).problems).toMatchObject([{ what: '10 % of calls fail: timeout 100' }])
})
