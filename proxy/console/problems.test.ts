// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import {
  at,
  noClients,
  someChain,
  someFacts,
  someLook,
  someUpstream,
  took,
} from './facts.fixture.ts'
import { viewOf } from './view.ts'

const refusal = { at: at(90), atMs: undefined }
const active = { sha256: 'ab12', since: at(0), refused: null }

type Upstream = Parameters<typeof someUpstream>[1]
type Chain = Parameters<typeof someChain>[1]

/** Problems of a chain with an upstream `a` as specified, and a healthy `b`. */
function problemsOf(a: Upstream, chain: Chain = {}): string[] {
  const b = someUpstream('b', {
    attempts: { first: { answer: 20 } },
    latencyMs: 50,
  })
  const now = someFacts(100, [someChain([someUpstream('a', a), b], chain)])
  const { problems } = viewOf([someLook(now)])
  return problems.map(({ severity, where, upstream, since, what }) =>
    [severity, upstream ?? where, since?.slice(14, 19), what].filter(Boolean).join(' | '),
  )
}

const oneOfTwo = ['connection-refused', null].map((why, at) => {
  return { position: at + 1, url: 'https://a.example', why, since: null }
})
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
    'a backup out of service',
    { tier: 'backup', state: 'disabled', why: 'connection-refused', since: at(20) },
    {},
    ['bad | a | 00:20 | backup disabled: connection-refused'],
  ],
  [
    'behind the tip',
    { state: 'lagging', why: '9 blocks behind the tip', since: at(30) },
    {},
    ['odd | a | 00:30 | lagging: 9 blocks behind the tip'],
  ],
  [
    'in service, and silent',
    { why: '3 failures in a row, the last: probe: attempt-timeout (no answer in 5000 ms)' },
    {},
    ['odd | a | 3 failures in a row, the last: probe: attempt-timeout (no answer in 5000 ms)'],
  ],
  [
    'without requests left for the day',
    { isDayUsed: true, why: 'its limit of 20 requests a day is reached until 00:00 UTC' },
    {},
    ['bad | a | its limit of 20 requests a day is reached until 00:00 UTC'],
  ],
  ['two failures are bad luck', first({ answer: 1, 'attempt-timeout': 2 }), {}, []],
  [
    'failing in a tenth of few calls',
    first({ answer: 36, 'attempt-timeout': 4 }),
    {},
    ['odd | a | 10 % of attempts fail: attempt-timeout 4'],
  ],
  [
    'one URL of two failing',
    {
      ...first({ answer: 39, 'http-server-error': 41 }),
      byUrl: { '1 answered': 0, '2 answered': 39, '2 failed': 41 },
    },
    {},
    ['odd | a | 51 % of attempts fail: http-server-error 41; URL 2 of 2 failed 41 of 80 requests'],
  ],
  [
    'a URL that hangs in half of few calls, beside one that serves most',
    {
      ...first({ answer: 95, overtaken: 5 }),
      byUrl: { '1 answered': 90, '2 answered': 5, '2 overtaken': 5 },
    },
    {},
    ['odd | a | URL 2 of 2 hung in 5 of 10 requests'],
  ],
  ['seldom failing', first({ answer: 96, 'attempt-timeout': 4 }), {}, []],
  [
    'a limit on one method',
    {
      methodLimits: [
        { method: 'eth_getLogs', why: 'http-rate-limited (HTTP 429: no)', until: at(110) },
      ],
    },
    {},
    ['odd | a | limits eth_getLogs: http-rate-limited (HTTP 429: no)'],
  ],
  [
    'in service, and failing',
    first({ answer: 7, 'attempt-timeout': 2, 'connection-reset': 1 }),
    {},
    ['odd | a | 30 % of attempts fail: attempt-timeout 2, connection-reset 1'],
  ],
  [
    'slower than the others',
    { ...first({ answer: 20 }), latencyMs: 2_550 },
    {},
    ['odd | a | slow: 2.5s on average, the fastest one 50ms'],
  ],
  [
    'hanging in a third of its calls, which hedges hide',
    first({ answer: 12, overtaken: 6 }),
    {},
    ['odd | a | hangs: another upstream overtook 33% of its first attempts'],
  ],
  [
    'slow in every call, most of which hedges overtake',
    { ...first({ answer: 2, overtaken: 18 }), latencyMs: 2_550 },
    {},
    [
      'odd | a | slow: 2.5s on average, the fastest one 50ms; another upstream overtook 90% of its first attempts',
    ],
  ],
  [
    'hanging in a third, which makes it slow on average',
    { ...first({ answer: 12, overtaken: 6 }), latencyMs: 500 },
    {},
    [
      'odd | a | hangs: another upstream overtook 33% of its first attempts',
      'odd | a | slow: 500ms on average, the fastest one 50ms',
    ],
  ],
  ['overtaken twice', first({ answer: 8, overtaken: 2 }), {}, []],
  ['slow, seldom', { ...first({ answer: 4 }), latencyMs: 2_550 }, {}, []],
  ['not much slower', { ...first({ answer: 20 }), latencyMs: 290 }, {}, []],
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
    ['bad | ETH1 jsonrpc | 12 % of calls fail: timeout 12'],
  ],
  [
    'hardly anything is served',
    {},
    { outcomes: { success: 5, timeout: 95 } },
    ['down | ETH1 jsonrpc | 95 % of calls fail: timeout 95'],
  ],
  [
    'calls that take seconds',
    {},
    { durations: took(90, 0, 10) },
    ['odd | ETH1 jsonrpc | slow calls: P99 9.1s, see router explain --slow'],
  ],
  [
    'a fault, of which slowness and doubts are parts',
    {
      ...{ ...first({ answer: 20 }), latencyMs: 2_550, disputes: { mismatches: 3 } },
      fault: 'wrong about finalized blocks (votes lost: 39) since 00:00:07',
    },
    {},
    ['bad | a | wrong about finalized blocks (votes lost: 39) since 00:00:07; it still serves 50%'],
  ],
  [
    'the chain is stalled',
    {},
    { tipAgeMs: 75_000 },
    ['bad | ETH1 jsonrpc | 00:25 | no new block after 100, usually every 12s'],
  ],
  [
    'a storm of reorgs',
    {},
    { reorgs: '5 reorgs in 5 minutes, up to 3 blocks deep' },
    ['odd | ETH1 jsonrpc | more reorgs than usual: 5 reorgs in 5 minutes, up to 3 blocks deep'],
  ],
  [
    'most requests are refused',
    {},
    {
      outcomes: { success: 10, refused: 80 },
      refused: { 'method-denied': 80, 'parse-error': 60 },
    },
    ['odd | ETH1 jsonrpc | 93 % of requests are refused: method-denied 80, parse-error 60'],
  ],
  ['few are refused', {}, { outcomes: { refused: 9 }, refused: { 'method-denied': 9 } }, []],
  ['4 % are refused', {}, { outcomes: { success: 960 }, refused: { 'parse-error': 40 } }, []],
  [
    '5 % are refused',
    {},
    { outcomes: { success: 950 }, refused: { 'parse-error': 50 } },
    ['odd | ETH1 jsonrpc | 5 % of requests are refused: parse-error 50'],
  ],
  ['the router lacks memory', {}, { refused: { overloaded: 200 } }, []],
  ['the chain pauses', {}, { tipAgeMs: 45_000 }, []],
])('%s', (_name, upstream, chain, expected) => {
  expect(problemsOf(upstream, chain)).toEqual(expected)
})

