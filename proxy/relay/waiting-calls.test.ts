// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { Journal } from './call.ts'
import {
  nodeError,
  RelayFixture,
  result,
  scripted,
  type Upstreams,
} from './testing/relay-fixture.ts'

/* Calls that wait for an event get the time that their request, or the method's spec, names. */

const catalog = await loadCatalog([])

function serve(
  chainId: string,
  upstreams: Upstreams,
  apiInterface: 'jsonrpc' | 'tendermintrpc' = 'jsonrpc',
  processingTimeoutMs = 120_000,
): RelayFixture {
  const chain = catalog.find(chainId)!
  const iface = chain.interfaces.get(apiInterface)!
  return new RelayFixture(chain, iface, scripted(upstreams), { processingTimeoutMs })
}

const receipt = result({ blockNumber: '0x1' }, { afterMs: 58_000 })
const raw = '0x02f8'
const send = (...params: unknown[]) => ({
  method: 'eth_sendRawTransactionSync',
  params: [raw, ...params],
})

describe('a call that waits as long as its request says', () => {
  test.each<[chainId: string, method: string, params: unknown[] | object, leastMs: number]>([
    ['ETH1', 'eth_sendRawTransactionSync', [raw], 22_000],
    ['ETH1', 'eth_sendRawTransactionSync', [raw, 60_000], 60_000],
    ['ETH1', 'eth_sendRawTransactionSync', [raw, '0xea60'], 60_000],
    ['ETH1', 'eth_sendRawTransactionSync', [raw, '60000'], 60_000],
    ['BTC', 'waitfornewblock', [90_000], 90_000],
    ['BTC', 'waitfornewblock', [0], 120_000],
    ['BTC', 'waitfornewblock', [], 120_000],
    ['BTC', 'waitfornewblock', { timeout: 90_000 }, 90_000],
    ['BTC', 'waitforblock', ['00', 90_000], 90_000],
    ['BTC', 'waitforblockheight', [7, 90_000], 90_000],
    ['BTC', 'getblocktemplate', [{ longpollid: 'abc1' }], 120_000],
  ])('%s, %s %j: %i ms', async (chainId, method, params, leastMs) => {
    const relay = serve(chainId, { a: result('done', { afterMs: leastMs - 1_000 }) })
    const { outcome, call } = await relay.ask({ method, params })
    const [attempt] = call.journal.attempts
    expect(outcome).toContain('done')
    expect(attempt?.budgetMs).toBeGreaterThanOrEqual(leastMs)
    expect(relay.sent).toEqual({ a: 1 })
    expect(relay.events).toEqual([])
  })

  test('without a long poll, a block template has the usual time', async () => {
    const relay = serve('BTC', { a: result('done') })
    const { call } = await relay.ask({ method: 'getblocktemplate', params: [{}] })
    expect(call.journal.attempts[0]?.budgetMs).toBe(10_000)
  })

  test.each([
    ['BTC', 'getblocktemplate', [{ longpollid: 'abc1' }]],
    ['BTC', 'waitforblockheight', [7, 20_000]],
  ])('%s, %s is not hedged', async (chainId, method, params) => {
    const slow = result('done', { afterMs: 20_000 })
    const relay = serve(chainId, { a: slow, b: slow })
    await relay.ask({ method, params })
    expect(relay.sent).toEqual({ a: 1, b: 0 })
  })

  test('the timeout of a URL does not cut the wait', async () => {
    const a = { script: () => receipt, urls: [{ timeoutMs: 3_000 }] }
    const relay = serve('ETH1', { a })
    expect((await relay.ask(send(60_000))).outcome).toContain('blockNumber')
    expect(relay.events).toEqual([])
  })

  test('the timeout of its client does, and no node is blamed', async () => {
    const directives = { relayTimeoutMs: 20_000 }
    const prepare = (journal: Journal) => (journal.clientDeadlineMs = journal.startedMs + 20_000)
    for (const more of [{ directives }, { prepare }]) {
      const relay = serve('ETH1', { a: receipt }, 'jsonrpc', 30_000)
      for (let each = 0; each < 8; each++) {
        const { outcome, tookMs } = await relay.ask({ ...send(60_000), ...more })
        expect(outcome).toBe('timeout')
        expect(tookMs).toBeLessThan(21_000)
      }
      expect(relay.pool.upstreams[0]?.state).toBe('eligible')
    }
  })

  test.each([
    ['BTC', 'waitfornewblock', [60_000], 59_000, {}],
    ['BTC', 'waitfornewblock', [60_000], 59_000, { relayTimeoutMs: 60_000 }],
    ['BTC', 'waitfornewblock', [0], 600_000, {}],
    ['ETH1', 'eth_sendRawTransactionSync', [raw, 60_000], 35_000, {}],
  ])('%s, %s %j: it comes on top of the usual budget', async (id, method, params, afterMs, own) => {
    const relay = serve(id, { a: result('done', { afterMs }) }, 'jsonrpc', 30_000)
    const { outcome } = await relay.ask({ method, params, directives: own }, 700_000)
    expect(outcome).toContain('done')
    expect(relay.sent).toEqual({ a: 1 })
  })

  test('a call without a named end has ten minutes', async () => {
    const relay = serve('BTC', { a: { hang: true } }, 'jsonrpc', 30_000)
    const { outcome, tookMs } = await relay.ask({ method: 'waitfornewblock', params: [0] }, 700_000)
    expect(outcome).toBe('timeout')
    expect(tookMs).toBe(630_000)
  })

  test.each([4_000, '0x5dc'])('a node that waits longer than %s ends the call', async (wait) => {
    const slow = result({ blockNumber: '0x1' }, { afterMs: 15_000 })
    const relay = serve('ETH1', { a: slow, b: slow }, 'jsonrpc', 30_000)
    const { outcome, message, tookMs } = await relay.ask(send(wait))
    expect(outcome).toBe('timeout')
    expect(message).toContain('a node may have accepted the transaction')
    expect(tookMs).toBe(Number(wait) + 10_000)
  })
})

