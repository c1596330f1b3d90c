// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ServedCache } from '../store/grpc/testing/served-cache.ts'
import { main } from './main.ts'

/** Runs `router cache` to its end. */
async function run(line: string) {
  let said = ''
  const sink = { write: (text: string) => (said += text) }
  const io = { stdout: sink, stderr: sink, environment: { SR_LOG_LEVEL: 'error' } }
  return { exitCode: await main(['cache', ...line.split(' ')], io), said }
}

test.each([
  ['cache:80a', 'router: error: "cache:80a" has no valid port. '],
  [':20100 --cache-bytes big', 'router: error: --cache-bytes: "big" is not a size. '],
  [':20100 --strategy latency', 'router: error: --strategy: the flag is not of router cache. '],
])('router cache %s is refused', async (line, expected) => {
  const { exitCode, said } = await run(line)
  expect(said).toContain(expected)
  expect(exitCode).toBe(2)
})

test('an address in use ends it', async () => {
  await using cache = await new ServedCache().start()
  const { exitCode } = await run(`127.0.0.1:${cache.port} --metrics-listen-address 127.0.0.1:0`)
  expect(exitCode).toBe(1)
})
