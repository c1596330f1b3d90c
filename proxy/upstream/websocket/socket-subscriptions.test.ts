// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { readSocketMessage } from './socket-message.ts'
import { SocketSubscription } from './socket-subscription.ts'
import { SocketSubscriptions } from './socket-subscriptions.ts'

const mebibyte = 1024 * 1024

function setUp() {
  const subscriptions = new SocketSubscriptions()
  const heard: string[] = []
  const notify = (key: string, member: string, beside = '') => {
    const bytes = Buffer.from(
      `{"method":"m","params":{"subscription":"${key}",${member}}${beside}}`,
    )
    const message = readSocketMessage(bytes)
    if (message.kind !== 'notification') throw new Error('no notification')
    subscriptions.notified(bytes, message, true)
  }
  const tell = (key: string, result: string, beside = '') => {
    notify(key, `"result":"${result}"`, beside)
  }
  const end = (key: string) => {
    notify(key, '"error":"too slow"')
  }
  const open = (key: string) => {
    const reply = { status: 200, headers: [], body: Buffer.alloc(0), trailers: () => [] }
    const subscription = new SocketSubscription(reply, { ended() {} })
    const isHeard = subscriptions.opened(subscription, 1, Buffer.from(`{"id":1,"result":"${key}"}`))
    subscription.listen({
      notified: ({ result }) => heard.push(`${key} ${result.length}`),
      lost: ({ fault, message }) => heard.push(`${key} lost: ${fault}, ${message}`),
    })
    return isHeard
  }
  return { subscriptions, heard, notify, tell, end, open }
}

test('what came before the answer is told in its order, and what is of others waits on', () => {
  const { heard, tell, open } = setUp()
  tell('a', 'x')
  tell('b', 'xx')
  tell('a', 'xxx')
  expect([open('a'), open('b')]).toEqual([true, true])
  expect(heard).toEqual(['a 3', 'a 5', 'b 4'])
})

const tooMuch: [string, number, string][] = [
  ['257 notifications', 257, 'x'],
  ['more than 8 MiB', 9, 'x'.repeat(mebibyte)],
]
test.each(tooMuch)(
  'of %s before the answer the newest are dropped, and it is lost',
  (_, count, text) => {
    const { subscriptions, heard, tell, open } = setUp()
    for (let each = 0; each < count; each++) tell('a', text)
    // Whose they were is not known: nobody whose answer is outstanding goes on with a hole.
    expect([open('b'), open('a')]).toEqual([false, false])
    const why = 'too-large, over 256 notifications or 8388608 bytes came before the answer'
    expect(heard).toEqual([`b lost: ${why}`, `a lost: ${why}`])
    expect(subscriptions.size).toBe(0)
  },
)

test('as long as there is room, all are told; and what was dropped is forgotten with the rest', () => {
  const { subscriptions, heard, tell, open } = setUp()
  for (let each = 0; each < 7; each++) tell('a', 'x'.repeat(mebibyte))
  expect(open('a')).toBe(true)
  expect(heard).toHaveLength(7)
  for (let each = 0; each < 300; each++) tell('b', 'x')
  subscriptions.forgetUnclaimed()
  expect(open('b')).toBe(true)
  expect(heard).toHaveLength(7)
})

test('a short notification does not keep a long message', () => {
  const { subscriptions, tell } = setUp()
  const reply = { status: 200, headers: [], body: Buffer.alloc(0), trailers: () => [] }
  const subscription = new SocketSubscription(reply, { ended() {} })
  subscriptions.opened(subscription, 1, Buffer.from('{"id":1,"result":"a"}'))
  const kept: number[] = []
  subscription.listen({ notified: ({ result }) => kept.push(result.buffer.byteLength), lost() {} })
  tell('a', 'x', `,"padding":"${'x'.repeat(mebibyte)}"`)
  expect(kept).toHaveLength(1)
  expect(kept[0]).toBeLessThan(mebibyte)
})

const ended = 'lost: reset, the node ended the subscription'

test('what the node ended before its answer is heard first, and what comes behind is of the next', () => {
  const { subscriptions, heard, tell, end, open } = setUp()
  tell('a', 'x')
  end('b')
  end('a')
  tell('a', 'xx')
  open('a')
  expect(heard).toEqual(['a 3', `a ${ended}`])
  open('a')
  open('b')
  expect(heard.slice(2)).toEqual(['a 4', `b ${ended}`])
  expect(subscriptions.size).toBe(1)
})

test('two that the node takes for one are ended both, and nobody else', () => {
  const { subscriptions, heard, tell, end, open } = setUp()
  for (const key of ['a', 'a', 'b']) open(key)
  end('a')
  tell('a', 'x')
  tell('b', 'x')
  expect(heard).toEqual([`a ${ended}`, `a ${ended}`, 'b 3'])
  expect(subscriptions.size).toBe(1)
})

test.each(['"error":null,"result":"x"', '"result":"x","error":null'])(
  'no error is no end: %s',
  (member) => {
    const { heard, notify, open } = setUp()
    open('a')
    notify('a', member)
    expect(heard).toEqual(['a 3'])
  },
)
