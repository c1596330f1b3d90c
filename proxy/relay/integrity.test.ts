// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Transaction, Wallet } from 'ethers'
import { beforeAll, describe, expect, it, test } from 'vitest'
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { RelayConfig } from '../config/types.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { RelayFixture, ethereum, nodeError, result, type Asked } from './testing/relay-fixture.ts'

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
const asked: Asked = { method: 'eth_getBlockByNumber', params: ['0x10', false] }
const raw = await new Wallet(hash('1')).signTransaction({
  to: `0x${'2'.repeat(40)}`,
  nonce: 1,
  gasLimit: 21_000n,
  gasPrice: 7n,
  chainId: 1,
})
const sentHash = Transaction.from(raw).hash as string
const write: Asked = { method: 'eth_sendRawTransaction', params: [raw] }
const known = nodeError(-32000, 'already known')
const accepted = result(sentHash)

describe('an untrue answer', () => {
  it('is never given while an honest upstream is left, and is blamed', async () => {
    const relay = fixture({ a: lie, b: truth })
    const seen = await relay.ask(asked)
    expect([seen.outcome, relay.sent]).toEqual([truth.body, { a: 1, b: 1 }])
    expect(seen.call.journal.attempts[0]).toMatchObject({
      result: { name: 'integrity-violated', reported: true, weight: 1 },
      detail: 'block-number',
      violation: { check: 'block-number', evidence: 'asked for 16, got "0x11"', certain: true },
    })
    for (let each = 0; each < 20; each++) await relay.ask(asked)
    expect(relay.events).toEqual(['a: eligible > disabled'])
  })

  it('is no answer even when nobody is left: the call fails with the reason', async () => {
    const relay = fixture({ a: lie, b: { fault: 'refused' } })
    expect((await relay.ask(asked)).outcome).toBe('integrity')
  })

  it("does not hide another node's own error", async () => {
    const error = nodeError(-32000, 'header not found')
    expect((await fixture({ a: lie, b: error }).ask(asked)).outcome).toBe(error.body)
  })

  const log = {
    ...{ address: `0x${'3'.repeat(40)}`, topics: [], data: '0x', logIndex: '0x0' },
    ...{ blockNumber: '0x1f4', blockHash: hash('a'), transactionHash: hash('c') },
    transactionIndex: '0x0',
  }
  it.each([
    ['logs up to the latest', 'latest', 'b'],
    ['logs up to a height that the client names', '0x1f4', 'a'],
  ])(
    'is a log far above what its node told, unless it was asked for: %s',
    async (_, toBlock, answers) => {
      const relay = fixture({ a: result([log]), b: result([]) })
      for (const upstream of relay.pool.upstreams) relay.pool.sighted(upstream, 100, 0)
      const logs = { method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock }] }
      expect((await relay.ask(logs)).upstream).toBe(answers)
    },
  )

  it.each(['off', 'envelope'] as const)('is an answer at level %s', async (integrity) => {
    const seen = await fixture({ a: lie, b: truth }, { integrity }).ask(asked)
    expect(seen.outcome).toBe(lie.body)
  })

  it.each([
    ['off', '{"id":1,"resu', '{"id":1,"resu'],
    ['envelope', '{"id":1,"resu', truth.body],
    ['full', '{"id":1,"resu', truth.body],
  ] as const)('at level %s: a body that is cut', async (integrity, body, outcome) => {
    const seen = await fixture({ a: { body }, b: truth }, { integrity }).ask(asked)
    expect(seen.outcome).toBe(outcome)
  })

  it.each([
    ['cut', '{"id":1,"resu'],
    ['a page', '<html>'],
    ['without a result', '{"jsonrpc":"2.0","id":1}'],
  ])('%s: it is counted as a violation of the envelope', async (_name, body) => {
    const seen = await fixture({ a: { body }, b: truth }).ask(asked)
    expect(seen.call.journal.attempts.map(({ violation }) => violation?.check)).toEqual([
      'envelope',
      undefined,
    ])
    const alone = await fixture({ a: { body } }).ask(asked)
    expect(alone.outcome).toBe('upstream-failed')
  })

  it('an error page is none: the node says itself that it failed', async () => {
    const seen = await fixture({ a: { status: 502, body: '<html>' }, b: truth }).ask(asked)
    expect(seen.call.journal.attempts.map(({ violation }) => violation)).toEqual([null, null])
  })

  it('of a write is none: the hash of another transaction', async () => {
    const seen = await fixture({ a: result(hash('9')), b: { ...accepted, afterMs: 50 } }).ask(write)
    expect([seen.outcome, seen.upstream]).toEqual([accepted.body, 'b'])
    const alone = await fixture({ a: result(hash('9')) }).ask(write)
    expect(alone.outcome).toBe('integrity')
  })

  it('of a write is none: null, however fast', async () => {
    for (const params of [[raw], ['0x71c0']]) {
      const answers = { a: result(null), b: { ...accepted, afterMs: 50 } }
      const seen = await fixture(answers).ask({ ...write, params })
      expect([seen.outcome, seen.upstream]).toEqual([accepted.body, 'b'])
      const alone = await fixture({ a: result(null) }).ask({ ...write, params })
      expect(alone.outcome).toBe('integrity')
    }
  })

  it('that contradicts what an upstream told before is found', async () => {
    const changed = block('0x10', hash('c'))
    const relay = fixture({ a: [truth, changed], b: truth })
    for (let each = 0; each < 4; each++) expect((await relay.ask(asked)).outcome).toBe(truth.body)
  })
})

