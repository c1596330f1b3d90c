// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/virtual-clock.ts'
import { DerivedSequence } from './derived.ts'
import { KeptBytes } from './kept-bytes.ts'
import { Patience } from './patience.ts'

const mebibyte = 1024 * 1024
const observer = { ended() {}, failed() {}, fetchFailed() {} } as never

/** Topics that keep so many bytes of each block, under one bound. */
function setUp(bytesPerBlock: readonly number[], most: number, forks = true) {
  const kept = new KeptBytes(most)
  const clock = new VirtualClock()
  const topics = bytesPerBlock.map((bytes) => {
    const ended: string[] = []
    const sequence: DerivedSequence = new DerivedSequence(
      {
        name: 'logs',
        events: {
          of: () => Promise.resolve([{ key: '0', event: Buffer.alloc(bytes) }]),
          takeBack: ({ event }) => event,
        },
        clock,
        observer,
        patience: new Patience({
          name: 'logs',
          clock,
          observer,
          stallMs: 3_000,
          outage: { isOn: false, overMs: 0 },
        }),
        maxGapBlocks: 1_000,
        forks,
        kept,
        upstream: () => null,
      },
      { event() {}, ended: (reason) => ended.push(reason) },
    )
    return { sequence, ended }
  })
  const place = (number: number) => ({ number, id: String(number), parent: String(number - 1) })
  const mine = async (first: number, last: number) => {
    for (let number = first; number <= last; number++) {
      for (const { sequence } of topics)
        sequence.appended({ ...place(number), event: Buffer.alloc(0) })
      await clock.advance(0)
    }
  }
  const sum = () => topics.reduce((all, { sequence }) => all + sequence.keptBytes, 0)
  return { topics, mine, place, sum }
}

test('however many topics there are, what is kept of told events is bounded', async () => {
  const { topics, mine, sum, place } = setUp(
    [...Array<number>(20).fill(mebibyte), 10],
    8 * mebibyte,
  )
  await mine(1, 20)
  expect(sum()).toBeLessThanOrEqual(8 * mebibyte)
  const [large, small] = [topics[0], topics.at(-1)]
  for (let number = 20; number > 1; number--) {
    large?.sequence.removed(place(number))
    small?.sequence.removed(place(number))
  }
  expect(large?.ended).toEqual(['a reorganisation takes back more than is remembered'])
  // Who keeps little is not the one to suffer.
  expect(small?.ended).toEqual([])
  for (const { sequence } of topics) sequence.close()
  expect(sum()).toBe(0)
})

test('nothing is kept where no block is ever replaced', async () => {
  const { mine, sum } = setUp([mebibyte], 8 * mebibyte, false)
  await mine(1, 3)
  expect(sum()).toBe(0)
})
