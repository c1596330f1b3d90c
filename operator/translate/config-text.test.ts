// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { renderPlaceholders } from '../../proxy/config/yaml/scalar.ts'
import { configText, type Piece } from './config-text.ts'

const literal = fc
  .array(fc.constantFrom('$', '{', '}', '<', '>', 'A', '_'), { maxLength: 6 })
  .map((characters) => ({ literal: characters.join('') }))
const variable = fc.constantFrom({ variable: 'A' }, { variable: 'B_1' })

test('the router reads back any text', () => {
  const environment = { A: 'first', B_1: '${A}' } as const
  const valueOf = (piece: Piece) =>
    'literal' in piece ? piece.literal : environment[piece.variable as 'A' | 'B_1']
  fc.assert(
    fc.property(fc.array(fc.oneof(literal, variable), { maxLength: 6 }), (pieces) => {
      const written = configText(pieces)
      if (written === null) return
      const { scalar, malformed } = renderPlaceholders(written, environment)
      expect([scalar.reveal(), malformed]).toEqual([pieces.map(valueOf).join(''), false])
    }),
    { numRuns: 2000 },
  )
})

test('a dollar directly before a variable cannot be expressed', () => {
  expect(configText([{ literal: 'US$' }, { variable: 'A' }])).toBeNull()
  expect(configText([{ literal: 'US$ ' }, { variable: 'A' }])).toBe('US$ ${A}')
})
