// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveRouter, uncached, type ServedRouter } from '../served/served-router.ts'
import { wrongContents, coveredAt, unprovenContents } from '../simulation/wrong-answers.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'
import { answerWrongly, truthOf } from './truth.ts'
import { readsAbout } from './reads.fixture.ts'

const chain = createChainModel()
const truth = truthOf(chain)
const reads = readsAbout(chain, chain.head - 1)
const methods = [...new Set(reads.map(({ method }) => method))]

let wrongNode: SimNode
let honest: SimNode
beforeAll(async () => {
  wrongNode = await startSimNode({ chain, name: 'wrong' })
  honest = await startSimNode({ chain, name: 'honest' })
})
afterAll(async () => {
  for (const each of [wrongNode, honest]) await each[Symbol.asyncDispose]()
})

async function ask(router: ServedRouter, read: { method: string; params: readonly unknown[] }) {
  wrongNode.calls.clear()
  honest.calls.clear()
  const response = await fetch(router.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'rpc-select-provider': 'wrong' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, ...read }),
  })
  const text = await response.text()
  const calls = [wrongNode, honest].map((node) => node.calls.count(read.method)).join('/')
  const by = response.headers.get('rpc-provider-address')
  const reported = response.headers.get('rpc-reported-providers')
  return { text, calls, by, reported }
}

describe.each([...coveredAt.core])('the wrong answer %s', (kind) => {
  test('is detected at the cost of one more call', async () => {
    wrongNode.faults.clear()
    // With this threshold the wrong node stays in service. A new router has no credit for hedges,
    // which a busy machine would trigger.
    const settings = { ...uncached, 'upstream-failure-threshold': 100 }
    await using router = await serveRouter({ primaries: [wrongNode, honest], settings })
    const sent = answerWrongly(wrongNode, truth, methods, () => [kind])
    let before = 0
    for (const read of reads) {
      const seen = await ask(router, read)
      const isWrong = (sent.get(kind) ?? 0) > before
      before = sent.get(kind) ?? 0
      expect(seen).toEqual({
        text: truth.answer({ id: 7, ...read }),
        calls: isWrong ? '1/1' : '1/0',
        by: isWrong ? 'honest' : 'wrong',
        reported: isWrong ? 'wrong' : null,
      })
    }
    expect(before).toBeGreaterThan(0)
  })
})

describe.each(unprovenContents)('at the level full the wrong answer %s', (kind) => {
  test('causes a retry at another node without blame for an upstream', async () => {
    wrongNode.faults.clear()
    const settings = { ...uncached, 'upstream-failure-threshold': 100, integrity: 'full' } as const
    await using router = await serveRouter({ primaries: [wrongNode, honest], settings })
    // Honest answers have matching hashes.
    for (const read of reads)
      expect(await ask(router, read)).toMatchObject({ calls: '1/0', by: 'wrong' })
    const sent = answerWrongly(wrongNode, truth, methods, () => [kind])
    let before = 0
    for (const read of reads) {
      const seen = await ask(router, read)
      const isWrong = (sent.get(kind) ?? 0) > before
      before = sent.get(kind) ?? 0
      const text = truth.answer({ id: 7, ...read })
      expect(seen).toMatchObject({ text, by: isWrong ? 'honest' : 'wrong' })
    }
    expect(before).toBeGreaterThan(0)
  })
})

/** Wrong answers that count as right if two nodes return them. */
const shown = wrongContents.filter((kind) => !unprovenContents.includes(kind))

test.each(shown)('the wrong answer %s is forwarded if all nodes return it', async (kind) => {
  wrongNode.faults.clear()
  await using second = await startSimNode({ chain, name: 'second' })
  await using router = await serveRouter({ primaries: [wrongNode, second], settings: uncached })
  const sent = [wrongNode, second].map((node) => answerWrongly(node, truth, methods, () => [kind]))
  for (const read of reads) {
    const { text, reported } = await ask(router, read)
    if (!sent[0]!.has(kind)) continue
    expect(text).not.toBe(truth.answer({ id: 7, ...read }))
    expect([sent[1]!.get(kind), reported]).toEqual([1, null])
    break
  }
  expect(sent[0]!.get(kind)).toBe(1)
})

test.each(shown)(
  'after the wrong answer %s of a primary a backup answers correctly',
  async (kind) => {
    wrongNode.faults.clear()
    await using router = await serveRouter({
      primaries: [wrongNode],
      backups: [honest],
      settings: uncached,
    })
    const sent = answerWrongly(wrongNode, truth, methods, () => [kind])
    for (const read of reads) {
      const { text, by } = await ask(router, read)
      expect(text).toBe(truth.answer({ id: 7, ...read }))
      if (!sent.has(kind)) continue
      expect(by).toBe('honest')
      break
    }
    expect(sent.get(kind)).toBe(1)
  },
)
