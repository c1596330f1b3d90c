// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { seededRandom } from '../../proxy/clock/random.ts'
import { serveRouter } from '../served/served-router.ts'
import type { LiedAbout } from '../simulation/lying.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'
import { makeLiar, truthOf } from './liar.ts'
import { readsAbout } from './reads.ts'

const rounds = 25
const lanes = 8

/**
 * Of four nodes one says, in every third answer, what nodes say of other methods: a revert to who asks
 * for logs, a used nonce to who asks for a receipt. One other is behind, and one
 * breaks off now and then.
 */
test.each(['balanced', 'round-robin', 'latency'])(
  'errors out of place, by %s: nothing is wrong and nothing fails',
  async (strategy) => {
    const chain = createChainModel({ seed: `errors ${strategy}` })
    const truth = truthOf(chain)
    const random = seededRandom(7)
    await using stack = new AsyncDisposableStack()
    const start = async (name: string) => stack.use(await startSimNode({ chain, name }))
    const nodes = await Promise.all(['liar', 'lagging', 'dying', 'honest'].map(start))
    const [liar, lagging, dying] = nodes as [SimNode, SimNode, SimNode, SimNode]
    lagging.view.lagBlocks = 10
    dying.faults.add({ kind: 'reset', when: 'before-head' }, { probability: 0.2 })
    const router = stack.use(await serveRouter({ primaries: nodes, settings: { strategy } }))
    const methods = [...new Set(readsAbout(chain, chain.head).map(({ method }) => method))]
    const told = makeLiar(liar, truth, methods, () =>
      random.next() < 1 / 3 ? ['error-out-of-place'] : [],
    )

    const failed: string[] = []
    let asked = 0
    const answersOf = new Map<string | null, number>()
    const ask = async (read: Omit<LiedAbout, 'id'>) => {
      const call = { id: ++asked, ...read }
      const response = await fetch(router.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', ...call }),
      })
      const text = await response.text()
      const by = response.headers.get('rpc-provider-address')
      answersOf.set(by, (answersOf.get(by) ?? 0) + 1)
      if (text !== truth.answer(call)) failed.push(`${read.method} ${text}`)
    }
    for (let round = 0; round < rounds; round++) {
      const reads = [...readsAbout(chain, chain.head - 20), ...readsAbout(chain, chain.head - 50)]
      const lane = async () => {
        for (let read = reads.pop(); read; read = reads.pop()) await ask(read)
      }
      await Promise.all(Array.from({ length: lanes }, lane))
    }

    expect(failed).toEqual([])
    expect(asked).toBeGreaterThan(1_000)
    expect(told.get('error-out-of-place')).toBeGreaterThan(10)
    // What it gets for the answers that it gives honestly.
    const share = (name: string) => (answersOf.get(name) ?? 0) / asked
    expect(share('liar')).toBeLessThan(1 / 3)
    expect(share('liar')).toBeLessThan(share('honest'))
  },
  120_000,
)