test('clients that were cut off are a line of their own, with no upstream at fault', () => {
  const now = { ...someFacts(60, []), counts: { 'cut-offs': { clients: 3 } } }
  const said = viewOf([someLook(now)]).problems.map((each) => `${each.where}: ${each.what}`)
  expect(said).toEqual([
    'clients: 3 slow transfers cut off in the last minute: slow clients held half of `--max-buffered-bytes`',
  ])
})

test('a hang in one method names it', () => {
  const a = someUpstream('a', first({ answer: 92, overtaken: 8 }))
  const troubledMethods = { 'ETH1 jsonrpc a': 'eth_getBlockByNumber' }
  const facts = someFacts(100, [someChain([a])], { troubledMethods })
  expect(viewOf([someLook(facts)]).problems.map(({ what }) => what)).toEqual([
    'hangs: another upstream overtook 8.0% of its first attempts; nearly all in eth_getBlockByNumber',
  ])
})

test('a failure in part has its start, until it is half as frequent as at its begin', () => {
  const sinceOf = (fails: number, troubledSince: Record<string, string>) => {
    const a = someUpstream('a', first({ answer: 100 - fails, 'attempt-timeout': fails }))
    const facts = someFacts(100, [someChain([a])], { troubledSince })
    return viewOf([someLook(facts)]).problems.map(({ since }) => since)
  }
  const known = { 'ETH1 jsonrpc a': at(40) }
  expect(sinceOf(10, {})).toEqual([null])
  expect(sinceOf(10, known)).toEqual([at(40)])
  expect(sinceOf(5, {})).toEqual([])
  expect(sinceOf(5, known)).toEqual([at(40)])
  expect(sinceOf(4, known)).toEqual([])
})

