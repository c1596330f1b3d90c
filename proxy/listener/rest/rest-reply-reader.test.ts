// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HeaderList } from '../../upstream/wire.ts'
import { RestReplyReader } from './rest-reply-reader.ts'

const json = ['Content-Type', 'application/json; charset=utf-8']

function readWhole(body: Buffer): string | null {
  const content = new RestReplyReader('GET').read({
    status: 200,
    headers: json,
    body,
    trailers: () => [],
  })
  return content.kind === 'malformed' ? content.why : null
}

/** @returns what is wrong; null for a valid answer. Asserts that forwarded bytes are unchanged */
function readStream(pieces: readonly Buffer[], headers: HeaderList = json, inHead = 1) {
  const length = Buffer.concat(pieces).length
  const body = { head: pieces.slice(0, inHead), length, async *[Symbol.asyncIterator]() {} }
  const content = new RestReplyReader('GET').read({
    status: 200,
    headers,
    body,
    trailers: () => [],
  })
  if (content.kind === 'malformed') return { at: 'head', why: content.why }
  if (content.kind !== 'result' || !content.rest) return { at: 'nowhere', why: null }
  const { rest } = content
  expect(rest.length).toBe(length)
  const forwarded: Uint8Array[] = []
  try {
    for (const piece of pieces) forwarded.push(...rest.push(piece))
    rest.end()
  } catch (error) {
    return { at: 'rest', why: (error as Error).message }
  }
  expect(Buffer.concat(forwarded)).toEqual(Buffer.concat(pieces))
  return { at: 'end', why: null }
}

test.each([
  ['a list', '[{"a":', '1}]', 'end', null],
  ['an object', '{"a":', '1}\n', 'end', null],
  ['a text', '"abc', 'def"', 'end', null],
  ['a list that is cut', '[{"a":', '1}', 'rest', 'JSON that ends early'],
  ['a text that is cut', '"abc', 'def', 'rest', 'JSON that ends early'],
  ['nothing but white space first', '  ', '{}', 'end', null],
  ['nothing but white space', '  ', ' ', 'rest', 'JSON that ends early'],
  ['two values', '[1]', ' [2]', 'rest', 'more than one JSON value'],
  ['members after a value', '[1]', ',"b":2', 'rest', 'more than one JSON value'],
  ['content that is not validated', '["\u00ff",01', ',]', 'end', null],
  ['a page', '<html>', '</html>', 'head', 'a body that is not JSON'],
])('%s', (_, first, second, at, why) => {
  const pieces = [first, second].map((text) => Buffer.from(text, 'latin1'))
  expect(readStream(pieces)).toEqual({ at, why })
})

test('a body that is not JSON is not validated', () => {
  expect(readStream([Buffer.from('\u00ff')], ['content-type', 'application/x-bcs'])).toEqual({
    at: 'nowhere',
    why: null,
  })
})

test('long and short answers are validated alike, however cut', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.array(fc.jsonValue({ maxDepth: 3 })), fc.dictionary(fc.string(), fc.jsonValue())),
      fc.nat(),
      fc.nat(),
      fc.nat(2),
      (value, cutAt, endAt, inHead) => {
        const all = Buffer.from(JSON.stringify(value))
        const bytes = endAt % 2 === 0 ? all : all.subarray(0, 1 + (endAt % all.length))
        const cut = cutAt % (bytes.length + 1)
        const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)]
        expect(readStream(pieces, json, inHead).why === null).toBe(readWhole(bytes) === null)
      },
    ),
    { numRuns: 2_000 },
  )
})
