// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it, test } from 'vitest'
import { ByteBudget } from '../bytes/byte-budget.ts'
import type { PolicyConfig } from '../config/types.ts'
import type { Directives } from '../relay/call.ts'
import {
  type TestCall,
  ethereum,
  type FixtureUpstream,
  nodeError,
  RelayFixture,
  result,
  solana,
} from '../relay/testing/relay-fixture.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { type VoteSummary, withCrossValidation } from './cross-validation.ts'

const { chain, iface } = await ethereum()

type Nodes = Readonly<Record<string, FixtureUpstream | ScriptedAnswer>>

const policy: PolicyConfig = {
  chainId: 'ETH1',
  apiInterface: 'jsonrpc',
  method: 'eth_getBalance',
  agreement: 2,
  maxAgreement: Infinity,
  participants: 3,
  maxParticipants: Infinity,
  minGroups: 1,
  perGroupQuorum: 1,
  oneVotePerGroup: false,
  ignoreFields: [],
  forbidsCallers: false,
}

class Fixture extends RelayFixture {
  readonly budget = new ByteBudget(10_000_000)
  readonly outcomes: (string | null)[] = []
  readonly mismatches: [VoteSummary, VoteSummary | null][] = []

  constructor(nodes: Nodes, own: Partial<PolicyConfig> | null = {}, of = { chain, iface }) {
    const upstreams = Object.entries(nodes).map(([name, each]): [string, FixtureUpstream] => [
      name,
      'script' in each ? each : { script: () => each },
    ])
    super(of.chain, of.iface, Object.fromEntries(upstreams))
    this.relay = withCrossValidation(this.relay, {
      ...{ ...of, pool: this.pool, clock: this.clock, budget: this.budget },
      config: { now: { strategy: 'round-robin', minRelayTimeoutMs: 1_000 } },
      policies: {
        now: {
          validations: new Map(own ? [[{ ...policy, ...own }.method, { ...policy, ...own }]] : []),
        },
      },
      observer: {
        validated: (_, failure) => this.outcomes.push(failure),
        finalizedMismatch: (_, ...both) => this.mismatches.push(both),
      },
    })
  }

  get faults() {
    return this.pool.snapshot().upstreams.map(({ fault }) => fault)
  }

  head(name: string, block: number): this {
    const upstream = this.pool.upstreams.find((each) => each.name === name)!
    this.pool.observeHead(upstream, block, this.clock.nowMs(), upstream.urls[0]!)
    return this
  }

  async validate(request: TestCall = {}) {
    const { outcome, upstream, call, tookMs } = await this.ask(request)
    const { agreeing, disagreeing, all, failure } = call.journal.crossValidation ?? {}
    const body =
      upstream === null ? outcome : (JSON.parse(outcome) as { result?: unknown; error?: unknown })
    const answer = typeof body === 'string' ? body : (body.result ?? body.error)
    return {
      answer,
      agreeing: agreeing?.toSorted().join(),
      disagreeing: disagreeing?.toSorted().join(),
      all: all?.toSorted().join(),
      failure,
      tookMs,
      sent: Object.values(this.sent).join(),
    }
  }
}

function asks(participants: number, agreement: number): Partial<Directives> {
  return { crossValidation: { participants, agreement } }
}

const honest = result('0x1')
const wrong = result('0x2')
const limited: ScriptedAnswer = { status: 429, body: '{}' }
const hangs: FixtureUpstream = { script: () => ({ afterMs: 60_000, ...honest }) }