describe('a write that waits for its block', () => {
  const known = nodeError(-32_000, 'already known')
  const late = nodeError(
    4,
    "The transaction was added to the mempool but wasn't processed in 60s.",
    {
      afterMs: 60_000,
    },
  )

  test('gets the first receipt, although other nodes have the transaction from it', async () => {
    const relay = serve('ETH1', { a: receipt, b: known, c: known })
    expect((await relay.ask(send(60_000))).outcome).toContain('blockNumber')
    expect(relay.sent).toEqual({ a: 1, b: 1, c: 1 })
  })

  test('the end of its time is the answer of the node, not a failure', async () => {
    const relay = serve('ETH1', { a: late, b: known, c: late })
    const { outcome, call, tookMs } = await relay.ask(send(60_000))
    expect(outcome).toBe(late.body)
    expect(tookMs).toBeLessThan(61_000)
    expect(call.journal.attempts.map((each) => each.result)).not.toContain('aborted')
    expect(relay.events).toEqual([])
  })

  test('a hanging node does not delay that answer for long', async () => {
    const relay = serve('ETH1', { a: late, b: { hang: true } })
    const { outcome, tookMs } = await relay.ask(send(60_000))
    expect(outcome).toBe(late.body)
    expect(tookMs).toBeLessThan(64_000)
  })

  test('a transaction commits on one node, while another has it in its cache', async () => {
    const commit = result({ check_tx: { code: 0 }, height: '7' }, { afterMs: 9_000 })
    const cached = nodeError(-32_603, 'tx already exists in cache')
    const relay = serve('HUBCHAIN', { a: commit, b: cached }, 'tendermintrpc')
    const { outcome } = await relay.ask({ method: 'broadcast_tx_commit', params: { tx: 'AQ==' } })
    expect(outcome).toContain('check_tx')
  })
})
