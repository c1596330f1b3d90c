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

/** Upstreams that return one answer, or a sequence of answers and then repeat the last. */
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

describe('an answer with a violation', () => {
  it('is returned without blame if a second upstream agrees', async () => {
    const relay = fixture({ a: lie, b: lie, c: truth })
    for (let each = 0; each < 9; each++) {
      const reply = await relay.ask({ ...request, directives: { blockProviders: ['c'] } })
      expect(reply.outcome).toBe(lie.body)
      const { attempts } = reply.call.journal
      expect(attempts.map(({ result, violation }) => [result, violation])).toEqual([
        ['answer', null],
        ['answer', null],
      ])
    }
    expect(relay.events).toEqual([])
  })

  it('is never returned while an honest upstream remains, and its upstream is blamed', async () => {
    const relay = fixture({ a: lie, b: truth })
    const reply = await relay.ask(request)
    expect([reply.outcome, relay.sent]).toEqual([truth.body, { a: 1, b: 1 }])
    expect(reply.call.journal.attempts[0]).toMatchObject({
      result: { name: 'integrity-violated', reported: true, weight: 1 },
      detail: 'block-number',
      violation: { check: 'block-number', detail: 'asked for 16, got 17' },
    })
    for (let each = 0; each < 20; each++) await relay.ask(request)
    expect(relay.events).toEqual(['a: eligible > disabled'])
  })

  it('fails the call with the reason when no upstream remains', async () => {
    const relay = fixture({ a: lie, b: { fault: 'refused' } })
    expect((await relay.ask(request)).outcome).toBe('integrity')
  })

  it("does not hide another node's error", async () => {
    const error = nodeError(-32000, 'header not found')
    expect((await fixture({ a: lie, b: error }).ask(request)).outcome).toBe(error.body)
  })

  it.each(['off', 'envelope'] as const)('is returned at level %s', async (integrity) => {
    const reply = await fixture({ a: lie, b: truth }, { integrity }).ask(request)
    expect(reply.outcome).toBe(lie.body)
  })

  it.each([
    ['off', '{"id":1,"resu', '{"id":1,"resu'],
    ['envelope', '{"id":1,"resu', truth.body],
    ['full', '{"id":1,"resu', truth.body],
  ] as const)('truncated, at level %s', async (integrity, body, outcome) => {
    const reply = await fixture({ a: { body }, b: truth }, { integrity }).ask(request)
    expect(reply.outcome).toBe(outcome)
  })

  it.each([
    ['a truncated body', '{"id":1,"resu'],
    ['a page', '<html>'],
    ['a body without a result', '{"jsonrpc":"2.0","id":1}'],
  ])('counts as an envelope violation: %s', async (_name, body) => {
    const reply = await fixture({ a: { body }, b: truth }).ask(request)
    expect(reply.call.journal.attempts.map(({ violation }) => violation?.check)).toEqual([
      'envelope',
      undefined,
    ])
    const alone = await fixture({ a: { body } }).ask(request)
    expect(alone.outcome).toBe('upstream-failed')
  })

  it('does not include error pages, whose status shows the failure', async () => {
    const reply = await fixture({ a: { status: 502, body: '<html>' }, b: truth }).ask(request)
    expect(reply.call.journal.attempts.map(({ violation }) => violation)).toEqual([null, null])
  })

  it('is not assumed for a write with the hash of another transaction', async () => {
    const reply = await fixture({ a: result(hash('9')), b: { ...accepted, afterMs: 50 } }).ask(
      write,
    )
    expect([reply.outcome, reply.upstream]).toEqual([accepted.body, 'b'])
    const alone = await fixture({ a: result(hash('9')) }).ask(write)
    expect(alone.outcome).toBe('integrity')
  })

  it('is not assumed for a write that returns null', async () => {
    const answers = { a: result(null), b: { ...accepted, afterMs: 50 } }
    const reply = await fixture(answers).ask(write)
    expect([reply.outcome, reply.upstream]).toEqual([accepted.body, 'b'])
    const alone = await fixture({ a: result(null) }).ask(write)
    expect(alone.outcome).toBe('integrity')
  })
})

