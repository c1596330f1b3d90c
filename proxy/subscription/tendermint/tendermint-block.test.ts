// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { errorKinds, RelayError } from '../../relay/errors.ts'
import type { Ask } from '../ask.ts'
import { BackfillError } from '../ask.ts'
import { fetchBlock, newBlock } from './tendermint-block.ts'

const signal = new AbortController().signal
const block = (txs: readonly string[] | null) => ({
  block_id: { hash: 'AB' },
  block: { header: { height: '7' }, data: { txs } },
})
const results = (count: number | null) => ({
  height: '7',
  txs_results: count === null ? null : Array.from({ length: count }, () => ({ code: 0 })),
  finalize_block_events: null,
})

type Node = readonly [block: unknown, results: unknown]
const honest: Node = [block(['AAAA']), results(1)]

/** @param first the first upstream per method, unless the caller prefers one */
function askOf(
  nodes: Readonly<Record<string, Node>>,
  first: Readonly<Record<string, string>> = {},
) {
  const requests: string[] = []
  const ask: Ask = ({ method, prefer, avoid }) => {
    const left = Object.keys(nodes).filter((name) => !avoid.includes(name))
    const wanted = prefer ?? first[method] ?? ''
    const upstream = left.includes(wanted) ? wanted : left[0]
    if (upstream === undefined)
      return Promise.reject(new RelayError(errorKinds.noUpstream, 'no upstream left'))
    requests.push(`${upstream} ${method}`)
    const [blockAnswer, resultsAnswer] = nodes[upstream] as Node
    const answer = method === 'block' ? blockAnswer : resultsAnswer
    return Promise.resolve({ result: Buffer.from(JSON.stringify(answer)), upstream })
  }
  return { ask, requests }
}

function transactionsOf(event: Uint8Array): readonly string[] {
  const { data } = JSON.parse(`{${Buffer.from(event).toString()}}`) as {
    data: { value: { block: { data: { txs: readonly string[] | null } } } }
  }
  return data.value.block.data.txs ?? []
}

const usable: [string, Node, number][] = [
  ['no transactions, as null', [block(null), results(null)], 0],
  ['no transactions, as a list', [block([]), results(0)], 0],
  ['one of each', [block([]), results(null)], 0],
  ['a transaction', honest, 1],
]
test.each(usable)('a block with %s is accepted', async (_, node, count) => {
  const { ask, requests } = askOf({ one: node })
  const found = await fetchBlock(ask, 7, null, signal)
  expect(transactionsOf(newBlock(found))).toHaveLength(count)
  expect(requests).toEqual(['one block', 'one block_results'])
})

const unusable: [string, Node][] = [
  ['no results for its transactions', [block(['AAAA']), results(null)]],
  ['too few results', [block(['AAAA']), results(0)]],
  ['too many results', [block(['AAAA']), results(2)]],
]
test.each(unusable)(
  'an upstream with %s has failed, and another one is tried',
  async (_, wrong) => {
    const { ask } = askOf({ one: wrong, two: honest })
    const found = await fetchBlock(ask, 7, 'one', signal)
    expect(transactionsOf(newBlock(found))).toHaveLength(1)
    await expect(fetchBlock(askOf({ one: wrong }).ask, 7, null, signal)).rejects.toThrow(
      BackfillError,
    )
  },
)

test('when no answer is usable, the error names the upstreams', async () => {
  const { ask } = askOf({ one: [null, null], two: [5, 'x'] })
  const fetched = fetchBlock(ask, 7, null, signal)
  await expect(fetched).rejects.toThrow(BackfillError)
  await expect(fetched).rejects.toThrow(/no usable answer from one, two/)
})
