// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { GrowingBuffer } from '../../bytes/growing-buffer.ts'
import { nodeLimits } from '../../bytes/limits.ts'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import { ReplyBody, type Flow } from './reply-body.ts'
import type { TransportError } from '../wire.ts'

const stallMs = 30_000
const waitingBytes = nodeLimits.unreadBytes

/** A stream with its first piece. */
function fixture(different: { stallMs?: number | null; flow?: Flow } = {}) {
  const clock = new VirtualClock()
  const collected = new GrowingBuffer(new ByteBudget(1e9))
  collected.push(Buffer.alloc(waitingBytes))
  const body: ReplyBody = new ReplyBody({
    clock,
    flow: { pause: () => {}, resume: () => {} },
    collected,
    length: null,
    stallMs,
    behindBytes: 0,
    ...different,
    abort: (error) => {
      body.fail(error)
    },
  })
  return { clock, body }
}

/** Reads everything, with a pause before each read; reports the end. */
async function read(body: ReplyBody, rest: () => Promise<void> = () => Promise.resolve()) {
  let bytes = 0
  try {
    for await (const piece of body) {
      bytes += piece.length
      await rest()
    }
    return { bytes, fault: null }
  } catch (error) {
    return { bytes, fault: (error as TransportError).fault }
  }
}

test('silence while the reader waits is a stall', async () => {
  const { clock, body } = fixture()
  const result = read(body)
  await clock.advance(29_999)
  body.push(Buffer.alloc(1))
  await clock.advance(30_000)
  expect(await result).toEqual({ bytes: waitingBytes + 1, fault: 'timeout' })
  expect(clock.pending).toBe(0)
})

test('a slow stream continues', async () => {
  const { clock, body } = fixture()
  const result = read(body)
  for (let round = 0; round < 20; round++) {
    await clock.advance(29_000)
    body.push(Buffer.alloc(1))
  }
  await clock.advance(29_000)
  body.end()
  expect(await result).toEqual({ bytes: waitingBytes + 20, fault: null })
})

test('a pause of the reader does not count against the node', async () => {
  const { clock, body } = fixture()
  const result = read(body, () => clock.advance(25_000))
  for (let round = 0; round < 10; round++) {
    await clock.advance(1_000)
    body.push(Buffer.alloc(1))
  }
  body.end()
  expect((await result).fault).toBe(null)
})

test('without a limit, a stream may stay idle forever', async () => {
  const { clock, body } = fixture({ stallMs: null })
  const result = read(body)
  await clock.advance(24 * 3_600_000)
  body.push(Buffer.alloc(1))
  body.end()
  expect(await result).toEqual({ bytes: waitingBytes + 1, fault: null })
})

test('a source that respects pauses never exceeds the limit, and all bytes arrive', async () => {
  const piece = waitingBytes / 4
  let mayPush = true
  let pushed = waitingBytes
  const flow = { pause: () => (mayPush = false), resume: () => (mayPush = true) }
  const { body } = fixture({ flow })
  const give = () => {
    while (mayPush && pushed < 100 * piece) {
      pushed += piece
      body.push(Buffer.alloc(piece))
    }
    if (pushed === 100 * piece) body.end()
  }
  give()
  let bytes = 0
  for await (const { length } of body) {
    bytes += length
    give()
    expect(pushed - bytes).toBeLessThanOrEqual(waitingBytes)
  }
  expect(bytes).toBe(100 * piece)
})
