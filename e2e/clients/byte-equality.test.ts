// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAnvil } from '../nodes/anvil.ts'
import { ChildProcesses } from '../processes/child-processes.ts'
import { freePort } from '../processes/free-ports.ts'
import { askRpc } from '../processes/rpc-client.ts'
import { createWorkspace } from '../program/workspace.ts'
import { serveRouter } from '../served/served-router.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'
import { manyCalls, textOf, type WrittenCall } from './many-calls.ts'
import { type PlainAnswer, postText } from './plain-http.ts'

/** What the router adds; the rest is the node's, or says how the bytes travelled. */
const added = /^(rpc-|router-(?:version|upstream)$|provider-latest-block$)/
const ofTheConnection = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding'])
/** Anvil speaks to browsers; the spec lists none of its headers, and whom to let in is the edge's. */
const notPassedOn = new Set(['access-control-allow-origin', 'vary'])

/** The part of an answer that the router must not change. */
function unchangeable({ status, headers, body }: PlainAnswer) {
  const kept = Object.entries(headers).filter(
    ([name]) => !added.test(name) && !ofTheConnection.has(name) && !notPassedOn.has(name),
  )
  return { status, headers: Object.fromEntries(kept), body }
}

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

/** A node that always says the same, and what to ask it. */
interface Reference {
  readonly nodeUrl: string
  readonly routerUrl: string
  readonly calls: readonly WrittenCall[]
}
const references = new Map<string, Reference>()

beforeAll(async () => {
  const chain = createChainModel()
  const sims = await Promise.all(
    ['a', 'b', 'c'].map(async (name) => stack.use(await startSimNode({ chain, name }))),
  )
  const workspace = stack.use(await createWorkspace())
  const children = stack.use(new ChildProcesses(workspace.directory))
  const anvil = await startAnvil({
    name: 'anvil',
    port: await freePort(),
    chainId: 1,
    genesisSeconds: 1_750_000_000,
    children,
    signal: AbortSignal.timeout(20_000),
  })
  const [rich = ''] = await askRpc<string[]>(anvil.url, 'eth_accounts')
  for (let at = 0; at < 6; at++) {
    const transfer = { from: rich, to: `0x${'22'.repeat(20)}`, value: '0x1', gas: '0x5208' }
    await askRpc(anvil.url, 'eth_sendTransaction', [transfer])
    await askRpc(anvil.url, 'evm_mine', [1_750_000_100 + at * 12])
  }
  for (const [name, nodes, account] of [
    ['a simulated node', sims, chain.population.contracts[0] ?? ''],
    ['anvil', [anvil], rich],
  ] as const) {
    const router = stack.use(await serveRouter({ primaries: nodes }))
    const nodeUrl = nodes[0]?.url ?? ''
    const calls = await manyCalls(nodeUrl, account)
    references.set(name, { nodeUrl, routerUrl: router.url, calls })
  }
}, 60_000)

/**
 * Asks the node and the router the same, and tells where they differ, in short. anvil's pending block is of
 * the second in which it is asked for: what differs once may have been asked for in two of them.
 */
async function difference(reference: Reference, text: string): Promise<string[]> {
  const found = await differenceNow(reference, text)
  return found.length === 0 ? found : differenceNow(reference, text)
}

async function differenceNow({ nodeUrl, routerUrl }: Reference, text: string): Promise<string[]> {
  const [straight, routed] = await Promise.all([postText(nodeUrl, text), postText(routerUrl, text)])
  const [wanted, got] = [straight, routed].map((each) => JSON.stringify(unchangeable(each)))
  if (wanted === got) return []
  const at = [...(wanted ?? '')].findIndex((letter, index) => letter !== got?.[index])
  const around = (whole = '') => whole.slice(Math.max(0, at - 60), at + 60)
  return [`${text.slice(0, 120)}: node ${around(wanted)}, router ${around(got)}`]
}

describe.each(['a simulated node', 'anvil'])(
  'through the router comes what %s says, byte for byte',
  (name) => {
    const reference = () => references.get(name)!

    test('over a hundred and fifty single calls, with the headers', async () => {
      const { calls } = reference()
      expect(calls.length).toBeGreaterThan(150)
      const found: string[] = []
      for (const call of calls) found.push(...(await difference(reference(), textOf(call))))
      expect(found.slice(0, 5)).toEqual([])
    })

    test.each([
      { size: 1, step: 10 },
      { size: 7, step: 7 },
      { size: 50, step: 25 },
    ])('in batches of $size', async ({ size, step }) => {
      const { calls } = reference()
      const found: string[] = []
      for (let from = 0; from < calls.length; from += step) {
        const text = `[${calls
          .slice(from, from + size)
          .map(textOf)
          .join(',')}]`
        found.push(...(await difference(reference(), text)))
      }
      expect(found.slice(0, 5)).toEqual([])
    })

    test.each(['1.50', '1e3', '-0', '18446744073709551617', '"\\u00e9"', '" "', 'null'])(
      'but for an id such as %s, which comes back as it was written',
      async (id) => {
        const call = (written: string) => textOf({ id: written, method: 'eth_chainId', params: [] })
        const { routerUrl } = reference()
        const single = `{"jsonrpc":"2.0","id":${id},"result":"0x1"}`
        expect((await postText(routerUrl, call(id))).body).toBe(single)
        const batch = `[${call(id)},${call('2')},${call(id)}]`
        const second = '{"jsonrpc":"2.0","id":2,"result":"0x1"}'
        expect((await postText(routerUrl, batch)).body).toBe(`[${single},${second},${single}]`)
      },
    )
  },
)
