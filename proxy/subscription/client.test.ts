// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { TopicClient } from './client.ts'
import type { Subscriber } from './subscriptions.ts'

const event = (text: string) => Buffer.from(text)

function create(subscriber: Partial<Subscriber> = {}) {
  const heard: string[] = []
  let left = 0
  const client: TopicClient = new TopicClient(
    {
      event: (result) => heard.push(Buffer.from(result).toString()),
      ended: (reason) => heard.push(`ended: ${reason}`),
      ...subscriber,
    },
    () => left++,
  )
  return { client, heard, left: () => left }
}

test('what comes before the reply waits for it, then all comes as it is told', () => {
  const { client, heard } = create()
  client.event(event('1'))
  expect(heard).toEqual([])
  client.begin()
  client.event(event('2'))
  expect(heard).toEqual(['1', '2'])
})

test('one that leaves in the middle of what has waited hears no more of it', () => {
  const heard: string[] = []
  const { client, left } = create({
    event(result) {
      heard.push(Buffer.from(result).toString())
      client.unsubscribe()
    },
  })
  client.event(event('1'))
  client.event(event('2'))
  client.begin()
  client.event(event('3'))
  expect(heard).toEqual(['1'])
  expect(left()).toBe(1)
})

test('one that was ended before its reply is told so after it, and nothing else', () => {
  const { client, heard, left } = create()
  client.event(event('1'))
  client.end('why')
  client.end('again')
  expect(heard).toEqual([])
  client.begin()
  client.event(event('2'))
  client.unsubscribe()
  expect(heard).toEqual(['ended: why'])
  expect(left()).toBe(1)
})

test('one that takes no more than 64 MiB while its reply is on the way is ended', () => {
  const { client, heard, left } = create({ event() {} })
  for (let each = 0; each < 64; each++) client.event(Buffer.alloc(1024 * 1024))
  expect(left()).toBe(0)
  client.event(event('1'))
  expect(left()).toBe(1)
  client.begin()
  expect(heard).toEqual(['ended: events were not taken'])
})