describe('upstreams, some of which have pruned the block', () => {
  const old = { params: ['0xaa', '0x5'] }
  const latest = { params: ['0xaa', 'latest'] }

  it.each<[string, string, TestCall, Partial<PolicyConfig>, object]>([
    ['others vote', 'ab', old, {}, { answer: '0x1', all: 'c,d' }],
    ['whatever their order', 'cd', old, {}, { answer: '0x1', all: 'a,b' }],
    [
      'they vote on other blocks',
      'ab',
      latest,
      {},
      { all: expect.stringMatching(/a|b/) as string },
    ],
    [
      'they vote where too few others have it',
      'abc',
      old,
      { participants: 3 },
      { all: expect.stringContaining('d') as string },
    ],
    [
      'in groups: the others vote',
      'ac',
      old,
      { perGroupQuorum: 1, minGroups: 2 },
      { answer: '0x1', all: 'b,d' },
    ],
  ])('%s', async (_, pruned, request, own, expected) => {
    const nodes = Object.fromEntries(
      [...'abcd'].map((name) => {
        const isPruned = pruned.includes(name) && request === old
        const answer = isPruned ? result(null) : honest
        return [name, { script: () => answer, group: 'ab'.includes(name) ? 'x' : 'y' }]
      }),
    )
    const fixture = new Fixture(nodes, { participants: 2, ...own })
    for (const name of 'abcd') fixture.head(name, 100)
    for (const { name, urls } of fixture.pool.upstreams)
      if (pruned.includes(name)) for (const { history } of urls) history.lacked('state', 50)
    for (let vote = 0; vote < 4; vote++)
      expect(await fixture.validate(request)).toMatchObject(expected)
  })
})

describe('three upstreams, two of which must agree', () => {
  test.each<[string, Nodes, object]>([
    [
      'all agree',
      { a: honest, b: honest, c: honest },
      { answer: '0x1', failure: null, sent: '1,1,1' },
    ],
    [
      'one differs',
      { a: wrong, b: honest, c: honest },
      { answer: '0x1', agreeing: 'b,c', disagreeing: 'a', all: 'a,b,c', failure: null },
    ],
    [
      'all differ',
      { a: wrong, b: honest, c: result('0x3') },
      { answer: 'no-agreement', agreeing: '', disagreeing: 'a,b,c', failure: 'no-agreement' },
    ],
    [
      'two write an address in different cases',
      { a: result('0xABcd'), b: wrong, c: result('0xabCD') },
      { agreeing: 'a,c', disagreeing: 'b', failure: null },
    ],
    [
      'one is down',
      { a: { fault: 'refused' }, b: honest, c: honest },
      { answer: '0x1', agreeing: 'b,c', all: 'a,b,c' },
    ],
    [
      'one is slow and would differ',
      { a: { script: () => ({ afterMs: 50, ...wrong }) }, b: honest, c: honest },
      { answer: '0x1', agreeing: 'b,c', disagreeing: '', all: 'a,b,c', tookMs: 10 },
    ],
    [
      'only one answers',
      { a: { fault: 'refused' }, b: honest, c: { fault: 'refused' } },
      { answer: 'insufficient-responses', agreeing: 'b', disagreeing: '', all: 'a,b,c' },
    ],
    [
      'one is rate limited',
      { a: limited, b: honest, c: honest },
      { answer: '0x1', agreeing: 'b,c', disagreeing: '' },
    ],
    [
      'one hangs',
      { a: hangs, b: honest, c: honest },
      { answer: '0x1', agreeing: 'b,c', tookMs: 10 },
    ],
    [
      'two are down',
      { a: { fault: 'refused' }, b: limited, c: honest },
      { answer: 'insufficient-responses', failure: 'insufficient-responses' },
    ],
    [
      'one down, two differ',
      { a: { fault: 'refused' }, b: wrong, c: honest },
      { answer: 'no-agreement' },
    ],
    [
      'node errors agree by their class',
      {
        a: nodeError(3, 'execution reverted: x'),
        b: nodeError(-32000, 'execution reverted'),
        c: honest,
      },
      { agreeing: 'a,b' },
    ],
    [
      'an error that another node might not return is no vote',
      { a: nodeError(-32000, 'header not found'), b: honest, c: honest },
      { answer: '0x1', agreeing: 'b,c', disagreeing: '' },
    ],
    [
      'all have only such an error',
      {
        a: nodeError(-32000, 'header not found'),
        b: nodeError(-32000, 'header not found'),
        c: { fault: 'refused' },
      },
      { answer: { code: -32000, message: 'header not found' }, agreeing: 'a,b' },
    ],
  ])('%s', async (_, nodes, expected) => {
    expect(await new Fixture(nodes).validate()).toMatchObject(expected)
  })

  it('tries another upstream in place of one that fails, is limited or hangs', async () => {
    for (const bad of [{ fault: 'refused' } as const, limited, hangs]) {
      const nodes = { a: bad, b: honest, c: bad, d: honest }
      const { answer, agreeing } = await new Fixture(nodes, { participants: 2 }).validate()
      expect([answer, agreeing]).toEqual(['0x1', 'b,d'])
    }
  })

  it.each([
    ['the limit of the policy', { maxParticipants: 3 }, {}],
    ['the request of the caller', null, { directives: asks(3, 2) }],
  ])('never exceeds %s, whatever fails', async (_, own, request) => {
    const nodes = { a: limited, b: limited, c: honest, d: honest, e: honest }
    const { failure, all } = await new Fixture(nodes, own).validate(request)
    expect([failure, all?.split(',').length]).toEqual(['insufficient-responses', 3])
  })

  it('accepts the answer of a slow upstream when the others are not enough', async () => {
    const slow = { script: () => ({ afterMs: 5_000, ...honest }) }
    const nodes = { a: slow, b: honest, c: { fault: 'refused' } as const }
    expect(await new Fixture(nodes).validate()).toMatchObject({ answer: '0x1', agreeing: 'a,b' })
  })

  it('fails as soon as all have answered, regardless of when the first did', async () => {
    const slow = (answer: ScriptedAnswer) => ({ script: () => ({ ...answer, afterMs: 3_000 }) })
    const nodes = { a: honest, b: nodeError(-32000, 'header not found'), c: slow(wrong) }
    expect(await new Fixture(nodes).validate()).toMatchObject({
      answer: 'no-agreement',
      disagreeing: 'a,c',
      tookMs: 3_000,
    })
  })

  it('does not affect other methods', async () => {
    const result = await new Fixture({ a: honest, b: honest }).validate({ method: 'eth_call' })
    expect(result).toMatchObject({ agreeing: undefined, sent: '1,0' })
  })

  it('reports each outcome', async () => {
    const fixture = new Fixture({ a: honest, b: honest, c: wrong })
    await fixture.validate()
    fixture.transport('b').play(() => result('0x3'))
    await fixture.validate()
    for (const each of ['a', 'b']) fixture.transport(each).play(() => ({ fault: 'refused' }))
    await fixture.validate()
    const reasons = ['no-agreement', 'insufficient-responses']
    expect(fixture.outcomes).toEqual([null, ...reasons])
  })
})

