// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readDocuments } from './read-documents.ts'

/** What is read, with the faults in the place of values. */
const read = (text: string) =>
  readDocuments(text).map((each) => ('value' in each ? each.value : `${each.place}: ${each.fault}`))

/** Each level names the one before nine times. */
const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
  .concat(Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(9)}]`))
  .join('\n')

/** Lists in lists: each line as many as may be, and the one before at its bottom. */
const tower = Array.from(
  { length: 10 },
  (_, n) => `a${n}: &a${n} ${'['.repeat(100)}${n === 0 ? 'x' : `*a${n - 1}`}${']'.repeat(100)}`,
).join('\n')

describe('what cannot be read is told with its place', () => {
  test.each([
    [
      'an alias of nothing',
      'kind: *nope',
      'line 1: an alias (*) has no anchor before it; a text needs quotes',
    ],
    [
      'an alias of what follows',
      'a: *x\nb: &x 1',
      'line 1: an alias (*) has no anchor before it; a text needs quotes',
    ],
    [
      'an alias of itself',
      'a: &x\n  - *x',
      'line 2: an alias (*) stands inside of what its anchor names',
    ],
    ['aliases of aliases', bomb, 'line 6: the aliases repeat more than 100000 values'],
    [
      'many aliases of one',
      `a: &x 1\nb: [${'*x,'.repeat(1_001)}]`,
      'line 2: there are more than 1000 aliases',
    ],
    ['lists in lists', '['.repeat(300) + ']'.repeat(300), 'line 1: is nested too deeply'],
    ['lists in lists that nothing closes', '['.repeat(100_000), 'line 1: is nested too deeply'],
    ['lists in lists by aliases', tower, 'line 3: is nested too deeply'],
    [
      'a merge of a scalar',
      'a: &x 1\nb: { <<: *x }',
      'line 2: a merge (<<) takes a map, or a list of maps',
    ],
    [
      'a tag that nobody knows',
      'a: !s3!cret b',
      'line 1: a tag (!) is not known; a text needs quotes',
    ],
    [
      'an odd escape',
      'a: "\\s3cret"',
      'line 1: a text in double quotes has an unknown escape sequence (\\)',
    ],
    ['a key twice', 'a: 1\na: 2', 'line 2: Map keys must be unique'],
    [
      'text behind an object',
      '{a: 1}\n"s3cret"',
      'line 2: Unexpected double-quoted-scalar at node end',
    ],
    [
      'a value as the head of a block',
      'a: |s3cret',
      'line 1: Block scalar header includes extra characters',
    ],
  ])('%s', (_, text, fault) => {
    expect(read(text)).toEqual([`document 1, ${fault}`])
  })

  test('an alias knows only the anchors of its own document', () => {
    expect(read('a: &x 1\n---\n# more\nb: *x')).toEqual([
      { a: 1 },
      'document 2, line 4: an alias (*) has no anchor before it; a text needs quotes',
    ])
  })
})

describe('what people write', () => {
  test.each([
    [
      'anchors, aliases and merges',
      'a: &x { b: 1 }\nc: *x\nd: { <<: *x, e: 2 }',
      [{ a: { b: 1 }, c: { b: 1 }, d: { b: 1, e: 2 } }],
    ],
    [
      'a thousand aliases',
      `a: &x 1\nb: [${'*x,'.repeat(1_000)}]`,
      [{ a: 1, b: Array.from({ length: 1_000 }, () => 1) }],
    ],
    ['a byte order mark', '\uFEFF{"a":1}{"b":2}', [{ a: 1 }, { b: 2 }]],
    ['JSON', '{"a": "}{"}', [{ a: '}{' }]],
    ['JSON objects in lines', '{"a":1}\n{"b":2}\n', [{ a: 1 }, { b: 2 }]],
    [
      'JSON objects with nothing between',
      '{"a":"\\"}{\\\\"}{"b":[{}]}',
      [{ a: '"}{\\' }, { b: [{}] }],
    ],
    ['objects of YAML in braces', "{a: '}{'}", [{ a: '}{' }]],
    ['nothing', '', []],
  ])('%s', (_, text, values) => {
    expect(read(text)).toEqual(values)
  })

  test.each([
    [
      'one JSON object has a fault',
      '{"a":1}\n{"b" 2}\n{"c":3}',
      [{ a: 1 }, expect.stringMatching(/^document 2, line 2: /), { c: 3 }],
    ],
    [
      'the last is not closed',
      '{"a":1}\n\n{"b":[2',
      [{ a: 1 }, expect.stringMatching(/^document 2, line 3: /)],
    ],
    [
      'an object follows in the same document of YAML',
      'a: 1\n---\n{"b":2}\n{"c":3}',
      [{ a: 1 }, 'document 2, line 4: another object begins here: put a line with --- before each'],
    ],
  ])('%s', (_, text, values) => {
    expect(read(text)).toEqual(values)
  })
})

test('no text throws', () => {
  const piece = fc.constantFrom(
    ...[
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      ':',
      ' ',
      '\n',
      '- ',
      '&x ',
      '*x',
      '<<: ',
      'a: ',
      '---\n',
      '? ',
      '|\n',
      '!!b ',
      '\\',
      '%',
      '\t',
    ],
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      for (const each of readDocuments(pieces.join('')))
        expect(each.place).toMatch(/^document \d+, line \d+$/)
    }),
    { numRuns: 2_000 },
  )
})
