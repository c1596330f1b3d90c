// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, describe, expect, it } from 'vitest'
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { RelayFixture, ethereum, nodeError, result, type Asked } from './testing/relay-fixture.ts'

let chain: Chain
let iface: ChainInterface
beforeAll(async () => {
  ;({ chain, iface } = await ethereum())
})

const hash = `0x${'a'.repeat(64)}`
const asked: Asked = { method: 'eth_getTransactionByHash', params: [hash] }
const from = `0x${'1'.repeat(40)}`
const found = result({ hash, from, blockHash: null, blockNumber: null, transactionIndex: null })
const none = result(null)
const reset: ScriptedAnswer = { fault: 'reset' }

/** Upstreams that give these answers in turn, and then the last; `lagging` is ten blocks behind. */
function pool(answers: Readonly<Record<string, ScriptedAnswer[]>>): RelayFixture {
  const upstreams = Object.entries(answers).map(([name, each]) => {
    const left = [...each]
    return [name, { script: () => (left.length > 1 ? left.shift() : left[0])! }]
  })
  const relay = new RelayFixture(chain, iface, Object.fromEntries(upstreams))
  for (const upstream of relay.pool.upstreams)
    relay.pool.sighted(upstream, upstream.name === 'lagging' ? 90 : 100, 0)
  return relay
}

describe('an upstream that lags, asked for what a hash names', () => {
  it('answers before one that failed is asked again', async () => {
    const relay = pool({ d1: [reset], d2: [reset], lagging: [found] })
    expect((await relay.ask(asked)).outcome).toBe(found.body)
    expect(relay.sent).toEqual({ d1: 1, d2: 1, lagging: 1 })
  })

  it('has not the last word when it says null: who failed is asked again, for no retry', async () => {
    const relay = pool({ d1: [reset, found], d2: [reset, found], lagging: [none] })
    const seen = await relay.ask(asked)
    expect(seen.outcome).toBe(found.body)
    expect(seen.call.journal.attempts.map(({ upstream }) => upstream).toSorted()).toEqual([
      'd1',
      'd1',
      'd2',
      'lagging',
    ])
  })

  it.each<[string, ScriptedAnswer]>([
    ['null', none],
    ['an error of its own', nodeError(3, 'execution reverted')],
  ])('has it when nobody else answers: %s', async (_, answer) => {
    const relay = pool({ d1: [reset], d2: [reset], lagging: [answer] })
    const seen = await relay.ask(asked)
    expect([seen.outcome, relay.sent['lagging']]).toEqual([answer.body, 1])
    expect(relay.events.filter((event) => event.startsWith('lagging: eligible'))).toEqual([
      'lagging: eligible > lagging',
    ])
  })

  it('has it when the client named it', async () => {
    const relay = pool({ d1: [found], lagging: [none], d2: [found] })
    const seen = await relay.ask({ ...asked, directives: { selectProvider: 'lagging' } })
    expect([seen.outcome, seen.upstream]).toEqual([none.body, 'lagging'])
  })

  it('has it when those that do not lag are out of the question', async () => {
    const relay = pool({ d1: [found], lagging: [none], d2: [found] })
    const seen = await relay.ask({ ...asked, directives: { blockProviders: ['d1', 'd2'] } })
    expect([seen.outcome, seen.call.journal.attempts.length]).toEqual([none.body, 1])
  })
})
