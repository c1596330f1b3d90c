// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ClientHttp2Session } from 'node:http2'
import { beforeAll, expect, test } from 'vitest'
import { rawSession } from '../../grpc/raw-call.ts'
import { type BothWays, compare, type WireCall } from '../byte-equality.ts'
import { grpcCall } from '../grpc-call.ts'
import { startHaltedHub } from '../hub-chain.ts'
import type { WasmdNode } from '../wasmd.ts'
import { encode } from '../../upstream-sim/chains/protobuf.ts'
import { openGround } from './ground.ts'
import { type HubFacts, hubFacts } from './hub-facts.ts'
import { routeTo } from './routed.ts'
import { specOf } from './spec-methods.ts'

const ground = await openGround()
/** Methods whose answers have the current time, or a random order. */
const restless = /Service\/Status|ReflectionService\/List/

let node: WasmdNode
let facts: HubFacts
let ways: BothWays<ClientHttp2Session>
let methods: string[]
beforeAll(async () => {
  node = await startHaltedHub(ground, 'hub')
  facts = await hubFacts(node)
  const spec = await specOf('HUBCHAIN', 'grpc')
  // Separate tests cover the streams.
  methods = [...spec.methods]
    .filter((method) => !/ServerReflectionInfo|Health\/Watch/.test(method))
    .map((method) => method.replace(/^sdkwasm\./, 'cosmwasm.').replace(/^sdk\./, 'cosmos.'))
  const nodes = [{ name: 'hub', urls: [{ url: `grpc://${node.grpcAddress}` }] }]
  const { urls } = await routeTo(ground, [{ chainId: 'HUBCHAIN', apiInterface: 'grpc', nodes }])
  const sessionAt = (url: string) =>
    ground.stack.adopt(rawSession(Number(new URL(url).port)), (session) => session.close())
  ways = { node: sessionAt(`http://${node.grpcAddress}`), router: sessionAt(urls[0] ?? '') }
})

async function expectEqual(
  calls: readonly WireCall<ClientHttp2Session>[],
  atLeast: number,
): Promise<void> {
  const found = await compare(calls, ways)
  expect(found.differences.slice(0, 8)).toEqual([])
  expect(found.restless.filter((label) => !restless.test(label))).toEqual([])
  expect(found.equal).toBeGreaterThanOrEqual(atLeast)
}

test('every method of the spec, with valid and invalid messages', async () => {
  const { user, operator, contract, transactions } = facts
  const messages = {
    nothing: Buffer.alloc(0),
    user: encode({ 1: user }),
    operator: encode({ 1: operator }),
    contract: encode({ 1: contract }),
    transaction: encode({ 1: transactions[0] ?? '' }),
    one: encode({ 1: 1 }),
    'two fields': encode({ 1: user, 2: 'uatom' }),
    nonsense: Buffer.from([0xff, 0xff, 0x01]),
  }
  const calls = methods.flatMap((method) =>
    Object.entries(messages).map(([what, message]) =>
      grpcCall(`${method} with ${what}`, { method, messages: [message] }),
    ),
  )
  await expectEqual(calls, 1_500)
})

test('heights, other names, several messages, no message', async () => {
  const balance = 'cosmos.bank.v1beta1.Query/AllBalances'
  const message = encode({ 1: facts.user })
  const heights = ['1', '3', String(facts.head), String(facts.head + 100), '0', '-1', 'abc']
  const call = (method: string, metadata: Record<string, string>, messages = [message]) =>
    grpcCall(`${method} ${JSON.stringify(metadata)} ${messages.length}`, {
      method,
      metadata,
      messages,
    })
  await expectEqual(
    [
      ...heights.map((height) => call(balance, { 'x-cosmos-block-height': height })),
      call(balance, { 'grpc-timeout': '5S' }),
      call(balance, { 'x-unknown': 'a', 'x-unknown-bin': 'AAEC' }),
      call('sdk.bank.v1beta1.Query/AllBalances', {}),
      call('cosmos.bank.v1beta1.Query/NoSuch', {}),
      call('no.such.Service/Method', {}),
      call(balance, {}, []),
      call(balance, {}, [message, message]),
    ],
    14,
  )
})
