// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Incoming } from '../upstream/wire.ts'
import { reply } from './testing/listener-fixture.ts'
import { JsonRpcReplyReader } from './jsonrpc/jsonrpc-reply-reader.ts'

/** Splits the bytes at each of these offsets. */
function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const offsets = [...new Set(at.map((each) => each % (bytes.length + 1)))].toSorted(
    (a, b) => a - b,
  )
  const ends = [...offsets, bytes.length]
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

interface Read {
  readonly kind: string
  /** What is wrong; null if the answer is valid. */
  readonly why: string | null
  /** What the client received. */
  readonly text: string
  /** The announced length. */
  readonly length: number | null
}

/** Reads an answer: the first chunks are its head, the others its stream. */
function readStream(
  pieces: readonly Buffer[],
  ids: { sent?: string; own?: string; headPieces?: number; status?: number } = {},
): Read {
  const { sent = '1', own = sent, headPieces = 1, status = 200 } = ids
  const reader = new JsonRpcReplyReader(Buffer.from(sent), Buffer.from(own))
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const body = { head: pieces.slice(0, headPieces), length, async *[Symbol.asyncIterator]() {} }
  const incoming: Incoming = { status, headers: [], body, trailers: () => [] }
  const content = reader.read(incoming)
  if (content.kind === 'malformed') return { ...content, text: '', length: null }
  const { rest } = content
  if (!rest) throw new Error('a stream needs a validator')
  const forwarded: Uint8Array[] = []
  const announced = rest.length
  let why: string | null = null
  try {
    for (const piece of pieces) forwarded.push(...rest.push(piece))
    rest.end()
  } catch (error) {
    why = (error as Error).message
  }
  return { kind: content.kind, why, text: Buffer.concat(forwarded).toString(), length: announced }
}

function readWhole(bytes: Buffer, sent: string, own: string) {
  const reader = new JsonRpcReplyReader(Buffer.from(sent), Buffer.from(own))
  const { incoming } = reply(bytes)
  const content = reader.read(incoming)
  return { kind: content.kind, text: Buffer.from(reader.bodyOf(incoming) as Uint8Array).toString() }
}

const answers = fc
  .tuple(
    fc.constantFrom('1', '"ab"', '"\u00e9"'),
    fc.constantFrom('same', '"other"', '7.50'),
    fc.array(
      fc.constantFrom(
        ...['"jsonrpc":"2.0"', '"id":1', '"id":1.0', '"id":2', '"id":null', '"id":"ab"'],
        ...['"id":"\\u0061b"', '"id":"\\u00e9"', '"id":"\u00e9"', '"result":[{"id":5},"x"]'],
        ...['"result":null', '"error":null', '"error":{"code":3,"message":"no"}', '"result":"}"'],
        ...['"result":12', '"more":{"result":1}', '"RESULT":1'],
      ),
      { maxLength: 4 },
    ),
    fc.constantFrom('', ' ', '\n'),
    fc.constantFrom('', '', '', '\n', '{}', 'x'),
  )
  .map(([sent, own, members, space, tail]) => ({
    sent,
    own: own === 'same' ? sent : own,
    bytes: Buffer.from(`${space}{${space}${members.join(`,${space}`)}${space}}${tail}`),
  }))

test('streamed and collected answers are validated and forwarded alike, however cut', () => {
  const kinds = new Set<string>()
  fc.assert(
    fc.property(answers, fc.array(fc.nat(), { maxLength: 8 }), ({ sent, own, bytes }, at) => {
      const whole = readWhole(bytes, sent, own)
      const pieces = cut(bytes, at)
      const streamed = readStream(pieces, { sent, own, headPieces: pieces.length })
      const isAbsentId = !/"id"/.test(bytes.toString())
      if (streamed.why === null) {
        expect(streamed).toMatchObject(whole)
        // The length follows from the head, which here is the whole answer.
        expect(streamed.length).toBe(Buffer.byteLength(whole.text))
      } else if (!isAbsentId) expect(whole.kind).toBe('malformed')
      kinds.add(whole.kind)
      // A malformed answer is never forwarded, however short its head.
      const early = readStream(pieces, { sent, own })
      if (early.why === null) expect(early).toMatchObject(whole)
    }),
    { numRuns: 5_000 },
  )
  expect(kinds.size).toBe(3)
})

const big = 'x'.repeat(10_000)

