// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, describe, expect, it } from 'vitest'
import { AskedChain } from '../chain/testing/asked-chain.ts'
import type { Chain, ChainInterface } from '../chain/types.ts'
import { RelayFixture, ethereum, result, type Asked } from './testing/relay-fixture.ts'

let chain: Chain
let iface: ChainInterface
beforeAll(async () => {
  ;({ chain, iface } = await ethereum())
})

const hex = (height: number) => `0x${height.toString(16)}`
const hash = `0x${'a'.repeat(64)}`
const asked: Asked = { method: 'eth_blockNumber', params: [] }
const from = `0x${'1'.repeat(40)}`
const receipt = (height: number) => ({
  ...{ blockNumber: hex(height), blockHash: hash, transactionHash: hash, transactionIndex: '0x0' },
  ...{ logs: [], logsBloom: `0x${'0'.repeat(512)}`, status: '0x1', from },
})

/** Upstreams whose probes told the tip, 100, and that answer so; asked in this order. */
function pool(
  answers: Readonly<Record<string, unknown>>,
  heads: Readonly<Record<string, number>> = {},
): RelayFixture {
  const upstreams = Object.entries(answers).map(([name, each]) => {
    const answer = each === 'reset' ? ({ fault: 'reset' } as const) : result(each)
    return [name, { script: () => answer }] as const
  })
  const relay = new RelayFixture(chain, iface, Object.fromEntries(upstreams))
  for (const upstream of relay.pool.upstreams)
    relay.pool.sighted(upstream, heads[upstream.name] ?? 100, 0)
  return relay
}

describe('an answer about the newest state', () => {
  it.each<[string, number]>([
    ['of no height', 0],
    ['far behind', 1],
    ['behind by more than is allowed', 96],
    ['far ahead', 0xffffff],
    ['as high as can be', 2 ** 53 - 1],
  ])('%s is asked for elsewhere, and blames nobody', async (_case, height) => {
    const relay = pool({ liar: hex(height), d1: hex(100), d2: hex(100) })
    const seen = await relay.ask(asked)
    expect([seen.upstream, seen.outcome]).toEqual(['d1', result(hex(100)).body])
    expect(seen.call.journal.attempts.map((each) => each.violation)).toEqual([null, null])
  })

  it.each([97, 100, 103])('of the height %i is the answer', async (height) => {
    const relay = pool({ a: hex(height), d1: hex(100), d2: hex(100) })
    expect((await relay.ask(asked)).upstream).toBe('a')
  })

  it.each<[string, string, unknown, unknown]>([
    ['block', 'eth_getHeaderByNumber', header(1), header(100)],
    ['receipts', 'eth_getBlockReceipts', [receipt(1)], [receipt(100)]],
    [
      'long receipts',
      'eth_getBlockReceipts',
      [{ ...receipt(1), x: 'y'.repeat(70_000) }],
      [receipt(100)],
    ],
  ])('of a late %s is asked for elsewhere', async (_case, method, late, fresh) => {
    const relay = pool({ late, d1: fresh, d2: fresh })
    const seen = await relay.ask({ method, params: ['latest'] })
    expect(seen.upstream).toMatch(/^d[12]$/)
  })

  const fees = (oldest: number, blocks: number) => ({
    oldestBlock: hex(oldest),
    gasUsedRatio: Array.from({ length: blocks }, () => 0.5),
    baseFeePerGas: Array.from({ length: blocks + 1 }, () => '0x7'),
  })
  it.each<[string, unknown, string, 'a' | 'd1']>([
    ['that ends at the tip', fees(97, 4), 'latest', 'a'],
    ['that ends near to it', fees(95, 4), 'latest', 'a'],
    ['of less than was asked for, up to the tip', fees(100, 1), 'latest', 'a'],
    ['that ends far behind', fees(47, 4), 'latest', 'd1'],
    ['that ends far behind, and is as long as it may be', fees(1, 4), 'latest', 'd1'],
    ['of finalized blocks', fees(47, 4), 'finalized', 'a'],
    ['of blocks by number', fees(47, 4), hex(50), 'a'],
  ])('of a fee history %s', async (_case, history, newest, by) => {
    const relay = pool({ a: history, d1: fees(97, 4), d2: fees(97, 4) })
    const seen = await relay.ask({ method: 'eth_feeHistory', params: ['0x4', newest, []] })
    expect(seen.upstream).toBe(by)
  })

  it('is the answer of the nearest, when nobody is at the tip', async () => {
    const relay = pool({ near: hex(90), liar: hex(0), dead: 'reset' })
    expect((await relay.ask(asked)).upstream).toBe('near')
  })

  it('is the answer of the nearest, also when the last one that was asked is not', async () => {
    const relay = pool({ near: hex(90), far: hex(0) })
    expect((await relay.ask(asked)).upstream).toBe('near')
  })

  it('is the answer when nobody else can be asked', async () => {
    const relay = pool({ late: hex(50) })
    expect((await relay.ask(asked)).upstream).toBe('late')
  })

  it('is what the one that the client named is known to be at', async () => {
    const named = { ...asked, directives: { selectProvider: 'late' } }
    const late = pool({ late: hex(50), d1: hex(100), d2: hex(100) }, { late: 50 })
    expect((await late.ask(named)).upstream).toBe('late')
    const changed = pool({ late: hex(1), d1: hex(100), d2: hex(100) }, { late: 50 })
    expect((await changed.ask(named)).upstream).not.toBe('late')
  })
})

describe('an answer of a commitment', () => {
  // The allowed lag is 25 slots; the tip is what is confirmed.
  const [tip, key] = [300_000, '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d']
  it.each<[string | undefined, number, string]>([
    ['confirmed', tip, 'first'],
    ['confirmed', tip - 26, 'second'],
    ['processed', tip + 3, 'first'],
    ['processed', tip - 25, 'first'],
    ['processed', tip - 26, 'second'],
    ['finalized', tip - 32, 'first'],
    ['finalized', tip - 175, 'first'],
    ['finalized', tip - 176, 'second'],
    ['finalized', tip + 100_000, 'second'],
    [undefined, tip - 32, 'first'],
    [undefined, tip - 100_000, 'second'],
  ])('%s, of slot %i, is that of the %s one', async (commitment, slot, upstream) => {
    const { chain: slots } = await AskedChain.load('SLOTCHAIN')
    const of = (told: number) => ({
      script: () => result({ context: { slot: told }, value: 5 }),
    })
    const relay = new RelayFixture(slots, slots.interfaces.get('jsonrpc') as ChainInterface, {
      first: of(slot),
      second: of(tip - (commitment === 'finalized' || !commitment ? 32 : 0)),
      third: of(tip),
    })
    for (const each of relay.pool.upstreams) relay.pool.sighted(each, tip, 0)
    const seen = await relay.ask({ method: 'getBalance', params: [key, { commitment }] })
    expect(seen.upstream).toBe(upstream)
    expect(seen.call.journal.attempts.map((each) => each.violation)).not.toContain(
      expect.anything(),
    )
    // What is not the tip moves no head.
    expect(relay.pool.upstreams.map(({ latest }) => latest?.block)).toContain(tip)
  })
})

function header(height: number) {
  return { number: hex(height), hash, parentHash: `0x${'b'.repeat(64)}`, timestamp: '0x1' }
}
