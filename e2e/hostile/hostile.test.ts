// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { attacks, grpcAttacks } from './attacks.fixture.ts'
import { expectHarmless, startGrpcTarget, startJsonRpcTarget } from './target.fixture.ts'

/* A short `make hostile`: all attacks in turn on one router, within the memory of its container. */

const containerBytes = 512 * 1024 * 1024

test.each([
  { interface: 'JSON-RPC', start: startJsonRpcTarget, names: Object.keys(attacks) },
  { interface: 'gRPC', start: startGrpcTarget, names: Object.keys(grpcAttacks) },
])('$interface: a stranger cannot take it down', async ({ start, names }) => {
  await using target = await start()
  const { peakBytes } = await expectHarmless(target, names, 0.15)
  expect(peakBytes).toBeLessThan(containerBytes)
})
