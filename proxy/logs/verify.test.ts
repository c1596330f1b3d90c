// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { createSliceMemory } from './slices.ts'
import { addresses, type Limits, type Log } from './testing/log-chain.ts'
import { LogsFixture } from './testing/logs-fixture.ts'

const filter = { address: addresses[0]! }

/** Drops one log of a hundred, as a function of the log. */
const forgetful = (logs: readonly Log[]) =>
  logs.filter(({ data }) => Number.parseInt(data.slice(-4), 16) % 100 !== 0)

function opened(nodes: ConstructorParameters<typeof LogsFixture>[0], verify = 'always' as const) {
  return new LogsFixture(nodes, { verify, memory: createSliceMemory(64 * 1024 * 1024) })
}

describe('a node that omits logs of final blocks', () => {
  it.each(['a', 'b'])('is found, and the client gets all logs: %s', async (bad) => {
    const fixture = opened({ a: {}, b: {}, [bad]: { alter: forgetful } })
    for (let each = 0; each < 20; each++) {
      const [from, to] = [1 + each * 2_000, 2_000 + each * 2_000]
      const { logs, result } = await fixture.ask(from, to, filter)
      expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(from, to, filter)))
      const { wrong } = result.call.journal.logs!
      const all = fixture.chain.logs(from, to, filter)
      expect(wrong).toEqual(forgetful(all).length < all.length ? [bad] : [])
    }
    expect(new Set(fixture.mismatches)).toEqual(new Set([bad]))
    const upstream = fixture.relays.pool.upstreams.find(({ name }) => name === bad)
    expect(upstream?.fault).toContain('omitted or invented logs')
  })

  it('is found in 100 of 100 chains', async () => {
    for (let seed = 0; seed < 100; seed++) {
      const alter = (logs: readonly Log[]) => logs.filter((_, at) => at % 100 !== seed)
      const fixture = opened({ a: {}, b: { alter } })
      const from = 1 + seed * 100
      const { logs, result } = await fixture.ask(from, from + 99)
      expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(from, from + 99)))
      expect(result.call.journal.logs).toMatchObject({ wrong: ['b'], verifiedBlocks: 100 })
    }
  })

  it('is found although the second upstream limits results', async () => {
    const fixture = opened({ a: { results: 300 }, b: { alter: forgetful, results: 100 } })
    const { result } = await fixture.ask(1, 1_000)
    expect(result.call.journal.logs).toMatchObject({ wrong: ['b'], verifiedBlocks: 1_000 })
  })

  it('is not cached if no second upstream answers', async () => {
    const fixture = opened({ a: {}, b: {} })
    fixture.relays.transport('b').play(() => ({ fault: 'reset' }))
    for (let each = 0; each < 2; each++) await fixture.ask(1, 100, filter)
    expect(fixture.chain.askedBlocks).toBe(200)
  })

  it('is found if it makes logs up', async () => {
    const invent = (logs: readonly Log[]) =>
      logs.flatMap((log) => (log.logIndex === '0x3' ? [log, { ...log, logIndex: '0x9' }] : [log]))
    const fixture = opened({ a: { alter: invent }, b: {} })
    const { logs } = await fixture.ask(1, 2_000, filter)
    expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(1, 2_000, filter)))
    expect(fixture.mismatches).toEqual(['a'])
  })

  it('is not named if no header decides', async () => {
    const fixture = opened({
      a: { alter: forgetful, hasReceipts: false },
      b: { hasReceipts: false },
    })
    for (let each = 0; each < 2; each++) {
      const { logs, result } = await fixture.ask(1, 2_000, filter)
      expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(1, 2_000, filter)))
      const note = result.call.journal.logs!
      expect(note).toMatchObject({ wrong: [], cachedBlocks: 0 })
      expect(note.disputedBlocks).toBeGreaterThan(0)
      expect(note.disputedBlocks + note.verifiedBlocks).toBe(2_000)
    }
    expect(fixture.mismatches).toEqual([])
    expect(new Set(fixture.disputes)).toEqual(new Set(['a', 'b']))
  })
})

describe('upstreams that differ where no header decides', () => {
  const good = { hasReceipts: false }
  const bad = { ...good, alter: forgetful }
  const other = { ...good, alter: (logs: readonly Log[]) => logs.slice(1) }
  const far = { ...good, maxLogBlocks: 5_000 }
  it.each<readonly [string, Readonly<Record<string, Limits>>, readonly string[]]>([
    ['the first lacks logs', { a: bad, b: good, c: good }, ['a']],
    ['the second lacks logs', { a: good, b: bad, c: good }, ['b']],
    [
      'the third is of a third group',
      { a: { ...good, group: 'x' }, b: bad, c: { ...bad, ...far }, d: { ...good, group: 'y' } },
      ['b'],
    ],
    // Both may be pruned in the same way.
    ['the third lacks the same logs', { a: good, b: bad, c: bad }, []],
    ['the third lacks others', { a: good, b: bad, c: other }, []],
  ])('are judged by a third one: %s', async (_, nodes, wrong) => {
    const fixture = opened(nodes)
    for (let each = 0; each < 2; each++) {
      const { logs, result } = await fixture.ask(1, 2_000, filter)
      expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(1, 2_000, filter)))
      const { journal } = result.call
      const isDecided = wrong.length > 0
      expect(journal.logs?.wrong).toEqual(each === 0 ? wrong : [])
      expect(journal.logs?.disputedBlocks === 0).toBe(isDecided)
      expect(journal.logs?.cachedBlocks).toBe(isDecided && each === 1 ? 2_000 : 0)
    }
    expect([...new Set(fixture.mismatches)]).toEqual(wrong)
    const { upstreams } = fixture.relays.pool
    expect(upstreams.filter(({ fault }) => fault !== null).map(({ name }) => name)).toEqual(wrong)
  })
})

it('verification asks for each block twice, and for cached ones not at all', async () => {
  const fixture = opened({ a: { blocks: 1_000 }, b: { blocks: 500 } })
  for (let each = 0; each < 2; each++) await fixture.ask(1, 6_000, filter)
  expect(fixture.chain.askedBlocks).toBe(12_000)
})

it('a sample is one query in a hundred', async () => {
  const fixture = new LogsFixture({ a: {}, b: {} }, { verify: 'sample' })
  for (let each = 0; each < 400; each++) await fixture.ask(1, 10, filter)
  const verified = fixture.chain.answered.length - 400
  expect(verified).toBeGreaterThan(0)
  expect(verified).toBeLessThan(12)
})

it('a single upstream is not verified', async () => {
  const fixture = opened({ a: {} })
  const { logs, result } = await fixture.ask(1, 100, filter)
  expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(1, 100, filter)))
  expect(result.call.journal.logs).toMatchObject({ verifiedBlocks: 0 })
})
