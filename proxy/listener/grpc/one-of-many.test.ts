// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect } from 'node:http2'
import { expect, test } from 'vitest'
import { createGrpcListener } from '../grpc.ts'
import { startListener } from '../testing/listener-fixture.ts'

test('a call is one of many when its connection has other calls', async () => {
  await using fixture = await startListener(() => new Promise(() => {}), {
    create: createGrpcListener,
  })
  const session = connect(`http://127.0.0.1:${fixture.port}`)
  const head = { ':method': 'POST', ':path': '/a.B/C', 'content-type': 'application/grpc' }
  const streams = Array.from({ length: 3 }, () => session.request(head).on('error', () => {}))
  for (const stream of streams) stream.write(Buffer.alloc(5))
  await expect.poll(() => fixture.calls.length).toBe(3)
  expect(fixture.calls.map(({ journal }) => journal.isOneOfMany)).toEqual([false, true, true])
  session.destroy()
})
