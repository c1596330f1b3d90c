// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, describe, expect, it, test } from 'vitest'
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import type { ReplyReader } from './reply.ts'
import {
  RelayFixture,
  ethereum,
  nodeError,
  result,
  type FixtureUpstream,
  type CallResult,
} from './testing/relay-fixture.ts'

let chain: Chain
let iface: ChainInterface
beforeAll(async () => {
  ;({ chain, iface } = await ethereum())
})

const stream: ScriptedAnswer = { body: '{"id":1,"result":"', streams: true }

function slotsOf(fixture: RelayFixture): readonly number[] {
  return fixture.pool.upstreams.map(({ usedSlots }) => usedSlots)
}

test('a stream occupies a slot of its upstream until the client disconnects', async () => {
  const abort = new AbortController()
  const fixture = new RelayFixture(chain, iface, { a: { script: () => stream } })
  const { outcome, call } = await fixture.ask({ signal: abort.signal })
  expect(outcome).toBe('a stream')
  expect(slotsOf(fixture)).toEqual([1])
  expect(call.journal.attempts[0]).toMatchObject({ result: null, endedMs: 10 })
  abort.abort()
  expect(slotsOf(fixture)).toEqual([0])
  expect(fixture.transport('a').released).toBe(1)
  expect(call.journal.attempts[0]).toMatchObject({ result: 'aborted', endedMs: 10 })
})

test('the latency of an attempt ends with the head of the answer', async () => {
  const fixture = new RelayFixture(chain, iface, { a: { script: () => stream } })
  await fixture.ask()
  await fixture.clock.advance(120_000)
  expect(slotsOf(fixture)).toEqual([1])
  expect(fixture.transport('a').released).toBe(0)
})

test('the first head wins, and the other request is aborted', async () => {
  const abort = new AbortController()
  const fixture = new RelayFixture(chain, iface, {
    a: { script: () => ({ ...stream, afterMs: 5_000 }) },
    b: { script: () => stream },
  })
  const { upstream } = await fixture.ask({ signal: abort.signal })
  expect(upstream).toBe('b')
  expect(fixture.transport('a').aborted).toBe(1)
  expect(slotsOf(fixture)).toEqual([0, 1])
  abort.abort()
  expect(fixture.transport('b').released).toBe(1)
  expect(slotsOf(fixture)).toEqual([0, 0])
  await fixture.clock.advance(60_000)
  expect(fixture.clock.pending).toBe(0)
})

test('a broadcast returns one stream and releases the others', async () => {
  const fixture = new RelayFixture(chain, iface, {
    a: { script: () => ({ ...stream, afterMs: 20 }) },
    b: { script: () => stream },
    c: { script: () => nodeError(-32000, 'nonce too low') },
  })
  const { outcome, upstream } = await fixture.ask({
    method: 'eth_sendRawTransaction',
    params: ['0x01'],
  })
  await fixture.clock.advance(1_000)
  expect({ outcome, upstream }).toEqual({ outcome: 'a stream', upstream: 'b' })
  expect(fixture.transport('a').released).toBe(1)
  expect(slotsOf(fixture)).toEqual([0, 1, 0])
})

/** Reads every stream as a node error. */
function readerOf(code: number, message: string): ReplyReader {
  return {
    read: ({ status, body }) =>
      body instanceof Uint8Array
        ? { kind: 'result' }
        : { kind: 'node-error', error: { status, code, message } },
    write: (value) => Buffer.from(JSON.stringify(value)),
  }
}

test('a streamed rejection is released when another node accepts the write', async () => {
  const fixture = new RelayFixture(chain, iface, {
    a: { script: () => stream },
    b: { script: () => result('0x1', { afterMs: 500 }) },
  })
  const { upstream } = await fixture.ask({
    method: 'eth_sendRawTransaction',
    params: ['0x01'],
    reader: readerOf(-32000, 'insufficient funds for gas * price + value'),
  })
  expect(upstream).toBe('b')
  expect(fixture.transport('a').released).toBe(1)
  expect(slotsOf(fixture)).toEqual([0, 0])
})

const write = { method: 'eth_sendRawTransaction', params: ['0x01'] }

test('the stream of a late write is released when another upstream has answered', async () => {
  const fixture = new RelayFixture(chain, iface, {
    a: { script: () => ({ ...stream, afterMs: 12_000 }) },
    b: { script: () => result('0x1') },
  })
  const { upstream } = await fixture.ask(write)
  expect(upstream).toBe('b')
  await fixture.clock.advance(15_000)
  expect(fixture.transport('a').released).toBe(1)
  expect(slotsOf(fixture)).toEqual([0, 0])
})

