// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import type { Fault } from '../upstream-sim/faults.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'
import { percentile, SteadyLoad } from './steady-load.ts'

const question = {
  method: 'eth_chainId',
  params: [],
  judge: (result: unknown) => (result === '0x1' ? null : `chain ${String(result)}`),
}

/** Runs the load until it has sent this many requests. */
async function sendAtLeast(count: number, load: SteadyLoad): Promise<void> {
  const done = new AbortController()
  const running = load.run(done.signal)
  while (load.requests < count) await sleep(5)
  done.abort()
  await running
}

test('every kind of failure counts in the stretch of its request', async () => {
  await using node = await startSimNode({ chain: createChainModel() })
  const load = new SteadyLoad(node.url, 500, () => question)
  load.enter('good')
  await sendAtLeast(10, load)
  expect(load.failed).toBe(0)
  const faults: Fault[] = [
    { kind: 'null-result' },
    { kind: 'error', code: -32000, message: 'no' },
    { kind: 'status', status: 503, body: 'html' },
    { kind: 'status', status: 503, body: 'json-rpc' },
    { kind: 'reset', when: 'before-head' },
    { kind: 'half-body', framing: 'chunked' },
  ]
  for (const fault of faults) {
    const bad = load.enter(fault.kind)
    const off = node.faults.add(fault)
    await sendAtLeast(load.requests + 3, load)
    off()
    expect(bad.failed, fault.kind).toBe(bad.requests)
  }
  expect(load.stretches[0]?.failed).toBe(0)
  expect(load.stretches[1]?.failures).toEqual({
    'eth_chainId: chain null': load.stretches[1]?.requests,
  })
})

test('every request to a stopped node fails', async () => {
  const node = await startSimNode({ chain: createChainModel() })
  await node.stop()
  const load = new SteadyLoad(node.url, 500, () => question)
  const stretch = load.enter('gone')
  await sendAtLeast(5, load)
  expect(stretch.failed).toBe(stretch.requests)
})

test.each([
  [[], 0.5, 0],
  [[7], 0.99, 7],
  [[4, 1, 3, 2], 0.5, 3],
  [[4, 1, 3, 2], 1, 4],
])('percentile of %j at %d is %d', (values, share, expected) => {
  expect(percentile(values, share)).toBe(expected)
})
