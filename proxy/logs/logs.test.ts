// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { addresses, type Filter, type Limits, type Log, topics } from './testing/log-chain.ts'
import { LogsFixture } from './testing/logs-fixture.ts'

const dense = { address: addresses[0]! }
const sparse = { address: addresses[0]!, topics: [null, topics[1]!] }
const three = { a: { blocks: 10_000 }, b: { blocks: 5_000 }, c: { blocks: 2_000 } }

describe('a range that no upstream accepts at once', () => {
  it('is answered in order, without more requests than needed', async () => {
    const fixture = new LogsFixture(three)
    const { chain } = fixture
    const filter = { topics: [null, null, topics[2]!] }
    for (let each = 0; each < 4; each++) {
      const from = 1 + (each % 2) * 20_000
      const { logs } = await fixture.ask(from, from + 19_999, filter)
      expect(JSON.stringify(logs)).toBe(JSON.stringify(chain.logs(from, from + 19_999, filter)))
    }
    expect(chain.askedBlocks).toBe(4 * 20_000)
    expect(chain.refused.length).toBeLessThanOrEqual(6)
  })

  it('reaches up to the tip', async () => {
    const fixture = new LogsFixture(three)
    const { logs } = await fixture.ask(90_001, 'latest')
    expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(90_001, 100_000)))
  })

  const isOver = (blocks: number) => ({ blocks, tooMany: () => 'block range is too wide' })
  it.each<readonly [string, string, Limits, number, number]>([
    ['one block above the polled tip', '0x186a1', { blocks: 300 }, 100_001, 10_002],
    ['a piece above the polled tip', '0x18a88', { blocks: 300 }, 100_500, 11_001],
    ['far above the tip', '0xffffffff', {}, 100_500, 10_001],
    ['far above the tip, where nodes limit the range', '0xffffffff', isOver(300), 100_000, 10_001],
    ['finalized', 'finalized', isOver(300), 99_900, 9_901],
  ])('reaches up to what is asked: %s', async (_, to, limits, last, blocks) => {
    const fixture = new LogsFixture({ a: limits })
    await fixture.ask(1, 5_000)
    // The nodes have blocks of which the router does not know yet.
    fixture.chain.head += 500
    const { logs, error, result } = await fixture.ask(90_000, to)
    expect(error).toBe(null)
    expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(90_000, last)))
    expect(result.call.journal.logs?.blocks ?? 0).toBe(blocks)
  })

  it.each(['0x186a1', '0x18704'])(
    'needs no node that has a block above the tip: %s',
    async (to) => {
      const fixture = new LogsFixture({ a: { blocks: 300 } })
      const { logs } = await fixture.ask(90_000, to)
      expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(90_000, 100_000)))
    },
  )

  it('is cut again when the upstream with the highest limit fails', async () => {
    const fixture = new LogsFixture(three)
    const { relays, chain } = fixture
    const filter = { topics: [null, null, topics[2]!] }
    for (let each = 0; each < 4; each++) await fixture.ask(1, 20_000, filter)
    relays.transport('a').play(() => ({ fault: 'reset' }))
    const { logs, error } = await fixture.ask(20_001, 35_000, filter)
    expect(error).toBe(null)
    expect(JSON.stringify(logs)).toBe(JSON.stringify(chain.logs(20_001, 35_000, filter)))
  })

  it('passes the filter on', async () => {
    const fixture = new LogsFixture(three)
    const filter = { address: addresses.slice(1, 3), topics: [null, topics[1]!] }
    const { logs } = await fixture.ask(500, 30_000, filter)
    expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(500, 30_000, filter)))
    expect(logs?.length).toBeGreaterThan(100)
  })

  it('is halved when its result is too long', async () => {
    const fixture = new LogsFixture({ a: { results: 1_000 }, b: { results: 1_000 } })
    const { logs } = await fixture.ask(1, 10_000)
    expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(1, 10_000)))
  })

  it('shows the range of each attempt', async () => {
    const fixture = new LogsFixture(three)
    const { result } = await fixture.ask(1, 4_000, { address: addresses[0]! })
    const details = result.call.journal.attempts.map(({ detail }) => detail ?? '')
    const ranges = details.map((detail) => detail.match(/\d+/g)?.map(Number) ?? [])
    expect(details[0]).toBe('blocks 1 to 50')
    expect(ranges.map(([from]) => from)).toEqual([
      1,
      ...ranges.map(([, to = 0]) => to + 1).slice(0, -1),
    ])
    expect(ranges.at(-1)?.[1]).toBe(4_000)
  })

  it('stops all requests when the client leaves', async () => {
    const fixture = new LogsFixture({ a: { blocks: 500 }, b: { blocks: 500 } })
    const leave = new AbortController()
    const { clock, transports } = fixture.relays
    const asked = fixture.begin(1, 60_000, { address: addresses[0]! }, { signal: leave.signal })
    const all = () => [...transports.values()].flat()
    const open = () => all().reduce((sum, each) => sum + each.open, 0)
    // The first answers show how many logs a block has.
    for (let each = 0; each < 60 && open() < 4; each++) await clock.advance(5)
    expect(open()).toBe(4)
    const { length } = fixture.chain.answered
    leave.abort()
    expect((await asked).outcome).toBe('CallAborted')
    await clock.advance(1_000)
    expect(open()).toBe(0)
    expect(all().reduce((sum, { aborted }) => sum + aborted, 0)).toBe(4)
    expect(fixture.chain.answered.length).toBe(length)
    expect(fixture.budget.heldBytes).toBe(0)
  })

  it('streams a long answer with bounded memory', async () => {
    const fixture = new LogsFixture({ a: {} })
    const { result, logs } = await fixture.ask(1, 15_000)
    expect(result.outcome).toBe('a stream')
    expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(1, 15_000)))
    expect(fixture.budget.heldBytes).toBe(0)
  })

  it('is refused with the range that fits if it takes too long', async () => {
    const fixture = new LogsFixture({ a: { blocks: 10, afterMs: 1_000 } })
    await fixture.ask(1, 100)
    const { error, result } = await fixture.ask(1, 90_000)
    expect(error).toBe('logs-range')
    const { logs } = await fixture.ask(1, namedBy(result))
    expect(logs?.length).toBeGreaterThan(0)
  })

  it('names a range that fits after it ran out of time', async () => {
    const fixture = new LogsFixture({ a: { blocks: 10, afterMs: 1_000, maxLogBlocks: 10 } })
    const { error, result } = await fixture.ask(1, 8_000, sparse)
    expect(error).toBe('logs-range')
    expect(result.message).toMatch(/ran out of time after \d+ blocks\. Try with/)
    expect((await fixture.ask(1, namedBy(result), sparse)).error).toBe(null)
  })

  it.each([
    [-32600, 'no'],
    [-32601, 'the method eth_getLogs does not exist'],
    [-32000, 'no'],
  ])('is answered by the others when one node refuses all: %i %s', async (code, message) => {
    const odd = { blocks: 0, code, tooMany: () => message }
    const fixture = new LogsFixture({ a: { blocks: 700 }, b: odd })
    for (const from of [1, 9_001, 18_001, 27_001]) {
      const { logs } = await fixture.ask(from, from + 8_999, sparse)
      expect(logs).toEqual(fixture.chain.logs(from, from + 8_999, sparse))
    }
  })

  const upTo = (blocks: number, code: number, message: string): Limits => {
    return { blocks, code, tooMany: () => message }
  }
  const internal = upTo(300, -32603, 'Internal error')
  const invalid = upTo(300, -32602, 'invalid params')
  it.each<readonly [string, Record<string, Limits>, number]>([
    ['an internal error of the only node', { a: internal }, 2_000],
    ['internal errors of all nodes', { a: internal, b: internal, c: internal }, 2_000],
    ['invalid params of one node', { a: invalid, b: {} }, 500],
    ['invalid params of all nodes', { a: invalid, b: invalid }, 2_000],
    ['a node that takes no range', { a: upTo(0, -32602, 'invalid params'), b: {} }, 500],
  ])('is answered in time after %s', async (_, nodes, mostMs) => {
    const fixture = new LogsFixture(nodes)
    const { clock } = fixture.relays
    for (const from of [101, 1_001, 3_001, 10_001]) {
      const to = Math.floor(from * 1.9)
      const startedMs = clock.nowMs()
      const { logs, error } = await fixture.ask(from, to, dense)
      expect(error).toBe(null)
      expect(logs).toEqual(fixture.chain.logs(from, to, dense))
      expect(clock.nowMs() - startedMs).toBeLessThanOrEqual(mostMs)
    }
  })

  it('is cut after no node has answered it in time', async () => {
    const fixture = new LogsFixture({ a: { hangsAbove: 300 } })
    expect((await fixture.ask(1, 2_000, dense)).error).toBe('timeout')
    const { logs } = await fixture.ask(1, 2_000, dense)
    expect(logs).toEqual(fixture.chain.logs(1, 2_000, dense))
  })

  const start = '{"jsonrpc":"2.0","id":1,"result":['
  it.each<readonly [string, ScriptedAnswer]>([
    ['redirects', { status: 302, body: 'moved' }],
    ['closes the connection', { fault: 'truncated' }],
    ['breaks its streams off', { streams: true, body: start, fault: 'truncated' }],
    ['breaks its answers off', { body: start }],
  ])('leaves a node that %s', async (_, answer) => {
    for (const verify of ['off', 'always'] as const) {
      const fixture = new LogsFixture({ a: {}, b: {}, c: {} }, { verify })
      const { relays, chain } = fixture
      // With a measured density, parts of proven size go out at once.
      if (verify === 'off') await fixture.ask(50_001, 52_000, dense)
      const before = relays.sent['a'] ?? 0
      relays.transport('a').play(() => answer)
      const startedMs = relays.clock.nowMs()
      const { logs } = await fixture.ask(1, 9_000, dense)
      expect(logs).toEqual(chain.logs(1, 9_000, dense))
      // Parts that are in flight together fail together.
      expect((relays.sent['a'] ?? 0) - before).toBeLessThanOrEqual(4)
      expect(relays.clock.nowMs() - startedMs).toBeLessThan(250)
    }
  })

  it('returns to a node that failed an earlier part', async () => {
    const fixture = new LogsFixture({ a: {}, b: {} })
    const { relays, chain } = fixture
    const [a, b] = [chain.node('a'), chain.node('b')]
    let asked = 0
    relays.transport('a').play((request) => (asked++ === 0 ? { fault: 'reset' } : a(request)))
    const isLimited = () => chain.answered.length > 3
    relays.transport('b').play((request) => (isLimited() ? { status: 429 } : b(request)))
    const { logs } = await fixture.ask(1, 9_000, dense)
    expect(logs).toEqual(chain.logs(1, 9_000, dense))
  })

  it('has no streamed logs of another query', async () => {
    const fixture = new LogsFixture({ a: { streams: true, alter: otherAddress }, b: {} })
    const { logs } = await fixture.ask(1, 9_000, dense)
    expect(logs).toEqual(fixture.chain.logs(1, 9_000, dense))
  })

  it('is the mistake of the client if each node says so once', async () => {
    const odd = upTo(0, -32602, 'invalid params')
    const fixture = new LogsFixture({ a: odd, b: odd, c: odd })
    expect((await fixture.ask(1, 1_000, sparse)).error).toBe('invalid params')
    expect(fixture.chain.refused.length).toBe(3)
  })

  it('is not refused for the few logs that were shown to fit so far', async () => {
    const fixture = new LogsFixture({ a: { afterMs: 100 } })
    await fixture.ask(1, 2)
    expect((await fixture.ask(1, 30_000)).error).toBe(null)
  })

  it('knows from one filter how much work nodes do for another', async () => {
    const fixture = new LogsFixture({ a: { blocks: 700, tooMany: () => 'query timed out' } })
    await fixture.ask(1, 9_000, sparse)
    const { length } = fixture.chain.refused
    expect((await fixture.ask(9_001, 14_000, dense)).error).toBe(null)
    expect(fixture.chain.refused.length).toBe(length)
  })

  it('returns an error that no smaller range avoids', async () => {
    const fixture = new LogsFixture({ a: { blocks: 0, tooMany: () => 'no', code: -32000 } })
    expect((await fixture.ask(1, 9_000, sparse)).error).toBe('no')
    expect(fixture.chain.refused.length).toBeLessThanOrEqual(4)
  })

  const named = (blocks: number) => `block range exceeds ${blocks}`
  it.each<readonly [string, Record<string, Limits>, Filter, number]>([
    ['1,000 results', { a: { results: 1_000 }, b: { results: 1_000 } }, dense, 1.1],
    ['300 and 2,000 results', { a: { results: 300 }, b: { results: 2_000 } }, sparse, 1.1],
    [
      'results and blocks',
      { a: { results: 500 }, b: { blocks: 3_000, tooMany: named } },
      dense,
      1.1,
    ],
    [
      'unnamed blocks',
      { a: { blocks: 900, tooMany: () => 'block range is too wide' } },
      sparse,
      1.1,
    ],
    // It may be any limit, so the other node is asked before the range is cut.
    [
      'some limit',
      { a: { blocks: 700, tooMany: () => 'limit exceeded', code: -32005 } },
      sparse,
      1.2,
    ],
    [
      'words that no table has',
      { a: { blocks: 300, tooMany: () => 'computer says no', code: -32000 } },
      sparse,
      1.2,
    ],
    ['time', { a: { blocks: 1_500, tooMany: () => 'query timed out' } }, sparse, 1.3],
  ])('asks for little more than needed: %s', async (_, nodes, filter, most) => {
    const fixture = new LogsFixture(nodes)
    for (const from of [1, 20_001, 40_001]) {
      const { logs } = await fixture.ask(from, from + 19_999, filter)
      expect(JSON.stringify(logs)).toBe(
        JSON.stringify(fixture.chain.logs(from, from + 19_999, filter)),
      )
    }
    const { answered, refused } = fixture.chain
    const asked = [...answered, ...refused].reduce((sum, { from, to }) => sum + to - from + 1, 0)
    expect(asked / 60_000).toBeLessThanOrEqual(most)
  })

  it('learns that a node returns fewer logs than before', async () => {
    const node = { results: 2_000 }
    const fixture = new LogsFixture({ a: node })
    await fixture.ask(1, 20_000, dense)
    node.results = 150
    const before = fixture.chain.refused.length
    const { logs } = await fixture.ask(20_001, 30_000, dense)
    expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(20_001, 30_000, dense)))
    expect(fixture.chain.refused.length - before).toBeLessThan(20)
  })

  it('returns the error of a node that refuses a single block', async () => {
    const fixture = new LogsFixture({ a: { results: 0 } })
    const { error } = await fixture.ask(1, 2_000)
    expect(error).toContain('query returned more than 0 results')
    expect(fixture.chain.refused.length).toBeLessThan(20)
  })
})

