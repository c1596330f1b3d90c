// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { clientLimits } from '../bytes/limits.ts'
import { Cursor, parseSpan, spaceEnd, valueEnd } from './scanner.ts'

/** Whether the text is exactly one JSON value. */
function accepts(text: string): boolean {
  const bytes = Buffer.from(text)
  const end = valueEnd(bytes, 0)
  return end >= 0 && spaceEnd(bytes, end) === bytes.length
}

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/** Near-JSON: valid documents with fragments removed, inserted or swapped. */
const nearlyJson = fc
  .tuple(
    fc.json({ maxDepth: 4 }),
    fc.array(
      fc.record({
        at: fc.nat(),
        drop: fc.integer({ min: 0, max: 3 }),
        put: fc.constantFrom(
          ...['', '"', ',', ':', '[', ']', '{', '}', '0', '-', '.', 'e', 'E+', '\\', '\\u12', ' '],
          ...[
            '\t',
            '\n',
            '\r',
            '\f',
            '\u00a0',
            '\ufeff',
            'tru',
            'true',
            'null',
            'nul',
            '00',
            '1e5',
            '\u0000',
          ],
        ),
      }),
      { maxLength: 3 },
    ),
  )
  .map(([json, edits]) => {
    let text = json
    for (const { at, drop, put } of edits) {
      const from = text.length === 0 ? 0 : at % (text.length + 1)
      text = text.slice(0, from) + put + text.slice(from + drop)
    }
    return text
  })

const valid: readonly (readonly [name: string, text: string])[] = [
  ['a scalar alone', '42'],
  ['white space of all four kinds around', ' \t\r\n{ \n"a" :\t1 }\r '],
  ['empty containers', '[{},[],[[]],{"a":{}}]'],
  ['empty name', '{"":0}'],
  ['the same name twice', '{"a":1,"a":2}'],
  ['a name of a prototype', '{"__proto__":{"x":1},"constructor":1}'],
  ['every short escape', String.raw`"\" \\ \/ \b \f \n \r \t"`],
  ['a lone surrogate, escaped', String.raw`"\ud800"`],
  ['a surrogate pair, escaped', String.raw`"\uD83D\uDE00"`],
  ['a null character, escaped', String.raw`"\u0000"`],
  ['DEL and line separators in a string', '"\u007f\u2028\u2029"'],
  ['a character beyond the first plane', '"𝄞"'],
  ['minus zero', '-0'],
  ['numbers of all forms', '[0,-1,1.5,-0.0,1e1,1E+2,1e-3,0e0,123456789012345678901234567890]'],
  ['a number that overflows', '[1e999,-1e999]'],
]

const invalid: readonly (readonly [name: string, text: string])[] = [
  ['nothing', ''],
  ['white space alone', ' \n '],
  ['two values', '1 2'],
  ['an extra closing bracket', '[1]]'],
  ['a comma at the end of an array', '[1,]'],
  ['a comma at the start of an array', '[,1]'],
  ['two commas', '[1,,2]'],
  ['no comma', '[1 2]'],
  ['a comma at the end of an object', '{"a":1,}'],
  ['no colon', '{"a" 1}'],
  ['two colons', '{"a"::1}'],
  ['no value', '{"a":}'],
  ['a name without quotes', '{a:1}'],
  ['a number as a name', '{1:1}'],
  ['single quotes', "{'a':1}"],
  ['crossed brackets', '[{]}'],
  ['an open array', '[1'],
  ['an open object', '{"a":1'],
  ['an open string', '"abc'],
  ['a string that ends in its escape', '"\\'],
  ['an unknown escape', String.raw`"\x41"`],
  ['a short unicode escape', String.raw`"\u12"`],
  ['a unicode escape that is not hex', String.raw`"\u12G4"`],
  ['a control character in a string', '"\u0001"'],
  ['a new line in a string', '"a\nb"'],
  ['a leading zero', '012'],
  ['minus alone', '-'],
  ['a plus sign', '+1'],
  ['no digit before the point', '.5'],
  ['no digit after the point', '1.'],
  ['no digit in the exponent', '1e'],
  ['hex', '0x1'],
  ['NaN', 'NaN'],
  ['Infinity', '-Infinity'],
  ['undefined', 'undefined'],
  ['a capital literal', 'True'],
  ['a cut literal', 'nul'],
  ['a comment', '[1/* one */]'],
  ['a byte order mark', '\ufeff{}'],
  ['a form feed as white space', '[\f]'],
  ['a no-break space as white space', '[\u00a0]'],
  ['a trailing null character', '{}\u0000'],
]

