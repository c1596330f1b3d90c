// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import type { Script } from '../upstream/testing/scripted-transport.ts'
import { RelayFixture, ethereum, nodeError, result } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()

/** A node that knows the one filter that it made. */
function node(id: string): Script {
  return ({ body }) => {
    const { method, params } = JSON.parse(Buffer.from(body as Uint8Array).toString()) as {
      method: string
      params: unknown[]
    }
    if (method.startsWith('eth_new')) return result(id)
    return params[0] === id ? result([id]) : nodeError(-32000, 'filter not found')
  }
}

function fixture(): RelayFixture {
  return new RelayFixture(chain, iface, {
    a: { script: node('0x1') },
    b: { script: node('0xb2cafe') },
    c: { script: node(`0x${'c'.repeat(32)}`) },
  })
}

async function idOf(relay: RelayFixture): Promise<string> {
  const { outcome } = await relay.ask({ method: 'eth_newBlockFilter', params: [] })
  return (JSON.parse(outcome) as { result: string }).result
}

describe('a filter', () => {
  it.each(['eth_getFilterChanges', 'eth_getFilterLogs', 'eth_uninstallFilter'])(
    'is asked of the node that made it: %s',
    async (method) => {
      const relay = fixture()
      const own = ['0x1', '0xb2cafe', `0x${'c'.repeat(32)}`]
      for (const expected of own) {
        const id = await idOf(relay)
        expect(id).toMatch(/^0x[0-9a-f]+$/)
        // Another replica knows it as well.
        for (const each of [relay, fixture(), fixture()])
          expect((await each.ask({ method, params: [id] })).outcome).toBe(result([expected]).body)
      }
    },
  )

  it.each([
    ['is down', { fault: 'refused' }],
    ['breaks connections', { fault: 'reset' }],
  ] as const)(
    'is not found when its node %s, so that the client makes another',
    async (_, down) => {
      const relay = fixture()
      const id = await idOf(relay)
      relay.transport('a').play(() => down)
      const { outcome } = await relay.ask({ method: 'eth_getFilterChanges', params: [id] })
      expect([outcome, relay.sent['b'], relay.sent['c']]).toEqual(['filter-not-found', 0, 0])
    },
  )

  it('of an upstream that is not configured any more is not found', async () => {
    const relay = fixture()
    const asked = { method: 'eth_getFilterChanges', params: ['0x00000000ab'] }
    expect((await relay.ask(asked)).outcome).toBe('filter-not-found')
  })

  it("gets the node's own word where it has expired", async () => {
    const relay = fixture()
    const id = await idOf(relay)
    relay.transport('a').play(() => nodeError(-32000, 'filter not found'))
    const { outcome } = await relay.ask({ method: 'eth_getFilterChanges', params: [id] })
    expect(outcome).toBe(nodeError(-32000, 'filter not found').body)
  })

  it('with an id that the router did not give is asked of any node', async () => {
    const { outcome } = await fixture().ask({ method: 'eth_getFilterChanges', params: ['0x1'] })
    expect(outcome).toBe(result(['0x1']).body)
  })

  it.each(['', '<html>Welcome</html>', '{"jsonrpc"', 'null'])(
    'without checks whatever the node says is passed on: %j',
    async (body) => {
      const nodes = { a: { script: () => ({ body }) } }
      const relay = new RelayFixture(chain, iface, nodes, { integrity: 'off' })
      const { outcome } = await relay.ask({ method: 'eth_newBlockFilter', params: [] })
      expect(outcome).toBe(body)
    },
  )
})
