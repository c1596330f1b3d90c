// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { FoundJson, misspelt, unreadable, valueIn } from './place.ts'

function read(text: string, path: readonly (string | number)[], before = ''): unknown {
  const bytes = Buffer.from(before + text)
  return valueIn(new FoundJson(bytes, Buffer.byteLength(before)), path)
}

test.each<[string, (string | number)[], unknown]>([
  ['["a","b"]', [1], 'b'],
  ['[ "a" , {"x": [ 1 , null ] } ]', [1, 'x', 0], 1],
  ['[ "a" , {"x": [ 1 , null ] } ]', [1, 'x', 1], null],
  ['["a"]', [1], undefined],
  ['[]', [0], undefined],
  ['[ ]', [0], undefined],
  ['null', [0], undefined],
  ['[null]', [0, 'x'], undefined],
  ['{"x":1}', ['y'], undefined],
  ['{"x":1}', [0], unreadable],
  ['[1]', ['x'], unreadable],
  ['["x"]', [0, 'x'], unreadable],
  ['{"a":"}],[{","x":2}', ['x'], 2],
  // Some nodes use the first duplicate, some the last.
  ['{"x":1,"x":2}', ['x'], misspelt],
  ['{"x":1,"X":2}', ['x'], misspelt],
  ['{"X":1,"x":2}', ['x'], misspelt],
  [String.raw`{"x":1,"\u0078":2}`, ['x'], misspelt],
  ['{"block":1,"bloc\u212a":2}', ['block'], misspelt],
  ['{"params":1,"param\u017f":2}', ['params'], misspelt],
  ['{"x":1,"y":2,"Y":3}', ['x'], 1],
  // The same applies inside a nested object.
  ['[{"x":1,"y":2}]', [0], { x: 1, y: 2 }],
  ['[{"x":1,"y":2,"x":1}]', [0], misspelt],
  ['[{"x":1,"y":2,"X":1}]', [0], misspelt],
  [String.raw`[{"x":1,"\u0079":2}]`, [0], misspelt],
  ['[{"x":1,"\u017f":2}]', [0], misspelt],
  ['{"fromblock":"0x1"}', ['fromBlock'], misspelt],
  ['{"FROMBLOCK":{"a":1}}', ['fromBlock', 'a'], misspelt],
  // The escape may spell the name, which only a parser can tell.
  [String.raw`{"from\u0042lock":"0x1"}`, ['fromBlock'], misspelt],
  ['{"fromBloc\u212a":"0x1"}', ['fromBlock'], misspelt],
])('%s at %j', (text, path, expected) => {
  expect(read(text, path)).toEqual(expected)
  expect(read(text, path, '{"é":[')).toEqual(expected)
})

it('finds the same value as a parser', () => {
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'long name'), fc.jsonValue())),
      fc.nat(3),
      fc.constantFrom('a', 'b'),
      fc.nat(2),
      (list, at, name, space) => {
        const text = JSON.stringify(list, null, space)
        // JSON.stringify writes a negative zero as 0.
        const parsed = JSON.parse(text) as typeof list
        const value = parsed[at]?.[name]
        expect(read(text, [at, name])).toEqual(isPlain(value) ? value : misspelt)
      },
    ),
  )
})

/** Whether no node reads two names in an object as the same field. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true
  const names = Object.keys(value)
  const isWritten = names.every((name) => /^[ !#-[\]-~]*$/.test(name))
  return isWritten && new Set(names.map((name) => name.toLowerCase())).size === names.length
}

describe('a long value', () => {
  const junk = `[${'{},'.repeat(3e6)}{}]`

  it('is skipped without parsing', () => {
    const before = process.memoryUsage().heapUsed
    expect(read(`[${junk},"latest"]`, [1])).toBe('latest')
    expect(read(`[${junk},"latest"]`, [0])).toBe(unreadable)
    expect(read(`{"a":${junk},"b":"latest"}`, ['b'])).toBe('latest')
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64e6)
  })

  it.each<[string, string, boolean]>([
    ['a list of 200 KiB', `[${'"x",'.repeat(50_000)}1]`, true],
    ['a list of 300 KiB', `[${'"x",'.repeat(75_000)}1]`, false],
    ['a text of 3 MiB', `"${'x'.repeat(3e6)}"`, true],
    ['a text of 5 MiB', `"${'x'.repeat(5e6)}"`, false],
    ['nesting', `${'['.repeat(9_000)}${']'.repeat(9_000)}`, true],
  ])('%s: read: %s', (_, value, isRead) => {
    expect(read(`[${value}]`, [0]) === unreadable).toBe(!isRead)
  })
})
