// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { type BenchResult, median, mediansOf, pageOf, verdictsOf } from './report.ts'
import type { Sample } from './rounds.ts'

const sample = (cpuMicrosPerRequest: number): Sample => ({
  ...{ requests: 1000, errors: 0, errorSamples: {}, requestsPerSecond: 500, p50Ms: 1, p99Ms: 2 },
  cpuMicrosPerRequest,
  peakBytes: 50e6,
})

function row(name: string, router: number, nginx: number) {
  const rounds = [router - 10, router + 50, router].map((cpu) => ({
    router: sample(cpu),
    nginx: sample(nginx),
    passthrough: sample(60),
  }))
  return { name, medians: mediansOf(rounds), rounds }
}

function result(read: number, batch: number): BenchResult {
  return {
    date: '2026-01-01',
    machine: { cpu: 'a CPU', cores: 2, node: 'v26' },
    load: { seconds: 4, rounds: 3 },
    router: { firstAnswerMs: 750, npxAnswerMs: 1_500, idleBytes: 80e6 },
    rows: [row('read', read, 30), row('batch of 20', batch, 90)],
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

test('a figure may reach its limit, and is compared with the base of its row', () => {
  expect(verdictsOf(result(75, 600))).toEqual([
    'met     read: CPU 1.25 × passthrough, at most 1.25',
    'MISSED  batch of 20: CPU 0.40 × a single read, a call, at most 0.3',
    'MISSED  first answer 0.75 s, at most 0.5',
    'met     first answer through npx 1.50 s, at most 1.5',
    'met     memory, idle 80 MB, at most 110',
    'met     memory under load 50 MB, at most 190',
  ])
  expect(verdictsOf(result(90, 600))[0]).toBe('MISSED  read: CPU 1.50 × passthrough, at most 1.25')
})

test("a row's target is compared with the base target of the row", () => {
  const medians = { caching: sample(30), bare: sample(15), router: sample(1) }
  const hit = { name: 'hit', medians, rounds: [] }
  const verdicts = verdictsOf({ ...result(75, 600), rows: [hit] })
  expect(verdicts[0]).toBe('MISSED  hit: CPU 2.00 × bare, at most 1.5')
  expect(pageOf({ ...result(75, 600), rows: [hit] })).toMatch(/caching \| +30 µs \| +- \|/)
})

test('the page has one line for each row and target', () => {
  const page = pageOf(result(120, 600))
  expect(page).toMatch(
    /\| read +\| +router \| +120 µs \| +4\.00 \| +2\.00 \| +500 \| +1\.00 ms \| +2\.0 ms \| +50 MB \|/,
  )
  expect(page).toMatch(/\| batch of 20 +\| +nginx \| +90 µs \| +1\.00 \|/)
})
