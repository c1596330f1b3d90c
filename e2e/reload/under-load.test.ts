// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { changeUnderLoad } from './under-load.fixture.ts'

test('30 changes of a config under load fail no read, no session, no subscription and no stream', async () => {
  const seen = await changeUnderLoad(30)
  expect(seen.failures).toEqual([])
  expect(seen.reads).toBeGreaterThan(100)
  expect(seen.sessionNodes.size).toBe(1)
  expect(seen.heads).toEqual(seen.heads.map((_, at) => (seen.heads[0] ?? 0) + at))
  expect(seen.echoed).toEqual([30, 30])
  // One that the watch found as well counts twice.
  expect(seen.reloads.applied).toBeGreaterThanOrEqual(27)
  expect(seen.reloads.refused).toBeGreaterThanOrEqual(3)
  expect(seen.exitCode).toBe(0)
})
