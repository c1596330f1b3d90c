// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { compare } from '../byte-equality.ts'
import { jsonRpcCalls } from '../json-rpc-calls.ts'
import { type EthereumNode, ethereumNodes } from './ethereum-nodes.ts'
import { goodEthereumParams, neverAskedOfEthereum } from './ethereum-params.ts'
import { openGround } from './ground.ts'
import { routeJsonRpc } from './routed.ts'
import { answeredOverHttp, specOf } from './spec-methods.ts'

/** A new filter has a new id. */
const makesSomethingNew = /"eth_new\w*Filter"/
const isResent = (difference: string) =>
  /"eth_sendRawTransaction","params":\["0x02f8/.test(difference)
const ground = await openGround()

describe.each(Object.entries(ethereumNodes))('%s', (_name, start) => {
  test('the router returns its answers byte for byte', async () => {
    const node: EthereumNode = await start(ground, 'still')
    const { url } = node.url
    const spec = await specOf(node.chain, 'jsonrpc')
    const methods = answeredOverHttp(spec, 'jsonrpc')
    // For missing methods this compares the node's error.
    const all = { ...node.url, addons: [...spec.addons], 'skip-verifications': ['*'] }
    const router = await routeJsonRpc(ground, node.chain, node.name, all)
    const good = await goodEthereumParams(url)
    const calls = jsonRpcCalls({ methods, good, never: neverAskedOfEthereum })
    expect(calls.length).toBeGreaterThan(500)
    const found = await compare(calls, { node: { url }, router: { url: router } })
    // For a mined transaction the node reports a used nonce, and the router returns its hash.
    const [resent, ...others] = found.differences.toSorted(
      (a, b) => Number(isResent(b)) - Number(isResent(a)),
    )
    expect(resent).toMatch(/ +node .*nonce too low.*\n +router .*result\W+0x[0-9a-f]{64}/)
    expect(others.slice(0, 8)).toEqual([])
    expect(found.restless.filter((label) => !makesSomethingNew.test(label))).toEqual([])
    expect(found.equal).toBeGreaterThan(500)
  })
})