describe('long answers', () => {
  const piece = 'ab'.repeat(100_000)
  const streams: ScriptedAnswer = {
    ...{ body: '{"jsonrpc":"2.0","id":1,"result":"0x', streams: true },
    rest: [piece, piece, piece, '"}'],
  }

  it('are compared, and none of their bytes stay buffered', async () => {
    const fixture = new Fixture({
      a: streams,
      b: streams,
      c: { script: () => ({ ...wrong, afterMs: 5 }) },
    })
    const { answer, agreeing, disagreeing } = await fixture.validate()
    expect([agreeing, disagreeing]).toEqual(['a,b', 'c'])
    expect(answer === `0x${piece.repeat(3)}`).toBe(true)
    expect(fixture.budget.heldBytes).toBe(0)
  })

  it('count while others are pending', async () => {
    const fixture = new Fixture({ a: streams, b: hangs, c: hangs })
    const abort = new AbortController()
    const result = fixture.begin({ signal: abort.signal })
    await fixture.clock.advance(100)
    expect(fixture.budget.heldBytes).toBeGreaterThan(3 * piece.length)
    abort.abort()
    await result
    expect(fixture.budget.heldBytes).toBe(0)
  })

  it('without free memory fail their call, and release their bytes', async () => {
    const fixture = new Fixture({ a: honest, b: streams, c: streams })
    // Just below three quarters of the budget, above which long bodies are refused.
    const before = 7_200_000
    fixture.budget.hold(before)
    const { answer, sent } = await fixture.validate()
    expect([answer, sent]).toEqual(['overloaded', '1,1,1'])
    expect(fixture.budget.heldBytes).toBe(before)
    expect(fixture.transport('b').released + fixture.transport('c').released).toBeGreaterThan(0)
    fixture.transport('b').play(() => honest)
    expect(await fixture.validate()).toMatchObject({ answer: '0x1', agreeing: 'a,b' })
  })
})

