// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAnvil } from '../nodes/anvil.ts'
import { compare, type WireAnswer } from '../nodes/byte-equality.ts'
import { type HttpTarget, postJson } from '../nodes/http-call.ts'
import { jsonRpcTexts } from '../nodes/json-rpc-calls.ts'
import { goodEthereumParams, neverAskedOfEthereum } from '../nodes/suites/ethereum-params.ts'
import { ChildProcesses } from '../processes/child-processes.ts'
import { freePort } from '../processes/free-ports.ts'
import { createWorkspace } from '../program/workspace.ts'
import { serveRouter, uncached } from '../served/served-router.ts'

/** Answers that change: ids of new filters, and the timestamp of anvil's pending block. */
const volatile = /"(?:eth_new\w*Filter|eth_getFilter\w+|txpool_\w+)"|"pending"/
/** Methods that the router answers differently: see `e2e/nodes/suites/ethereum-bytes`. */
const never = new Set([...neverAskedOfEthereum, 'eth_sendRawTransaction'])

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

let ways: { readonly node: HttpTarget; readonly router: HttpTarget }
let texts: readonly string[]
beforeAll(async () => {
  const workspace = stack.use(await createWorkspace())
  const children = stack.use(new ChildProcesses(workspace.directory))
  const anvil = await startAnvil({
    ...{ name: 'anvil', port: await freePort(), chainId: 1, genesisSeconds: 1_750_000_000 },
    ...{ mining: 'each-transaction', children, signal: AbortSignal.timeout(20_000) },
  })
  const good = await goodEthereumParams(anvil.url)
  const plain = Object.entries(good).filter(([method]) => !/^(?:debug|trace)_/.test(method))
  const methods = ['eth_chainId', 'net_version', 'web3_clientVersion', 'eth_blockNumber']
  texts = jsonRpcTexts({ methods, good: Object.fromEntries(plain), never })
  const router = stack.use(await serveRouter({ primaries: [anvil], settings: uncached }))
  ways = { node: { url: anvil.url }, router: { url: router.url } }
})

async function expectEqual(bodies: readonly string[]): Promise<void> {
  const calls = bodies.map((body) => postJson(body.slice(0, 160), body))
  const found = await compare(calls, ways)
  expect(found.differences.slice(0, 5)).toEqual([])
  expect(found.restless.filter((label) => !volatile.test(label))).toEqual([])
}

test('the router returns answers and headers of anvil byte for byte', async () => {
  expect(texts.length).toBeGreaterThan(300)
  await expectEqual(texts)
})

test.each([1, 7, 50])('in batches of %i', async (size) => {
  const steady = texts.filter((text) => !volatile.test(text))
  const first = Array.from({ length: 10 }, (_, at) => at * size)
  const batches = first.map((from) => steady.slice(from, from + size))
  await expectEqual(batches.filter(({ length }) => length > 0).map((some) => `[${some.join(',')}]`))
})

test.each(['1.50', '1e3', '-0', '18446744073709551617', '"\\u00e9"', '" "', 'null'])(
  'an id such as %s is returned as written',
  async (id) => {
    const call = (written: string) =>
      `{"jsonrpc":"2.0","id":${written},"method":"eth_chainId","params":[]}`
    const ask = async (body: string) => {
      const { bodies }: WireAnswer = await postJson('', body).send(ways.router)
      return String(bodies[0])
    }
    const single = `{"jsonrpc":"2.0","id":${id},"result":"0x1"}`
    expect(await ask(call(id))).toBe(single)
    const second = '{"jsonrpc":"2.0","id":2,"result":"0x1"}'
    const batch = `[${call(id)},${call('2')},${call(id)}]`
    expect(await ask(batch)).toBe(`[${single},${second},${single}]`)
  },
)
