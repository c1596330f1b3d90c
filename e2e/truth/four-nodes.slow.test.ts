// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { serveRouter, uncached } from '../served/served-router.ts'
import { coveredAt } from '../simulation/wrong-answers.ts'
import type { NodeCall } from '../simulation/wrong-answers.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'
import { answerWrongly, truthOf } from './truth.ts'
import { readsAbout } from './reads.fixture.ts'

const rounds = 150
const lanes = 12
const lagBlocks = 10

/**
 * One of four nodes answers wrongly whenever it can, one lags, one dies in every possible way, and
 * one is honest. No answer may be wrong or missing.
 */
test.each(['balanced', 'round-robin', 'latency'])(
  'four nodes, one of them honest, by %s: no answer is wrong or missing',
  async (strategy) => {
    const chain = createChainModel({ seed: `four ${strategy}` })
    const truth = truthOf(chain)
    const random = seededRandom(5)
    await using stack = new AsyncDisposableStack()
    const start = async (name: string) => stack.use(await startSimNode({ chain, name }))
    const names = ['wrong', 'lagging', 'dying', 'honest']
    const nodes = await Promise.all(names.map(start))
    const [wrongNode, lagging, dying] = nodes as [SimNode, SimNode, SimNode, SimNode]
    lagging.view.lagBlocks = lagBlocks
    const router = stack.use(
      await serveRouter({ primaries: nodes, settings: { ...uncached, strategy } }),
    )
    const sent = answerWrongly(wrongNode, truth, methodsOf(chain), () => {
      const kinds = [...coveredAt.core]
      const from = Math.floor(random.next() * kinds.length)
      return [...kinds.slice(from), ...kinds.slice(0, from)]
    })

    const wrong: string[] = []
    const failed: string[] = []
    let requests = 0
    const ask = async (read: Omit<NodeCall, 'id'>) => {
      const call = { id: ++requests, ...read }
      const before = truth.answer(call)
      const response = await fetch(router.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', ...call }),
      })
      const text = await response.text()
      // The head may have moved in the meantime.
      if (text === before || text === truth.answer(call)) return
      const list = response.ok && !text.includes('"error"') ? wrong : failed
      list.push(`${response.headers.get('rpc-provider-address')}: ${read.method} ${text}`)
    }
    for (let round = 0; round < rounds; round++) {
      if (round % 50 === 25) chain.mine()
      await ail(dying, round)
      const { head } = chain
      const reads = [...readsAbout(chain, head), ...readsAbout(chain, head - 50), ...readsNow(head)]
      const lane = async () => {
        for (let read = reads.pop(); read; read = reads.pop()) await ask(read)
      }
      await Promise.all(Array.from({ length: lanes }, lane))
    }

    expect({ wrong, failed }).toEqual({ wrong: [], failed: [] })
    expect(requests).toBeGreaterThan(6_000)
    // Each bad node must have had calls and faults.
    expect([...sent.values()].reduce((sum, times) => sum + times, 0)).toBeGreaterThan(10)
    expect(lagging.calls.total).toBeGreaterThan(100)
    expect(dying.calls.unanswered).toBeGreaterThan(5)
  },
  120_000,
)

function methodsOf(chain: ReturnType<typeof createChainModel>): readonly string[] {
  return [...new Set(readsAbout(chain, chain.head).map(({ method }) => method))]
}

/** Reads about the newest state, which a lagging node answers differently. */
function readsNow(head: number): readonly Omit<NodeCall, 'id'>[] {
  const account = `0x${'11'.repeat(20)}`
  return [
    { method: 'eth_blockNumber', params: [] },
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    { method: 'eth_getBalance', params: [account, 'latest'] },
    { method: 'eth_getBalance', params: [account, `0x${head.toString(16)}`] },
    { method: 'eth_getLogs', params: [{ fromBlock: `0x${(head - 3).toString(16)}` }] },
  ]
}

/** Makes a node fail in every possible way, one after another, with pauses. */
async function ail(node: SimNode, round: number): Promise<void> {
  const step = round % 30
  if (step === 0) await node.start()
  if (step % 5 === 0) node.faults.clear()
  if (step === 5) node.faults.add({ kind: 'reset', when: 'before-head' }, { probability: 0.7 })
  if (step === 10) node.faults.add({ kind: 'half-body', framing: 'chunked' }, { probability: 0.7 })
  if (step === 12) node.faults.add({ kind: 'hang' }, { times: 4 })
  if (step === 15) node.faults.add({ kind: 'reset', when: 'after-head' }, { probability: 0.7 })
  if (step === 20) node.faults.add({ kind: 'status', status: 502, body: 'html' })
  if (step === 25) {
    // The stop cuts in-flight calls.
    setTimeout(() => void node.stop(), 5)
    await sleep(1)
  }
}