describe('an answer with a valid head', () => {
  test.each([
    ['it ends early', [`{"id":1,"result":"${big}`, big], 'JSON that ends early'],
    ['it is not JSON', [`{"id":1,"result":"${big}`, '"]}'], 'a body that is not JSON'],
    ['something follows', [`{"id":1,"result":"${big}`, '"}', '{'], 'more than one JSON value'],
    ['it has a second id', [`{"id":1,"result":"${big}`, '","id":1}'], 'a duplicate member'],
    ['it has two results', [`{"id":1,"result":"${big}`, '","result":1}'], 'a duplicate member'],
    [
      'it has an error too',
      [`{"id":1,"result":"${big}`, '","error":{}}'],
      'both a result and an error',
    ],
    [
      'an error follows a null result',
      [`{"id":1,"result":null,"x":"${big}`, '","error":{}}'],
      'both a result and an error',
    ],
    [
      'the id at the end is another',
      [`{"result":"${big}`, '","id":2}'],
      'the id of another request',
    ],
    [
      'the id at the end is cut and another',
      [`{"result":"${big}","id":1`, '2}'],
      'the id of another request',
    ],
    ['there is no id', [`{"result":"${big}`, '"}'], 'the id of another request'],
    [
      'its id is longer than any',
      [`{"result":"${big}`, `","id":"${big}`, big, '"}'],
      'the id of another request',
    ],
  ])('is none when %s', (_, texts, why) => {
    const read = readStream(texts.map((text) => Buffer.from(text)))
    expect(read).toMatchObject({ kind: 'result', why })
  })

  test.each([
    [
      'the id before',
      [`{"id":1,"result":"${big}`, `${big}"}\n`],
      `{"id":"mine","result":"${big}${big}"}\n`,
      20_026,
    ],
    [
      'the id at the end',
      [`{"result":"${big}`, '","id":1', '}'],
      `{"result":"${big}","id":"mine"}`,
      null,
    ],
    [
      'the id at the end and in pieces',
      [`{"result":"${big}","id":`, '1', '.', '0', ' }'],
      `{"result":"${big}","id":"mine" }`,
      null,
    ],
  ])("with %s gets the client's id", (_, texts, text, length) => {
    const read = readStream(
      texts.map((each) => Buffer.from(each)),
      { own: '"mine"' },
    )
    expect(read).toEqual({ kind: 'result', why: null, text, length })
    if (length !== null) expect(text).toHaveLength(length)
  })
})

test('the content of a long answer is not validated', () => {
  const pieces = [`{"id":1,"result":["${big}`, '\\x \u00ff",01,,tru]}'].map((text) =>
    Buffer.from(text, 'latin1'),
  )
  expect(readStream(pieces)).toMatchObject({ kind: 'result', why: null })
})

describe('a long error', () => {
  test('is recognised by the code and message in its head, and forwarded', () => {
    const texts = [`{"id":1,"error":{"code":3,"message":"reverted","data":"0x${big}`, `${big}"}}`]
    const pieces = texts.map((text) => Buffer.from(text))
    expect(readStream(pieces)).toMatchObject({
      kind: 'node-error',
      why: null,
      text: texts.join(''),
    })
    const none = [Buffer.from('{"id":1,"error":{},"data":"'), Buffer.from(`${big}"}`)]
    expect(readStream(none)).toMatchObject({
      kind: 'malformed',
      why: 'an error without a code or a message',
    })
    const late = [`{"id":1,"error":{"data":"${big}`, '","code":3}}'].map((text) =>
      Buffer.from(text),
    )
    expect(readStream(late)).toMatchObject({ kind: 'node-error', why: null })
    const reader = new JsonRpcReplyReader(Buffer.from('1'), Buffer.from('1'))
    const body = { head: pieces.slice(0, 1), async *[Symbol.asyncIterator]() {} }
    expect(reader.read({ status: 200, headers: [], body, trailers: () => [] })).toMatchObject({
      error: { status: 200, code: 3, message: 'reverted' },
    })
  })
})

test.each([
  ['<html>', 'a body that is not JSON'],
  ['{"id":2,"result":"', 'the id of another request'],
  ['{"id":1,"method":"x","params":"', 'neither a result nor an error in its first bytes'],
  ['{"id":1 "result":[', 'a body that is not JSON'],
])('a head %s is refused at once', (head, why) => {
  expect(readStream([Buffer.from(head), Buffer.from(big)])).toMatchObject({
    kind: 'malformed',
    why,
  })
})

test('a long result under an error status is refused at once', () => {
  const pieces = [Buffer.from(`{"id":1,"result":"${big}`), Buffer.from('"}')]
  expect(readStream(pieces, { status: 503 }).kind).toBe('malformed')
})
