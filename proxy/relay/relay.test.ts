// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, describe, expect, it } from 'vitest'
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { RelayConfig } from '../config/types.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import {
  RelayFixture,
  ethereum,
  nodeError,
  result,
  scripted,
  type TestCall,
  type FixtureUpstream,
  type Upstreams,
} from './testing/relay-fixture.ts'

let chain: Chain
let iface: ChainInterface
beforeAll(async () => {
  ;({ chain, iface } = await ethereum())
})

function fixture(
  upstreams: Upstreams,
  config: Partial<RelayConfig & { maxSessions: number }> = {},
) {
  return new RelayFixture(chain, iface, scripted(upstreams), config)
}

const ok = result('0x1')
const okBody = ok.body
const refused: ScriptedAnswer = { fault: 'refused' }
const html = { status: 502, headers: ['content-type', 'text/html'], body: '<h1>Bad gateway</h1>' }
const revert = nodeError(3, 'execution reverted: no')
const backup = (answer: ScriptedAnswer): FixtureUpstream => ({
  script: () => answer,
  tier: 'backup',
})
const write: TestCall = { method: 'eth_sendRawTransaction', params: ['0x02f8'] }

interface Cell {
  readonly name: string
  readonly upstreams: Upstreams
  readonly request?: TestCall
  readonly config?: Partial<RelayConfig & { maxSessions: number }>
  /** Body for the client, or the reason of the router's error. */
  readonly outcome: string | undefined
  readonly sent: Readonly<Record<string, number>>
}

