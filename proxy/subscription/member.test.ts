// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { Member } from './member.ts'
import type { Subscriber } from './subscriptions.ts'

const event = (text: string) => Buffer.from(text)

function create(subscriber: Partial<Subscriber> = {}) {
  const heard: string[] = []
  let left = 0
  const member: Member = new Member(
    {
      event: (result) => heard.push(Buffer.from(result).toString()),
      ended: (reason) => heard.push(`ended: ${reason}`),
      ...subscriber,
    },
    () => left++,
  )
  return { member, heard, left: () => left }
}

test('what comes before the reply waits for it, then all comes as it is told', () => {
  const { member, heard } = create()
  member.event(event('1'))
  expect(heard).toEqual([])
  member.begin()
  member.event(event('2'))
  expect(heard).toEqual(['1', '2'])
})

test('one that leaves in the middle of what has waited hears no more of it', () => {
  const heard: string[] = []
  const { member, left } = create({
    event(result) {
      heard.push(Buffer.from(result).toString())
      member.unsubscribe()
    },
  })
  member.event(event('1'))
  member.event(event('2'))
  member.begin()
  member.event(event('3'))
  expect(heard).toEqual(['1'])
  expect(left()).toBe(1)
})

test('one that was ended before its reply is told so after it, and nothing else', () => {
  const { member, heard, left } = create()
  member.event(event('1'))
  member.end('why')
  member.end('again')
  expect(heard).toEqual([])
  member.begin()
  member.event(event('2'))
  member.unsubscribe()
  expect(heard).toEqual(['ended: why'])
  expect(left()).toBe(1)
})

test('a reply that is never sent keeps no endless list', () => {
  const { member, left } = create()
  for (let each = 0; each <= 10_000; each++) member.event(event('x'))
  expect(left()).toBe(1)
})

test('one whose topic is over counts no more, and still hears the last event behind its reply', () => {
  const { member, heard, left } = create()
  member.event(event('last'))
  member.over()
  expect(left()).toBe(1)
  member.begin()
  member.unsubscribe()
  expect(heard).toEqual(['last'])
  expect(left()).toBe(1)
})

test.each([
  ['10000 events', 10_000, 1],
  ['64 MiB of them', 64, 1024 * 1024],
])('one that takes no more than %s while its reply is on the way is ended', (_, count, bytes) => {
  const { member, heard, left } = create({ event() {} })
  for (let each = 0; each < count; each++) member.event(Buffer.alloc(bytes))
  expect(left()).toBe(0)
  member.event(event('1'))
  expect(left()).toBe(1)
  member.begin()
  expect(heard).toEqual(['ended: events were not taken'])
})
