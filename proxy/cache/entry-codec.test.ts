// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomBytes } from 'node:crypto'
import { crc32, zstdCompressSync } from 'node:zlib'
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
const head = { ...entry, bodyBytes: 2, body: undefined }

/** A crafted entry with a valid checksum. */
function crafted(headText: string, packed: Uint8Array = Buffer.from('{}'), headBytes?: number) {
  const text = Buffer.from(headText)
  const prefix = Buffer.from('RPC2????????')
  prefix.writeUInt32BE(crc32(packed, crc32(text, crc32(name))), 4)
  prefix.writeUInt32BE(headBytes ?? text.length, 8)
  return Buffer.concat([prefix, text, packed])
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

test('random bytes are no entry, even with a valid version and checksum', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), fc.json(), fc.uint8Array(), async (bytes, json, packed) => {
      expect(await decodeEntry(name, Buffer.from(bytes))).toBeNull()
      expect(await decodeEntry(name, Buffer.concat([Buffer.from('RPC2'), bytes]))).toBeNull()
      expect(await decodeEntry(name, crafted(json, packed))).toBeNull()
    }),
  )
})

describe('a crafted entry', () => {
  test('is valid in the format of the router', async () => {
    expect(await decodeEntry(name, crafted(JSON.stringify(head)))).toEqual(entry)
  })

  test.each<[string, Record<string, unknown>]>([
    ['a header without a value', { headers: ['content-type'] }],
    ['a header that is no string', { headers: ['content-type', 5] }],
    ['headers that are not an array', { headers: { 'content-type': 'text/plain' } }],
    ['a header name with a space', { headers: ['content type', 'x'] }],
    ['a header name without a letter', { headers: ['', 'x'] }],
    ['a header value with a line break', { headers: ['content-type', 'x\r\nset-cookie: y'] }],
    ['a header value beyond latin1', { headers: ['content-type', 'ſ'] }],
    ['trailers that are null', { trailers: null }],
    ['a name of an upstream with a line break', { upstream: 'a\nb' }],
    ['a long name of an upstream', { upstream: 'a'.repeat(129) }],
    ['no upstream', { upstream: undefined }],
    ['a block that is a string', { latestBlock: '5' }],
    ['a negative block', { latestBlock: -1 }],
    ['a block beyond 2^53', { latestBlock: 2 ** 60 }],
    ['a head below -1', { head: -2 }],
    ['a head that is a fraction', { head: 1.5 }],
    ['no head', { head: undefined }],
    ['an unknown class', { ageClass: 'eternal' }],
    ['a number of reorgs that is null', { reorgs: null }],
    ['a TTL of zero', { ttlMs: 0 }],
    ['a time that is a string', { storedWallMs: 'now' }],
    ['a flag that is not a boolean', { isEmpty: 'no' }],
    ['a body of another length', { bodyBytes: 3 }],
    ['a body of a negative length', { bodyBytes: -1 }],
    ['a body that is too long', { bodyBytes: 2 ** 40 }],
    ['a body that should be compressed', { bodyBytes: 2_000 }],
  ])('is invalid with %s', async (_, wrong) => {
    expect(await decodeEntry(name, crafted(JSON.stringify({ ...head, ...wrong })))).toBeNull()
  })

  test.each([
    ['null', 'null'],
    ['a list', '[]'],
    ['no JSON', '{'],
    ['deeply nested', '['.repeat(100_000)],
  ])('is invalid if its head is %s', async (_, text) => {
    expect(await decodeEntry(name, crafted(text))).toBeNull()
  })

  test.each([0, 1, 1_000, 2 ** 32 - 1])('is invalid if its head has %s bytes', async (bytes) => {
    expect(
      await decodeEntry(name, crafted(JSON.stringify(head), Buffer.from('{}'), bytes)),
    ).toBeNull()
  })

  test.each([
    ['is longer than declared', zstdCompressSync(Buffer.alloc(64 * 1024 * 1024))],
    ['is shorter than declared', zstdCompressSync(Buffer.alloc(2_000))],
    ['requires a window of 128 MiB', zeros(27)],
  ])('is invalid if its compressed body %s', async (_, packed) => {
    const text = JSON.stringify({ ...head, bodyBytes: 5_000 })
    expect(await decodeEntry(name, crafted(text, zeros(13)))).not.toBeNull()
    expect(await decodeEntry(name, crafted(text, packed))).toBeNull()
  })
})

/** 5,000 zeros as a zstd frame that omits its length (RFC 8878, 3.1.1). */
function zeros(windowLog: number): Buffer {
  const frame = Buffer.from('28b52ffd000000000000', 'hex')
  frame[5] = (windowLog - 10) << 3
  // The last block repeats one byte.
  frame.writeUIntLE((5_000 << 3) | 0b011, 6, 3)
  return frame
}
