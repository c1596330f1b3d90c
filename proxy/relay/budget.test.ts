// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ethereum, RelayFixture, result, type FixtureUpstream } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const fails: FixtureUpstream = { script: () => ({ fault: 'refused' }) }
const takes: FixtureUpstream = { script: () => result('0x1') }

test.each<[string, Record<string, FixtureUpstream>, string | undefined]>([
  ['every upstream', { a: fails, b: fails, c: takes }, undefined],
  ['the others when the one that the client named fails', { a: fails, b: takes, c: takes }, 'a'],
  [
    'the backups when no primary received it',
    { a: fails, b: fails, c: { ...takes, tier: 'backup' } },
    undefined,
  ],
])('a write goes to %s, however few attempts a read may have', async (_, upstreams, named) => {
  const relay = new RelayFixture(chain, iface, upstreams, { maxAttempts: 1 })
  const seen = await relay.ask({
    method: 'eth_sendRawTransaction',
    params: ['0x02f8'],
    ...(named && { directives: { selectProvider: named } }),
  })
  expect([seen.outcome, relay.sent]).toEqual([result('0x1').body, { a: 1, b: 1, c: 1 }])
})
