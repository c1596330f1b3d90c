// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { Chain, ChainInterface } from '../chain/types.ts'
import { RelayFixture, result, scripted } from './testing/relay-fixture.ts'

const chain = (await loadCatalog([])).find('HUBCHAIN') as Chain
const iface = chain.interfaces.get('tendermintrpc') as ChainInterface
const value = result({ response: { code: 0, value: 'AQ==' } })
const refused = (code: number, log: string) => result({ response: { code, log, value: null } })
const gasLimit = 'Query gas limit exceeded: 3000000, out of gas in location: IterNextCostFlat'

/** The failure table classifies a refusal in the result of a read like a bare error. */
test.each([
  ['a limit of the node goes to another node', refused(11, gasLimit), value],
  [
    'a node that lacks the height goes to another node',
    refused(18, 'failed to load state at height 5; version does not exist (latest height: 900)'),
    value,
  ],
  [
    'a contract refuses for every node',
    refused(2, 'no such key: query wasm contract failed'),
    null,
  ],
  ['unknown words are of the application', refused(8, 'the moon is in the wrong house'), null],
  ['the code of the application is no gRPC status', refused(14, 'memo: bad'), null],
])('%s', async (_, answer, other) => {
  const relay = new RelayFixture(chain, iface, scripted({ a: answer, b: value }))
  const { outcome, call } = await relay.ask({
    method: 'abci_query',
    params: ['/a', '', '0', false],
  })
  expect(outcome).toBe((other ?? answer).body)
  expect(call.journal.attempts.length).toBe(other ? 2 : 1)
  expect(relay.pool.snapshot().upstreams.map(({ why }) => why)).toEqual([null, null])
})

const eth = (await loadCatalog([])).find('ETH1') as Chain
const missing = 'missing trie node 5c0a (path ) state 0xab is not available'
const listed = (error?: string) => result({ accessList: [], gasUsed: '0x1', error })
const many = (error: unknown) => result([[{ value: '0x' }, { error }]])
const simulated = (code: number, message: string) =>
  result([
    { number: '0x1', calls: [{ status: '0x1' }, { status: '0x0', error: { code, message } }] },
  ])

test.each([
  ['eth_createAccessList', listed(missing), listed()],
  ['eth_createAccessList', listed('execution reverted'), null],
  ['eth_callMany', many(missing), many(null)],
  ['eth_callMany', many({ message: missing }), many(null)],
  ['eth_callMany', many({}), null],
  ['eth_callMany', many('execution reverted: missing trie node'), null],
  ['eth_callMany', many('the moon is in the wrong house'), null],
  ['eth_simulateV1', simulated(-32_000, missing), simulated(3, 'execution reverted')],
  ['eth_simulateV1', simulated(3, 'execution reverted'), null],
  ['eth_simulateV1', simulated(-32_015, 'out of gas'), null],
  ['eth_simulateV1', simulated(-32_005, 'rate limit exceeded'), simulated(3, 'execution reverted')],
])('the result of %s may refuse in a part of it: %o', async (method, answer, other) => {
  const evm = eth.interfaces.get('jsonrpc') as ChainInterface
  const relay = new RelayFixture(eth, evm, scripted({ a: answer, b: other ?? answer }))
  for (let each = 0; each < 20; each++) {
    const { outcome, call } = await relay.ask({ method, params: [{}, '0x1'] })
    expect(outcome).toBe((other ?? answer).body)
    if (!other) expect(call.journal.attempts.map((made) => made.result)).toEqual(['answer'])
  }
  expect(relay.events).toEqual([])
  expect(relay.sent['a']).toBeGreaterThan(9)
})

test('a part of the result that all nodes refuse is passed on as a refusal', async () => {
  const evm = eth.interfaces.get('jsonrpc') as ChainInterface
  const relay = new RelayFixture(eth, evm, scripted({ a: many(missing), b: many(missing) }))
  const { outcome, call } = await relay.ask({ method: 'eth_callMany', params: [[], {}] })
  expect(outcome).toBe(many(missing).body)
  expect(call.journal.attempts.map((made) => made.result)).not.toContain('answer')
})

test('a refusal on which all nodes agree is the answer, and blames none', async () => {
  const answer = refused(11, gasLimit)
  const relay = new RelayFixture(chain, iface, scripted({ a: answer, b: answer }))
  for (let each = 0; each < 20; each++) {
    const { outcome } = await relay.ask({ method: 'abci_query', params: ['/a', '', '0', false] })
    expect(outcome).toBe(answer.body)
  }
  expect(relay.events).toEqual([])
})
