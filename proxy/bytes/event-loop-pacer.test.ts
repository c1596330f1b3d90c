// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { EventLoopPacer } from './event-loop-pacer.ts'

const mebibyte = 1024 * 1024

test('short work and the first long work run at once, the rest in later turns', async () => {
  const turns = new EventLoopPacer()
  const done: string[] = []
  for (const name of 'abc') turns.run(mebibyte, () => done.push(name))
  turns.run(1, () => done.push('d'))
  expect(done).toEqual(['a'])
  await nextTurn()
  expect(done).toEqual(['a', 'b'])
  await nextTurn()
  await nextTurn()
  expect(done.join('')).toBe('abcd')
})

test('a turn has room for many short items, and each new turn has as much', async () => {
  const turns = new EventLoopPacer()
  for (let turn = 0; turn < 3; turn++) {
    let count = 0
    while (turns.spend(mebibyte / 64)) count += 1
    expect(count).toBe(63)
    await nextTurn()
  }
})

test('work that begins other work does not delay the turns of others', async () => {
  const turns = new EventLoopPacer()
  const done: string[] = []
  const again = (left: number) => {
    done.push('again')
    if (left > 0)
      turns.run(mebibyte, () => {
        again(left - 1)
      })
  }
  turns.run(mebibyte, () => {
    again(3)
  })
  turns.run(mebibyte, () => done.push('other'))
  while (done.length < 5) await nextTurn()
  expect(done.indexOf('other')).toBeLessThan(3)
})

test('cancelled work takes no turn', async () => {
  const turns = new EventLoopPacer()
  const done: string[] = []
  const [, ...back] = [...'abcde'].map((name) => turns.run(mebibyte, () => done.push(name)))
  for (const takeBack of back.slice(0, 3)) takeBack()
  await nextTurn()
  expect(done).toEqual(['a', 'e'])
})

test("batched short work runs after the turn's other work, in order, and may begin more", async () => {
  const turns = new EventLoopPacer()
  const done: string[] = []
  turns.together(() => {
    done.push('a')
    turns.together(() => done.push('c'))
  })
  turns.together(() => done.push('b'))
  turns.run(1, () => done.push('at once'))
  expect(done).toEqual(['at once'])
  await nextTurn()
  expect(done).toEqual(['at once', 'a', 'b'])
  await nextTurn()
  expect(done).toEqual(['at once', 'a', 'b', 'c'])
})
