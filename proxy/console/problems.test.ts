// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { at, someChain, someFacts, someLook, someUpstream, took } from './facts.fixture.ts'
import { viewOf } from './view.ts'

type Upstream = Parameters<typeof someUpstream>[1]
type Chain = Parameters<typeof someChain>[1]

/** What is said of a chain with upstreams `a`, which is as given, and `b`, which is well. */
function said(a: Upstream, chain: Chain = {}): string[] {
  const b = someUpstream('b', {
    attempts: { first: { answer: 20 } },
    durations: took(20),
  })
  const now = someFacts(100, [someChain([someUpstream('a', a), b], chain)])
  const { problems } = viewOf([someLook(now)])
  return problems.map(({ severity, where, upstream, since, what }) =>
    [severity, upstream ?? where, since?.slice(14, 19), what].filter(Boolean).join(' | '),
  )
}

const first = (counts: Record<string, number>) => ({ attempts: { first: counts } })

test.each<[string, Upstream, Chain, string[]]>([
  ['all is well', {}, {}, []],
  ['a node that answers with its own errors', first({ 'node-error': 50 }), {}, []],
  [
    'out of service, why, since and until when',
    { state: 'disabled', why: 'connection-refused', since: at(20), until: at(600) },
    {},
    ['bad | a | 00:20 | disabled: connection-refused; until 03:10:00 at the latest'],
  ],
  [
    'behind the tip',
    { state: 'lagging', why: '9 blocks behind the tip', since: at(30) },
    {},
    ['odd | a | 00:30 | lagging: 9 blocks behind the tip'],
  ],
  [
    'in service, and silent',
    { why: '3 failures in a row, the last: probe: timeout' },
    {},
    ['odd | a | 3 failures in a row, the last: probe: timeout'],
  ],
  ['two failures are none', first({ answer: 1, 'attempt-timeout': 2 }), {}, []],
  [
    'in service, and failing',
    first({ answer: 7, 'attempt-timeout': 2, 'connection-reset': 1 }),
    {},
    ['odd | a | 30 % of attempts fail: attempt-timeout 2, connection-reset 1'],
  ],
  [
    'slower than the others',
    { ...first({ answer: 20 }), durations: took(0, 20) },
    {},
    ['odd | a | slow: half of its answers take over 550ms, elsewhere 50ms'],
  ],
  ['slow, seldom', { ...first({ answer: 4 }), durations: took(0, 4) }, {}, []],
  [
    'answers that do not fit',
    { disputes: { mismatches: 1, 'block-number': 2, 'missing-blocks': 0 } },
    {},
    ['odd | a | its answers are doubtful: block-number 2, mismatches 1'],
  ],
  [
    'calls fail',
    {},
    { outcomes: { success: 88, timeout: 12 } },
    ['down | ETH1 jsonrpc | 12 % of calls fail: timeout 12'],
  ],
  [
    'the chain stands still',
    {},
    { tipAgeMs: 75_000 },
    ['bad | ETH1 jsonrpc | 00:25 | no new block after 100, usually every 12s'],
  ],
  ['the chain pauses', {}, { tipAgeMs: 45_000 }, []],
])('%s', (_name, upstream, chain, expected) => {
  expect(said(upstream, chain)).toEqual(expected)
})

test.each([
  ['is late', 4, ['late: another upstream, asked as well, answered first in 4 of 15 attempts']],
  ['is not, since its clients left', 0, []],
])('a node whose attempts are given up %s', (_name, won, expected) => {
  const late = someUpstream('a', { attempts: { first: { answer: 10, aborted: 5 } } })
  const hedging = someUpstream('b', { attempts: { first: { answer: 20 }, hedge: { answer: won } } })
  const now = someFacts(100, [someChain([late, hedging])])
  const { problems } = viewOf([someLook(now)])
  expect(problems.map(({ what }) => what)).toEqual(expected)
})

test('the worst stands first: no upstream serves, then why each of them does not', () => {
  const bad = { state: 'rejected', why: 'chain-id: another network' }
  const upstreams = [
    someUpstream('a', { state: 'lagging', since: at(90) }),
    someUpstream('b', { ...bad, since: at(10) }),
    someUpstream('c', { state: 'held-off', since: at(60), until: at(130) }),
  ]
  const dark = someChain([...upstreams.slice(1)])
  const now = someFacts(100, [someChain(upstreams), { ...dark, name: 'BTC jsonrpc' }], {
    refused: '2 errors, see the log',
  })
  const { problems } = viewOf([someLook(now)])
  expect(problems.map((each) => `${each.severity} ${each.upstream ?? each.where}`)).toEqual([
    'down BTC jsonrpc',
    'bad b',
    'bad c',
    'bad b',
    'bad c',
    'odd one:7779',
    'odd a',
  ])
  expect(problems[0]).toMatchObject({
    what: 'none of 2 upstreams serves',
    since: at(60),
  })
  expect(problems[5]?.what).toBe('its new config is refused: 2 errors, see the log')
})
