// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ChaosProxy } from './chaos/proxy.ts'
import { eventually } from '../processes/eventually.ts'
import { hastyClock, createOperator, run } from './in-process-operator.ts'
import { clientOf } from './access.ts'
import { useNamespace } from './test-namespace.ts'

const { namespace, access } = useNamespace()

test('an operator with a fast clock waits for the answers of a slow API server', async () => {
  // A list may take a minute, which is less on this clock than the server takes.
  const clock = hastyClock(100)
  const slow = { do: 'slow', delayMs: 1_000 } as const
  await using proxy = await ChaosProxy.start(access, { answer: () => slow, watch: () => null })
  const failures: string[] = []
  const stop = new AbortController()
  const client = clientOf(proxy.access)
  const operator = createOperator(client, {
    namespaces: [namespace],
    observer: { reflectFailed: (_, __, { message }) => void failures.push(message) },
    clock,
  })
  const running = run(operator, stop.signal)
  await eventually(() => expect(operator.hasSynced || failures.length > 0).toBe(true))
  stop.abort()
  await running
  await client.close()
  expect(failures).toEqual([])
})