const cells: readonly Cell[] = [
  {
    name: 'one answer, one request',
    upstreams: { a: ok, b: ok },
    outcome: okBody,
    sent: { a: 1, b: 0 },
  },
  ...(['refused', 'unresolved', 'tls', 'reset', 'truncated', 'protocol'] as const).map((fault) => ({
    name: `${fault}: retried elsewhere`,
    upstreams: { a: { fault }, b: ok, c: ok },
    outcome: okBody,
    sent: { a: 1, b: 1, c: 0 },
  })),
  {
    name: 'an unsendable request: no other upstream or URL is tried',
    upstreams: { a: { script: () => ({ fault: 'unsendable' }), urls: [{}, {}] }, b: ok },
    outcome: 'unsendable',
    sent: { a: 1, b: 0 },
  },
  {
    name: 'an error page: retried elsewhere',
    upstreams: { a: html, b: ok },
    outcome: okBody,
    sent: { a: 1, b: 1 },
  },
  ...[400, 401, 403, 404, 405, 406, 411, 413, 414, 415, 417, 418, 422, 426, 431].flatMap(
    (status) => [
      {
        name: `a page with HTTP ${status}: retried elsewhere`,
        upstreams: { a: { ...html, status }, b: ok, c: ok },
        outcome: okBody,
        sent: { a: 1, b: 1, c: 0 },
      },
      {
        name: `a page with HTTP ${status} from every upstream: the client gets it`,
        upstreams: { a: { ...html, status }, b: { ...html, status }, c: { ...html, status } },
        outcome: html.body,
        sent: { a: 1, b: 1, c: 1 },
      },
    ],
  ),
  {
    name: 'a write that gets pages with HTTP 400: retried at the backup',
    upstreams: { a: { ...html, status: 400 }, b: { ...html, status: 400 }, z: backup(ok) },
    request: write,
    outcome: okBody,
    sent: { a: 1, b: 1, z: 1 },
  },
  ...[
    nodeError(-32700, 'parse error'),
    nodeError(-32600, 'Invalid Request', { status: 400 }),
  ].flatMap((unread) => [
    {
      name: `a node that cannot parse the request (${unread.status ?? 200}): retried elsewhere`,
      upstreams: { a: unread, b: ok, c: ok },
      outcome: okBody,
      sent: { a: 1, b: 1, c: 0 },
    },
    {
      name: `three nodes that cannot parse it (${unread.status ?? 200}): the client gets the error`,
      upstreams: { a: unread, b: unread, c: unread, d: ok },
      outcome: unread.body,
      sent: { a: 1, b: 1, c: 1, d: 0 },
    },
    {
      name: `a write that no primary can parse (${unread.status ?? 200}): sent to the backup`,
      upstreams: { a: unread, z: backup(ok) },
      request: write,
      outcome: okBody,
      sent: { a: 1, z: 1 },
    },
  ]),
  {
    name: 'bad parameters with HTTP 400 are the answer: the body decides',
    upstreams: { a: nodeError(-32602, 'invalid params', { status: 400 }), b: ok },
    outcome: nodeError(-32602, 'invalid params').body,
    sent: { a: 1, b: 0 },
  },
  {
    name: 'an empty answer: retried elsewhere',
    upstreams: { a: { body: '' }, b: ok },
    outcome: okBody,
    sent: { a: 1, b: 1 },
  },
  {
    name: 'a block that this node does not have yet: retried elsewhere',
    upstreams: { a: nodeError(-32000, 'header not found'), b: ok },
    outcome: okBody,
    sent: { a: 1, b: 1 },
  },
  {
    name: 'pruned state: retried elsewhere',
    upstreams: { a: nodeError(-32000, 'missing trie node 12ab (path )'), b: ok },
    outcome: okBody,
    sent: { a: 1, b: 1 },
  },
  {
    name: 'a revert is the answer, unmodified',
    upstreams: { a: revert, b: ok },
    request: { method: 'eth_call', params: [{}, 'latest'] },
    outcome: revert.body,
    sent: { a: 1, b: 0 },
  },
  {
    name: 'result null is the answer',
    upstreams: { a: result(null), b: ok },
    request: { method: 'eth_getTransactionReceipt', params: [`0x${'7'.repeat(64)}`] },
    outcome: result(null).body,
    sent: { a: 1, b: 0 },
  },
  {
    name: 'two retries at most',
    upstreams: { a: html, b: html, c: html, d: ok },
    outcome: html.body,
    sent: { a: 1, b: 1, c: 1, d: 0 },
  },
  {
    name: 'refused connections cost no retry: five dead upstreams do not hide the sixth',
    upstreams: { a: refused, b: refused, c: refused, d: refused, e: refused, f: ok },
    outcome: okBody,
    sent: { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 },
  },
  {
    name: 'refused connections after the last retry cost nothing either',
    upstreams: { a: html, b: html, c: refused, d: ok },
    outcome: okBody,
    sent: { a: 1, b: 1, c: 1, d: 1 },
  },
  {
    name: 'the limit of attempts',
    upstreams: { a: refused, b: refused, c: refused, d: ok },
    config: { maxAttempts: 3 },
    outcome: 'upstream-failed',
    sent: { a: 1, b: 1, c: 1, d: 0 },
  },
  {
    name: 'retries off',
    upstreams: { a: refused, b: ok },
    config: { retryLimit: 0 },
    outcome: 'upstream-failed',
    sent: { a: 1, b: 0 },
  },
  {
    name: 'the most informative error: an error of a node before an error page',
    upstreams: { a: nodeError(-32000, 'header not found'), b: html, c: { fault: 'reset' } },
    outcome: nodeError(-32000, 'header not found').body,
    sent: { a: 1, b: 1, c: 1 },
  },
  {
    name: 'the only upstream is retried after a lost connection',
    upstreams: { a: { fault: 'reset' } },
    outcome: 'upstream-failed',
    sent: { a: 3 },
  },
  {
    name: 'the only upstream is not retried after a node error',
    upstreams: { a: nodeError(-32000, 'header not found') },
    outcome: nodeError(-32000, 'header not found').body,
    sent: { a: 1 },
  },
  {
    name: 'backups wait while a primary serves',
    upstreams: { z: backup(ok), a: ok },
    outcome: okBody,
    sent: { z: 0, a: 1 },
  },
  {
    name: 'backups take over a call that every primary failed',
    upstreams: { a: refused, b: refused, z: backup(ok) },
    outcome: okBody,
    sent: { a: 1, b: 1, z: 1 },
  },
  {
    name: 'no upstream is verified yet',
    upstreams: { a: { script: () => ok, verified: false } },
    outcome: 'no-upstream',
    sent: { a: 0 },
  },
  {
    name: 'an upstream with too many calls is full, not failed',
    upstreams: { a: ok, b: ok },
    config: { maxSessions: 0 },
    outcome: 'no-upstream',
    sent: { a: 0, b: 0 },
  },
  {
    name: 'only the upstream that declares the add-on is used',
    upstreams: { a: ok, b: { script: () => ok, urls: [{ addons: ['debug'] }] } },
    request: { method: 'debug_traceTransaction', params: ['0x12'] },
    outcome: okBody,
    sent: { a: 0, b: 1 },
  },
  {
    name: 'no upstream declares the add-on',
    upstreams: { a: ok },
    request: { method: 'debug_traceTransaction', params: ['0x12'] },
    outcome: 'addon-not-declared',
    sent: { a: 0 },
  },
  {
    name: 'one bad URL: failover to the next URL of the upstream',
    upstreams: { a: { script: () => refused, urls: [{}, {}], otherScripts: [() => ok] }, b: ok },
    outcome: okBody,
    sent: { a: 2, b: 0 },
  },
  {
    name: 'more URLs than attempts: the last URL is not tried',
    upstreams: { a: { script: () => refused, urls: [{}, {}, {}], otherScripts: [() => refused] } },
    config: { maxAttempts: 2 },
    outcome: 'upstream-failed',
    sent: { a: 2 },
  },
  {
    name: 'rpc-select-provider',
    upstreams: { a: ok, b: ok },
    request: { directives: { selectProvider: 'b' } },
    outcome: okBody,
    sent: { a: 0, b: 1 },
  },
  {
    name: 'rpc-select-provider fails over to the pool',
    upstreams: { a: ok, b: refused },
    request: { directives: { selectProvider: 'b' } },
    outcome: okBody,
    sent: { a: 1, b: 1 },
  },
  {
    name: 'rpc-select-provider with an unknown name',
    upstreams: { a: ok },
    request: { directives: { selectProvider: 'unknown' } },
    outcome: okBody,
    sent: { a: 1 },
  },
  {
    name: 'rpc-providers-block',
    upstreams: { a: ok, b: ok, c: ok },
    request: { directives: { blockProviders: ['a', 'b'] } },
    outcome: okBody,
    sent: { a: 0, b: 0, c: 1 },
  },
  {
    name: 'rpc-extension',
    upstreams: { a: ok, b: { script: () => ok, urls: [{ addons: ['archive'] }] } },
    request: { directives: { extension: 'archive' } },
    outcome: okBody,
    sent: { a: 0, b: 1 },
  },
  {
    name: 'a write goes to every eligible primary, and to no backup',
    upstreams: { a: ok, b: ok, z: backup(ok) },
    request: write,
    outcome: okBody,
    sent: { a: 1, b: 1, z: 0 },
  },
  {
    name: 'a write: the first success is the answer, whatever others return',
    upstreams: { a: nodeError(-32000, 'already known', { afterMs: 1 }), b: ok },
    request: write,
    outcome: okBody,
    sent: { a: 1, b: 1 },
  },
  {
    name: 'a write that every node rejects: the error of a node',
    upstreams: { a: nodeError(-32000, 'nonce too low'), b: nodeError(-32000, 'nonce too low') },
    request: write,
    outcome: nodeError(-32000, 'nonce too low').body,
    sent: { a: 1, b: 1 },
  },
  {
    name: 'a write that no primary received: sent to the backup',
    upstreams: { a: refused, b: refused, z: backup(ok) },
    request: write,
    outcome: okBody,
    sent: { a: 1, b: 1, z: 1 },
  },
  {
    name: 'a write: an error page is no success',
    upstreams: { a: html, b: { ...ok, afterMs: 5 } },
    request: write,
    outcome: okBody,
    sent: { a: 1, b: 1 },
  },
  {
    name: 'a write without an available primary: sent to the backup',
    upstreams: { a: { status: 429, body: 'slow down' }, b: html, z: backup(ok) },
    request: write,
    outcome: okBody,
    sent: { a: 1, b: 1, z: 1 },
  },
  {
    name: 'a write that a node rejects for good: not sent to the backup',
    upstreams: { a: html, b: nodeError(-32000, 'nonce too low'), z: backup(ok) },
    request: write,
    outcome: nodeError(-32000, 'nonce too low').body,
    sent: { a: 1, b: 1, z: 0 },
  },
  {
    name: 'a write that fails everywhere: sent to each once, with the most informative error',
    upstreams: { a: html, b: { fault: 'reset', afterMs: 5 }, z: backup({ fault: 'reset' }) },
    request: write,
    outcome: html.body,
    sent: { a: 1, b: 1, z: 1 },
  },
  {
    name: 'a write that no upstream answers: not resent',
    upstreams: { a: { fault: 'reset' }, b: { hang: true } },
    request: write,
    outcome: 'timeout',
    sent: { a: 1, b: 1 },
  },
  ...(['reset', 'truncated', 'protocol', 'timeout'] as const).flatMap((fault) => {
    const a = { script: () => ({ fault }), urls: [{}, {}], otherScripts: [() => ok] }
    const outcome = fault === 'timeout' ? 'timeout' : 'upstream-failed'
    return [
      {
        name: `a write that was sent, ${fault}: no failover to another URL`,
        upstreams: { a },
        request: write,
        outcome,
        sent: { a: 1 },
      },
      {
        name: `a transaction for the node to sign that was sent, ${fault}: never resent`,
        upstreams: { a, b: ok },
        request: { method: 'eth_sendTransaction', params: [{}] },
        outcome,
        sent: { a: 1, b: 0 },
      },
    ]
  }),
  {
    name: 'a write that used all the time: not sent to the backup',
    upstreams: { a: { hang: true }, b: backup(ok) },
    request: write,
    config: { processingTimeoutMs: 1_000 },
    outcome: 'timeout',
    sent: { a: 1, b: 0 },
  },
  {
    name: 'a write for a selected upstream goes only there',
    upstreams: { a: ok, b: ok },
    request: { ...write, directives: { selectProvider: 'b' } },
    outcome: okBody,
    sent: { a: 0, b: 1 },
  },
  {
    name: 'a write for a selected upstream that fails goes to all others',
    upstreams: { a: ok, b: { fault: 'reset' }, c: ok },
    request: { ...write, directives: { selectProvider: 'b' } },
    outcome: okBody,
    sent: { a: 1, b: 1, c: 1 },
  },
  {
    name: 'a write that the selected upstream rejects for good goes to no other',
    upstreams: { a: ok, b: nodeError(-32000, 'insufficient funds for gas * price + value') },
    request: { ...write, directives: { selectProvider: 'b' } },
    outcome: nodeError(-32000, 'insufficient funds for gas * price + value').body,
    sent: { a: 0, b: 1 },
  },
  {
    name: 'a write for a selected upstream that hangs goes to all others after the hedge delay',
    upstreams: { a: ok, b: { hang: true } },
    request: { ...write, directives: { selectProvider: 'b' } },
    config: { processingTimeoutMs: 3_000 },
    outcome: okBody,
    sent: { a: 1, b: 1 },
  },
  {
    name: 'a write for an unknown upstream goes to all',
    upstreams: { a: ok, b: ok },
    request: { ...write, directives: { selectProvider: 'unknown' } },
    outcome: okBody,
    sent: { a: 1, b: 1 },
  },
  {
    name: 'a call about the state of one node is not sent to another once it was sent',
    upstreams: { a: { fault: 'reset' }, b: ok },
    request: { method: 'eth_accounts', params: [] },
    outcome: 'upstream-failed',
    sent: { a: 1, b: 0 },
  },
]