describe('groups', () => {
  const of = (group: string, answer: ScriptedAnswer): FixtureUpstream => ({
    group,
    script: () => answer,
  })

  test.each<[string, Nodes, Partial<PolicyConfig>, object]>([
    [
      'are tried in turn',
      { a: of('x', honest), b: of('x', honest), c: of('y', honest) },
      { minGroups: 2, participants: 2 },
      { answer: '0x1', sent: '1,0,1' },
    ],
    [
      'that do not agree',
      { a: of('x', honest), b: of('x', honest), c: of('y', wrong) },
      { minGroups: 2 },
      { answer: 'diversity-unmet', agreeing: 'a,b', disagreeing: 'c' },
    ],
    [
      'without a quorum in each',
      { a: of('x', honest), b: of('x', honest), c: of('y', honest), d: of('y', wrong) },
      { minGroups: 2, perGroupQuorum: 2 },
      { answer: 'group-quorum-unmet', sent: '1,1,1,1' },
    ],
    [
      'that are too few',
      { a: of('x', honest), b: of('x', honest), c: of('x', honest) },
      { minGroups: 2 },
      { answer: 'insufficient-groups', failure: 'insufficient-groups', sent: '0,0,0' },
    ],
    [
      'with one vote each',
      { a: of('x', wrong), b: of('x', wrong), c: of('y', honest), d: of('z', honest) },
      { oneVotePerGroup: true },
      { answer: '0x1', agreeing: 'c,d', sent: '1,0,1,1' },
    ],
    [
      'with one vote each, whose first upstream is down',
      { a: of('x', { fault: 'refused' }), b: of('x', honest), c: of('y', honest) },
      { oneVotePerGroup: true, participants: 2 },
      { answer: '0x1', agreeing: 'b,c' },
    ],
    [
      'are filled to their quorum one after the other',
      {
        a: of('x', honest),
        b: of('y', honest),
        c: of('z', honest),
        d: of('x', honest),
        e: of('y', honest),
      },
      { minGroups: 2, perGroupQuorum: 2, agreement: 4, participants: 4 },
      { answer: '0x1', agreeing: 'a,b,d,e' },
    ],
  ])('%s', async (_, nodes, own, expected) => {
    expect(await new Fixture(nodes, own).validate()).toMatchObject(expected)
  })
})

