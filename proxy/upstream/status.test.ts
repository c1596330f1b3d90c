// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { dialects } from './dialect.ts'
import { Cooldown } from './health.ts'
import { askStatus, toTimeMs } from './status.ts'
import { nodeUrlConfig } from './testing/node-url-config.ts'
import { ScriptedTransport } from './testing/scripted-transport.ts'
import type { Outgoing } from './wire.ts'
import { NodeUrl } from './node-url.ts'

const catalog = await loadCatalog([])

describe('askStatus', () => {
  const status = { sync_info: { catching_up: false, earliest_block_height: '900000' } }
  const ledger = { ledger_timestamp: '1700000000000000', oldest_block_height: '900000' }
  const info = { initialblockdownload: false, time: 1_700_000_000, pruned: true }
  const noError = { id: 1, jsonrpc: '2.0' }
  it.each<[string, string, 'jsonrpc' | 'rest' | 'tendermintrpc', object, number, number]>([
    ['CometBFT', 'HUBCHAIN', 'tendermintrpc', { ...noError, result: status }, 900_000, 1],
    ['Aptos', 'MOVECHAIN', 'rest', ledger, 900_000, 1],
    ['Bitcoin', 'BTC', 'jsonrpc', { result: { ...info, pruneheight: 900_000 } }, 900_000, 1],
    ['Bitcoin without pruning', 'BTC', 'jsonrpc', { result: { ...info, pruned: false } }, 0, 1],
    ['Solana', 'SLOTCHAIN', 'jsonrpc', { ...noError, result: 900_000 }, 900_000, 2],
    ['a node without support', 'HUBCHAIN', 'tendermintrpc', { ...noError, result: {} }, 0, 3],
  ])('%s: reads the oldest block', async (_name, id, apiInterface, answer, oldest, calls) => {
    const { interfaces, failures } = catalog.find(id)!
    const clock = new VirtualClock()
    const transport = new ScriptedTransport(clock, () => ({ body: JSON.stringify(answer) }))
    const config = nodeUrlConfig('http://a.test', {})
    const url = new NodeUrl(config, transport, new Cooldown(clock, null))
    url.verified = true
    const { signal } = new AbortController()
    const dialect = dialects[apiInterface]
    const asking = askStatus(url, interfaces.get(apiInterface)!, {
      dialect,
      failures,
      clock,
      signal,
    })
    await clock.advance(1_000)
    await asking
    expect(url.history.oldest('blocks')).toBe(oldest)
    expect(url.history.oldest('state')).toBe(oldest)
    expect(transport.requests).toHaveLength(calls)
  })
})

it('an Ethereum node reports its oldest data per kind', async () => {
  const { interfaces, failures } = catalog.find('ETH1')!
  const clock = new VirtualClock()
  const result = {
    head: { number: '0x142c20', hash: '0x00' },
    blocks: { disabled: false, oldestBlock: '0x0' },
    logs: { disabled: false, oldestBlock: '0xdbba0' },
    receipts: { disabled: true },
    state: { disabled: false, oldestBlock: '0x142ba0' },
  }
  const script = ({ body }: Outgoing) =>
    Buffer.from(body as Uint8Array).includes('eth_capabilities')
      ? { body: JSON.stringify({ jsonrpc: '2.0', id: 1, result }) }
      : { body: '{"jsonrpc":"2.0","id":1,"result":false}' }
  const transport = new ScriptedTransport(clock, script)
  const url = new NodeUrl(nodeUrlConfig('http://a.test', {}), transport, new Cooldown(clock, null))
  url.verified = true
  const options = { dialect: dialects.jsonrpc, failures, clock }
  const { signal } = new AbortController()
  const asking = askStatus(url, interfaces.get('jsonrpc')!, { ...options, signal })
  await clock.advance(1_000)
  await asking
  const kinds = ['blocks', 'logs', 'receipts', 'transactions', 'state'] as const
  expect(kinds.map((kind) => url.history.oldest(kind))).toEqual([0, 900_000, 0, 0, 1_321_888])
})

describe('toTimeMs', () => {
  const atMs = Date.UTC(2026, 0, 2, 3, 4, 5)
  it.each<[string, unknown, number | null]>([
    ['Ethereum: seconds in hex', `0x${(atMs / 1_000).toString(16)}`, atMs],
    ['Bitcoin: seconds', atMs / 1_000, atMs],
    ['seconds as text', String(atMs / 1_000), atMs],
    ['milliseconds', atMs, atMs],
    ['Aptos: microseconds as text', `${atMs}000`, atMs],
    ['nanoseconds', `${atMs}000000`, atMs],
    ['CometBFT: RFC 3339', '2026-01-02T03:04:05.000000000Z', atMs],
    ['with an offset', '2026-01-02T04:04:05+01:00', atMs],
    ['zero', '0x0', null],
    ['an invalid text', 'yesterday', null],
    ['an object', {}, null],
    ['nothing', null, null],
  ])('%s', (_name, value, wanted) => {
    const got = toTimeMs(value)
    if (wanted === null) expect(got).toBeNull()
    else expect(got).toBeCloseTo(wanted, -1)
  })
})