describe('the relay', () => {
  it.each(cells)('$name', async ({ upstreams, request, config, outcome, sent }) => {
    const relay = fixture(upstreams, config)
    const reply = await relay.ask(request)
    expect({ outcome: reply.outcome, sent: relay.sent }).toEqual({ outcome, sent })
    await relay.clock.advance(60_000)
    expect(relay.clock.pending, 'timers left behind').toBe(0)
    expect(relay.pool.upstreams.map(({ usedSlots }) => usedSlots)).not.toContain(1)
  })
})

describe('the time budget', () => {
  it('retries elsewhere when an upstream hangs, and aborts that attempt', async () => {
    const relay = fixture({ a: { hang: true }, b: ok }, { maxAttempts: 10 })
    const reply = await relay.ask()
    expect(reply.upstream).toBe('b')
    expect(relay.transport('a').aborted).toBe(1)
  })

  it.each([
    ['rpc-relay-timeout verbatim, below the floor', { relayTimeoutMs: 200 }, {}, 200],
    ['the timeout of the URL', {}, { timeoutMs: 400 }, 400],
    [
      'rpc-relay-timeout over the timeout of the URL',
      { relayTimeoutMs: 200 },
      { timeoutMs: 400 },
      200,
    ],
  ])('of one attempt: %s', async (_name, directives, url, ms) => {
    const relay = fixture({ a: { script: () => ({ hang: true }), urls: [url] } })
    const reply = await relay.ask({ directives })
    expect(reply.outcome).toBe('timeout')
    expect(reply.tookMs).toBe(3 * ms)
  })

  it('of one attempt includes two block times if the call waits for a block', async () => {
    const relay = fixture({ a: { hang: true } }, { processingTimeoutMs: 300_000 })
    void relay.begin({ method: 'eth_sendRawTransactionSync', params: ['0x02f8'] })
    const failures = () => relay.pool.upstreams[0]?.urls[0]?.failures
    await relay.clock.advance(10_000 + 2 * chain.blockTimeMs - 1)
    expect(failures()).toBe(0)
    await relay.clock.advance(1)
    expect(failures()).toBe(1)
  })

  it('of the call ends it even if attempts remain', async () => {
    const relay = fixture(
      { a: { hang: true }, b: { hang: true }, c: { hang: true } },
      { processingTimeoutMs: 1_500 },
    )
    const reply = await relay.ask()
    expect([reply.outcome, reply.tookMs]).toEqual(['timeout', 1_500])
  })

  it('ends when the client disconnects: the attempt is aborted and not retried', async () => {
    const client = new AbortController()
    const relay = fixture({ a: { hang: true }, b: ok })
    const reply = relay.begin({ signal: client.signal })
    await relay.clock.advance(10)
    client.abort()
    expect((await reply).outcome).toBe('CallAborted')
    expect(relay.sent).toEqual({ a: 1, b: 0 })
    expect(relay.transport('a').open).toBe(0)
    expect(relay.pool.upstreams[0]?.availability.standing).toBe('eligible')
  })

  it('does not abort a transaction when the client disconnects', async () => {
    const client = new AbortController()
    const relay = fixture({
      a: result('0x1', { afterMs: 500 }),
      b: result('0x1', { afterMs: 900 }),
    })
    const reply = relay.begin({ ...write, signal: client.signal })
    await relay.clock.advance(10)
    client.abort()
    await relay.clock.advance(1_000)
    expect((await reply).outcome).toBe(okBody)
    expect([relay.transport('a').aborted, relay.transport('b').aborted]).toEqual([0, 0])
  })
})

