// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Transaction, Wallet } from 'ethers'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { RelayConfig } from '../config/types.ts'
import { toHash } from '../json/values.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import {
  RelayFixture,
  ethereum,
  nodeError,
  result,
  type TestCall,
} from './testing/relay-fixture.ts'

let chain: Chain
let iface: ChainInterface
beforeAll(async () => {
  ;({ chain, iface } = await ethereum())
})

type Answers = Readonly<Record<string, ScriptedAnswer | ScriptedAnswer[]>>

/** Upstreams that give the same answer always, or these answers in turn and then the last. */
function fixture(answers: Answers, config: Partial<RelayConfig> = {}): RelayFixture {
  const upstreams = Object.entries(answers).map(([name, each]) => {
    const left = Array.isArray(each) ? [...each] : [each]
    return [name, { script: () => (left.length > 1 ? left.shift() : left[0])! }]
  })
  return new RelayFixture(chain, iface, Object.fromEntries(upstreams), config)
}

const hash = (digit: string) => `0x${digit.repeat(64)}`
const block = (number: string, parentHash = hash('b')) =>
  result({
    number,
    hash: hash('a'),
    parentHash,
    gasUsed: '0x0',
    timestamp: '0x1',
    transactions: [],
  })
const truth = block('0x10')
const lie = block('0x11')
const request: TestCall = { method: 'eth_getBlockByNumber', params: ['0x10', false] }
const raw = await new Wallet(hash('1')).signTransaction({
  to: `0x${'2'.repeat(40)}`,
  nonce: 1,
  gasLimit: 21_000n,
  gasPrice: 7n,
  chainId: 1,
})
const sentHash = Transaction.from(raw).hash as string
const write: TestCall = { method: 'eth_sendRawTransaction', params: [raw] }
const known = nodeError(-32000, 'already known')
const accepted = result(sentHash)

describe('an untrue answer', () => {
  it('that a second upstream gives as well is passed on, and no upstream is blamed', async () => {
    const relay = fixture({ a: lie, b: lie, c: truth })
    for (let each = 0; each < 9; each++) {
      const seen = await relay.ask({ ...request, directives: { blockProviders: ['c'] } })
      expect(seen.outcome).toBe(lie.body)
      const { attempts } = seen.call.journal
      expect(attempts.map(({ result, violation }) => [result, violation])).toEqual([
        ['answer', null],
        ['answer', null],
      ])
    }
    expect(relay.events).toEqual([])
  })

  it('is never given while an honest upstream is left, and is blamed', async () => {
    const relay = fixture({ a: lie, b: truth })
    const seen = await relay.ask(request)
    expect([seen.outcome, relay.sent]).toEqual([truth.body, { a: 1, b: 1 }])
    expect(seen.call.journal.attempts[0]).toMatchObject({
      result: { name: 'integrity-violated', reported: true, weight: 1 },
      detail: 'block-number',
      violation: { check: 'block-number', detail: 'asked for 16, got 17' },
    })
    for (let each = 0; each < 20; each++) await relay.ask(request)
    expect(relay.events).toEqual(['a: eligible > disabled'])
  })

  it('is no answer even when no upstream is left: the call fails with the reason', async () => {
    const relay = fixture({ a: lie, b: { fault: 'refused' } })
    expect((await relay.ask(request)).outcome).toBe('integrity')
  })

  it("does not hide another node's own error", async () => {
    const error = nodeError(-32000, 'header not found')
    expect((await fixture({ a: lie, b: error }).ask(request)).outcome).toBe(error.body)
  })

  it.each(['off', 'envelope'] as const)('is an answer at level %s', async (integrity) => {
    const seen = await fixture({ a: lie, b: truth }, { integrity }).ask(request)
    expect(seen.outcome).toBe(lie.body)
  })

  it.each([
    ['off', '{"id":1,"resu', '{"id":1,"resu'],
    ['envelope', '{"id":1,"resu', truth.body],
    ['full', '{"id":1,"resu', truth.body],
  ] as const)('at level %s: a body that is cut', async (integrity, body, outcome) => {
    const seen = await fixture({ a: { body }, b: truth }, { integrity }).ask(request)
    expect(seen.outcome).toBe(outcome)
  })

  it.each([
    ['cut', '{"id":1,"resu'],
    ['a page', '<html>'],
    ['without a result', '{"jsonrpc":"2.0","id":1}'],
  ])('%s: it is counted as a violation of the envelope', async (_name, body) => {
    const seen = await fixture({ a: { body }, b: truth }).ask(request)
    expect(seen.call.journal.attempts.map(({ violation }) => violation?.check)).toEqual([
      'envelope',
      undefined,
    ])
    const alone = await fixture({ a: { body } }).ask(request)
    expect(alone.outcome).toBe('upstream-failed')
  })

  it('an error page is none: its status shows the failure', async () => {
    const seen = await fixture({ a: { status: 502, body: '<html>' }, b: truth }).ask(request)
    expect(seen.call.journal.attempts.map(({ violation }) => violation)).toEqual([null, null])
  })

  it('of a write is none: the hash of another transaction', async () => {
    const seen = await fixture({ a: result(hash('9')), b: { ...accepted, afterMs: 50 } }).ask(write)
    expect([seen.outcome, seen.upstream]).toEqual([accepted.body, 'b'])
    const alone = await fixture({ a: result(hash('9')) }).ask(write)
    expect(alone.outcome).toBe('integrity')
  })

  it('of a write is none: null, however fast', async () => {
    const answers = { a: result(null), b: { ...accepted, afterMs: 50 } }
    const seen = await fixture(answers).ask(write)
    expect([seen.outcome, seen.upstream]).toEqual([accepted.body, 'b'])
    const alone = await fixture({ a: result(null) }).ask(write)
    expect(alone.outcome).toBe('integrity')
  })
})