describe('a limit that the node names in its error', () => {
  const hex = (block: number) => `0x${block.toString(16)}`
  it.each([
    (blocks: number) => `exceed maximum block range: ${blocks}`,
    (blocks: number) => `eth_getLogs is limited to a ${blocks.toLocaleString('en-US')} range`,
    (blocks: number) => `eth_getLogs is limited to 0 - ${blocks} blocks range`,
    (blocks: number) => `range 1000000 exceeds limit of ${blocks}`,
    (blocks: number, from: number) =>
      `You can make eth_getLogs requests with up to a ${blocks} block range. Based on your parameters, this block range should work: [${hex(from)}, ${hex(from + blocks - 1)}]`,
    (blocks: number) => `ranges over ${blocks} blocks are not supported on freetier`,
  ])('is learned once: %s', async (tooMany) => {
    const fixture = new LogsFixture({ a: { blocks: 300, tooMany } })
    const { chain } = fixture
    const filter = { address: addresses[0]! }
    for (const from of [1, 10_001]) {
      const { logs } = await fixture.ask(from, from + 1_999, filter)
      expect(JSON.stringify(logs)).toBe(JSON.stringify(chain.logs(from, from + 1_999, filter)))
    }
    expect(chain.refused).toEqual([{ node: 'a', from: 1, to: 2_000 }])
    expect(chain.answered.length).toBeLessThanOrEqual(15)
  })

  it('is configured instead', async () => {
    const fixture = new LogsFixture({ a: { blocks: 50, maxLogBlocks: 50 } })
    await fixture.ask(1, 200, { address: addresses[0]! })
    expect(fixture.chain.refused).toEqual([])
  })
})

