// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Cursor } from './cursor.ts'
import { ObjectStream } from './object-stream.ts'
import { maxNesting, spaceEnd, valueEnd } from './value.ts'

const wanted = ['"id"', '"result"', '"error"']

interface Seen {
  readonly isValid: boolean
  readonly hasDuplicate: boolean
  readonly members: Record<string, { start: number; end: number; text: string }>
}

/** What the scanner over the whole document says. */
function ofWhole(bytes: Buffer): Seen {
  const start = spaceEnd(bytes, 0)
  const members: Seen['members'] = {}
  if (bytes[start] !== 0x7b) return { isValid: false, hasDuplicate: false, members }
  const cursor = new Cursor(bytes, start)
  let hasDuplicate = false
  while (cursor.next()) {
    const name = bytes.toString('latin1', cursor.nameStart, cursor.nameEnd)
    if (!wanted.includes(name)) continue
    hasDuplicate ||= name in members
    const { valueStart, valueEnd } = cursor
    const text = bytes.toString('latin1', valueStart, valueEnd)
    members[name] = { start: valueStart, end: valueEnd, text }
  }
  const isValid = cursor.end >= 0 && spaceEnd(bytes, cursor.end) === bytes.length
  return { isValid, hasDuplicate, members }
}

/** What the scanner over pieces says, the document cut before each of these offsets. */
function ofPieces(bytes: Buffer, cuts: readonly number[], keepBytes = 1_000_000): Seen {
  const stream = new ObjectStream(wanted, keepBytes)
  const offsets = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted(
    (a, b) => a - b,
  )
  let from = 0
  for (const to of [...offsets, bytes.length]) {
    stream.push(bytes.subarray(from, to))
    from = to
  }
  const members: Seen['members'] = {}
  for (const name of wanted) {
    const member = stream.member(name)
    if (member && member.end >= 0)
      members[name] = {
        start: member.start,
        end: member.end,
        text: Buffer.from(member.first).toString('latin1'),
      }
  }
  const isValid = stream.brokenAt < 0 && stream.completeAt >= 0
  return { isValid, hasDuplicate: stream.hasDuplicate, members }
}

const cuts = fc.array(fc.nat(), { maxLength: 12 })

/** Answers, and what is nearly one: with members in any order, more than once, and edited. */
const nearlyAnswers = fc
  .tuple(
    fc.array(
      fc.tuple(
        fc.constantFrom('id', 'result', 'error', 'jsonrpc', 'i', ''),
        fc.json({ maxDepth: 4 }),
      ),
      { maxLength: 5 },
    ),
    fc.constantFrom('', ' ', '\n\t'),
    fc.array(
      fc.record({
        at: fc.nat(),
        drop: fc.integer({ min: 0, max: 3 }),
        put: fc.constantFrom(
          ...['', '"', ',', ':', '[', ']', '{', '}', '0', '-', '.', 'e', 'E+', '\\', '\\u12', ' '],
          ...[
            '\t',
            '\f',
            'tru',
            'true',
            'null',
            'nul',
            '00',
            '1e5',
            '-0.5E-7',
            '\u0000',
            '"\\u00e9"',
          ],
        ),
      }),
      { maxLength: 2 },
    ),
  )
  .map(([members, space, edits]) => {
    const inner = members.map(([name, json]) => `"${name}"${space}:${json}${space}`).join(',')
    let text = `${space}{${inner}}${space}`
    for (const { at, drop, put } of edits) {
      const from = at % (text.length + 1)
      text = text.slice(0, from) + put + text.slice(from + drop)
    }
    return Buffer.from(text)
  })

/** Any document, and what is nearly one. */
const nearlyDocuments = fc.oneof(
  nearlyAnswers,
  fc
    .tuple(
      fc.oneof(
        fc.json({ maxDepth: 4 }),
        fc.constantFrom('', '1', '-0.5e3', '0', 'true', 'null', '"a"', '[]', '[1, {"a": []}]'),
      ),
      fc.constantFrom('', ' ', '\n'),
      fc.constantFrom('', '', '', ']', ',', '1', ' 1', '"', '.', 'e', '}', ',"b":1'),
      fc.nat(2),
    )
    .map(([json, space, more, drop]) =>
      Buffer.from(`${space}${json.slice(0, json.length - drop)}${space}${more}`),
    ),
)

