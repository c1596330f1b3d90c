// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveRouter, type ServedRouter } from '../served/served-router.ts'
import { contentLies, coveredAt, unprovenLies } from '../simulation/lies.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'
import { makeLiar, truthOf } from './liar.ts'
import { readsAbout } from './reads.ts'

const chain = createChainModel()
const truth = truthOf(chain)
const reads = readsAbout(chain, chain.head - 1)
const methods = [...new Set(reads.map(({ method }) => method))]

let liar: SimNode
let honest: SimNode
beforeAll(async () => {
  liar = await startSimNode({ chain, name: 'liar' })
  honest = await startSimNode({ chain, name: 'honest' })
})
afterAll(async () => {
  for (const each of [liar, honest]) await each[Symbol.asyncDispose]()
})

async function ask(router: ServedRouter, read: { method: string; params: readonly unknown[] }) {
  liar.calls.clear()
  honest.calls.clear()
  const response = await fetch(router.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'rpc-select-provider': 'liar' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, ...read }),
  })
  const text = await response.text()
  const calls = [liar, honest].map((node) => node.calls.count(read.method)).join('/')
  const by = response.headers.get('rpc-provider-address')
  const reported = response.headers.get('rpc-reported-providers')
  return { text, calls, by, reported }
}

describe.each([...coveredAt.core])('the lie %s', (kind) => {
  test('is told, seen through, and costs one call more', async () => {
    liar.faults.clear()
    // It is asked again and again, however often it lied. Of a router that is new no read is so late
    // that it gets company, on a machine that is busy with other things.
    const settings = { 'upstream-failure-threshold': 100 }
    await using router = await serveRouter({ primaries: [liar, honest], settings })
    const told = makeLiar(liar, truth, methods, () => [kind])
    let lies = 0
    for (const read of reads) {
      const seen = await ask(router, read)
      const isLie = (told.get(kind) ?? 0) > lies
      lies = told.get(kind) ?? 0
      expect(seen).toEqual({
        text: truth.answer({ id: 7, ...read }),
        calls: isLie ? '1/1' : '1/0',
        by: isLie ? 'honest' : 'liar',
        reported: isLie ? 'liar' : null,
      })
    }
    expect(lies).toBeGreaterThan(0)
  })
})

describe.each(unprovenLies)('at the level full the lie %s', (kind) => {
  test('is asked elsewhere, and blames nobody', async () => {
    liar.faults.clear()
    const settings = { 'upstream-failure-threshold': 100, integrity: 'full' } as const
    await using router = await serveRouter({ primaries: [liar, honest], settings })
    // What is honest is worked out, and fits.
    for (const read of reads)
      expect(await ask(router, read)).toMatchObject({ calls: '1/0', by: 'liar' })
    const told = makeLiar(liar, truth, methods, () => [kind])
    let lies = 0
    for (const read of reads) {
      const seen = await ask(router, read)
      const isLie = (told.get(kind) ?? 0) > lies
      lies = told.get(kind) ?? 0
      const text = truth.answer({ id: 7, ...read })
      expect(seen).toMatchObject({ text, by: isLie ? 'honest' : 'liar' })
    }
    expect(lies).toBeGreaterThan(0)
  })
})

/** In the form of an honest answer: what two nodes show alike is how the chain is. */
const shown = contentLies.filter((kind) => !unprovenLies.includes(kind))

test.each(shown)('the lie %s is passed on where all nodes tell it', async (kind) => {
  liar.faults.clear()
  await using second = await startSimNode({ chain, name: 'second' })
  await using router = await serveRouter({ primaries: [liar, second] })
  const told = [liar, second].map((node) => makeLiar(node, truth, methods, () => [kind]))
  for (const read of reads) {
    const { text, reported } = await ask(router, read)
    if (!told[0]!.has(kind)) continue
    expect(text).not.toBe(truth.answer({ id: 7, ...read }))
    expect([told[1]!.get(kind), reported]).toEqual([1, null])
    break
  }
  expect(told[0]!.get(kind)).toBe(1)
})

test.each(shown)('the lie %s is told by a primary, and a backup has the truth', async (kind) => {
  liar.faults.clear()
  await using router = await serveRouter({ primaries: [liar], backups: [honest] })
  const told = makeLiar(liar, truth, methods, () => [kind])
  for (const read of reads) {
    const { text, by } = await ask(router, read)
    expect(text).toBe(truth.answer({ id: 7, ...read }))
    if (!told.has(kind)) continue
    expect(by).toBe('honest')
    break
  }
  expect(told.get(kind)).toBe(1)
})
