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

/** Three upstreams that reject one method and answer everything else. */
function refusing(method: string, refusal: ReturnType<typeof nodeError>): RelayFixture {
  const script: Script = ({ body }) =>
    Buffer.from(body as Uint8Array).includes(`"${method}"`) ? refusal : ok
  const each = { script, urls: [{ addons: ['debug'] }] }
  return new RelayFixture(chain, iface, { a: each, b: each, c: each })
}

describe('a call that exceeds a limit of the nodes', () => {
  it.each<[string, TestCall & { method: string }, string]>([
    ['logs', logs, 'limit exceeded'],
    ['logs with too many topics', logs, 'the number of topics exceeds the limit of 4'],
    ['logs that take too long', logs, 'query timeout exceeded'],
    ['the logs of a filter', { method: 'eth_getFilterLogs', params: ['0x1'] }, 'limit exceeded'],
    ['a trace', { method: 'debug_traceTransaction', params: ['0xab'] }, 'Limit exceeded'],
    ['a trace method that is in no spec', { method: 'trace_all', params: [] }, 'exceeded'],
  ])('puts no upstream into cooldown: %s', async (_, request, words) => {
    const refusal = nodeError(-32005, words)
    const relay = refusing(request.method, refusal)
    expect((await relay.ask(request)).outcome).toBe(refusal.body)
    expect((await relay.ask()).outcome).toBe(ok.body)
    expect(relay.events).toEqual([])
  })

  it('is retried at other upstreams, which may have higher limits', async () => {
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
  ['logs, with a limit on requests', logs, 'too many requests'],
  ['logs, with a rate limit', logs, 'you exceeded your rate'],
  ['logs, with a daily limit', logs, 'daily limit exceeded'],
  ['logs, with a plan limit', logs, 'limit of the free plan exceeded'],
  ['logs, with a limit per second', logs, 'limit exceeded: 25/second'],
])('a limit of the client puts the URL into cooldown: %s', async (_, request, words) => {
  const relay = new RelayFixture(chain, iface, { a: { script: () => nodeError(-32005, words) } })
  await relay.ask(request)
  expect(relay.events).toEqual([expect.stringMatching(/^a: cooldown/)])
})

it('a transaction above the block gas limit of Besu starts no cooldown', async () => {
  const request = { method: 'eth_sendRawTransaction', params: ['0x02'] }
  const refusal = nodeError(-32005, 'Transaction gas limit exceeds block gas limit')
  const relay = refusing(request.method, refusal)
  expect((await relay.ask(request)).outcome).toBe(refusal.body)
  expect((await relay.ask()).outcome).toBe(ok.body)
  expect(relay.events).toEqual([])
})

describe('a call that exceeds the execution timeout of the node', () => {
  const call = { method: 'eth_call', params: [{}, 'latest'] }
  const balance = { method: 'eth_getBalance', params: undefined }
  const aborted = 'execution aborted (timeout = 5s)'
  const canceled = 'eth_call request was canceled due to enabled timeout.'
  const deadline = 'context deadline exceeded'

  it.each<[string, TestCall & { method: string }, string, number, boolean]>([
    ['a call', call, aborted, -32000, false],
    ['a call on Nethermind', call, canceled, -32016, false],
    ['a method that is in no spec', { method: 'my_call', params: [] }, aborted, -32000, false],
    ['logs', logs, 'Query timeout exceeded. Consider reducing your block range.', -32000, false],
    ['logs with a Go error', logs, deadline, -32000, false],
    ['a plain read', balance, aborted, -32000, false],
    ['a plain read that timed out', balance, 'request timed out', -32002, true],
    ['a read with a gateway timeout', balance, 'upstream request timeout', -32000, true],
    ['a read with a backend timeout', balance, 'backend timed out', -32000, true],
    ['a read with an HTTP client timeout', balance, `Post "http://a": ${deadline}`, -32000, true],
    // The contract may itself return these words.
    ['a call with a gateway timeout', call, 'upstream request timeout', -32000, false],
  ])('%s', async (_, request, words, code, isBlamed) => {
    const refusal = nodeError(code, words)
    const relay = refusing(request.method, refusal)
    for (let each = 0; each < 30; each++) await relay.ask(request)
    expect(relay.events.some((event) => event.endsWith('> disabled'))).toBe(isBlamed)
  })
})
