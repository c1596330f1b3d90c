// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { ethereum, RelayFixture, result } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()

test('a lagging upstream answers a lookup by hash with null when no other is available', async () => {
  const none = result(null)
  const failing = () => {
    const answers: ScriptedAnswer[] = [{ fault: 'refused' }, { status: 429, body: 'slow down' }]
    return { script: () => answers.shift()! }
  }
  const relay = new RelayFixture(chain, iface, {
    d1: failing(),
    d2: failing(),
    lagging: { script: () => none },
  })
  for (const upstream of relay.pool.upstreams)
    relay.pool.observeHead(upstream, upstream.name === 'lagging' ? 90 : 100, 0, upstream.urls[0]!)
  const request = { method: 'eth_getTransactionByHash', params: [`0x${'a'.repeat(64)}`] }
  expect((await relay.ask(request)).outcome).toBe(none.body)
  expect(relay.sent).toEqual({ d1: 1, d2: 1, lagging: 1 })
})
