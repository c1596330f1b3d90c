// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SharedCache } from '../cache/shared-cache.ts'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { FakeKeys } from '../store/testing/fake-keys.ts'
import { createSliceMemory, Slices } from './slices.ts'
import { addresses, type Filter, topics } from './testing/log-chain.ts'
import { LogsFixture } from './testing/logs-fixture.ts'

const memory = () => createSliceMemory(64 * 1024 * 1024)
const filter: Filter = { address: addresses[0]! }

describe('overlapping queries over final blocks', () => {
  const windows = Array.from({ length: 305 }, (_, at) => {
    const from = 20_000 + Math.floor((at * 9_354) / 304)
    return [from, from + 645] as const
  })

  it.each(['in order', 'at random'])('ask for each block once: %s', async (kind) => {
    const fixture = new LogsFixture({ a: { blocks: 1_000 } }, { memory: memory() })
    const random = seededRandom(7)
    const order = kind === 'in order' ? () => 0 : () => random.next() - 0.5
    for (const [from, to] of windows.toSorted(order)) {
      const { logs } = await fixture.ask(from, to, filter)
      expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(from, to, filter)))
    }
    expect(fixture.chain.askedBlocks).toBe(10_000)
  })

  it('ask for each block once, although they run at once', async () => {
    const fixture = new LogsFixture({ a: { blocks: 1_000 } }, { memory: memory() })
    const all = windows.map(([from, to]) => fixture.begin(from, to, filter))
    await fixture.relays.clock.advance(20_000)
    for (const [at, { outcome }] of (await Promise.all(all)).entries()) {
      const { result } = JSON.parse(outcome) as { result: unknown }
      expect(JSON.stringify(result)).toBe(
        JSON.stringify(fixture.chain.logs(...windows[at]!, filter)),
      )
    }
    expect(fixture.chain.askedBlocks).toBe(10_000)
  })
})

describe('a slice', () => {
  it('is of no use to another filter, but to another spelling of the same', async () => {
    const { ask, chain } = opened()
    const wanted = { address: [addresses[1]!, addresses[0]!], topics: [[topics[0]!]] }
    await ask(1, 1_000, wanted)
    await ask(1, 1_000, { address: addresses.slice(0, 2).map(upper), topics: [topics[0]!] })
    expect(chain.askedBlocks).toBe(1_000)
    await ask(1, 1_000, { ...wanted, topics: [] })
    await ask(1, 1_000, { ...wanted, topics: [topics[0]!, null] })
    expect(chain.askedBlocks).toBe(3_000)
  })

  it('is not read if the client chooses the upstream, or wants a fresh answer', async () => {
    const { ask, chain } = opened()
    await ask(1, 1_000, filter)
    for (const directives of [{ only: ['a'] }, { selectProvider: 'a' }, { refreshCache: true }])
      await ask(1, 1_000, filter, { directives })
    expect(chain.askedBlocks).toBe(4_000)
  })

  it('has no logs of blocks that may still change', async () => {
    const { ask, chain } = opened()
    await ask(99_000, 'latest', filter)
    const before = chain.askedBlocks
    await ask(99_000, 'latest', filter)
    expect(chain.askedBlocks - before).toBeLessThan(200)
    expect(chain.askedBlocks - before).toBeGreaterThan(100)
  })

  it('serves a range that begins and ends within it', async () => {
    const { ask, chain } = opened()
    await ask(5_000, 6_500, filter)
    const { logs } = await ask(5_500, 6_100, filter)
    expect(JSON.stringify(logs)).toBe(JSON.stringify(chain.logs(5_500, 6_100, filter)))
    expect(chain.askedBlocks).toBe(1_501)
  })

  it('is not stored from an upstream that had not reached its end', async () => {
    const fixture = new LogsFixture({ a: {} }, { memory: memory() })
    const [a] = fixture.relays.pool.upstreams
    await fixture.ask(1, 1_000, filter)
    a!.latest = { block: 500, atMs: 0, roseMs: 0 }
    await fixture.ask(1_001, 2_000, filter)
    await fixture.ask(1_001, 2_000, filter)
    expect(fixture.chain.askedBlocks).toBe(3_000)
  })

  it('is shared with other replicas', async () => {
    const keys = new FakeKeys(new VirtualClock())
    const replica = () => {
      const clock = new VirtualClock()
      const shared = new SharedCache(
        { keys, figures: { failures: 0, broken: 0 } },
        clock,
        's',
        () => {},
      )
      return new LogsFixture({ a: {} }, { memory: memory(), shared })
    }
    const one = replica()
    await one.ask(0, 2_047, filter)
    // Entries are compressed in another thread.
    const readByAnother = async () => {
      const other = replica()
      const { logs } = await other.ask(0, 2_047, filter)
      return { logs, askedBlocks: other.chain.askedBlocks }
    }
    const expected = { logs: one.chain.logs(0, 2_047, filter), askedBlocks: 0 }
    await expect.poll(readByAnother, { timeout: 20_000 }).toEqual(expected)
  })

  it('is evicted when the memory is full', () => {
    const small = createSliceMemory(1_000_000)
    const store = { memory: small, shared: null, clock: new VirtualClock(), scope: '' }
    const of = (filter: string) => new Slices({ ...store, pending: new Map() }, filter, 1_000)
    const logs = [{ block: 1, index: 0, json: Buffer.alloc(50_000), start: 0, end: 50_000 }]
    for (let each = 0; each < 100; each++)
      of(`filter ${each}`).add({ from: 1, to: 1_000 }, logs, 'a')
    expect(small.calculatedSize).toBeLessThanOrEqual(1_000_000)
    expect(of('filter 0').at({ from: 1, to: 1_000 })).toBe(null)
    const dense = { from: 1, to: 10 }
    expect(of('dense').add(dense, logs, 'a')).toBe(false)
    expect(of('filter 99').at({ from: 1, to: 1_000 })?.to).toBe(1_000)
  })
})

