// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import {
  ethereum,
  RelayFixture,
  result,
  scripted,
  type Upstreams,
} from './testing/relay-fixture.ts'

/* A method that the spec does not name, and whose name is not that of a read, may change a node. */

const { chain, iface } = await ethereum()
const serve = (upstreams: Upstreams) => new RelayFixture(chain, iface, scripted(upstreams))

const names = `
  mev_postBundle mev_submit mev_cancelBundle pm_sponsorOperation pm_payForTransaction
  biconomy_sponsor pimlico_sendCompressedUserOperation wallet_sendCalls wallet_prepareCalls
  wallet_sendPreparedCalls alchemy_requestGasAndPaymasterData alchemy_sendPrivate zd_sponsor
  eth_sendBundleNow eth_voidBundle eth_submitSomething eth_sendPrivateBatch flashbots_setFee
  flashbots_register parity_setExtraData parity_removeTransaction parity_foo clique_propose
  clique_discard txpool_drop txpool_clear bor_propose linea_sendCompressed zkevm_deposit
  zks_sendRawTransactionAndDetail optimism_replay arb_publish les_addBalance shh_post shh_addKey
  vfl_queue db_putString foo_bar foo madeUp
`.match(/\S+/g) as string[]

test('there are 40 names that the spec does not have', () => {
  expect(new Set(names).size).toBe(40)
  const unnamed = names.map((method) =>
    iface.classify({ apiInterface: 'jsonrpc', method, params: [] }),
  )
  expect(unnamed.filter(({ known, looksLikeRead }) => known || looksLikeRead)).toEqual([])
})

describe.each(names)('%s', (method) => {
  test('goes to one slow node, once', async () => {
    const slow = result('done', { afterMs: 20_000 })
    const fixture = serve({ a: slow, b: slow, c: slow })
    const { outcome, call } = await fixture.ask({ method, params: [] })
    expect(outcome).toContain('done')
    expect(Object.values(fixture.sent).toSorted((a, b) => a - b)).toEqual([0, 0, 1])
    expect(call.journal.attempts.map(({ kind }) => kind)).toEqual(['first'])
  })

  test.each([
    ['no connection', { fault: 'refused' }, 1],
    ['a lost connection', { fault: 'reset' }, 0],
    ['an error of the server', { status: 500, body: 'oops' }, 0],
  ] as const)('after %s', async (_, first, others) => {
    const fixture = serve({ a: first, b: result('done') })
    await fixture.ask({ method, params: [] })
    expect(fixture.sent).toEqual({ a: 1, b: others })
  })
})