test.each([
  ['all', 900, '; all from 10.0.0.7 viem/2'],
  ['most', 1_300, '; most from 10.0.0.7 viem/2'],
  ['perhaps few, because other chains refuse too', 1_400, ''],
])('of the refusals, one client sent %s', (_, perMinute, said) => {
  const one = { address: '10.0.0.7', userAgent: 'viem/2', perMinute: 900 }
  const chain = someChain([], { outcomes: { refused: 900 }, refused: { 'method-denied': 900 } })
  const refusals = { perMinute, clients: [one] }
  const clients = { calls: noClients, errors: noClients, refusals }
  const { problems } = viewOf([someLook(someFacts(60, [chain], { clients }))])
  expect(problems.map(({ what }) => what)).toContain(
    `100 % of requests are refused: method-denied 900${said}`,
  )
})

test('refusals have their last error, their start, and the config with which they began', () => {
  const chain = someChain([], {
    outcomes: { success: 100, refused: 27 },
    refused: { 'method-denied': 27 },
  })
  const refused = { 'ETH1 jsonrpc method-denied': { since: at(50), last: 'eth_getLogs is denied' } }
  const said = (since: string) => {
    const config = { ...active, since }
    const { problems } = viewOf([someLook(someFacts(60, [chain], { config, refused }))])
    return problems.filter(({ runbook }) => runbook === 'requests-refused')
  }
  const what = '21 % of requests are refused: method-denied 27, the last: eth_getLogs is denied'
  expect(said(at(40))).toMatchObject([
    { severity: 'odd', since: at(50), what: `${what}; since the config of 03:00:40` },
  ])
  expect(said(at(0))).toMatchObject([{ what }])
})

test('a method that fails is one problem of all replicas', () => {
  const trouble = {
    ...{ name: 'ETH1 jsonrpc', method: 'eth_sendRawTransaction', failed: 40, calls: 40 },
    ...{ since: at(20), before: { failed: 0, calls: 16 }, why: 'code -32000: txpool is full' },
  }
  const look = (name: string, ...methods: (typeof trouble)[]) =>
    someLook(someFacts(60, [someChain([])], { methods }), undefined, name)
  const problems = (...looks: Parameters<typeof viewOf>[0]) =>
    viewOf(looks).problems.filter(({ runbook }) => runbook === 'method-fails')
  const later = { ...trouble, since: at(30), before: { failed: 1, calls: 9 } }
  expect(problems(look('a', later), look('b', trouble))).toMatchObject([
    {
      ...{ severity: 'bad', where: 'ETH1 jsonrpc', since: at(20) },
      what: 'eth_sendRawTransaction: 80 of 80 calls get an error of the nodes (code -32000: txpool is full); before, 0 of 16 did',
    },
  ])
  const never = { ...trouble, method: 'eth_feeHistory', before: null as never }
  expect(problems(look('a', never), look('b'))).toMatchObject([
    {
      severity: 'odd',
      what: 'eth_feeHistory: 40 of 40 calls get an error of the nodes (code -32000: txpool is full); none has succeeded since the start at a only',
    },
  ])
})

test('a fault, a state and a failing store name their replicas unless all share them', () => {
  const fault = 'all 8 sessions are taken (max-sessions-per-provider) since 03:01:30'
  const store = { name: '127.0.0.1:6379 (resp-cache)', since: at(60) }
  const sticky = {
    ...store,
    feature: 'sessions' as const,
    why: 'requests with rpc-stickiness may fail: no answer',
  }
  const answers = { ...store, feature: 'cache' as const, why: 'answers are not shared: no answer' }
  const full = someFacts(100, [someChain([someUpstream('a', { fault })])], {
    stores: [answers, sticky],
  })
  const well = someFacts(100, [someChain([someUpstream('a')])])
  const texts = (other: typeof well) =>
    viewOf([someLook(full), someLook(other, undefined, 'two:7779')]).problems.map((each) =>
      [each.severity, each.upstream ?? each.where, each.since, each.what].join(' | '),
    )
  const named = `bad | store ${store.name} | ${at(60)} | ${answers.why}; ${sticky.why}`
  expect(texts(well)).toEqual([
    `${named} at one:7779 only`,
    `bad | a |  | ${fault} at one:7779 only; it still serves -`,
  ])
  expect(texts(full)).toEqual([named, `bad | a |  | ${fault}; it still serves -`])
  const pageFor = (...stores: (typeof answers | typeof sticky)[]) =>
    viewOf([someLook(someFacts(100, [], { stores }))]).problems[0]?.runbook
  expect(pageFor(answers)).toBe('cache-store-fails')
  expect(pageFor(answers, sticky)).toBe('sticky-sessions-fail')
})

