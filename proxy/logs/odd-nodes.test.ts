// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { nodeError } from '../relay/testing/relay-fixture.ts'
import { addresses, type Filter, type Limits, topics } from './testing/log-chain.ts'
import { LogsFixture } from './testing/logs-fixture.ts'

const dense = { address: addresses[0]! }
const sparse = { address: addresses[0]!, topics: [null, topics[1]!] }

describe('a query over nodes with habits of their own', () => {
  /** Writes empty lists as null, as some nodes do. */
  const nil: Limits = { alter: (logs) => (logs.length > 0 ? logs : null) }
  it.each<readonly [string, Record<string, Limits>, Filter, number]>([
    ['for long ranges', { a: { nullAbove: 2_000 }, b: { blocks: 3_000 } }, dense, 9_000],
    ['for all ranges of a node', { a: { nullAbove: 0 }, b: {}, c: {} }, dense, 500],
    ['for empty ranges', { a: nil, b: nil, c: nil }, sparse, 3_000],
    ['for empty ranges of the only node', { a: nil }, sparse, 3_000],
  ])('has all logs although answers are null %s', async (_, nodes, filter, blocks) => {
    const fixture = new LogsFixture(nodes)
    for (let from = 1; from < 30_000; from += 9_000) {
      const to = from + blocks - 1
      expect((await fixture.ask(from, to, filter)).logs).toEqual(
        fixture.chain.logs(from, to, filter),
      )
    }
  })

  it('does not wait again for a node that hangs', async () => {
    const fixture = new LogsFixture({ b: { blocks: 800 }, c: { hangsAbove: 0 } })
    const { relays, chain } = fixture
    const { logs } = await fixture.ask(1, 10_900, dense)
    expect(logs).toEqual(chain.logs(1, 10_900, dense))
    expect(relays.sent['c']).toBeLessThanOrEqual(1)
  })

  it('shows the error of the nodes about an end above their head', async () => {
    const fixture = new LogsFixture({ a: { blocks: 3_000 } })
    const node = fixture.chain.node('a', { blocks: 3_000 })
    const message = 'block range extends beyond current head block'
    fixture.relays.transport('a').play((request) => {
      const isAbove = Buffer.from(request.body as Uint8Array).includes('0xffffffff')
      return isAbove ? nodeError(-32602, message) : node(request)
    })
    expect((await fixture.ask(95_000, '0xffffffff', sparse)).error).toBe(message)
  })
})