describe('a caller', () => {
  const four = { a: honest, b: honest, c: honest, d: honest }

  test.each<[string, Partial<PolicyConfig> | null, Partial<Directives>, object]>([
    ['requests it without a policy', null, asks(3, 2), { answer: '0x1', sent: '1,1,1,0' }],
    ['raises a policy', {}, asks(4, 4), { answer: '0x1', agreeing: 'a,b,c,d' }],
    ['cannot shrink a policy', {}, asks(1, 1), { sent: '1,1,1,0' }],
    ['is limited to the maximum', { maxParticipants: 3 }, asks(4, 2), { sent: '1,1,1,0' }],
    [
      'is limited to the maximum agreement',
      { maxAgreement: 2 },
      asks(3, 3),
      { answer: '0x1', sent: '1,1,1,0' },
    ],
    [
      'requests more agreement than the maximum of participants',
      { maxParticipants: 3 },
      asks(4, 4),
      { answer: 'insufficient-capacity', sent: '0,0,0,0' },
    ],
    ['requests more upstreams than exist', null, asks(9, 2), { answer: '0x1', sent: '1,1,1,1' }],
    [
      'requests more agreement than possible',
      null,
      asks(9, 5),
      { answer: 'insufficient-capacity', sent: '0,0,0,0' },
    ],
    [
      'excludes so many that too few are left',
      {},
      { blockProviders: ['a', 'b'] },
      { answer: 'insufficient-capacity', failure: 'insufficient-capacity', sent: '0,0,0,0' },
    ],
    [
      'must not request it',
      { forbidsCallers: true },
      asks(3, 2),
      { answer: 'bad-directive', sent: '0,0,0,0' },
    ],
    [
      'does not request it where a policy only forbids',
      { forbidsCallers: true, agreement: 0, participants: 0 },
      {},
      { sent: '1,0,0,0' },
    ],
    [
      'names an upstream to include',
      null,
      { ...asks(2, 2), selectProvider: 'd' },
      { sent: '1,0,0,1' },
    ],
  ])('%s', async (_, own, directives, expected) => {
    const { sent, ...result } = await new Fixture(four, own).validate({ directives })
    expect({ ...result, sent: sent.split(',').length === 4 ? sent : '' }).toMatchObject(expected)
  })

  const spare: FixtureUpstream = { script: () => honest, tier: 'backup', group: 'other' }
  it.each<[string, Nodes, number, string]>([
    ['none while the primaries are enough', { a: honest, b: honest, c: spare }, 2, '1,1,0'],
    ['as a replacement for a failed one', { a: limited, b: honest, c: spare }, 2, '1,1,1'],
    ['where the primaries are too few', { a: honest, b: honest, c: spare }, 3, '1,1,1'],
  ])('of the backups, %s are tried', async (_, nodes, participants, sent) => {
    const fixture = new Fixture(nodes, { participants: 2 })
    const directives = participants > 2 ? asks(participants, 2) : {}
    expect(await fixture.validate({ directives })).toMatchObject({ answer: '0x1', sent })
  })

  it.each(['eth_sendRawTransaction', 'eth_subscribe', 'eth_newFilter'])(
    'cannot request it for %s',
    async (method) => {
      const result = await new Fixture(four, null).validate({
        method,
        params: ['0x1'],
        directives: asks(3, 2),
      })
      expect(result).toMatchObject({ answer: 'bad-directive', sent: '0,0,0,0' })
    },
  )

  it('that leaves ends every attempt', async () => {
    const fixture = new Fixture({ a: hangs, b: hangs, c: hangs })
    const abort = new AbortController()
    const result = fixture.begin({ signal: abort.signal })
    abort.abort()
    expect((await result).outcome).toBe('CallAborted')
    expect(fixture.pool.upstreams.map(({ usedSlots }) => usedSlots)).toEqual([0, 0, 0])
  })
})

