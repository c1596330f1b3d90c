// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { Call } from '../relay/call.ts'
import { createAsk } from './ask.ts'

test('questions of a thousand topics leave room for the calls of clients', async () => {
  let going = 0
  const gone = new AbortController()
  const ask = createAsk(
    () => {
      going += 1
      return new Promise((_resolve, reject) => {
        gone.signal.addEventListener('abort', () => {
          reject(new Error('over'))
        })
      })
    },
    () => ({}) as Call,
  )
  const { signal } = gone
  const question = { method: 'eth_getLogs', params: [], prefer: null, avoid: [], signal }
  const asked = Array.from({ length: 1_000 }, () => ask(question))
  const ended = Promise.allSettled(asked)
  await new Promise((resolve) => setImmediate(resolve))
  expect(going).toBe(64)
  gone.abort()
  await ended
})
