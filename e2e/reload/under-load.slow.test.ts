// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { changeUnderLoad } from './under-load.fixture.ts'

test('1,000 changes of a config under load fail nothing', { timeout: 900_000 }, async () => {
  const seen = await changeUnderLoad(1_000)
  expect(seen.failures).toEqual([])
  expect(seen.reads).toBeGreaterThan(10_000)
  expect(seen.sessionNodes.size).toBe(1)
  expect(seen.heads).toEqual(seen.heads.map((_, at) => (seen.heads[0] ?? 0) + at))
  expect(seen.echoed).toEqual([1_000, 1_000])
  expect(seen.reloads.applied).toBeGreaterThanOrEqual(900)
  expect(seen.reloads.refused).toBeGreaterThanOrEqual(100)
  expect(seen.exitCode).toBe(0)
})