describe('a tag', () => {
  interface Tags {
    readonly latest: number
    readonly safe?: number
    readonly finalized?: number
  }

  /** A node that answers with the number of the requested block. */
  const at = (tags: Tags | number, lie?: ScriptedAnswer): FixtureUpstream => ({
    script: ({ body }) => {
      const own: Tags = typeof tags === 'number' ? { latest: tags } : tags
      const { method, params } = JSON.parse(Buffer.from(body as Uint8Array).toString()) as {
        method: string
        params: string[]
      }
      const [point = 'latest', isWhole] = method === 'eth_getBalance' ? params.slice(1) : params
      const block = point in own ? own[point as keyof Tags]! : Number(point)
      const isProbe = isWhole === (false as unknown)
      if (lie && !isProbe) return lie
      const number = `0x${block.toString(16)}`
      if (method === 'eth_getBlockByNumber') return result(block > own.latest ? null : { number })
      return block > own.latest ? nodeError(-32000, 'header not found') : result(number)
    },
  })

  function fixtureOf(all: readonly Tags[], own: Partial<PolicyConfig>, lies: Nodes = {}): Fixture {
    const names = all.map((_, index) => 'abcde'.charAt(index))
    const nodes = all.map((tags, index) => [names[index], at(tags, lies[names[index]!] as never)])
    const fixture = new Fixture(Object.fromEntries(nodes) as Nodes, own)
    for (const [index, { latest }] of all.entries()) fixture.head(names[index]!, latest)
    return fixture
  }

  const spreads: [blocks: number[], agreement: number, common: number][] = [
    [[100, 99, 98], 2, 99],
    [[98, 99, 100], 2, 99],
    [[100, 99, 98], 3, 98],
    [[100, 100, 98], 2, 100],
    [[98, 100, 100], 3, 98],
    [[100, 97], 2, 97],
    [[100, 99, 98, 97, 97], 3, 98],
    [[97, 100, 97, 100, 97], 2, 100],
    [[97, 100, 97, 100, 97], 4, 97],
  ]
  const votes = spreads.flatMap(([blocks, agreement, common]) =>
    (['latest', 'safe', 'finalized'] as const).map(
      (tag) => [tag, blocks, agreement, common] as const,
    ),
  )

  it.each(votes)('%s: of blocks %j the highest that %i nodes have is %i', async (...row) => {
    const [tag, blocks, agreement, common] = row
    const all = blocks.map((block) => ({ latest: 200, [tag]: block }))
    const fixture = fixtureOf(all, { agreement, participants: blocks.length })
    for (const params of [['0xaa', tag], ...(tag === 'latest' ? [['0xaa']] : [])])
      expect(await fixture.validate({ params })).toMatchObject({
        ...{ answer: `0x${common.toString(16)}`, failure: null, disagreeing: '' },
      })
    expect(fixture.faults.every((fault) => fault === null)).toBe(true)
  })

  it('costs one more request per participant, and only for finalized or safe', async () => {
    const tags = { latest: 200, safe: 150, finalized: 100 }
    for (const [tag, sent] of [
      ['latest', '1,1,1'],
      ['safe', '2,2,2'],
      ['finalized', '2,2,2'],
      ['earliest', '1,1,1'],
    ] as const) {
      const fixture = fixtureOf([tags, tags, tags], {})
      expect((await fixture.validate({ params: ['0xaa', tag] })).sent).toBe(sent)
    }
  })

  it('is the number of a block at both ends of a range', async () => {
    const all = [99, 100].map((finalized) => ({ latest: finalized + 100, finalized }))
    const fixture = fixtureOf(all, { method: 'eth_getLogs', participants: 2 })
    await fixture.validate({
      method: 'eth_getLogs',
      params: [{ fromBlock: 'finalized', toBlock: 'latest' }],
    })
    for (const name of ['a', 'b'])
      expect(fixture.transport(name).requests.at(-1)).toContain(
        '[{"fromBlock":"0x63","toBlock":"0xc7"}]',
      )
  })

  it.each<[string, FixtureUpstream | ScriptedAnswer]>([
    ['fails', { fault: 'refused' }],
    ['does not know the tag', nodeError(-32602, 'invalid block tag')],
    ['hangs', hangs],
  ])('is that of the others where a participant %s', async (_, third) => {
    const [a, b] = [at({ latest: 200, finalized: 100 }), at({ latest: 200, finalized: 99 })]
    const fixture = new Fixture({ a, b, c: third }).head('a', 200).head('b', 200)
    const result = await fixture.validate({ params: ['0xaa', 'finalized'] })
    expect(result).toMatchObject({ answer: '0x63', agreeing: 'a,b' })
    expect(result.tookMs).toBeLessThanOrEqual(520)
  })

  it('stays unchanged if too few participants report its block', async () => {
    const down = { fault: 'refused' } as const
    const fixture = new Fixture({ a: at({ latest: 200, finalized: 100 }), b: down, c: down })
    expect((await fixture.validate({ params: ['0xaa', 'finalized'] })).failure).not.toBeNull()
    expect(fixture.transport('a').requests.at(-1)).toContain('["0xaa","finalized"]')
  })

  it('is not below the block that the caller has seen', async () => {
    const fixture = fixtureOf([{ latest: 16 }, { latest: 17 }, { latest: 15 }], {})
    const result = await fixture.validate({ directives: { minBlock: 17 } })
    expect(result).toMatchObject({ failure: 'insufficient-responses', agreeing: 'b' })
  })

  it('is not that of a lagging node, even if its vote is needed', async () => {
    const fixture = new Fixture({ a: at(1_000), b: at(5) }, null)
    fixture.head('a', 1_000).head('b', 5)
    const result = await fixture.validate({ directives: asks(2, 2) })
    expect(result).toMatchObject({ failure: 'insufficient-responses' })
  })

  it('stays unchanged where no heads are known', async () => {
    const fixture = new Fixture({ a: at(15), b: at(16), c: at(16) })
    expect(await fixture.validate()).toMatchObject({ answer: '0x10', disagreeing: 'a' })
  })

  const getBlock = { method: 'eth_getBlockByNumber', params: ['latest', false] }

  it('gives no vote to nodes without the block, and blames none of them', async () => {
    const all = [100, 100, 99, 99, 99].map((latest) => ({ latest }))
    const own = { method: 'eth_getBlockByNumber', agreement: 2, participants: 5 }
    const fixture = fixtureOf(all, own)
    expect(await fixture.validate(getBlock)).toMatchObject({
      ...{ answer: { number: '0x64' }, agreeing: 'a,b', disagreeing: '' },
    })
    expect(fixture.faults).toEqual([null, null, null, null, null])
  })

  it('outvotes a wrong node as soon as another one has the block', async () => {
    const fixture = fixtureOf([{ latest: 100 }, { latest: 100 }, { latest: 99 }], {}, { a: wrong })
    const result = fixture.validate()
    fixture.transport('c').play(at(100).script)
    fixture.clock.after(5_000, () => fixture.head('c', 100))
    expect(await result).toMatchObject({ answer: '0x64', agreeing: 'b,c', disagreeing: 'a' })
  })
})

