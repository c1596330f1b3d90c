// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import type { Journal } from './journal.ts'
import { ethereum, RelayFixture, result, type Asked } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const known: Asked = { method: 'eth_chainId', params: [] }
const unknown: Asked = { method: 'custom_method', params: [] }

describe('after so many answers within 2 ms, another upstream is asked', () => {
  it.each<[string, Asked, number, number]>([
    ['not before 10 ms', known, 9, 1],
    ['after 10 ms', known, 11, 2],
    // Whoever makes names up would fill the memory with what is known of each.
    ['only after the usual time, to a method that no spec names', unknown, 200, 1],
  ])('%s', async (_, asked, afterMs, sent) => {
    const script = () => result('0x1', { afterMs: 2 })
    const relay = new RelayFixture(chain, iface, { a: { script }, b: { script } })
    for (let each = 0; each < 60; each++) await relay.ask(asked)
    for (const name of ['a', 'b']) relay.transport(name).play(() => result('0x1', { afterMs }))
    const { call } = await relay.ask(asked)
    expect(call.journal.attempts).toHaveLength(sent)
  })

  it('only after the usual time, where those might have rested', async () => {
    const script = () => result('0x1', { afterMs: 2 })
    const relay = new RelayFixture(chain, iface, { a: { script }, b: { script } })
    const prepare = (journal: Journal) => {
      journal.letRest()
    }
    for (let each = 0; each < 60; each++) await relay.ask({ ...known, prepare })
    for (const name of ['a', 'b']) relay.transport(name).play(() => result('0x1', { afterMs: 200 }))
    const { call } = await relay.ask(known)
    expect(call.journal.attempts).toHaveLength(1)
  })
})

describe('a slow call with one extra call to spend', () => {
  it.each<[string, number, string[]]>([
    ['is not tried again while its company is in time', 1_300, ['first', 'hedge']],
    ['is when that is late as well', 1_700, ['first', 'hedge', 'retry']],
  ])('%s', async (_, afterMs, made) => {
    const script = () => result('0x1')
    const relay = new RelayFixture(chain, iface, { a: { script }, b: { script }, c: { script } })
    for (let each = 0; each < 10; each++) await relay.ask(known)
    for (const name of ['a', 'b', 'c']) relay.transport(name).play(() => result('0x1', { afterMs }))
    const { call, tookMs } = await relay.ask()
    expect(call.journal.attempts.map(({ kind }) => kind)).toEqual(made)
    expect(tookMs).toBe(afterMs)
  })
})