describe('any document in pieces', () => {
  const isDocument = (bytes: Buffer, at: readonly number[]) => {
    const stream = new ObjectStream([], 0, 'any')
    const ends = [...at.map((cut) => cut % (bytes.length + 1)), bytes.length]
    ends.sort((a, b) => a - b)
    for (const [index, end] of ends.entries())
      stream.push(bytes.subarray(ends[index - 1] ?? 0, end))
    stream.end()
    return stream.brokenAt < 0 && stream.completeAt >= 0
  }

  test('is judged as the whole is, however it is cut', () => {
    fc.assert(
      fc.property(nearlyDocuments, cuts, (bytes, at) => {
        const end = valueEnd(bytes, 0)
        expect(isDocument(bytes, at)).toBe(end >= 0 && spaceEnd(bytes, end) === bytes.length)
      }),
      { numRuns: 3_000 },
    )
  })

  test('may be nested as deep as a whole one, and no deeper', () => {
    for (const depth of [1, 29, 30, 31, 60, maxNesting, maxNesting + 1]) {
      const bytes = Buffer.from(`${'['.repeat(depth)}${']'.repeat(depth)}`)
      expect(isDocument(bytes, [7, 20, 1_000])).toBe(depth <= maxNesting)
    }
  })
})

describe('an object in pieces', () => {
  test('is judged as the whole is, however it is cut', () => {
    fc.assert(
      fc.property(nearlyAnswers, cuts, (bytes, at) => {
        const whole = ofWhole(bytes)
        const pieces = ofPieces(bytes, at)
        expect(pieces.isValid).toBe(whole.isValid)
        if (whole.isValid) expect(pieces).toEqual(whole)
      }),
      { numRuns: 3_000 },
    )
  })

  test('is judged as the whole is when every byte comes alone', () => {
    fc.assert(
      fc.property(nearlyAnswers, (bytes) => {
        const every = Array.from(bytes, (_, at) => at)
        const whole = ofWhole(bytes)
        const pieces = ofPieces(bytes, every)
        expect(pieces.isValid).toBe(whole.isValid)
        if (whole.isValid) expect(pieces).toEqual(whole)
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['{"id":1,"result":"abc', '"result"', '"abc'],
    ['{"id":12', '"id"', '12'],
    ['{"error":{"code":3,"mess', '"error"', '{"code":3,"mess'],
  ])('%s: a member is known while its value goes on', (text, name, first) => {
    const stream = new ObjectStream(wanted, 100)
    stream.push(Buffer.from(text))
    expect(stream.member(name)).toMatchObject({ end: -1, first: Buffer.from(first) })
    expect(stream).toMatchObject({ completeAt: -1, brokenAt: -1, hasBegun: true })
  })

  test('keeps no more of a value than it is told to', () => {
    const stream = new ObjectStream(wanted, 64)
    const part = Buffer.alloc(1_000, 'a')
    stream.push(Buffer.from('{"id":"'))
    for (let each = 0; each < 100; each++) stream.push(part)
    expect(stream.member('"id"')?.first).toHaveLength(64)
  })

  test.each([
    ['x', 0, false, -1],
    [' [1]', 1, false, -1],
    ['{"a":1,}', 7, true, -1],
    ['{"a":1}x', 7, true, 7],
    ['{"a":1} {}', 8, true, 7],
    ['{"a":"\n"}', 6, true, -1],
    ['{"a":01}', 6, true, -1],
  ])('%j breaks at %i', (text, brokenAt, hasBegun, completeAt) => {
    const stream = new ObjectStream(wanted, 16)
    stream.push(Buffer.from(text))
    expect(stream).toMatchObject({ brokenAt, hasBegun, completeAt })
  })

  test('may be nested as deep as a whole document, and no deeper', () => {
    const nested = (depth: number) =>
      Buffer.from(`{"result":${'['.repeat(depth)}${']'.repeat(depth)}}`)
    for (const depth of [29, 30, 31, 59, 60, 61, maxNesting, maxNesting + 1]) {
      const bytes = nested(depth)
      expect(ofPieces(bytes, [7, 20, 1_000]).isValid).toBe(ofWhole(bytes).isValid)
      expect(ofWhole(bytes).isValid).toBe(depth <= maxNesting)
    }
  })
})
