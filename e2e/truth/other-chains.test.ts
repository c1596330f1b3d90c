// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { serveRouter, type ServedRouter } from '../served/served-router.ts'
import { serveNode } from '../upstream-sim/served-node.ts'
import type { FaultSwitch } from '../upstream-sim/faults.ts'
import { bodyOf, chainCases, honestly, type Read } from './chains-under-test.ts'
import { LyingNode } from './lying-node.ts'

const rounds = 24
/** Blocks below the head: old enough to be final, new enough for every node to find it by a hash. */
const depth = 40
const patienceMs = 120_000
const lanes = 8
const json = { 'content-type': 'application/json' }

async function ask(
  router: Pick<ServedRouter, 'url'>,
  read: Read,
  id: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ text: string; by: string | null; reported: string | null; isError: boolean }> {
  const asked = { ...json, ...headers }
  const response =
    read.path === undefined
      ? await fetch(router.url, { method: 'POST', headers: asked, body: bodyOf(read, id) })
      : await fetch(`${router.url}${read.path}`, { headers: asked })
  const text = await response.text()
  return {
    text,
    by: response.headers.get('rpc-provider-address'),
    reported: response.headers.get('rpc-reported-providers'),
    isError: !response.ok || /"error":(?!null)/.test(text),
  }
}

describe.each(chainCases)('$name', (under) => {
  const { chainId, apiInterface, base = '', lagBlocks, lies } = under
  const isRpc = apiInterface !== 'rest'

  async function start(stack: AsyncDisposableStack, seed: string, names: readonly string[]) {
    const { chain, makeNode, reads, readsNow } = under.create(seed)
    const nodes = await Promise.all(
      names.map(async (name) => {
        const node = new LyingNode(makeNode(name === 'lagging' ? { lagBlocks } : {}), isRpc)
        return stack.use(await serveNode(() => node, { name }))
      }),
    )
    const primaries = nodes.map(({ name, url }) => ({ name, url: `${url}${base}` }))
    const router = stack.use(await serveRouter({ chainId, apiInterface, primaries }))
    const reference = makeNode()
    const truth = (read: Read, id: string) => honestly(reference, under, read, id).body
    return { chain, nodes, reads, readsNow, router, truth }
  }

  test(
    'every lie that its checks know is asked elsewhere, and its teller is named',
    async () => {
      await using stack = new AsyncDisposableStack()
      const names = ['liar', 'honest']
      const { chain, nodes, reads, readsNow, router, truth } = await start(stack, 'each', names)
      const [liar] = nodes
      const unseen: string[] = []
      let asked = 0
      for (const lie of lies) {
        const name = lie.slice(0, 2).join(' ')
        liar!.node.lies = [lie]
        const toldBefore = liar!.node.told
        for (const read of [...reads(chain.head - depth), ...readsNow]) {
          const id = `c${++asked}`
          const before = liar!.node.told
          const seen = await ask(router, read, id, { 'rpc-select-provider': 'liar' })
          if (liar!.node.told === before) continue
          if (seen.text !== truth(read, id)) unseen.push(`${name}: ${seen.text.slice(0, 200)}`)
          else if (seen.reported !== 'liar') unseen.push(`${name}: ${seen.reported} is named`)
        }
        if (liar!.node.told === toldBefore) unseen.push(`${name}: was never told`)
      }
      expect(unseen).toEqual([])
    },
    patienceMs,
  )

  test(
    'four nodes, one of them honest: nothing is wrong and nothing fails',
    async () => {
      await using stack = new AsyncDisposableStack()
      const names = ['liar', 'lagging', 'dying', 'honest']
      const { chain, nodes, reads, router, truth } = await start(stack, 'four', names)
      const [liar, lagging, dying] = nodes
      const random = seededRandom(7)
      const wrong: string[] = []
      const failed: string[] = []
      let asked = 0
      for (let round = 0; round < rounds; round++) {
        if (round % 8 === 4) chain.mine(3)
        ail(dying!.faults, round)
        const from = Math.floor(random.next() * lies.length)
        liar!.node.lies = [...lies.slice(from), ...lies.slice(0, from)]
        const all = [chain.head - depth, chain.head - depth - 1].flatMap((height) => reads(height))
        const lane = async () => {
          for (let read = all.pop(); read; read = all.pop()) {
            const id = `c${++asked}`
            const before = lasting(truth(read, id))
            const { text, by, isError } = await ask(router, read, id)
            if (lasting(text) === before) continue
            const list = isError ? failed : wrong
            list.push(`${by}: ${read.method ?? read.path} ${text.slice(0, 300)}`)
          }
        }
        await Promise.all(Array.from({ length: lanes }, lane))
      }
      expect({ wrong, failed }).toEqual({ wrong: [], failed: [] })
      // It was not too easy: each of them was asked, and did its worst.
      expect(liar!.node.told).toBeGreaterThan(2)
      expect(lagging!.calls.total).toBeGreaterThan(0)
      expect(dying!.calls.unanswered).toBeGreaterThan(2)
    },
    patienceMs,
  )
})

/** Without what grows with the chain. */
function lasting(text: string): string {
  return text.replaceAll(/"confirmations":\d+/g, '')
}

/** Ways in which a node may die, one after another, with a little life in between. */
function ail(faults: FaultSwitch, round: number): void {
  faults.clear()
  const step = round % 6
  if (step === 1) faults.add({ kind: 'reset', when: 'before-head' }, { probability: 0.8 })
  if (step === 2) faults.add({ kind: 'half-body', framing: 'chunked' }, { probability: 0.8 })
  if (step === 3) faults.add({ kind: 'reset', when: 'after-head' }, { probability: 0.8 })
  if (step === 4) faults.add({ kind: 'status', status: 502, body: 'html' })
  if (round === 5) faults.add({ kind: 'hang' }, { times: 2 })
}