describe('a commitment of Solana', () => {
  const of = (slot: number, value: number) => result({ context: { slot }, value })

  it.each(['confirmed', 'finalized', 'processed'])(
    '%s stays unchanged, and the slots of nodes may differ',
    async (commitment) => {
      const nodes = { a: of(100, 8), b: of(98, 7), c: of(99, 7) }
      const fixture = new Fixture(nodes, { method: 'getBalance' }, await solana())
      for (const [name, slot] of [['a', 100] as const, ['b', 98] as const, ['c', 99] as const])
        fixture.head(name, slot)
      const result = await fixture.validate({
        method: 'getBalance',
        params: ['key', { commitment }],
      })
      expect(result).toMatchObject({ agreeing: 'b,c', disagreeing: 'a', sent: '1,1,1' })
    },
  )
})

describe('a mismatch on a finalized block', () => {
  const request = { params: ['0xaa', '0x10'] }

  it('is reported with both answers, and lowers the score of the upstream', async () => {
    const fixture = new Fixture({ a: wrong, b: honest, c: honest })
    fixture.head('a', 1_000).head('b', 1_000).head('c', 1_000)
    const [{ score }] = fixture.pool.upstreams as [(typeof fixture.pool.upstreams)[0]]
    const before = score.availability(fixture.clock.nowMs())
    await fixture.validate(request)
    expect(fixture.mismatches).toMatchObject([
      [
        { upstream: 'a', excerpt: '"0x2"' },
        { upstream: 'b', excerpt: '"0x1"' },
      ],
    ])
    expect(score.availability(fixture.clock.nowMs())).toBeLessThan(before)
    const wrongSince = expect.stringMatching(
      /^wrong about finalized blocks \(votes lost: 1\) since /,
    )
    expect(fixture.faults).toEqual([wrongSince, null, null])
  })

  it('is reported even without agreement', async () => {
    const fixture = new Fixture({ a: wrong, b: honest, c: result('0x3') })
    fixture.head('a', 1_000).head('b', 1_000).head('c', 1_000)
    await fixture.validate(request)
    expect(fixture.mismatches).toMatchObject([
      [{}, null],
      [{}, null],
      [{}, null],
    ])
    expect(fixture.faults).toEqual([null, null, null])
  })

  it('is not reported for a block near the head', async () => {
    const fixture = new Fixture({ a: wrong, b: honest, c: honest })
    fixture.head('a', 20).head('b', 20).head('c', 20)
    await fixture.validate(request)
    expect(fixture.mismatches).toEqual([])
  })
})
