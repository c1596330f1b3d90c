// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, describe, expect, it } from 'vitest'
import type { Chain, ChainInterface } from '../chain/types.ts'
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

function fixture(answers: Readonly<Record<string, ScriptedAnswer>>): RelayFixture {
  const upstreams = Object.entries(answers).map(
    ([name, answer]) => [name, { script: () => answer }] as const,
  )
  return new RelayFixture(chain, iface, Object.fromEntries(upstreams))
}

const ok = result('0x1')
const odd = nodeError(-32000, 'the moon is in the wrong house')
const odder = nodeError(0, '')
const local: TestCall = { method: 'eth_accounts', params: [] }
const call: TestCall = { method: 'eth_call', params: [{}, 'latest'] }
const write: TestCall = { method: 'eth_sendRawTransaction', params: ['0x02f8'] }

describe('an unknown error', () => {
  it.each([
    ['a read is retried elsewhere', { a: odd, b: ok, c: ok }, {}, ok, { a: 1, b: 1, c: 0 }],
    [
      'is the answer when other upstreams return the same',
      { a: odd, b: odd, c: odd },
      {},
      odd,
      { a: 1, b: 1, c: 1 },
    ],
    [
      'is the answer when other upstreams fail',
      { a: odd, b: { fault: 'reset' }, c: nodeError(-32603, 'internal error') },
      {},
      odd,
      { a: 1, b: 1, c: 1 },
    ],
    [
      "another's own answer is more than it",
      { a: odder, b: nodeError(3, 'execution reverted'), c: ok },
      call,
      nodeError(3, 'execution reverted'),
      { a: 1, b: 1, c: 0 },
    ],
    ['is the answer of the only upstream, without a retry', { a: odd }, {}, odd, { a: 1 }],
    [
      'is the answer to a call about the state of one node',
      { a: odd, b: ok },
      local,
      odd,
      { a: 1, b: 0 },
    ],
    [
      'is the answer to a write that all upstreams reject',
      { a: odd, b: odd },
      write,
      odd,
      { a: 1, b: 1 },
    ],
  ] as const)('%s', async (_case, answers, request, outcome, sent) => {
    const relay = fixture(answers)
    expect((await relay.ask(request)).outcome).toBe(outcome.body)
    expect(relay.sent).toEqual(sent)
  })

  it('is neither a success nor a failure of its upstream', async () => {
    const relay = fixture({ a: odd, b: ok })
    const [a] = relay.pool.upstreams
    const before = JSON.stringify(a?.score)
    const url = a!.urls[0]!
    a?.failed(url, { reason: 'reset', weight: 1 })
    for (let each = 0; each < 20; each++) await relay.ask()
    expect([url.failures, a?.availability.standing]).toEqual([1, 'eligible'])
    expect(JSON.stringify(a?.score)).toBe(before)
  })
})

describe('an error that is the answer', () => {
  const revert = nodeError(3, 'execution reverted')
  const params = nodeError(-32602, 'Invalid params')
  const unknown: TestCall = { method: 'my_call', params: [] }
  const one = result('0x1')

  it.each([
    ['a revert of a call', { a: revert, b: one }, call, revert],
    ['an error of a method that is in no spec', { a: revert, b: one }, unknown, revert],
    ['invalid params of a balance', { a: params, b: one }, {}, params],
    ['invalid params of a call about the state of one node', { a: params, b: one }, local, params],
  ] as const)('%s', async (_case, answers, request, outcome) => {
    const relay = fixture(answers)
    expect((await relay.ask(request)).outcome).toBe(outcome.body)
    expect(relay.sent).toEqual({ a: 1, b: 0 })
  })
})

it.each([
  ['a status of 500 with an unknown message', { ...odd, status: 500 }],
  ['a refused connection of a gateway', nodeError(-32000, 'connect ECONNREFUSED 10.0.0.7:1')],
  ['a timeout of a gateway', nodeError(-32000, 'dial tcp 10.0.0.7:8545: i/o timeout')],
  [
    'a routing error of a gateway',
    nodeError(-32000, "Can't route your request to suitable provider"),
  ],
])('%s is retried elsewhere, and repeated failures disable the upstream', async (_case, a) => {
  const relay = fixture({ a, b: ok })
  for (let each = 0; each < 20; each++) expect((await relay.ask()).outcome).toBe(ok.body)
  expect(relay.sent).toEqual({ a: 5, b: 20 })
})
