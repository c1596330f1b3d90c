// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it, test } from 'vitest'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { UnfinishedMessage } from './unfinished-message.ts'

const final = 0x80
const text = 0x01
const more = 0x00
const ping = final | 0x09
const read = 512
const each = 128

/** A masked frame, as clients send it. */
function frame(first: number, length: number): Buffer {
  const short = length < 126 ? length : length < 65_536 ? 126 : 127
  const extended = Buffer.alloc(short === 127 ? 8 : short === 126 ? 2 : 0)
  if (short === 126) extended.writeUInt16BE(length)
  if (short === 127) extended.writeBigUInt64BE(BigInt(length))
  return Buffer.concat([Buffer.from([first, 0x80 | short]), extended, Buffer.alloc(4 + length, 1)])
}

function frames(first: number, length: number, count: number): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => frame(first, length)))
}

function came(chunks: readonly Buffer[], budgetBytes = 1e9) {
  const budget = new ByteBudget(budgetBytes)
  const cutOffs: number[] = []
  const unfinished = new UnfinishedMessage(budget, () => cutOffs.push(budget.heldBytes))
  const isTaken = chunks.map((chunk, at) => unfinished.came(chunk, at)).every(Boolean)
  return { unfinished, cutOffs, heldBytes: budget.heldBytes, isTaken }
}

describe('an unfinished message is charged for its fragments', () => {
  const long = frame(final | text, 100_000)
  test.each<[string, Buffer[], number, number | null]>([
    ['nothing', [], 0, null],
    ['one frame', [frame(final | text, 9)], 0, null],
    ['a message of 64 KiB and more', [long], 0, null],
    ['the half of one frame', [long.subarray(0, 50_014)], 50_000 + read, 0],
    [
      'a frame in three reads',
      [long.subarray(0, 3), long.subarray(3, 5_000), long.subarray(5_000)],
      0,
      null,
    ],
    ['half of a head', [frame(final | text, 9).subarray(0, 1)], read, 0],
    ['a fragment', [frame(text, 10)], 10 + read + each, 0],
    ['a fragment without bytes', [frame(text, 0)], read + each, 0],
    [
      'hundreds of one byte',
      [Buffer.concat([frame(text, 1), frames(more, 1, 200)])],
      201 * (1 + each) + read,
      0,
    ],
    [
      'hundreds in two reads',
      [frame(text, 1), frames(more, 1, 200)],
      201 * (1 + each) + 2 * read,
      0,
    ],
    ['hundreds and the last', [frame(text, 1), frames(more, 1, 200), frame(final, 1)], 0, null],
    [
      'fragments after a complete message',
      [frame(text, 1), Buffer.concat([frame(final, 1), frame(text, 1), frames(more, 1, 99)])],
      100 * (1 + each) + read,
      1,
    ],
    ['many messages', [frames(final | text, 1, 2_000)], 0, null],
    ['pings', [frames(ping, 100, 1_000)], 0, null],
    ['the half of a ping', [frame(ping, 100).subarray(0, 50)], read, 0],
    [
      'a ping in two reads',
      [frame(ping, 100).subarray(0, 50), frame(ping, 100).subarray(50)],
      0,
      null,
    ],
    [
      'pings between fragments',
      [Buffer.concat([frame(text, 1), frames(ping, 100, 9), frame(more, 1)])],
      2 * (1 + each) + read,
      0,
    ],
    [
      'pings between reads of a fragment',
      [frame(text, 1), frame(ping, 0), frame(final, 1)],
      0,
      null,
    ],
  ])('%s', (_, chunks, heldBytes, sinceMs) => {
    const { unfinished, ...state } = came(chunks)
    expect({ heldBytes: state.heldBytes, sinceMs: unfinished.sinceMs }).toEqual({
      heldBytes,
      sinceMs,
    })
    unfinished.release()
    expect(unfinished.heldBytes).toBe(0)
  })
})

it('is cut off when the cost of its fragments, rather than its bytes, takes half of the budget', () => {
  expect(came([frame(text, 1), frames(more, 1, 150)], 50_000).cutOffs).toEqual([])
  expect(came([frame(text, 1), frames(more, 1, 240)], 50_000).cutOffs).toHaveLength(1)
  expect(came([frame(text, 20_000), frame(more, 1)], 50_000).cutOffs).toEqual([])
})

test.each<[string, Buffer[], boolean]>([
  ['256 of one byte', [frame(text, 1), frames(more, 1, 255)], true],
  [
    'one more, and empty',
    [frame(text, 1), frames(more, 1, 255), frame(more, 0), frame(more, 0)],
    false,
  ],
  [
    'one more, then the last',
    [Buffer.concat([frame(text, 1), frames(more, 1, 2_000), frame(final, 1)])],
    false,
  ],
  ['thousands of empty ones', [frame(text, 1), frames(more, 0, 2_000)], false],
  ['thousands of a kibibyte', [frame(text, 1), frames(more, 1_024, 5_000)], true],
  ['thousands after a long one', [frame(text, 4 * 1_024 ** 2), frames(more, 1, 4_000)], true],
  [
    'thousands, and a long one',
    [frame(text, 1), frames(more, 1, 5_000), frame(more, 4 * 1_024 ** 2)],
    false,
  ],
  ['as many messages', [frames(final | text, 1, 2_000)], true],
  ['thousands of messages in each read', [frames(final | text, 1, 9_000)], false],
  [
    'as many in several reads',
    Array.from({ length: 9 }, () => frames(final | text, 1, 1_000)),
    true,
  ],
  ['as many pings', [frame(text, 1), frames(ping, 0, 9_000)], true],
])('pieces from a client, %s: whether the library reads them', (_, chunks, isTaken) => {
  const { heldBytes, ...rest } = came(chunks)
  expect(rest.isTaken).toBe(isTaken)
  if (!isTaken) expect(heldBytes).toBe(0)
})
