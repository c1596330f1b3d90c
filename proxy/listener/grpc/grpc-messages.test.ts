// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { GrpcFrames } from './grpc-messages.ts'

function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

test('messages are counted and measured wherever the chunks are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 13 }), { minLength: 1 }),
      (messages, cuts) => {
        const bytes = Buffer.concat(messages.map(framed))
        const frames = new GrpcFrames()
        for (let at = 0, cut = 0; at < bytes.length; cut++) {
          const length = cuts[cut % cuts.length]!
          frames.push(bytes.subarray(at, at + length))
          at += length
        }
        expect(frames.isWhole).toBe(true)
        expect(frames.count).toBe(messages.length)
        expect(frames.longestBytes).toBe(Math.max(0, ...messages.map(({ length }) => length)))
      },
    ),
  )
})

test('a truncated message is not whole', () => {
  const bytes = framed(Buffer.from('hello'))
  for (let length = 1; length < bytes.length; length++) {
    const frames = new GrpcFrames()
    frames.push(bytes.subarray(0, length))
    expect(frames.isWhole).toBe(false)
  }
})
