// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readJsonLines } from './answers.ts'

async function read(pieces: readonly Uint8Array[]): Promise<unknown[]> {
  async function* body() {
    yield* pieces
  }
  const values: unknown[] = []
  for await (const value of readJsonLines('GET /x', body())) values.push(value)
  return values
}

test('the values do not depend on how the bytes are split', async () => {
  const cuts = fc.array(fc.nat(200), { maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue(), { maxLength: 8 }), cuts, async (values, cuts) => {
      const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''))
      const ends = [...cuts, bytes.length].toSorted((a, b) => a - b)
      const pieces = ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end))
      expect(await read(pieces)).toEqual(JSON.parse(JSON.stringify(values)))
    }),
  )
})

test('an unterminated last line is dropped', async () => {
  expect(await read([Buffer.from('{"a":1}\n{"b":')])).toEqual([{ a: 1 }])
})

test('a line that is not JSON is refused', async () => {
  await expect(read([Buffer.from('{"a":\n')])).rejects.toThrow('GET /x: an event is not JSON')
})
