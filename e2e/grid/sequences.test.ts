// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { Fault, FaultRule } from '../upstream-sim/faults.ts'
import { type Badness, type Cell, type Kind, type PoolName, startCell } from './cell.ts'

async function askTimes(cell: Cell, kind: Kind, times: number): Promise<string[]> {
  const seen: string[] = []
  for (let each = 0; each < times; each++) seen.push(await cell.ask(kind))
  return seen
}

const always = (fault: Fault, rule?: FaultRule): Badness => ({
  onceServing: (node) => void node.faults.add(fault, rule),
})

test.each<[string, PoolName, Badness, number, string]>([
  [
    'a Retry-After starts a cooldown',
    'one of two',
    always({ kind: 'rate-limit', retryAfter: 60 }),
    6,
    '1/6',
  ],
  [
    'an exhausted quota starts a cooldown',
    'one of two',
    always({ kind: 'error', code: -32005, message: 'daily request count exceeded' }),
    6,
    '1/6',
  ],
  [
    'a 503 with a Retry-After starts a cooldown',
    'one of two',
    always({ kind: 'status', status: 503, body: 'html', retryAfter: '12.5' }),
    6,
    '1/6',
  ],
  [
    'a node that refuses every request gets no more after five',
    'with backup',
    always({ kind: 'status', status: 400, body: 'html' }),
    9,
    '5/9',
  ],
  [
    'a request beyond the limit of a node does not count against the node',
    'with backup',
    always({ kind: 'status', status: 413, body: 'html' }),
    9,
    '9/9',
  ],
  [
    'a node with five consecutive failures gets no more requests',
    'with backup',
    always({ kind: 'reset', when: 'before-head' }),
    9,
    '5/9',
  ],
  [
    'a Retry-After of 0 also starts a cooldown',
    'with backup',
    always({ kind: 'rate-limit', retryAfter: 0 }),
    3,
    '1/3',
  ],
])('%s', async (_name, pool, badness, times, calls) => {
  await using cell = await startCell(pool, badness)
  const seen = await askTimes(cell, 'read', times)
  expect(new Set(seen)).toEqual(new Set([pool === 'with backup' ? 'z' : 'b']))
  expect(cell.calls()).toBe(calls)
})

test('while every node is in cooldown, the router refuses calls itself', async () => {
  await using cell = await startCell('all of three', always({ kind: 'rate-limit', retryAfter: 60 }))
  expect(await askTimes(cell, 'read', 3)).toEqual(['c 429', 'rate-limited', 'rate-limited'])
  expect(cell.calls()).toBe('1/1/1')
})

test('a recovered node gets calls again', async () => {
  const badness = always({ kind: 'status', status: 500, body: 'html' }, { times: 3 })
  await using cell = await startCell('with backup', badness)
  expect(await askTimes(cell, 'read', 5)).toEqual(['z', 'z', 'z', 'a', 'a'])
  expect(cell.calls()).toBe('5/3')
})

test('a slow read is hedged once there is credit; a slow local call never is', async () => {
  const slow: Fault = { kind: 'slow', delayMs: 2_000 }
  const rule: FaultRule = { methods: ['eth_getBalance', 'eth_accounts'] }
  let makeSlow = () => {}
  await using cell = await startCell('with backup', {
    headers: { 'rpc-relay-timeout': '600ms' },
    onceServing(node) {
      makeSlow = () => void node.faults.add(slow, rule)
    },
  })
  // Ten reads earn one hedge.
  expect(new Set(await askTimes(cell, 'read', 10))).toEqual(new Set(['a']))
  makeSlow()
  expect(await cell.ask('local')).toBe('timeout')
  expect(cell.calls()).toBe('11/0')
  expect(await cell.ask('read')).toBe('z')
  expect(cell.calls()).toBe('12/1')
})