describe('a write that is late everywhere and goes to a backup', () => {
  const z: FixtureUpstream = { script: () => result('0x1', { afterMs: 8_000 }), tier: 'backup' }
  const late = { script: () => ({ ...stream, afterMs: 12_000 }) }
  const later = { script: () => result('0x1', { afterMs: 14_000 }) }

  it('returns one of two simultaneous streams and releases the other', async () => {
    const fixture = new RelayFixture(chain, iface, { a: late, b: late, z })
    const { outcome, upstream } = await fixture.ask(write)
    expect({ outcome, upstream }).toEqual({ outcome: 'a stream', upstream: 'a' })
    await fixture.clock.advance(30_000)
    expect(['a', 'b'].map((name) => fixture.transport(name).released)).toEqual([0, 1])
    expect(slotsOf(fixture)).toEqual([1, 0, 0])
  })

  it('releases a streamed rejection when another upstream accepts it', async () => {
    const fixture = new RelayFixture(chain, iface, { a: late, b: later, z })
    const reader = readerOf(-32000, 'insufficient funds for gas * price + value')
    const { upstream } = await fixture.ask({ ...write, reader })
    expect(upstream).toBe('b')
    await fixture.clock.advance(30_000)
    expect(fixture.transport('a').released).toBe(1)
    expect(slotsOf(fixture)).toEqual([0, 0, 0])
  })
})

test('a streamed error is released before a retry, and is no fallback', async () => {
  const fixture = new RelayFixture(chain, iface, {
    a: { script: () => stream },
    b: { script: () => stream },
  })
  const reader = readerOf(-32000, 'missing trie node')
  const { outcome, upstream } = await fixture.ask({ reader })
  expect({ outcome, upstream }).toEqual({ outcome: 'upstream-failed', upstream: null })
  for (const name of ['a', 'b']) expect(fixture.transport(name).released).toBe(fixture.sent[name])
  expect(slotsOf(fixture)).toEqual([0, 0])
})

test('a streamed error page is released before a retry', async () => {
  const fixture = new RelayFixture(chain, iface, {
    a: { script: () => ({ ...stream, status: 502 }) },
    b: { script: () => stream },
  })
  const { upstream } = await fixture.ask()
  expect(upstream).toBe('b')
  expect(fixture.transport('a').released).toBe(1)
  expect(slotsOf(fixture)).toEqual([0, 1])
})

/** Reads an answer after a pause. */
async function read(
  { clock }: RelayFixture,
  { incoming }: CallResult,
  pauseMs: number,
): Promise<void> {
  const { body } = incoming!
  if (body instanceof Uint8Array) throw new Error('no stream')
  await clock.advance(pauseMs)
  const pieces = body[Symbol.asyncIterator]()
  while (!(await pieces.next()).done);
}

test.each([
  ['truncated', 'reads at once', 0, ['a: eligible > disabled']],
  ['reset', 'reads at once', 0, ['a: eligible > disabled']],
  ['timeout', 'reads at once', 0, ['a: eligible > disabled']],
  ['truncated', 'pauses briefly', 4_900, ['a: eligible > disabled']],
  ['truncated', 'pauses for longer', 5_100, []],
] as const)(
  'an upstream whose streams fail (%s) is blamed unless the client is slow: it %s',
  async (fault, _, pauseMs, events) => {
    const fixture = new RelayFixture(chain, iface, { a: { script: () => ({ ...stream, fault }) } })
    for (let each = 0; each < 5; each++) {
      const reply = await fixture.ask()
      await expect(read(fixture, reply, pauseMs)).rejects.toMatchObject({ fault })
    }
    expect(fixture.events).toEqual(events)
    expect(slotsOf(fixture)).toEqual([0])
  },
)

describe('an unexpected exception', () => {
  const failing = (): never => {
    throw new TypeError('a defect')
  }

  it('in a stream validator blames no upstream', async () => {
    const rest = { length: null, push: failing, end: failing }
    const reader: ReplyReader = { read: () => ({ kind: 'result', rest }), write: failing }
    const script = () => ({ ...stream, rest: ['"}'] })
    const fixture = new RelayFixture(chain, iface, { a: { script } })
    for (let each = 0; each < 6; each++) {
      const reply = await fixture.ask({ reader })
      await expect(read(fixture, reply, 0)).rejects.toThrow('a defect')
      const [attempt] = reply.call.journal.attempts
      expect(attempt).toMatchObject({ result: 'aborted', detail: 'a defect of the router' })
    }
    expect(fixture.events).toEqual([])
    expect(slotsOf(fixture)).toEqual([0])
  })

  it('in the reader of a complete answer blames no upstream and ends the attempt', async () => {
    const fixture = new RelayFixture(chain, iface, { a: { script: () => result('0x1') } })
    const reader: ReplyReader = { read: failing, write: failing }
    for (let each = 0; each < 6; each++) {
      const { outcome, call } = await fixture.ask({ reader })
      expect(outcome).toBe('TypeError')
      expect(call.journal.attempts).toMatchObject([
        { result: 'aborted', detail: 'a defect of the router' },
      ])
    }
    expect(fixture.events).toEqual([])
  })
})