it('300 random queries are equal to one full scan', async () => {
  const head = 6_000
  const limits = fc.record({
    blocks: fc.integer({ min: 50, max: 3_000 }),
    results: fc.constantFrom(40, 200, Infinity),
  })
  const range = fc.tuple(fc.integer({ min: 0, max: head }), fc.integer({ min: 1, max: 1_500 }))
  const wanted: fc.Arbitrary<Filter> = fc.record({
    address: fc.subarray(addresses),
    topics: fc.array(fc.option(fc.subarray(topics, { minLength: 1 })), { maxLength: 2 }),
  })
  const run = fc.record({
    nodes: fc.array(limits, { minLength: 1, maxLength: 3 }),
    queries: fc.array(fc.tuple(range, wanted, fc.nat(20)), { minLength: 20, maxLength: 20 }),
  })
  await fc.assert(
    fc.asyncProperty(run, async ({ nodes, queries }) => {
      const named = Object.fromEntries(nodes.map((each, at) => [`node-${at}`, each]))
      const fixture = new LogsFixture(named, { memory: memory(), head })
      const { chain } = fixture
      for (const [[from, length], each, reorg] of queries) {
        const to = Math.min(from + length - 1, chain.head)
        const { logs, error } = await fixture.ask(from, to, each)
        expect(error).toBe(null)
        expect(JSON.stringify(logs)).toBe(JSON.stringify(chain.logs(from, to, each)))
        if (reorg > 10) continue
        chain.head += reorg
        if (reorg > 0) chain.reorg(reorg)
        fixture.see()
      }
    }),
    { numRuns: 15, seed: 1 },
  )
}, 120_000)

function opened() {
  const fixture = new LogsFixture({ a: {}, b: {} }, { memory: memory() })
  const ask: LogsFixture['ask'] = (...query) => fixture.ask(...query)
  return { ask, chain: fixture.chain }
}

function upper(address: string): string {
  return `0x${address.slice(2).toUpperCase()}`
}