test('the worst comes first: no upstream serves, then why', () => {
  const bad = { state: 'rejected', why: 'chain-id: another network' }
  const upstreams = [
    someUpstream('a', { state: 'lagging', since: at(90) }),
    someUpstream('b', { ...bad, since: at(10) }),
    someUpstream('c', { state: 'cooldown', since: at(60), until: at(130) }),
  ]
  const dark = someChain([...upstreams.slice(1)])
  const now = someFacts(100, [someChain(upstreams), { ...dark, name: 'BTC jsonrpc' }], {
    config: {
      ...active,
      refused: { ...refusal, why: '2 errors, see the log', sha256: 'cd', retries: false },
    },
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

test('replicas with different configs and upstreams are a problem', () => {
  const look = (sha256: string, upstreams: string[], name: string) => {
    const chain = someChain(upstreams.map((each) => someUpstream(each)))
    return someLook(someFacts(100, [chain], { config: { ...active, sha256 } }), undefined, name)
  }
  const said = (...looks: ReturnType<typeof look>[]) =>
    viewOf(looks).problems.map(({ severity, where, what }) => `${severity} ${where} ${what}`)
  expect(said(look('ab', ['a'], 'one'), look('ab', ['a'], 'two'))).toEqual([])
  expect(said(look('ab', ['a', 'b'], 'one'), look('cd', ['a'], 'two'))).toEqual([
    'odd replicas different configs are active: ab at one, cd at two; ' +
      'upstreams that not every replica has: b (ETH1 jsonrpc) at one only',
  ])
})

test('a state is everywhere only if every replica has the upstream', () => {
  const bad = someFacts(100, [someChain([someUpstream('a', { state: 'disabled' })])])
  const other = someFacts(100, [someChain([someUpstream('b')])])
  const { problems } = viewOf([someLook(bad), someLook(other, undefined, 'two:7779')])
  const found = problems.find(({ upstream }) => upstream === 'a')
  expect(found?.what).toBe('disabled at one:7779 only')
})

test.each<[string, Upstream, Chain, string]>([
  ['reorgs', {}, { reorgs: '5 reorgs in 5 minutes' }, 'reorgs'],
  ['the backup tier', {}, { isOnBackup: true }, 'no-endpoint-serving'],
  ['a part that fails', first({ answer: 7, 'attempt-timeout': 3 }), {}, 'upstream-unreliable'],
  ['a limit', { state: 'cooldown', why: 'rate limited' }, {}, 'upstream-in-cooldown'],
  ['an answer that does not fit', { disputes: { sent: 1 } }, {}, 'integrity-violation'],
  ['a flood of refusals', {}, { refused: { 'method-denied': 200 } }, 'requests-refused'],
  ['a finalized mismatch', { disputes: { mismatches: 1 } }, {}, 'finalized-mismatch'],
  ['disputed logs', { disputes: { 'logs undecided': 1 } }, {}, 'finalized-mismatch'],
  [
    'wrong logs',
    { fault: 'omitted or invented logs of final blocks (answers: 4)' },
    {},
    'finalized-mismatch',
  ],
  [
    'lost votes',
    { fault: 'wrong about finalized blocks (votes lost: 9)' },
    {},
    'finalized-mismatch',
  ],
  [
    'a silent WebSocket',
    { fault: 'its WebSocket accepts subscriptions and sends nothing (stalled: 1)' },
    {},
    'subscription-stuck',
  ],
  ['a lost URL', { why: '1 of 2 URLs serving', urls: oneOfTwo }, {}, 'redundancy-lost'],
])('%s: the line links its runbook', (_name, a, chain, runbook) => {
  const now = someFacts(100, [someChain([someUpstream('a', a)], chain)])
  expect(viewOf([someLook(now)]).problems.map((each) => each.runbook)).toContain(runbook)
})

test('the backup tier serves', () => {
  const upstreams = [
    someUpstream('a', { state: 'disabled' }),
    someUpstream('b', { tier: 'backup' }),
  ]
  const on = viewOf([someLook(someFacts(100, [someChain(upstreams, { isOnBackup: true })]))])
  expect(on.problems.map(({ what }) => what)).toContain(
    'no primary serves, so the backup tier does: b',
  )
})