describe('a reorganisation while the newest logs are read', () => {
  const small = { a: { blocks: 10 }, b: { blocks: 10 } }

  it('repeats the requests', async () => {
    const fixture = new LogsFixture(small)
    const { chain, relays } = fixture
    await fixture.ask(1, 200)
    const asked = fixture.begin(99_901, 100_000)
    await relays.clock.advance(35)
    chain.reorg(30)
    await relays.clock.advance(1_000)
    const { outcome } = await asked
    expect(resultIn(outcome)).toBe(JSON.stringify(chain.logs(99_901, 100_000)))
  })

  it('is an error if the chain changes each time', async () => {
    const fixture = new LogsFixture(small)
    const { chain, relays } = fixture
    await fixture.ask(1, 200)
    const asked = fixture.begin(99_901, 100_000)
    for (let each = 0; each < 100; each++) {
      await relays.clock.advance(5)
      chain.reorg(30)
    }
    expect((await asked).outcome).toBe('upstream-failed')
  })
})

describe('a query that upstreams accept', () => {
  it('passes unchanged', async () => {
    const fixture = new LogsFixture({ a: {} })
    const { logs } = await fixture.ask(99_000, 100_000)
    expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(99_000, 100_000)))
    expect(fixture.relays.sent).toEqual({ a: 1 })
  })
})

function otherAddress(logs: readonly Log[]): readonly Log[] {
  return logs.map((log) => ({ ...log, address: addresses[1]! }))
}

/** The last block that an error names. */
function namedBy({ message }: { readonly message: string | null }): number {
  return Number(/, (0x[0-9a-f]+)\]/.exec(message ?? '')?.[1])
}

function resultIn(outcome: string): string {
  return JSON.stringify((JSON.parse(outcome) as { result: unknown }).result)
}
