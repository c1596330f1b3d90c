// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { type BenchResult, median, mediansOf, pageOf, verdictOf } from './report.ts'
import type { Sample } from './rounds.ts'

const sample = (cpuMicrosPerRequest: number): Sample => ({
  ...{ requests: 1000, errors: 0, errorSamples: {}, requestsPerSecond: 500, p50Ms: 1, p99Ms: 2 },
  cpuMicrosPerRequest,
  peakBytes: 50e6,
})

function result(router: number): BenchResult {
  const rounds = [router - 10, router + 50, router].map((cpu) => ({
    router: sample(cpu),
    nginx: sample(30),
  }))
  return {
    date: '2026-01-01',
    machine: { cpu: 'a CPU', cores: 2, node: 'v26' },
    load: { connections: 64, seconds: 4, rounds: 3 },
    router: { firstAnswerMs: 750, idleBytes: 80e6 },
    medians: mediansOf(rounds),
    rounds,
  }
}

test.each([
  [[], 0],
  [[3], 3],
  [[9, 1, 5], 5],
  [[4, 1, 2, 9], 3],
])('the median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected)
})

test('the verdict is against nginx', () => {
  expect(verdictOf(result(180))).toContain('6.0 times')
  expect(verdictOf(result(180))).toContain('is met')
  expect(verdictOf(result(190))).toContain('MISSED')
  expect(verdictOf({ ...result(100), medians: { router: sample(100) } })).toBeNull()
})

test('the page has a row a target', () => {
  const page = pageOf(result(120))
  expect(page).toMatch(
    /\| router +\| +120 µs \| +4\.0 × \| +500 \| +1\.0 ms \| +2\.0 ms \| +50 MB \|/,
  )
  expect(page).toMatch(/\| nginx +\| +30 µs \| +1\.0 × \|/)
  expect(page).toContain('0.75 s')
})
