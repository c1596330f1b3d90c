// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, test } from 'vitest'
import { serveRouter } from '../served/served-router.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'
import { truthOf } from './liar.ts'

const chain = createChainModel({ seed: 'tip' })
const truth = truthOf(chain)
const rounds = 30

let nodes: readonly SimNode[]
beforeAll(async () => {
  const names = ['liar', 'honest-1', 'honest-2']
  nodes = await Promise.all(names.map((name) => startSimNode({ chain, name })))
  return async () => {
    for (const each of nodes) await each[Symbol.asyncDispose]()
  }
})

const at = (method: string, params: readonly unknown[]) => () =>
  truth.result({ id: 0, method, params })
const blockAt = (block: string) => at('eth_getBlockByNumber', [block, false])

// Each about the newest state, or about the first block. What a node claims all the time, probes see too.
test.each<[string, string, readonly unknown[], () => unknown]>([
  ['a height of 0', 'eth_blockNumber', [], () => '0x0'],
  ['a height far behind', 'eth_blockNumber', [], () => '0x1'],
  ['a height far ahead', 'eth_blockNumber', [], () => '0xfffffff'],
  ['the highest height', 'eth_blockNumber', [], () => `0x${(2 ** 53 - 1).toString(16)}`],
  ['an old block', 'eth_getBlockByNumber', ['latest', false], blockAt('0x1')],
  [
    'receipts of an old block',
    'eth_getBlockReceipts',
    ['latest'],
    at('eth_getBlockReceipts', ['0x1']),
  ],
])('%s for the tip is never an answer while others tell it', async (_case, method, params, lie) => {
  const [liar] = nodes as readonly [SimNode]
  liar.faults.clear()
  const settings = { strategy: 'round-robin', 'upstream-failure-threshold': 100 } as const
  await using router = await serveRouter({ primaries: [...nodes], settings })
  let told = 0
  const forge = ({ id }: { readonly id: unknown }) => {
    told += 1
    return JSON.stringify({ jsonrpc: '2.0', id, result: lie() })
  }
  liar.faults.add({ kind: 'forged', forge }, { methods: [method] })
  const wrong: string[] = []
  for (let round = 0; round < rounds; round++) {
    const response = await fetch(router.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
    })
    const text = await response.text()
    expect(response.headers.get('rpc-reported-providers')).toBeNull()
    if (text !== truth.answer({ id: 7, method, params })) wrong.push(text)
  }
  expect(wrong).toEqual([])
  expect(told).toBeGreaterThan(0)
})
