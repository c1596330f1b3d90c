// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeEntry, encodeEntry, type SharedEntry } from './entry-codec.ts'

const entry: SharedEntry = {
  ...{ status: 200, headers: ['content-type', 'application/json'], trailers: [] },
  ...{ id: { start: 3, end: 4 }, upstream: 'a', refusal: null, latestBlock: 5 },
  ...{ ageClass: 'latest', head: 7, reorgs: 0, expiresWallMs: 1_000 },
  body: Buffer.from('{}'),
}

test('what was written is read again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), async (bytes) => {
      const body = Buffer.from(bytes)
      expect(await decodeEntry((await encodeEntry({ ...entry, body }))!)).toEqual({
        ...entry,
        body,
      })
    }),
  )
})

test('a long answer is compressed, and one of more than 16 MiB, or 2 MiB compressed, is not kept', async () => {
  const body = Buffer.alloc(100_000, 'abc')
  expect((await encodeEntry({ ...entry, body }))!.length).toBeLessThan(1_000)
  expect(await encodeEntry({ ...entry, body: Buffer.alloc(16 * 1024 * 1024 + 1) })).toBeNull()
  expect(await encodeEntry({ ...entry, body: randomBytes(2 * 1024 * 1024 + 1) })).toBeNull()
})

test('what is damaged, cut, or of another version is none', async () => {
  const whole = (await encodeEntry({ ...entry, body: Buffer.alloc(2_000, 'abc') }))!
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
      const damaged = Buffer.from(whole)
      damaged[at]! ^= by
      expect(await decodeEntry(damaged)).toBeNull()
      expect(await decodeEntry(whole.subarray(0, at))).toBeNull()
    }),
  )
})