describe('an answer that another one contradicts', () => {
  const otherParent = block('0x10', hash('c'))
  const without = (...blockProviders: string[]) => ({ ...asked, directives: { blockProviders } })

  it('is given all the same when the other upstream has gone', async () => {
    const relay = fixture({ a: [otherParent, { fault: 'refused' }], b: truth })
    expect((await relay.ask(without('b'))).outcome).toBe(otherParent.body)
    // The first call cannot tell who is right; from then on the one that is there is believed.
    await relay.ask(asked)
    for (let each = 0; each < 9; each++) expect((await relay.ask(asked)).outcome).toBe(truth.body)
    expect(relay.events.filter((event) => event.startsWith('b'))).toEqual([])
  })

  it('is asked for elsewhere first, and nobody is blamed', async () => {
    const relay = fixture({ a: otherParent, b: truth, c: truth })
    await relay.ask(without('b', 'c'))
    const seen = await relay.ask(without('a'))
    expect(seen.outcome).toBe(truth.body)
    expect(seen.call.journal.attempts.map(({ result: each }) => each)).toMatchObject([
      { name: 'integrity-doubted', weight: 0, reported: false },
      'answer',
    ])
  })

  it('is given when no other may be asked any more', async () => {
    const relay = fixture({ a: otherParent, b: truth, c: truth }, { retryLimit: 0 })
    await relay.ask(without('b', 'c'))
    const seen = await relay.ask(without('a'))
    expect([seen.outcome, seen.call.journal.attempts.length]).toEqual([truth.body, 1])
  })

  it.each<[string, ScriptedAnswer]>([
    ['fails', { fault: 'reset' }],
    ['says null', result(null)],
    ['has an error that others may not have', nodeError(-32000, 'header not found')],
  ])('is given when whoever else may be asked %s', async (_, other) => {
    const config = { retryMissingBlocks: true, retryLimit: 1 }
    const relay = fixture({ a: otherParent, b: truth, c: other, d: other }, config)
    for (const upstream of relay.pool.upstreams) relay.pool.sighted(upstream, 0x20, 0)
    await relay.ask(without('b', 'c', 'd'))
    const seen = await relay.ask(without('a'))
    expect([seen.outcome, seen.upstream]).toEqual([truth.body, 'b'])
    const results = seen.call.journal.attempts.map(({ result: each }) => each)
    expect(results).toMatchObject([{ name: 'integrity-doubted' }, { weight: expect.any(Number) }])
  })

  it.each<[string, string[]]>([
    ['first', ['c']],
    ['last', ['c']],
  ])('is that of the upstream that fails less, whoever speaks %s', async (order, others) => {
    const upstreams =
      order === 'first' ? { b: truth, a: otherParent } : { a: otherParent, b: truth }
    const relay = fixture({ ...upstreams, c: { fault: 'reset' } })
    const liar = relay.pool.upstreams.find(({ name }) => name === 'a')!
    liar.score.failed(relay.clock.nowMs())
    await relay.ask(without('b', ...others))
    const seen = await relay.ask(without('c'))
    // Each of the two is doubted for the other's word.
    expect(seen.call.journal.attempts.map(({ result: each }) => each)).toMatchObject([
      { name: 'integrity-doubted' },
      { name: 'integrity-doubted' },
    ])
    expect([seen.outcome, seen.upstream]).toEqual([truth.body, 'b'])
  })

  it('is not given when it is proven to be a lie', async () => {
    const relay = fixture({ a: otherParent, b: truth, c: truth })
    for (const other of ['b', 'c']) await relay.ask(without('a', other))
    expect((await relay.ask(without('b', 'c'))).outcome).toBe('integrity')
  })
})

