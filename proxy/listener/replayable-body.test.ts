// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ReplayableBody } from './replayable-body.ts'

async function textOf(body: ReplayableBody): Promise<string> {
  let text = ''
  for await (const piece of body) text += Buffer.from(piece).toString()
  return text
}

function fixture(keepBytes: number) {
  const flow = { paused: 0, resumed: 0 }
  const body = new ReplayableBody(keepBytes, {
    pause: () => (flow.paused += 1),
    resume: () => (flow.resumed += 1),
  })
  return { body, flow }
}

test('each reader gets all of it, also one that begins late, and one that begins before there is any', async () => {
  const { body } = fixture(100)
  const early = textOf(body)
  body.push(Buffer.from('ab'))
  const middle = textOf(body)
  body.push(Buffer.from('cd'))
  body.end()
  expect(await Promise.all([early, middle, textOf(body)])).toEqual(['abcd', 'abcd', 'abcd'])
  expect(body.isRepeatable).toBe(true)
})

test('what is too long to be kept pauses its source until its reader has caught up', async () => {
  const { body, flow } = fixture(3)
  const reader = body[Symbol.asyncIterator]()
  body.push(Buffer.from('ab'))
  body.push(Buffer.from('cd'))
  expect(flow).toEqual({ paused: 1, resumed: 0 })
  expect(body.isRepeatable).toBe(false)
  await reader.next()
  await reader.next()
  expect(flow).toEqual({ paused: 1, resumed: 1 })
  body.push(Buffer.from('e'))
  body.end()
  expect(String(Buffer.from((await reader.next()).value!))).toBe('e')
  expect((await reader.next()).done).toBe(true)
  expect(body.isRepeatable).toBe(false)
})

test('a source that fails fails its readers, after what had come', async () => {
  const { body } = fixture(100)
  body.push(Buffer.from('ab'))
  body.fail(new Error('gone'))
  const reader = body[Symbol.asyncIterator]()
  expect(String(Buffer.from((await reader.next()).value!))).toBe('ab')
  await expect(reader.next()).rejects.toThrow('gone')
})

test('one reader gets every byte once, in order, whatever is kept and whenever it reads', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.string({ minLength: 1, maxLength: 9 }), fc.nat(4))),
      fc.nat(30),
      async (pieces, keepBytes) => {
        const { body } = fixture(keepBytes)
        const read = textOf(body)
        for (const [piece, turns] of pieces) {
          for (let turn = 0; turn < turns; turn++) await Promise.resolve()
          body.push(Buffer.from(piece))
        }
        body.end()
        expect(await read).toBe(pieces.map(([piece]) => piece).join(''))
      },
    ),
  )
})

test('is whole when it has ended and every byte was kept', () => {
  const { body } = fixture(4)
  let ends = 0
  body.ended(() => (ends += 1))
  body.push(Buffer.from('ab'))
  body.push(Buffer.from('cd'))
  expect([body.whole, ends]).toEqual([null, 0])
  body.end()
  body.ended(() => (ends += 1))
  expect([String(body.whole), ends]).toEqual(['abcd', 2])
})

test.each<[string, (body: ReplayableBody) => void]>([
  ['too long to be kept', (body) => (body.push(Buffer.from('abcde')), body.end())],
  ['broken off', (body) => body.fail(new Error('the client left'))],
])('is never whole when %s', (_, end) => {
  const { body } = fixture(4)
  let ends = 0
  body.ended(() => (ends += 1))
  end(body)
  expect([body.whole, ends]).toEqual([null, 1])
})
