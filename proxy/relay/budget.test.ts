// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ethereum, RelayFixture, result, type FixtureUpstream } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const fails: FixtureUpstream = { script: () => ({ fault: 'refused' }) }
const takes: FixtureUpstream = { script: () => result('0x1') }

test.each<[string, Record<string, FixtureUpstream>, string | undefined]>([
  ['every upstream', { a: fails, b: fails, c: takes }, undefined],
  ['the other upstreams when the selected one fails', { a: fails, b: takes, c: takes }, 'a'],
  [
    'the backups when no primary received it',
    { a: fails, b: fails, c: { ...takes, tier: 'backup' } },
    undefined,
  ],
])('a write goes to %s, regardless of the attempt limit', async (_, upstreams, named) => {
  const relay = new RelayFixture(chain, iface, upstreams, { maxAttempts: 1 })
  const reply = await relay.ask({
    method: 'eth_sendRawTransaction',
    params: ['0x02f8'],
    ...(named && { directives: { selectProvider: named } }),
  })
  expect([reply.outcome, relay.sent]).toEqual([result('0x1').body, { a: 1, b: 1, c: 1 }])
})