describe('null for a block', () => {
  const ahead = (relay: RelayFixture) => {
    for (const upstream of relay.pool.upstreams) relay.pool.sighted(upstream, 0x20, 0)
  }
  const missing = result(null)

  it('that exists is an answer, and noted', async () => {
    const relay = fixture({ a: missing, b: truth })
    ahead(relay)
    const seen = await relay.ask(asked)
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
    if (tip !== null) relay.pool.sighted(relay.pool.upstreams[0]!, tip, 0)
    const seen = await relay.ask({ ...asked, params: [number, false] })
    expect(seen.call.journal.attempts[0]?.missedBlock).toBe(missedBlock)
  })

  it('is asked elsewhere where that is switched on, without blame', async () => {
    const relay = fixture({ a: missing, b: truth }, { retryMissingBlocks: true })
    ahead(relay)
    for (let each = 0; each < 10; each++) expect((await relay.ask(asked)).outcome).toBe(truth.body)
    expect(relay.events).toEqual([])
  })

  it.each(['latest', 'safe', 'finalized', 'earliest'])(
    'of the tag %s is asked elsewhere too, whatever the tip is',
    async (tag) => {
      const relay = fixture({ a: missing, b: truth }, { retryMissingBlocks: true })
      const seen = await relay.ask({ ...asked, params: [tag, false] })
      expect([seen.outcome, relay.sent]).toEqual([truth.body, { a: 1, b: 1 }])
      expect(seen.call.journal.attempts[0]?.missedBlock).toBe(true)
    },
  )

  it('is the answer all the same when nobody has it', async () => {
    const upstreams = { a: missing, b: nodeError(-32000, 'header not found'), c: missing }
    const relay = fixture(upstreams, { retryMissingBlocks: true })
    ahead(relay)
    expect((await relay.ask(asked)).outcome).toBe(missing.body)
  })

  it('is not asked of a node whose own head is below it while another has it', async () => {
    const relay = fixture({ a: missing, b: truth })
    const [a, b] = relay.pool.upstreams
    relay.pool.sighted(a!, 0xf, 0)
    relay.pool.sighted(b!, 0x10, 0)
    for (let each = 0; each < 10; each++) await relay.ask(asked)
    expect(relay.sent).toEqual({ a: 0, b: 10 })
  })
})

