// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { systemClock } from '../../proxy/clock/system-clock.ts'
import { simulatedChains } from './start-nodes.ts'

const call = (method: string) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })

test.each<[string, string, string | null, RegExp]>([
  ['eth', '/', call('eth_blockNumber'), /"result":"0x/],
  ['btc', '/', call('getblockcount'), /"result":\d+/],
  ['slot', '/', call('getSlot'), /"result":\d+/],
  ['move', '/v1', null, /"block_height":"\d+"/],
  ['hub-rest', '/cosmos/base/tendermint/v1beta1/blocks/latest', null, /"height":"\d+"/],
  ['hub-tendermint', '/', call('status'), /"latest_block_height":"\d+"/],
])('%s starts a node that tells its height', async (name, path, body, expected) => {
  const start = simulatedChains[name]?.({ seed: 'test', clock: systemClock, chainId: 1 })
  const node = await start?.('sim-1', 0)
  if (!node) throw new Error(`no chain ${name}`)
  const headers = { 'content-type': 'application/json' }
  const request = body === null ? {} : { method: 'POST', headers, body }
  const response = await fetch(node.url + path, request)
  expect(await response.text()).toMatch(expected)
  await node.stop()
})

test('each chain that can be simulated is tried above', () => {
  expect(Object.keys(simulatedChains)).toHaveLength(6)
})
