// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeEntry, encodeEntry, type SharedEntry } from './entry-codec.ts'

const name = 'the digest of a key'
const entry: SharedEntry = {
  ...{ headers: ['content-type', 'application/json'], trailers: [], upstream: 'a' },
  ...{ latestBlock: 5, ageClass: 'latest', isEmpty: false, head: 7, reorgs: 0 },
  ...{ storedWallMs: 1_000, ttlMs: 500 },
  body: Buffer.from('{}'),
}
test('an entry survives a round trip', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), async (bytes) => {
      const body = Buffer.from(bytes)
      const stored = (await encodeEntry(name, { ...entry, body }))!
      expect(await decodeEntry(name, stored)).toEqual({ ...entry, body })
    }),
  )
})

test('a long answer is compressed, and more than 16 MiB, or 2 MiB compressed, is rejected', async () => {
  const lengthOf = async (body: Buffer) => (await encodeEntry(name, { ...entry, body }))?.length
  expect(await lengthOf(Buffer.alloc(100_000, 'abc'))).toBeLessThan(1_000)
  expect(await lengthOf(Buffer.alloc(16 * 1024 * 1024 + 1))).toBeUndefined()
  expect(await lengthOf(randomBytes(2 * 1024 * 1024 + 1))).toBeUndefined()
})

describe.each([
  ['short', Buffer.from('{"result":[]}')],
  ['compressed', Buffer.alloc(2_000, 'abc')],
])('a damaged entry decodes to null: %s', (_, body) => {
  test('with a flipped bit or a missing end', async () => {
    const whole = (await encodeEntry(name, { ...entry, body }))!
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 1),
        fc.integer({ min: 1, max: 255 }),
        async (at, by) => {
          const damaged = Buffer.from(whole)
          damaged[at]! ^= by
          expect(await decodeEntry(name, damaged)).toBeNull()
          expect(await decodeEntry(name, whole.subarray(0, at))).toBeNull()
        },
      ),
    )
  })

  test('read under another name', async () => {
    const whole = (await encodeEntry(name, { ...entry, body }))!
    await fc.assert(
      fc.asyncProperty(fc.string(), async (other) => {
        fc.pre(other !== name)
        expect(await decodeEntry(other, whole)).toBeNull()
      }),
    )
  })
})

test('random bytes are no entry, even with a valid version', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), async (bytes) => {
      expect(await decodeEntry(name, Buffer.from(bytes))).toBeNull()
      expect(await decodeEntry(name, Buffer.concat([Buffer.from('RPC2'), bytes]))).toBeNull()
    }),
  )
})
