// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { ConfigState } from './config-state.ts'
import { createWorkerMetrics } from './worker-metrics.ts'

const labels = { chain: 'ETH1' }
const family = (type: string, name: string, value: number, aggregator = 'sum') => ({
  ...{ name, help: name, type, aggregator, values: [{ labels, value }] },
})
const worker = (requests: number, tip: number) => [
  family('counter', 'requests_total', requests),
  family('gauge', 'tip', tip, 'max'),
]

function create() {
  const config = new ConfigState(new VirtualClock(), 'ab12')
  const metrics = createWorkerMetrics({
    ...{ version: '1', config },
    serving: () => 2,
    restarts: () => 0,
  })
  return async (workers: ReadonlyMap<object, object | null>) => {
    const { text } = await metrics.page(workers)
    const value = (name: string) => Number(new RegExp(`^${name}.* (\\d+)$`, 'm').exec(text)?.[1])
    return [value('requests_total'), value('tip')]
  }
}

test('counters add up and never fall: not if a worker ends, and not if it is silent', async () => {
  const read = create()
  const [one, two, three] = [{}, {}, {}]
  expect(
    await read(
      new Map([
        [one, worker(10, 7)],
        [two, worker(5, 9)],
      ]),
    ),
  ).toEqual([15, 9])
  expect(
    await read(
      new Map([
        [one, null],
        [two, worker(6, 8)],
      ]),
    ),
  ).toEqual([16, 8])
  expect(
    await read(
      new Map([
        [two, worker(6, 8)],
        [three, worker(1, 6)],
      ]),
    ),
  ).toEqual([17, 8])
  expect(
    await read(
      new Map([
        [two, worker(7, 8)],
        [three, worker(2, 6)],
      ]),
    ),
  ).toEqual([19, 8])
})
