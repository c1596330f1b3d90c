// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { Call } from '../relay/call.ts'
import type { Relay } from '../relay/relay.ts'
import { BackfillError, createAsk } from './ask.ts'

const long = `{"message":"${'x'.repeat(500)}"}`

test.each([
  [
    '{"error":{"code":-32601,"message":"no such method"}}',
    '{"code":-32601,"message":"no such method"}',
  ],
  [`{"error":${long}}`, long.slice(0, 200)],
  ['{"id":1}', 'an answer without a result'],
  ['[]', 'an answer without a result'],
])('the error of a failure has the words of the node: %s', async (text, why) => {
  const incoming = { status: 200, headers: [], body: Buffer.from(text), trailers: () => [] }
  const relay = (() => Promise.resolve({ incoming, upstream: 'one' })) as unknown as Relay
  const { signal } = new AbortController()
  const question = { method: 'eth_getLogs', params: [], prefer: null, avoid: [], signal }
  const asked = createAsk(relay, () => ({}) as never)(question)
  await expect(asked).rejects.toEqual(new BackfillError(`eth_getLogs: ${why}`))
})

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
