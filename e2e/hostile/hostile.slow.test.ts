// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { attacks, grpcAttacks } from './attacks.fixture.ts'
import { expectHarmless, startGrpcTarget, startJsonRpcTarget } from './target.fixture.ts'

/* Each attack runs for some seconds on a new router. The machine should be idle otherwise. */

const seconds = Number(process.env['HOSTILE_SECONDS'] ?? 2)
const isAlone = process.env['HOSTILE_SECONDS'] !== undefined

test.each([
  ...Object.keys(attacks).map((name) => ({ name, start: startJsonRpcTarget })),
  ...Object.keys(grpcAttacks).map((name) => ({ name, start: startGrpcTarget })),
])('$name', async ({ name, start }) => {
  await using target = await start()
  const { latenciesMs, peakBytes } = await expectHarmless(target, [name], seconds)
  const p99Ms = latenciesMs.toSorted((a, b) => a - b)[Math.floor(latenciesMs.length * 0.99)] ?? NaN
  const megabytes = peakBytes / 1e6
  if (isAlone)
    process.stdout.write(
      `${name}: ${latenciesMs.length} calls, p99 ${p99Ms.toFixed(0)} ms, ${megabytes.toFixed(0)} MB\n`,
    )
  expect(megabytes).toBeLessThan(400)
  if (isAlone) expect(p99Ms).toBeLessThan(250)
})