describe('the scanner', () => {
  test.each(valid)('accepts %s', (_, text) => {
    expect(parses(text)).toBe(true)
    expect(accepts(text)).toBe(true)
  })

  test.each(invalid)('refuses %s', (_, text) => {
    expect(parses(text)).toBe(false)
    expect(accepts(text)).toBe(false)
  })

  test('agrees with JSON.parse on near-JSON', () => {
    fc.assert(
      fc.property(nearlyJson, (text) => {
        expect(accepts(text)).toBe(parses(text))
      }),
      { numRuns: 3000 },
    )
  })

  test('refuses every proper prefix of a container', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.nat(), (json, cut) => {
        const text = `[${json}]`
        expect(accepts(text.slice(0, cut % text.length))).toBe(false)
      }),
    )
  })

  test('bounds nesting without using the stack', () => {
    const { nesting } = clientLimits
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    expect(accepts(nested(nesting))).toBe(true)
    expect(accepts(nested(nesting + 1))).toBe(false)
    expect(accepts('{"a":'.repeat(nesting) + '1' + '}'.repeat(nesting))).toBe(true)
    expect(accepts('[{"a":'.repeat(5000) + '1' + '}]'.repeat(5000))).toBe(true)
    expect(accepts('[{"a":'.repeat(5000) + '1' + ']}'.repeat(5000))).toBe(false)
    expect(accepts('['.repeat(10 * 1024 * 1024))).toBe(false)
  })

  test('reads long strings as JSON.parse does, at any alignment', () => {
    const part = fc.oneof(
      fc.integer({ min: 0, max: 200 }).map((length) => 'a'.repeat(length)),
      fc.constantFrom('"', '\\', '\\"', '\\u00e9', 'é', '\u0000', '\u001f', ' ', '\x7f'),
    )
    fc.assert(
      fc.property(fc.array(part), fc.nat(9), fc.nat(3), (parts, before, after) => {
        const text = `"${parts.join('')}"${' '.repeat(after)}`
        const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
        const end = valueEnd(bytes.subarray(before), 0)
        const rest = end < 0 ? 'wrong' : bytes.subarray(before + end).toString()
        expect(rest.trim() === '').toBe(parses(text))
      }),
      { numRuns: 3_000 },
    )
  })

  test('bounds the number of values on request', () => {
    const json = Buffer.from('[1,{"a":[2,3]},"b"]')
    expect([6, 7].map((maxValues) => valueEnd(json, 0, maxValues) > 0)).toEqual([false, true])
  })

  test('reports the offset of the wrong byte', () => {
    expect(~valueEnd(Buffer.from('{"a":1,}'), 0)).toBe(7)
    expect(~valueEnd(Buffer.from('[1,2'), 0)).toBe(4)
  })
})

describe('the cursors', () => {
  test('an object yields the members that JSON.parse sees, the last duplicate winning', () => {
    const spaced = fc
      .tuple(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), fc.nat(3))
      .map(([object, indent]) => [object, JSON.stringify(object, null, indent)] as const)
    fc.assert(
      fc.property(spaced, ([, text]) => {
        const bytes = Buffer.from(text)
        const cursor = new Cursor(bytes, 0)
        const seen: [string, unknown][] = []
        while (cursor.next())
          seen.push([
            parseSpan(bytes, cursor.nameStart, cursor.nameEnd) as string,
            parseSpan(bytes, cursor.valueStart, cursor.valueEnd),
          ])
        expect(cursor.end).toBe(bytes.length)
        expect(seen).toEqual(Object.entries(JSON.parse(text) as object))
      }),
    )
  })

  test('an array yields the elements that JSON.parse sees', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.nat(3), (array, indent) => {
        const text = JSON.stringify(array, null, indent)
        const bytes = Buffer.from(text)
        const cursor = new Cursor(bytes, 0)
        const seen: unknown[] = []
        while (cursor.next()) seen.push(parseSpan(bytes, cursor.valueStart, cursor.valueEnd))
        expect(cursor.end).toBe(bytes.length)
        expect(seen).toEqual(JSON.parse(text))
      }),
    )
  })

  test.each(invalid.filter(([, text]) => text.startsWith('{') && text !== '{}\u0000'))(
    'an object with %s is refused',
    (_, text) => {
      const cursor = new Cursor(Buffer.from(text), 0)
      while (cursor.next());
      expect(cursor.end).toBeLessThan(0)
    },
  )

  test.each(invalid.filter(([, text]) => text.startsWith('[') && text !== '[1]]'))(
    'an array with %s is refused',
    (_, text) => {
      const cursor = new Cursor(Buffer.from(text), 0)
      while (cursor.next());
      expect(cursor.end).toBeLessThan(0)
    },
  )
})
