// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { LogsTopic } from './logs.ts'

const mebibyte = 1024 * 1024
const position = (number: number) => ({ number, id: String(number), parent: String(number - 1) })

/** Filters that send so many bytes for each block, each of which may keep so many. */
function setUp(bytesPerBlock: readonly number[], mostKeptBytes: number) {
  const clock = new VirtualClock()
  const topics = bytesPerBlock.map((bytes) => {
    const ended: string[] = []
    const options = {
      name: 'logs',
      filter: {},
      fetchLogs: () => Promise.resolve([Buffer.alloc(bytes, '{}')]),
      clock,
      random: { next: () => 0.5 },
      observer: { ended() {}, failed() {}, fetchFailed() {} } as never,
      sequence: { upstream: null },
      maxGapBlocks: 1_000,
      mostKeptBytes: () => mostKeptBytes,
    }
    const topic = new LogsTopic(options, { event() {}, ended: (reason) => ended.push(reason) })
    return { topic, ended }
  })
  const mine = async (first: number, last: number) => {
    for (let number = first; number <= last; number++) {
      for (const { topic } of topics)
        topic.appended({ ...position(number), event: Buffer.alloc(0) })
      await clock.advance(0)
    }
  }
  return { topics, mine }
}

test('what is kept of sent logs is bounded, and a filter with few logs keeps all of them', async () => {
  const { topics, mine } = setUp([mebibyte, 10], 4 * mebibyte)
  await mine(1, 20)
  for (const { topic } of topics)
    for (let number = 20; number > 1; number--) topic.removed(position(number))
  const [large, small] = topics
  expect(large?.ended).toEqual(['a reorganisation takes back more than is remembered'])
  expect(small?.ended).toEqual([])
})
