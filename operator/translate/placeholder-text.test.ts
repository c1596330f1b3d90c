// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { renderPlaceholders } from '../../proxy/config/placeholder.ts'
import { literal, placeholder } from './placeholder-text.ts'

test('the router reads a literal as it was written, whatever is in it', () => {
  const text = fc.array(fc.constantFrom('$', '{', '}', '<', '>', 'A', '_'), { maxLength: 12 })
  fc.assert(
    fc.property(text, (characters) => {
      const written = characters.join('')
      const { scalar, malformed } = renderPlaceholders(literal(written), { A: 'value' })
      expect([scalar.reveal(), malformed]).toEqual([written, false])
    }),
  )
})

test('the router finds the variable of a placeholder', () => {
  const { scalar } = renderPlaceholders(`x${placeholder('KEY_A')}y`, { KEY_A: '1' })
  expect(scalar.reveal()).toBe('x1y')
})
