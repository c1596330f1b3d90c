// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { TopicClient } from './hub.ts'
import type { Subscriber } from './subscriptions.ts'

const event = (text: string) => Buffer.from(text)

function create(subscriber: Partial<Subscriber> = {}) {
  const received: string[] = []
  let left = 0
  const client: TopicClient = new TopicClient(
    {
      event: (result) => received.push(Buffer.from(result).toString()),
      ended: (reason) => received.push(`ended: ${reason}`),
      ...subscriber,
    },
    () => left++,
  )
  return { client, received, left: () => left }
}

test('events before the reply are queued, then all arrive in order', () => {
  const { client, received } = create()
  client.event(event('1'))
  expect(received).toEqual([])
  client.begin()
  client.event(event('2'))
  expect(received).toEqual(['1', '2'])
})

test('a client that leaves during delivery of queued events gets no more of them', () => {
  const received: string[] = []
  const { client, left } = create({
    event(result) {
      received.push(Buffer.from(result).toString())
      client.unsubscribe()
    },
  })
  client.event(event('1'))
  client.event(event('2'))
  client.begin()
  client.event(event('3'))
  expect(received).toEqual(['1'])
  expect(left()).toBe(1)
})

test('a client that ends before its reply gets only the end after it', () => {
  const { client, received, left } = create()
  client.event(event('1'))
  client.end('why')
  client.end('again')
  expect(received).toEqual([])
  client.begin()
  client.event(event('2'))
  client.unsubscribe()
  expect(received).toEqual(['ended: why'])
  expect(left()).toBe(1)
})

test('a client with more than 8 MiB of events before its reply is ended', () => {
  const { client, received, left } = create({ event() {} })
  for (let each = 0; each < 8; each++) client.event(Buffer.alloc(1024 * 1024))
  expect(left()).toBe(0)
  client.event(event('1'))
  expect(left()).toBe(1)
  client.begin()
  expect(received).toEqual(['ended: events were not taken'])
})
