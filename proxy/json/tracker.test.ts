// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Cursor } from './scanner.ts'
import { JsonTracker } from './tracker.ts'

const tracked = ['"id"', '"result"', '"error"']

interface Seen {
  readonly isComplete: boolean
  readonly problem: string | null
  readonly members: Record<string, { start: number; end: number; text: string }>
}

/** The scanner's view of a valid document. */
function ofWhole(bytes: Buffer): Seen {
  const members: Seen['members'] = {}
  const cursor = new Cursor(bytes, bytes.indexOf('{'))
  let problem: string | null = null
  while (cursor.next()) {
    const name = bytes.toString('latin1', cursor.nameStart, cursor.nameEnd)
    if (!tracked.includes(name)) continue
    if (name in members) problem = 'a duplicate member'
    const { valueStart: start, valueEnd: end } = cursor
    const isContainer = bytes[start] === 0x7b || bytes[start] === 0x5b
    const text = bytes.toString('latin1', start, isContainer ? start + 1 : end)
    members[name] = { start, end, text }
  }
  return { isComplete: cursor.end >= 0, problem, members }
}

/** The tracker's view, with the document cut before each of these offsets. */
function ofPieces(bytes: Buffer, cuts: readonly number[], names = tracked, keepBytes = 1e6): Seen {
  const tracker = new JsonTracker(names, keepBytes)
  const offsets = cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b)
  let from = 0
  for (const to of [...offsets, bytes.length]) {
    tracker.push(bytes.subarray(from, to))
    from = to
  }
  const { isComplete, problem, members } = tracker
  return { isComplete, problem, members: Object.fromEntries(members) }
}

const cuts = fc.array(fc.nat(), { maxLength: 12 })
const texts = fc.oneof(fc.string(), fc.stringMatching(/^[\\"{}[\],:x\n\u00e9]{0,100}$/))
const values = fc.oneof(fc.jsonValue({ maxDepth: 4 }), texts, fc.array(texts))

/** Answers with members in any order, duplicates, and white space anywhere. */
const answers = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom('id', 'result', 'error', 'jsonrpc', 'i', ''), values), {
      maxLength: 5,
    }),
    fc.constantFrom('', ' ', '\n\t'),
  )
  .map(([members, space]) => {
    const inner = members
      .map(([name, value]) => `"${name}"${space}:${space}${JSON.stringify(value)}${space}`)
      .join(',')
    return Buffer.from(`${space}{${inner}}${space}`)
  })

describe('an object in pieces', () => {
  test('is tracked to its end, with its members, wherever it is cut', () => {
    fc.assert(
      fc.property(answers, cuts, (bytes, at) => {
        const whole = ofWhole(bytes)
        for (const each of [at, Array.from(bytes, (_, every) => every)]) {
          const pieces = ofPieces(bytes, each)
          if (whole.problem === null) expect(pieces).toEqual(whole)
          else expect(pieces.problem).toBe(whole.problem)
        }
      }),
      { numRuns: 3_000 },
    )
  })

  test('is reported when truncated or followed by another', () => {
    fc.assert(
      fc.property(answers, cuts, fc.nat(), (bytes, at, cut) => {
        const text = bytes.toString('latin1').trimEnd()
        const whole = Buffer.from(text, 'latin1')
        expect(ofPieces(whole.subarray(0, cut % whole.length), at).isComplete).toBe(false)
        expect(ofPieces(Buffer.concat([whole, whole]), at).problem).not.toBeNull()
        expect(ofPieces(Buffer.concat([whole, Buffer.from('x')]), at).problem).not.toBeNull()
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([
    ['{"id":1,"result":"abc', '"result"', '"abc'],
    ['{"id":12', '"id"', '12'],
    ['{"error":{"code":3,"mess', '"error"', '{'],
  ])('%s: a member is known before its value ends', (json, name, text) => {
    const { members, isComplete, problem } = ofPieces(Buffer.from(json), [])
    expect(members[name]).toMatchObject({ end: -1, text })
    expect([isComplete, problem]).toEqual([false, null])
  })

  test('retains no more of a value than requested', () => {
    const tracker = new JsonTracker(tracked, 64)
    for (const part of ['{"id":"', ...Array<string>(100).fill('a'.repeat(1_000))])
      tracker.push(Buffer.from(part))
    expect(tracker.members.get('"id"')?.text).toBe(`"${'a'.repeat(63)}`)
  })

  test.each([
    ['x', 'a body that is not JSON'],
    [' [1]', 'a body that is not JSON'],
    ['{"a" 1}', 'a body that is not JSON'],
    ['{"a":"b""c":1}', 'a body that is not JSON'],
    ['{"a":1}x', 'more than one JSON value'],
    ['{"a":1} {}', 'more than one JSON value'],
    ['{"id":1,"id":1}', 'a duplicate member'],
  ])('%j is %s', (text, problem) => {
    expect(ofPieces(Buffer.from(text), []).problem).toBe(problem)
  })

  test('may nest to any depth', () => {
    const depth = 1_000_000
    const bytes = Buffer.from(`{"result":${'['.repeat(depth)}${']'.repeat(depth)}}`)
    expect(ofPieces(bytes, [7, 1_000]).isComplete).toBe(true)
  })
})

test.each<[string, boolean, string | null]>([
  [' [1, {"a": "]"}] ', true, null],
  ['{"a":1}', true, null],
  ['"a\\"b"\n', true, null],
  ['[1', false, null],
  ['"a\\"', false, null],
  ['[1]]', true, 'more than one JSON value'],
  ['<html>', false, 'a body that is not JSON'],
])('any document in pieces: %s', (text, isComplete, problem) => {
  const bytes = Buffer.from(text)
  for (const at of [[], Array.from(bytes, (_, every) => every)])
    expect(ofPieces(bytes, at, [])).toEqual({ isComplete, problem, members: {} })
})
