// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import type { Script } from '../upstream/testing/scripted-transport.ts'
import {
  ethereum,
  nodeError,
  RelayFixture,
  result,
  type TestCall,
} from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const range = { fromBlock: '0x1', toBlock: '0xffff' }
const logs = { method: 'eth_getLogs', params: [range] }
const ok = result('0x1')
const bare = nodeError(-32005, 'limit exceeded')

/** Three upstreams of the same kind: they refuse one method, and answer everything else. */
function refusing(method: string, refusal: ReturnType<typeof nodeError>): RelayFixture {
  const script: Script = ({ body }) =>
    Buffer.from(body as Uint8Array).includes(`"${method}"`) ? refusal : ok
  const each = { script, urls: [{ addons: ['debug'] }] }
  return new RelayFixture(chain, iface, { a: each, b: each, c: each })
}

describe('a call that is over a limit of the nodes', () => {
  it.each<[string, TestCall & { method: string }, string]>([
    ['logs', logs, 'limit exceeded'],
    ['logs, in many words', logs, 'the number of topics exceeds the limit of 4'],
    ['logs that take too long', logs, 'query timeout exceeded'],
    ['the logs of a filter', { method: 'eth_getFilterLogs', params: ['0x1'] }, 'limit exceeded'],
    ['a trace', { method: 'debug_traceTransaction', params: ['0xab'] }, 'Limit exceeded'],
    ['a trace of a method that no spec names', { method: 'trace_all', params: [] }, 'exceeded'],
  ])('puts no upstream into cooldown: %s', async (_, request, words) => {
    const refusal = nodeError(-32005, words)
    const relay = refusing(request.method, refusal)
    expect((await relay.ask(request)).outcome).toBe(refusal.body)
    expect((await relay.ask()).outcome).toBe(ok.body)
    expect(relay.events).toEqual([])
  })

  it('is asked of other upstreams, which may have higher limits', async () => {
    const found = { body: '{"jsonrpc":"2.0","id":1,"result":[]}' }
    const relay = new RelayFixture(chain, iface, {
      a: { script: () => bare },
      b: { script: () => found },
    })
    for (let each = 0; each < 20; each++) expect((await relay.ask(logs)).outcome).toBe(found.body)
    expect(relay.events).toEqual([])
    expect(relay.sent['a']).toBeGreaterThan(1)
  })
})

it.each<[string, TestCall, string]>([
  ['a cheap read', {}, 'limit exceeded'],
  ['logs, in words about requests', logs, 'too many requests'],
  ['logs, in words about a rate', logs, 'you exceeded your rate'],
  ['logs, in words about a day', logs, 'daily limit exceeded'],
  ['logs, in words about a plan', logs, 'limit of the free plan exceeded'],
  ['logs, in words about seconds', logs, 'limit exceeded: 25/second'],
])('a limit of the client puts the URL into cooldown: %s', async (_, request, words) => {
  const relay = new RelayFixture(chain, iface, { a: { script: () => nodeError(-32005, words) } })
  await relay.ask(request)
  expect(relay.events).toEqual([expect.stringMatching(/^a: cooldown/)])
})

it('a transaction with more gas than a block of Besu has puts no upstream into cooldown', async () => {
  const request = { method: 'eth_sendRawTransaction', params: ['0x02'] }
  const refusal = nodeError(-32005, 'Transaction gas limit exceeds block gas limit')
  const relay = refusing(request.method, refusal)
  expect((await relay.ask(request)).outcome).toBe(refusal.body)
  expect((await relay.ask()).outcome).toBe(ok.body)
  expect(relay.events).toEqual([])
})

describe('a call that takes more time than the node gives', () => {
  const call = { method: 'eth_call', params: [{}, 'latest'] }
  const balance = { method: 'eth_getBalance', params: undefined }
  const aborted = 'execution aborted (timeout = 5s)'
  const canceled = 'eth_call request was canceled due to enabled timeout.'
  const deadline = 'context deadline exceeded'

  it.each<[string, TestCall & { method: string }, string, number, boolean]>([
    ['a call', call, aborted, -32000, false],
    ['a call, in words of Nethermind', call, canceled, -32016, false],
    ['a method that no spec names', { method: 'my_call', params: [] }, aborted, -32000, false],
    ['logs', logs, 'Query timeout exceeded. Consider reducing your block range.', -32000, false],
    ['logs, in words of Go', logs, deadline, -32000, false],
    ['a plain read', balance, aborted, -32000, false],
    ['a plain read that was too late', balance, 'request timed out', -32002, true],
    ['a read whose gateway waited', balance, 'upstream request timeout', -32000, true],
    ['a read whose backend was waited for', balance, 'backend timed out', -32000, true],
    ['a read that HTTP waited for', balance, `Post "http://a": ${deadline}`, -32000, true],
    // The code that a call runs may say so itself.
    ['a call whose gateway waited', call, 'upstream request timeout', -32000, false],
  ])('%s', async (_, request, words, code, isBlamed) => {
    const refusal = nodeError(code, words)
    const relay = refusing(request.method, refusal)
    for (let each = 0; each < 30; each++) await relay.ask(request)
    expect(relay.events.some((event) => event.endsWith('> disabled'))).toBe(isBlamed)
  })
})
