// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { minimal, parse } from './config-text.fixture.ts'

/** Any text yields a config or errors that explain themselves. */
function check(text: string): void {
  const { config, problems } = parse(text, { KEY: 'value' })
  const refused = problems.some((problem) => problem.severity === 'error')
  expect(config === null).toBe(refused)
  for (const problem of problems) expect(problem.message).not.toBe('')
}

test('any text is parsed or refused', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), check))
})

const yamlPieces = fc.constantFrom(
  'endpoints',
  'direct-rpc',
  'relay',
  'name',
  'url',
  ':',
  ': ',
  '-',
  '- ',
  '\n',
  '\n  ',
  '\n    ',
  '\t',
  '[',
  ']',
  '{',
  '}',
  ',',
  '"',
  "'",
  '&a ',
  '*a',
  '!x ',
  '? ',
  '| ',
  '> ',
  '#',
  '%',
  '---\n',
  '...',
  '<<: ',
  '${KEY}',
  '$<KEY>',
  '${',
  '__proto__',
  'null',
  '~',
  '1e3',
  '0',
  '\r\n',
  '\uFEFF',
  '\u2028',
  '\\',
)

test('any sequence of YAML fragments is parsed or refused', () => {
  fc.assert(
    fc.property(fc.array(yamlPieces, { maxLength: 40 }), (pieces) => check(pieces.join(''))),
    { numRuns: 500 },
  )
})

test('a config with a fragment removed or inserted is parsed or refused', () => {
  const at = fc.nat({ max: minimal.length })
  fc.assert(
    fc.property(at, fc.nat({ max: 20 }), yamlPieces, (start, length, piece) =>
      check(minimal.slice(0, start) + piece + minimal.slice(start + length)),
    ),
    { numRuns: 500 },
  )
})

const tree = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        ...'endpoints direct-rpc relay tls auth-config auth-headers node-urls url name'.split(' '),
      ),
      tie('value'),
    ),
  ),
})).value

test('any values under any keys are parsed or refused', () => {
  const key = fc.constantFrom(
    'endpoints',
    'direct-rpc',
    'strategy',
    'resp-cache',
    'use-static-spec',
  )
  fc.assert(
    fc.property(fc.dictionary(key, tree), (document) => check(JSON.stringify(document))),
    { numRuns: 500 },
  )
})
