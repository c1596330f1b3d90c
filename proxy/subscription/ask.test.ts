// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { Call } from '../relay/call.ts'
import type { Relay } from '../relay/relay.ts'
import { MalformedAnswer } from '../relay/reply.ts'
import { TransportError } from '../upstream/wire.ts'
import { BackfillError, createAsk, isTemporary } from './ask.ts'

const long = `{"message":"${'x'.repeat(500)}"}`

test.each([
  [
    '{"error":{"code":-32601,"message":"no such method"}}',
    '{"code":-32601,"message":"no such method"}',
  ],
  [`{"error":${long}}`, long.slice(0, 200)],
  ['{"id":1}', 'an answer without a result'],
  ['[]', 'an answer without a result'],
])('the error of a failure includes the text from the node: %s', async (text, why) => {
  const incoming = { status: 200, headers: [], body: Buffer.from(text), trailers: () => [] }
  const relay = (() => Promise.resolve({ incoming, upstream: 'one' })) as unknown as Relay
  const { signal } = new AbortController()
  const question = { method: 'eth_getLogs', params: [], prefer: null, avoid: [], signal }
  const pending = createAsk(relay, () => ({}) as never)(question)
  await expect(pending).rejects.toEqual(new BackfillError(`eth_getLogs: ${why}`))
})

test('an answer longer than any block is rejected and never buffered', async () => {
  const piece = Buffer.alloc(1024 * 1024)
  let pieces = 0
  async function* long() {
    for (; ; pieces++) yield piece
  }
  const body = Object.assign(long(), { head: [] })
  const incoming = { status: 200, headers: [], body, trailers: () => [] }
  const relay = (() => Promise.resolve({ incoming, upstream: 'one' })) as unknown as Relay
  const { signal } = new AbortController()
  const question = { method: 'eth_getLogs', params: [], prefer: null, avoid: [], signal }
  const pending = createAsk(relay, () => ({}) as never)(question)
  await expect(pending).rejects.toEqual(new BackfillError('eth_getLogs: more than 16777216 bytes'))
  expect(pieces).toBeLessThan(18)
})

test.each([
  ['breaks off', new TransportError('reset', 'cut')],
  ['turns out to be malformed', new MalformedAnswer('no end')],
])('a long answer that %s is retried', async (_, cause) => {
  async function* long() {
    yield Buffer.alloc(1_000)
    await Promise.reject(cause)
  }
  const body = Object.assign(long(), { head: [] })
  const incoming = { status: 200, headers: [], body, trailers: () => [] }
  const relay = (() => Promise.resolve({ incoming, upstream: 'one' })) as unknown as Relay
  const { signal } = new AbortController()
  const question = { method: 'eth_getLogs', params: [], prefer: null, avoid: [], signal }
  const failure: unknown = await createAsk(
    relay,
    () => ({}) as never,
  )(question).catch((error: unknown) => error)
  expect(failure).toMatchObject({ message: `eth_getLogs: ${cause.message}`, cause })
  expect(isTemporary(failure)).toBe(true)
})

test('requests of a thousand topics leave room for the calls of clients', async () => {
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
  const pending = Array.from({ length: 1_000 }, () => ask(question))
  const ended = Promise.allSettled(pending)
  await new Promise((resolve) => setImmediate(resolve))
  expect(going).toBe(64)
  gone.abort()
  await ended
})
