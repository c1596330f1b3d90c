// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import { RequestBody } from './request-body.ts'

async function textOf(body: RequestBody): Promise<string> {
  let text = ''
  for await (const piece of body) text += Buffer.from(piece).toString()
  return text
}

function fixture(keepBytes: number) {
  const flow = { paused: 0, resumed: 0 }
  const body = new RequestBody(
    keepBytes,
    {
      pause: () => (flow.paused += 1),
      resume: () => (flow.resumed += 1),
    },
    new ByteBudget(1e9),
    { cutOff: () => {} },
  )
  return { body, flow }
}

test('each successive reader gets the whole body, and only the newest continues', async () => {
  const { body } = fixture(100)
  const early = textOf(body)
  body.push(Buffer.from('ab'))
  const newest = textOf(body)
  await expect(early).rejects.toThrow('another attempt')
  body.push(Buffer.from('cd'))
  body.end('whole')
  expect([await newest, await textOf(body)]).toEqual(['abcd', 'abcd'])
  expect(body.isRepeatable).toBe(true)
})

test('a body too long to buffer pauses its source until its reader catches up', async () => {
  const { body, flow } = fixture(3)
  const reader = body[Symbol.asyncIterator]()
  body.push(Buffer.from('ab'))
  body.push(Buffer.from('cd'))
  expect(flow).toEqual({ paused: 1, resumed: 0 })
  expect(body.isRepeatable).toBe(false)
  await reader.next()
  expect(flow).toEqual({ paused: 1, resumed: 1 })
  body.push(Buffer.from('e'))
  body.end('whole')
  expect(String(Buffer.from((await reader.next()).value!))).toBe('e')
  expect((await reader.next()).done).toBe(true)
  expect(body.isRepeatable).toBe(false)
})

test('a failed source fails its readers after the bytes that arrived', async () => {
  const { body } = fixture(100)
  body.push(Buffer.from('ab'))
  body.end(new Error('gone'))
  const reader = body[Symbol.asyncIterator]()
  expect(String(Buffer.from((await reader.next()).value!))).toBe('ab')
  await expect(reader.next()).rejects.toThrow('gone')
})

test('one reader gets every byte once and in order, whatever the buffer size and read timing', async () => {
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
        body.end('whole')
        expect(await read).toBe(pieces.map(([piece]) => piece).join(''))
      },
    ),
  )
})

/** Counts the waits that ended. */
async function waits(body: RequestBody, isThere = () => false) {
  const clock = new VirtualClock()
  const count = { ended: 0 }
  void body.until(isThere, 100, clock).then(() => (count.ended += 1))
  await Promise.resolve()
  return { clock, count }
}

test('the body is whole once it has ended and every byte is buffered', async () => {
  const { body } = fixture(4)
  const { count, clock } = await waits(body)
  body.push(Buffer.from('ab'))
  body.push(Buffer.from('cd'))
  await Promise.resolve()
  expect([body.whole, count.ended]).toEqual([null, 0])
  body.end('whole')
  await Promise.resolve()
  expect([String(body.whole), count.ended, clock.pending]).toEqual(['abcd', 1, 0])
})

test('a wait ends when its condition holds or its time is up', async () => {
  const { body } = fixture(100)
  let enough = false
  const { count } = await waits(body, () => enough)
  body.push(Buffer.from('a'))
  await Promise.resolve()
  expect(count.ended).toBe(0)
  enough = true
  body.push(Buffer.from('b'))
  await Promise.resolve()
  expect(count.ended).toBe(1)
  const next = await waits(body)
  await next.clock.advance(99)
  expect(next.count.ended).toBe(0)
  await next.clock.advance(1)
  expect(next.count.ended).toBe(1)
})

test.each<[string, (body: RequestBody) => void]>([
  ['too long to buffer', (body) => (body.push(Buffer.from('abcde')), body.end('whole'))],
  ['broken off', (body) => body.end(new Error('the client left'))],
])('is never whole when %s', async (_, end) => {
  const { body } = fixture(4)
  const { count } = await waits(body)
  end(body)
  await Promise.resolve()
  expect([body.whole, count.ended]).toEqual([null, 1])
})

type Fate = { readonly whole: boolean; readonly text: string }

/** Reads at its own pace, and stops after `most` chunks. */
async function readBy(body: RequestBody, turns: number, most: number): Promise<Fate | 'left'> {
  const reader = body[Symbol.asyncIterator]()
  let text = ''
  try {
    for (let pieces = 0; pieces < most; pieces++) {
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      const { done, value } = await reader.next()
      if (done === true) return { whole: true, text }
      text += Buffer.from(value).toString()
    }
    await reader.return?.()
    return 'left'
  } catch {
    return { whole: false, text }
  }
}

const piece = fc.string({ minLength: 1, maxLength: 9, unit: 'grapheme-ascii' })
const readerOf = fc.record({
  beginsAt: fc.nat(12),
  turns: fc.nat(6),
  most: fc.oneof(fc.constant(Infinity), fc.nat(5)),
})

test('a reader gets everything or fails, whatever the number of readers and where each starts or stops', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 12 }),
      fc.array(readerOf, { minLength: 1, maxLength: 4 }),
      fc.nat(40),
      fc.boolean(),
      async (pieces, readers, keepBytes, isAborted) => {
        let isPaused = false
        const body = new RequestBody(
          keepBytes,
          {
            pause: () => (isPaused = true),
            resume: () => (isPaused = false),
          },
          new ByteBudget(1e9),
          { cutOff: () => {} },
        )
        const fates: Promise<Fate | 'left'>[] = []
        const begin = (at: number) => {
          for (const { beginsAt, turns, most } of readers)
            if (Math.min(beginsAt, pieces.length) === at) fates.push(readBy(body, turns, most))
        }
        for (const [at, each] of pieces.entries()) {
          begin(at)
          // A paused source may still deliver one chunk in transit.
          for (let turn = 0; isPaused && turn < 60; turn++) await Promise.resolve()
          body.push(Buffer.from(each))
        }
        if (isAborted) body.end(new Error('gone'))
        else body.end('whole')
        begin(pieces.length)
        const all = pieces.join('')
        for (const fate of await Promise.all(fates)) {
          if (fate === 'left') continue
          expect(all.startsWith(fate.text)).toBe(true)
          if (fate.whole) expect([fate.text, isAborted]).toEqual([all, false])
        }
        if (body.whole) expect([await textOf(body), String(body.whole)]).toEqual([all, all])
      },
    ),
    { numRuns: 2_000 },
  )
})

test('a late reader of a body too long to buffer fails', async () => {
  const { body, flow } = fixture(3)
  const reader = body[Symbol.asyncIterator]()
  const early = body[Symbol.asyncIterator]()
  body.push(Buffer.from('abcd'))
  await reader.next()
  expect(flow).toEqual({ paused: 1, resumed: 1 })
  for (const each of [early, body[Symbol.asyncIterator]()])
    await expect(each.next()).rejects.toThrow('beginning')
})