describe('a block with another parent than before', () => {
  const otherParent = block('0x10', hash('c'))

  it('is asked for elsewhere, whatever showed the block first', async () => {
    const relay = fixture({ a: otherParent, b: truth })
    const { tracker } = relay.pool
    const shown = { number: 16, hash: toHash(hash('a')), parent: toHash(hash('b')) }
    tracker.showBlock({ ...shown, isByHash: false })
    const directives = { selectProvider: 'a' }
    expect((await relay.ask({ ...request, directives })).outcome).toBe(truth.body)
    expect(relay.sent).toEqual({ a: 1, b: 1 })
  })

  it('is asked for elsewhere, and is the answer when no other upstream is left', async () => {
    const relay = fixture({ a: [otherParent, truth], b: truth })
    const without = { ...request, directives: { blockProviders: ['b'] } }
    expect((await relay.ask(without)).outcome).toBe(otherParent.body)
    expect((await relay.ask(without)).outcome).toBe(truth.body)
    expect(relay.events).toEqual([])
  })
})

describe('null for a block', () => {
  const ahead = (relay: RelayFixture) => {
    for (const upstream of relay.pool.upstreams)
      relay.pool.observeHead(upstream, 0x20, 0, upstream.urls[0]!)
  }
  const missing = result(null)

  it('that exists is noted, and asked elsewhere where its node has reported the block', async () => {
    const relay = fixture({ a: missing, b: truth })
    ahead(relay)
    const seen = await relay.ask(request)
    expect([seen.outcome, relay.sent]).toEqual([truth.body, { a: 1, b: 1 }])
    expect(seen.call.journal.attempts[0]).toMatchObject({ result: 'answer', missedBlock: true })
  })

  it('that exists is an answer, and noted, where its node has not reported the block', async () => {
    const relay = fixture({ a: missing, b: truth })
    const [, b] = relay.pool.upstreams
    relay.pool.observeHead(b!, 0x20, 0, b!.urls[0]!)
    const seen = await relay.ask(request)
    expect([seen.outcome, relay.sent]).toEqual([missing.body, { a: 1, b: 0 }])
    expect(seen.call.journal.attempts[0]).toMatchObject({ result: 'answer', missedBlock: true })
  })

  it.each([
    ['is not noted when no tip is known', null, '0x10', false],
    ['is not noted when the tip is below it', 0xf, '0x10', false],
    ['is not noted when it is still to come', 0x20, 'pending', false],
    ['is noted when it is the tip itself', 0x10, '0x10', true],
  ])('%s', async (_case, tip, number, missedBlock) => {
    const relay = fixture({ a: missing })
    const [upstream] = relay.pool.upstreams
    if (tip !== null) relay.pool.observeHead(upstream!, tip, 0, upstream!.urls[0]!)
    const seen = await relay.ask({ ...request, params: [number, false] })
    expect(seen.call.journal.attempts[0]?.missedBlock).toBe(missedBlock)
  })

  it('is asked elsewhere where that is switched on, without blame', async () => {
    const relay = fixture({ a: missing, b: truth }, { retryMissingBlocks: true })
    ahead(relay)
    for (let each = 0; each < 10; each++)
      expect((await relay.ask(request)).outcome).toBe(truth.body)
    expect(relay.events).toEqual([])
  })

  it.each(['latest', 'safe', 'finalized', 'earliest'])(
    'of the tag %s is asked elsewhere too, whatever the tip is',
    async (tag) => {
      const relay = fixture({ a: missing, b: truth }, { retryMissingBlocks: true })
      const seen = await relay.ask({ ...request, params: [tag, false] })
      expect([seen.outcome, relay.sent]).toEqual([truth.body, { a: 1, b: 1 }])
      expect(seen.call.journal.attempts[0]?.missedBlock).toBe(true)
    },
  )

  it('is the answer all the same when no upstream has it', async () => {
    const upstreams = { a: missing, b: nodeError(-32000, 'header not found'), c: missing }
    const relay = fixture(upstreams, { retryMissingBlocks: true })
    ahead(relay)
    expect((await relay.ask(request)).outcome).toBe(missing.body)
  })

  it('is not asked of a node whose own head is below it while another has it', async () => {
    const relay = fixture({ a: missing, b: truth })
    const [a, b] = relay.pool.upstreams
    relay.pool.observeHead(a!, 0xf, 0, a!.urls[0]!)
    relay.pool.observeHead(b!, 0x10, 0, b!.urls[0]!)
    for (let each = 0; each < 10; each++) await relay.ask(request)
    expect(relay.sent).toEqual({ a: 0, b: 10 })
  })
})

