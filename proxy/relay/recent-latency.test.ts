// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { RecentLatency } from './recent-latency.ts'

const times = (count: number, latencyMs: number) => Array<number>(count).fill(latencyMs)

test.each<[string, number[], number | null]>([
  ['too few', times(49, 10), null],
  ['as many as are needed', times(50, 10), 10],
  ['one slow in twenty', [...times(95, 10), ...times(5, 900)].toReversed(), 900],
  ['fewer slow ones', [...times(96, 10), ...times(4, 900)].toReversed(), 10],
  ['slow ones that were followed by 200 fast ones', [...times(200, 900), ...times(210, 10)], 10],
  ['slow ones of late', [...times(200, 10), ...times(30, 900)], 900],
])('95 of 100 answers took no longer: %s', (_, latenciesMs, p95Ms) => {
  const latency = new RecentLatency()
  for (const each of latenciesMs) latency.add(each)
  expect(latency.p95Ms).toBe(p95Ms)
})
