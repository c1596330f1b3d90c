// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { serveRouter, uncached, type ServedRouter } from '../served/served-router.ts'
import { serveNode } from '../upstream-sim/served-node.ts'
import type { FaultSwitch } from '../upstream-sim/faults.ts'
import { bodyOf, chainCases, honestly, type Read } from './chains.fixture.ts'
import { WrongNode } from './wrong-node.ts'

const rounds = 24
/** Depth below the head: old enough to be final, and recent enough to be found by its hash. */
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
  const request = { ...json, ...headers }
  const response =
    read.path === undefined
      ? await fetch(router.url, { method: 'POST', headers: request, body: bodyOf(read, id) })
      : await fetch(`${router.url}${read.path}`, { headers: request })
  const text = await response.text()
  return {
    text,
    by: response.headers.get('rpc-provider-address'),
    reported: response.headers.get('rpc-reported-providers'),
    isError: !response.ok || /"error":(?!null)/.test(text),
  }
}

describe.each(chainCases)('$name', (under) => {
  const { chainId, apiInterface, base = '', lagBlocks, wrongValues } = under
  const isRpc = apiInterface !== 'rest'

  async function start(stack: AsyncDisposableStack, seed: string, names: readonly string[]) {
    const { chain, makeNode, reads, readsNow } = under.create(seed)
    const nodes = await Promise.all(
      names.map(async (name) => {
        const node = new WrongNode(makeNode(name === 'lagging' ? { lagBlocks } : {}), isRpc)
        return stack.use(await serveNode(() => node, { name }))
      }),
    )
    const primaries = nodes.map(({ name, url }) => ({ name, url: `${url}${base}` }))
    const router = stack.use(
      await serveRouter({
        ...{ chainId, apiInterface, primaries, settings: uncached },
        urlSettings: { dying: { timeout: '1s' } },
      }),
    )
    const reference = makeNode()
    const truth = (read: Read, id: string) => honestly(reference, under, read, id).body
    return { chain, nodes, reads, readsNow, router, truth }
  }

  test(
    'every detectable wrong value causes a retry and a report of the upstream',
    async () => {
      await using stack = new AsyncDisposableStack()
      const names = ['wrong', 'honest']
      const { chain, nodes, reads, readsNow, router, truth } = await start(stack, 'each', names)
      const [wrongNode] = nodes
      const unseen: string[] = []
      let requests = 0
      for (const wrongValue of wrongValues) {
        const name = wrongValue.slice(0, 2).join(' ')
        wrongNode!.node.wrongValues = [wrongValue]
        const firstCount = wrongNode!.node.wrongAnswers
        for (const read of [...reads(chain.head - depth), ...readsNow]) {
          const id = `c${++requests}`
          const before = wrongNode!.node.wrongAnswers
          const seen = await ask(router, read, id, { 'rpc-select-provider': 'wrong' })
          if (wrongNode!.node.wrongAnswers === before) continue
          if (seen.text !== truth(read, id)) unseen.push(`${name}: ${seen.text.slice(0, 200)}`)
          else if (seen.reported !== 'wrong') unseen.push(`${name}: ${seen.reported} is named`)
        }
        if (wrongNode!.node.wrongAnswers === firstCount) unseen.push(`${name}: was never sent`)
      }
      expect(unseen).toEqual([])
    },
    patienceMs,
  )

  test(
    'four nodes, one of them honest: no answer is wrong or missing',
    async () => {
      await using stack = new AsyncDisposableStack()
      const names = ['wrong', 'lagging', 'dying', 'honest']
      const { chain, nodes, reads, router, truth } = await start(stack, 'four', names)
      const [wrongNode, lagging, dying] = nodes
      const random = seededRandom(7)
      const wrong: string[] = []
      const failed: string[] = []
      let requests = 0
      for (let round = 0; round < rounds; round++) {
        if (round % 8 === 4) chain.mine(3)
        ail(dying!.faults, round)
        const from = Math.floor(random.next() * wrongValues.length)
        wrongNode!.node.wrongValues = [...wrongValues.slice(from), ...wrongValues.slice(0, from)]
        const all = [chain.head - depth, chain.head - depth - 1].flatMap((height) => reads(height))
        const lane = async () => {
          for (let read = all.pop(); read; read = all.pop()) {
            const id = `c${++requests}`
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
      // Each bad node must have had calls and faults.
      expect(wrongNode!.node.wrongAnswers).toBeGreaterThan(2)
      expect(lagging!.calls.total).toBeGreaterThan(0)
      expect(dying!.calls.unanswered).toBeGreaterThan(2)
    },
    patienceMs,
  )
})

/** Removes values that grow with the chain. */
function lasting(text: string): string {
  return text.replaceAll(/"confirmations":\d+/g, '')
}

/** Makes a node fail in every possible way, one after another. */
function ail(faults: FaultSwitch, round: number): void {
  faults.clear()
  const step = round % 6
  if (step === 1) faults.add({ kind: 'reset', when: 'before-head' }, { probability: 0.8 })
  if (step === 2) faults.add({ kind: 'half-body', framing: 'chunked' }, { probability: 0.8 })
  if (step === 3) faults.add({ kind: 'reset', when: 'after-head' }, { probability: 0.8 })
  if (step === 4) faults.add({ kind: 'status', status: 502, body: 'html' })
  if (round === 5) faults.add({ kind: 'hang' }, { times: 2 })
}