it('a reported head is as old as its request', async () => {
  const relay = fixture({ a: result('0x10', { afterMs: 300 }) })
  const request: TestCall = { method: 'eth_blockNumber', params: [] }
  const early = relay.begin(request)
  await relay.clock.advance(100)
  relay.transport('a').play(() => result('0x12'))
  await relay.ask(request)
  await relay.clock.advance(300)
  // Clients have seen a later block in between.
  expect((await early).outcome).toBe(result('0x12').body)
  expect(relay.pool.upstreams[0]?.latest?.block).toBe(0x12)
})

describe('availability under traffic', () => {
  it('disables a dead upstream until a call succeeds there', async () => {
    const relay = fixture({ a: refused, b: ok })
    for (let each = 0; each < 20; each++) expect((await relay.ask()).outcome).toBe(okBody)
    expect(relay.sent['a']).toBe(3)
    expect(relay.events).toEqual(['a: eligible > disabled'])
    relay.transport('a').play(() => ok)
    relay.transport('b').play(() => refused)
    expect((await relay.ask()).upstream).toBe('a')
    expect(relay.events).toContain('a: disabled > eligible')
  })

  it('does not blame a node for its error answers', async () => {
    const relay = fixture({ a: revert })
    for (let each = 0; each < 20; each++) await relay.ask()
    expect(relay.events).toEqual([])
  })

  it('does not blame an upstream for rejecting a method that is in no spec', async () => {
    const forbidden = { status: 403, body: '<html>Forbidden</html>' } as const
    const relay = fixture({ a: forbidden })
    for (let each = 0; each < 20; each++) await relay.ask({ method: 'made_up' })
    const { score } = relay.pool.upstreams[0]!
    expect(score.availability(relay.clock.nowMs())).toBe(1)
    expect(relay.events).toEqual([])
    for (let each = 0; each < 20; each++) await relay.ask()
    expect(relay.events).toEqual(['a: eligible > disabled', 'breaker open'])
  })

  it.each([
    ['the timeout of a client', { relayTimeoutMs: 20 }, {}],
    ['the remaining time of the call', {}, { processingTimeoutMs: 500 }],
  ])('does not blame an upstream that exceeds %s', async (_name, directives, config) => {
    const relay = fixture({ a: result('0x1', { afterMs: 600 }) }, config)
    for (let each = 0; each < 20; each++)
      expect((await relay.ask({ directives })).outcome).toBe('timeout')
    expect(relay.events).toEqual([])
  })

  it.each([
    [400, ['a: eligible > disabled']],
    [415, ['a: eligible > disabled']],
    // The client's request may be too long for a node.
    [413, []],
    [431, []],
  ])(
    'serves every call while one of three upstreams returns pages with HTTP %i',
    async (status, events) => {
      const relay = fixture({ a: { ...html, status }, b: ok, c: ok })
      for (let each = 0; each < 60; each++) expect((await relay.ask()).outcome).toBe(okBody)
      expect(relay.events).toEqual(events)
    },
  )

  it.each([
    ['2.5', 2_500],
    ['3600', 30_000],
  ])('skips an upstream with HTTP 503 and Retry-After %s for %i ms', async (seconds, pauseMs) => {
    const headers = ['Retry-After', seconds]
    const relay = fixture({ a: { ...html, status: 503, headers }, b: ok })
    for (let each = 0; each < 4; each++) expect((await relay.ask()).outcome).toBe(okBody)
    await relay.clock.advance(pauseMs - 100)
    for (let each = 0; each < 4; each++) await relay.ask()
    expect(relay.sent['a']).toBe(1)
    await relay.clock.advance(200)
    for (let each = 0; each < 4; each++) expect((await relay.ask()).outcome).toBe(okBody)
    expect(relay.sent['a']).toBe(2)
    expect(relay.events).toEqual(Array(2).fill(`a: cooldown ${pauseMs} ms`))
  })

  it.each([429, 503])(
    'fails calls with rate-limited while all are in cooldown after HTTP %i',
    async (status) => {
      const relay = fixture({ a: { ...html, status, headers: ['Retry-After', '20'] } })
      expect((await relay.ask()).outcome).toBe(html.body)
      for (let each = 0; each < 3; each++) {
        const { outcome, call } = await relay.ask()
        expect([outcome, call.journal.attempts.length]).toEqual(['rate-limited', 0])
      }
      expect(relay.sent).toEqual({ a: 1 })
      // One call in two seconds is a trial, and fails in the router's words if it fails.
      await relay.clock.advance(2_000)
      for (let each = 0; each < 3; each++) expect((await relay.ask()).outcome).toBe('rate-limited')
      expect(relay.sent).toEqual({ a: 2 })
    },
  )

  it('ends a cooldown when a trial shows that the limit is over', async () => {
    let isLimited = true
    const quota = nodeError(-32005, 'daily request count exceeded, request rate limited')
    const relay = fixture({ a: { script: () => (isLimited ? quota : ok) } })
    await relay.ask()
    isLimited = false
    expect((await relay.ask()).outcome).toBe('rate-limited')
    await relay.clock.advance(31_000)
    expect((await relay.ask()).outcome).toBe(okBody)
    expect((await relay.ask()).outcome).toBe(okBody)
  })

  it.each([
    ['without Retry-After', [], 'eth_getBalance'],
    ['with an invalid Retry-After', ['Retry-After', 'soon'], 'eth_getBalance'],
    [
      'for a method that is in no spec, which any client can invent',
      ['Retry-After', '9'],
      'odd_method',
    ],
  ])('still uses an upstream with HTTP 503 %s', async (_case, headers, method) => {
    const relay = fixture({ a: { ...html, status: 503, headers } })
    for (let each = 0; each < 3; each++) await relay.ask({ method })
    expect(relay.sent['a']).toBeGreaterThan(2)
    expect(relay.events.join()).not.toContain('cooldown')
  })

  it('does not disable an upstream for one bad URL', async () => {
    const relay = fixture({
      a: { script: () => refused, urls: [{}, {}], otherScripts: [() => ok] },
    })
    for (let each = 0; each < 20; each++) expect((await relay.ask()).outcome).toBe(okBody)
    expect(relay.events).toEqual([])
    expect(relay.transport('a', 0).requests.length).toBeLessThan(5)
  })

  it('does not disable an upstream when many calls hit one bad URL at once', async () => {
    const relay = fixture({
      a: { script: () => refused, urls: [{}, {}], otherScripts: [() => ok] },
    })
    const all = Array.from({ length: 5 }, () => relay.begin())
    await relay.clock.advance(1_000)
    for (const reply of all) expect((await reply).outcome).toBe(okBody)
    expect(relay.events).toEqual([])
  })

  it('prefers a recovered URL to one that failed since', async () => {
    const relay = fixture({
      a: { script: () => refused, urls: [{}, {}], otherScripts: [() => ok] },
    })
    const [first, second] = [relay.transport('a', 0), relay.transport('a', 1)]
    const all = [relay.begin(), relay.begin()]
    await relay.clock.advance(1_000)
    await Promise.all(all)
    first.play(() => ok)
    second.play(() => refused)
    expect((await relay.ask()).outcome).toBe(okBody)
    const before = second.requests.length
    await relay.ask()
    expect(second.requests).toHaveLength(before)
  })

  it('puts a URL that answers 429 into cooldown for its Retry-After', async () => {
    const limited = { status: 429, headers: ['Retry-After', '7'], body: 'slow down' }
    const relay = fixture({ a: limited, b: ok })
    expect((await relay.ask()).upstream).toBe('b')
    for (let each = 0; each < 9; each++) await relay.ask()
    expect(relay.sent['a']).toBe(1)
    expect(relay.events).toEqual(['a: cooldown 7000 ms'])
    await relay.clock.advance(7_000)
    await relay.ask()
    await relay.ask()
    expect(relay.sent['a']).toBe(2)
  })

  it('does not fail over to a URL whose cooldown began during the first attempt', async () => {
    const limited = { status: 429, body: 'slow down' }
    const late = { fault: 'reset', afterMs: 500 } as const
    const relay = fixture({
      a: { script: () => late, urls: [{}, {}], otherScripts: [() => limited] },
    })
    const first = relay.begin()
    await relay.clock.advance(100)
    relay.transport('a', 0).play(() => ({ fault: 'refused' }))
    expect((await relay.ask()).outcome).toBe('slow down')
    await relay.clock.advance(5_000)
    await first
    expect(relay.transport('a', 1).requests).toHaveLength(1)
  })

  it('fails a write over to another URL after a rate limit', async () => {
    const limited = { status: 429, body: 'slow down' }
    const a = { script: () => limited, urls: [{}, {}], otherScripts: [() => ok] }
    const relay = fixture({ a })
    expect((await relay.ask(write)).outcome).toBe(okBody)
    expect([0, 1].map((url) => relay.transport('a', url).requests.length)).toEqual([1, 1])
  })

  it('returns the 429 when no other upstream can answer', async () => {
    const relay = fixture({ a: { status: 429, body: 'slow down' } })
    expect((await relay.ask()).outcome).toBe('slow down')
  })
})