describe('a transaction that is sent again', () => {
  const shown = result({ hash: sentHash })
  const shouted = result({ hash: `0x${sentHash.slice(2).toUpperCase()}` })

  it.each([
    ['known to the only node', { a: [known, shown] }, { a: 2 }],
    ['known to one that writes it in capitals', { a: [known, shouted] }, { a: 2 }],
    [
      'known to one, mined for another',
      { a: nodeError(-32000, 'nonce too low'), b: [known, shown] },
      { a: 1, b: 2 },
    ],
    ['known to one, dead another', { a: { fault: 'refused' }, b: [known, shown] }, { a: 1, b: 2 }],
    [
      'known to one, shown by the last of three that are asked',
      {
        a: [known, result(null)],
        b: [{ ...known, afterMs: 50 }, result(null)],
        c: [{ ...known, afterMs: 90 }, shown],
        d: { ...known, afterMs: 130 },
      },
      { a: 2, b: 2, c: 2, d: 1 },
    ],
    [
      'known to both, one of which does not show it',
      { a: [known, result(null)], b: [{ ...known, afterMs: 50 }, shown] },
      { a: 2, b: 2 },
    ],
  ] as const)('gets its hash: %s', async (_case, answers, sent) => {
    const relay = fixture(answers as unknown as Answers)
    const seen = await relay.ask(write)
    expect([seen.outcome, relay.sent]).toEqual([accepted.body, sent])
    expect(seen.call.journal.attempts.at(-1)).toMatchObject({ kind: 'confirm', result: 'answer' })
    await relay.clock.advance(60_000)
    expect(relay.clock.pending).toBe(0)
  })

  it.each([
    ['does not find it', [known, result(null)]],
    ['shows another', [known, result({ hash: hash('9') })]],
    ['fails', [known, { fault: 'reset' }]],
    ['takes for ever', [known, { hang: true }]],
  ] as const)("gets the node's own words when the node %s", async (_case, a) => {
    const relay = fixture({ a: [...a] as ScriptedAnswer[] })
    const seen = await relay.ask(write)
    expect(seen.outcome).toBe(known.body)
    expect(relay.pool.upstreams[0]?.sessions).toBe(0)
  })

  const low = nodeError(-32000, 'nonce too low')
  const poor = nodeError(-32000, 'insufficient funds for gas * price + value')
  const odd = nodeError(-32000, 'the moon is in the wrong house')
  const lost = { fault: 'reset' } as const
  const none = result(null)

  // Libraries take it for a success that a transaction is known.
  it.each([
    ['one refuses', { a: [known, none], b: [low, none], c: [low, none] }, low],
    ['one refused before', { a: [{ ...known, afterMs: 50 }, none], b: [low, none] }, low],
    ['one refused later', { a: [known, none], b: [{ ...low, afterMs: 50 }, none] }, low],
    ['one refuses and nobody can be asked', { a: [known, lost], b: [low, lost] }, low],
    ['nobody says what is wrong', { a: [known, none], b: [odd, none] }, known],
    ['others are dead', { a: [known, none], b: [lost, none] }, known],
  ] as const)(
    'and that no node shows gets what is wrong with it: %s',
    async (_case, answers, told) => {
      const relay = fixture(answers as unknown as Answers)
      const seen = await relay.ask(write)
      expect([seen.outcome, seen.upstream]).toEqual([told.body, told === low ? 'b' : 'a'])
      expect(seen.call.journal.attempts.some(({ kind }) => kind === 'confirm')).toBe(true)
      await relay.clock.advance(60_000)
      expect(relay.pool.upstreams.map(({ sessions }) => sessions)).not.toContain(1)
    },
  )

  it('and that is asked about of three nodes, and no more', async () => {
    const relay = fixture({
      a: [known, none],
      b: [{ ...known, afterMs: 50 }, none],
      c: [{ ...known, afterMs: 90 }, none],
      d: [{ ...known, afterMs: 130 }, shown],
    })
    expect((await relay.ask(write)).outcome).toBe(known.body)
    expect(Object.values(relay.sent).reduce((sum, each) => sum + each, 0)).toBe(7)
  })

  it.each([
    [
      'a 429 holds the URL off for as long as it says',
      { ...nodeError(429, 'no'), status: 429, headers: ['retry-after', '600'] },
      { name: 'http-status-rate-limited', holdOff: true },
      ['a: held off 600000 ms'],
      0,
    ],
    [
      'a quota holds it off as well',
      { ...nodeError(-32005, 'daily request count exceeded'), headers: ['retry-after', '60'] },
      { name: 'limit-of-requests', holdOff: true },
      ['a: held off 60000 ms'],
      0,
    ],
    [
      'an error page is a failure',
      { status: 500, body: '<h1>oops</h1>' },
      { name: 'http-server-error' },
      [],
      1,
    ],
    ['a lost connection is one', { fault: 'reset' }, { name: 'connection-reset' }, [], 1],
  ] as const)(
    'is asked about like anything else: %s',
    async (_case, said, result, events, failures) => {
      const relay = fixture({ a: [known, said] })
      const seen = await relay.ask(write)
      expect(seen.outcome).toBe(known.body)
      expect(seen.call.journal.attempts.at(-1)).toMatchObject({ kind: 'confirm', result })
      expect(relay.events).toEqual(events)
      expect(relay.pool.upstreams[0]?.urls[0]?.failures).toBe(failures)
    },
  )

  it.each([
    [
      'the node that says so',
      { a: [low, shown], b: [{ ...low, afterMs: 50 }, none] },
      { a: 2, b: 1 },
    ],
    ['another node', { a: [low, none], b: [{ ...low, afterMs: 50 }, shown] }, { a: 2, b: 2 }],
    ['one that spoke of its funds', { a: [poor, shown], b: [low, none] }, { a: 2, b: 2 }],
  ] as const)(
    'that is in a block, so that its nonce is used, gets its hash: shown by %s',
    async (_case, answers, sent) => {
      const relay = fixture(answers as unknown as Answers)
      const seen = await relay.ask(write)
      expect([seen.outcome, relay.sent]).toEqual([accepted.body, sent])
    },
  )

  it.each([
    ['no node shows', none],
    ['is another', result({ hash: hash('9') })],
    ['nobody can be asked for', lost],
  ] as const)('whose nonce is used, and that %s, gets what the node says', async (_case, shows) => {
    const relay = fixture({ a: [low, shows], b: [{ ...low, afterMs: 50 }, shows] })
    expect((await relay.ask(write)).outcome).toBe(low.body)
    expect(relay.sent).toEqual({ a: 2, b: 2 })
  })

  it('that is refused for another reason is not asked about', async () => {
    const relay = fixture({ a: poor, b: { ...poor, afterMs: 50 } })
    expect((await relay.ask(write)).outcome).toBe(poor.body)
    expect(relay.sent).toEqual({ a: 1, b: 1 })
  })

  it('gets it from the first node that takes it, whatever others say', async () => {
    const relay = fixture({ a: known, b: { ...accepted, afterMs: 100 } })
    expect((await relay.ask(write)).outcome).toBe(accepted.body)
    expect(relay.sent).toEqual({ a: 1, b: 1 })
  })

  it('of a type that nobody can read gets what the node says, without a question', async () => {
    const relay = fixture({ a: known })
    expect((await relay.ask({ ...write, params: ['0x71c0'] })).outcome).toBe(known.body)
    expect(relay.sent).toEqual({ a: 1 })
  })

  it('is not asked about when the client has left', async () => {
    const client = new AbortController()
    const relay = fixture({ a: { ...known, afterMs: 100 } })
    const seen = relay.begin({ ...write, signal: client.signal })
    client.abort()
    await relay.clock.advance(1_000)
    expect((await seen).outcome).toBe('CallAborted')
    expect(relay.sent).toEqual({ a: 1 })
  })
})

test('a node is asked for a transaction no longer than the call may take', async () => {
  const relay = fixture({ a: [known, { hang: true }] }, { processingTimeoutMs: 2_000 })
  const { outcome, tookMs } = await relay.ask(write)
  expect([outcome, tookMs]).toEqual([known.body, 2_000])
})

describe('a write that all nodes refuse: the most telling error', () => {
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
    ['a refusal of the transaction, before what nobody knows', [odd, low], low],
    ['before a complaint about the request', [invalid, funds], funds],
    ['before a full pool', [full, low], low],
    ['before an error page', [page, low], low],
    ['the first of two', [{ ...cheap, afterMs: 50 }, funds], funds],
    ['that the nonce is used, before what else is wrong', [funds, { ...low, afterMs: 50 }], low],
    ['what nobody knows, before a full pool', [full, odd], odd],
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