describe('a block with another parent than before', () => {
  const otherParent = block('0x10', hash('c'))

  it('is requested elsewhere, whichever answer revealed the block first', async () => {
    const relay = fixture({ a: otherParent, b: truth })
    const { tracker } = relay.pool
    const shown = { number: 16, hash: toHash(hash('a')), parent: toHash(hash('b')) }
    tracker.showBlock({ ...shown, isByHash: false })
    const directives = { selectProvider: 'a' }
    expect((await relay.ask({ ...request, directives })).outcome).toBe(truth.body)
    expect(relay.sent).toEqual({ a: 1, b: 1 })
  })

  it('is requested elsewhere, and is the answer when no other upstream remains', async () => {
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

  it('that exists is recorded, and retried elsewhere if its node has reported the block', async () => {
    const relay = fixture({ a: missing, b: truth })
    ahead(relay)
    const reply = await relay.ask(request)
    expect([reply.outcome, relay.sent]).toEqual([truth.body, { a: 1, b: 1 }])
    expect(reply.call.journal.attempts[0]).toMatchObject({ result: 'answer', missedBlock: true })
  })

  it('that exists is recorded and returned if its node has not reported the block', async () => {
    const relay = fixture({ a: missing, b: truth })
    const [, b] = relay.pool.upstreams
    relay.pool.observeHead(b!, 0x20, 0, b!.urls[0]!)
    const reply = await relay.ask(request)
    expect([reply.outcome, relay.sent]).toEqual([missing.body, { a: 1, b: 0 }])
    expect(reply.call.journal.attempts[0]).toMatchObject({ result: 'answer', missedBlock: true })
  })

  it.each([
    ['is not recorded while the tip is unknown', null, '0x10', false],
    ['is not recorded when the tip is below the block', 0xf, '0x10', false],
    ['is not recorded for the pending block', 0x20, 'pending', false],
    ['is recorded when the block is the tip', 0x10, '0x10', true],
  ])('%s', async (_case, tip, number, missedBlock) => {
    const relay = fixture({ a: missing })
    const [upstream] = relay.pool.upstreams
    if (tip !== null) relay.pool.observeHead(upstream!, tip, 0, upstream!.urls[0]!)
    const reply = await relay.ask({ ...request, params: [number, false] })
    expect(reply.call.journal.attempts[0]?.missedBlock).toBe(missedBlock)
  })

  it('is retried elsewhere without blame if the config enables it', async () => {
    const relay = fixture({ a: missing, b: truth }, { retryMissingBlocks: true })
    ahead(relay)
    for (let each = 0; each < 10; each++)
      expect((await relay.ask(request)).outcome).toBe(truth.body)
    expect(relay.events).toEqual([])
  })

  it.each(['latest', 'safe', 'finalized', 'earliest'])(
    'for the tag %s is retried elsewhere, whatever the tip is',
    async (tag) => {
      const relay = fixture({ a: missing, b: truth }, { retryMissingBlocks: true })
      const reply = await relay.ask({ ...request, params: [tag, false] })
      expect([reply.outcome, relay.sent]).toEqual([truth.body, { a: 1, b: 1 }])
      expect(reply.call.journal.attempts[0]?.missedBlock).toBe(true)
    },
  )

  it('is the answer when no upstream has the block', async () => {
    const upstreams = { a: missing, b: nodeError(-32000, 'header not found'), c: missing }
    const relay = fixture(upstreams, { retryMissingBlocks: true })
    ahead(relay)
    expect((await relay.ask(request)).outcome).toBe(missing.body)
  })

  it('is avoided by skipping a node whose head is below the block while another has it', async () => {
    const relay = fixture({ a: missing, b: truth })
    const [a, b] = relay.pool.upstreams
    relay.pool.observeHead(a!, 0xf, 0, a!.urls[0]!)
    relay.pool.observeHead(b!, 0x10, 0, b!.urls[0]!)
    for (let each = 0; each < 10; each++) await relay.ask(request)
    expect(relay.sent).toEqual({ a: 0, b: 10 })
  })
})

describe('a resent transaction', () => {
  const low = nodeError(-32000, 'nonce too low: next nonce 5, tx nonce 4')

  it.each([
    ['know it', known],
    ['report its nonce as used', low],
  ])('gets its hash when one node accepted it recently and all nodes %s', async (_case, then) => {
    const relay = fixture({ a: [accepted, then], b: [accepted, then] })
    for (let each = 0; each < 3; each++)
      expect((await relay.ask(write)).outcome).toBe(accepted.body)
    expect(relay.sent).toEqual({ a: 3, b: 3 })
  })

  it('gets it from the first node that accepts it, whatever others return', async () => {
    const relay = fixture({ a: known, b: { ...accepted, afterMs: 100 } })
    expect((await relay.ask(write)).outcome).toBe(accepted.body)
    expect(relay.sent).toEqual({ a: 1, b: 1 })
  })

  it("gets the node's error when the router does not know the transaction", async () => {
    const relay = fixture({ a: known, b: { ...low, afterMs: 50 } })
    expect((await relay.ask(write)).outcome).toBe(known.body)
    expect(relay.sent).toEqual({ a: 1, b: 1 })
  })

  it('of an unknown type also gets its hash', async () => {
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

describe('a write that all nodes reject returns the most informative error', () => {
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
    ['a rejection before an unknown error', [odd, low], low],
    ['a rejection before an invalid request', [invalid, funds], funds],
    ['a used nonce before a full mempool', [full, low], low],
    ['a used nonce before an error page', [page, low], low],
    ['the first of two rejections', [{ ...cheap, afterMs: 50 }, funds], funds],
    ['a used nonce before other rejections', [funds, { ...low, afterMs: 50 }], low],
    ['an unknown error before a full mempool', [full, odd], odd],
    ['a full mempool before a limit', [limited, full], full],
    ['a limit before an error page', [page, limited], limited],
    ['an internal error before an error page', [page, internal], internal],
    ['an error page before silence', [silent, page], page],
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

it('a disconnect before a second upstream answers blames no upstream', async () => {
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
    const reply = relay.begin(request)
    await relay.clock.advance(50)
    client.abort()
    await reply
  }
  expect(relay.events).toEqual([])
})
