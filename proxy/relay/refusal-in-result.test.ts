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

test('a refusal on which all nodes agree is the answer, and blames none', async () => {
  const answer = refused(11, gasLimit)
  const relay = new RelayFixture(chain, iface, scripted({ a: answer, b: answer }))
  for (let each = 0; each < 20; each++) {
    const { outcome } = await relay.ask({ method: 'abci_query', params: ['/a', '', '0', false] })
    expect(outcome).toBe(answer.body)
  }
  expect(relay.events).toEqual([])
})