describe('a transaction that is sent again', () => {
  const low = nodeError(-32000, 'nonce too low: next nonce 5, tx nonce 4')

  it.each([
    ['have it', known],
    ['have its nonce in a block', low],
  ])('gets its hash when one node took it lately, and all nodes %s', async (_case, then) => {
    const relay = fixture({ a: [accepted, then], b: [accepted, then] })
    for (let each = 0; each < 3; each++)
      expect((await relay.ask(write)).outcome).toBe(accepted.body)
    expect(relay.sent).toEqual({ a: 3, b: 3 })
  })

  it('gets it from the first node that takes it, whatever others say', async () => {
    const relay = fixture({ a: known, b: { ...accepted, afterMs: 100 } })
    expect((await relay.ask(write)).outcome).toBe(accepted.body)
    expect(relay.sent).toEqual({ a: 1, b: 1 })
  })

  it("gets the node's error when the router does not know of it", async () => {
    const relay = fixture({ a: known, b: { ...low, afterMs: 50 } })
    expect((await relay.ask(write)).outcome).toBe(known.body)
    expect(relay.sent).toEqual({ a: 1, b: 1 })
  })

  it('of a type that the router cannot read gets its hash as well', async () => {
    const relay = fixture({ a: [accepted, known] }, { integrity: 'off' })
    const odd = { ...write, params: ['0x71c0'] }
    await relay.ask(odd)
    expect((await relay.ask(odd)).outcome).toBe(accepted.body)
  })

  it("gets the node's error when another transaction has its nonce", async () => {
    const relay = fixture({ a: [accepted, low] }, { integrity: 'off' })
    await relay.ask(write)
    expect((await relay.ask({ ...write, params: ['0x71c0'] })).outcome).toBe(low.body)
  })

  it("gets the node's error when the first answer was over 4 KiB", async () => {
    const long = result({ transactionHash: sentHash, logs: 'a'.repeat(4_096) })
    const relay = fixture({ a: [long, known] })
    const sync = { ...write, method: 'eth_sendRawTransactionSync' }
    expect((await relay.ask(sync)).outcome).toBe(long.body)
    expect((await relay.ask(sync)).outcome).toBe(known.body)
  })
})

describe('a write that all nodes refuse: the most informative error', () => {
  const low = nodeError(-32000, 'nonce too low: next nonce 5, tx nonce 4')
  const funds = nodeError(-32000, 'insufficient funds for gas * price + value')
  const cheap = nodeError(-32000, 'transaction underpriced')
  const odd = nodeError(-32000, 'the moon is in the wrong house')
  const invalid = nodeError(-32602, 'invalid params')
  const full = nodeError(-32000, 'txpool is full')
  const internal = nodeError(-32603, 'internal error')
  const limited = nodeError(-32005, 'rate limit exceeded')
  const page = { status: 502, body: '<h1>Bad gateway</h1>' }
  const silent: ScriptedAnswer = { fault: 'reset' }
  it.each([
    ['a refusal of the transaction, before an unknown error', [odd, low], low],
    ['before a complaint about the request', [invalid, funds], funds],
    ['before a full pool', [full, low], low],
    ['before an error page', [page, low], low],
    ['the first of two', [{ ...cheap, afterMs: 50 }, funds], funds],
    ['that the nonce is used, before what else is wrong', [funds, { ...low, afterMs: 50 }], low],
    ['an unknown error, before a full pool', [full, odd], odd],
    ['a full pool, before a limit', [limited, full], full],
    ['a limit, before an error page', [page, limited], limited],
    ['an internal error, before an error page', [page, internal], internal],
    ['an error page, before silence', [silent, page], page],
  ])('%s', async (_case, [a, b], expected) => {
    for (const answers of [
      { a, b },
      { b, a },
    ]) {
      const relay = fixture(answers as Answers)
      expect((await relay.ask(write)).outcome).toBe(expected.body)
    }
  })
})

it('a client that leaves before a second upstream was asked costs the first one nothing', async () => {
  const other = result({ number: '0x11', hash: `0x${'aa'.repeat(32)}` })
  const relay = new RelayFixture(chain, iface, {
    a: { script: () => other },
    b: { script: () => ({ ...other, afterMs: 500 }) },
  })
  for (let each = 0; each < 12; each++) {
    const client = new AbortController()
    const request = {
      method: 'eth_getBlockByNumber',
      params: ['0x10', false],
      signal: client.signal,
    }
    const seen = relay.begin(request)
    await relay.clock.advance(50)
    client.abort()
    await seen
  }
  expect(relay.events).toEqual([])
})
