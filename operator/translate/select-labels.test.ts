// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { selects } from '../api/labels.ts'

const labels = { pool: 'mainnet', tier: 'paid' }

test.each([
  ['an absent selector selects nothing', undefined, false],
  ['an empty one selects all', {}, true],
  ['a label with its value', { matchLabels: { pool: 'mainnet' } }, true],
  ['all labels must match', { matchLabels: { pool: 'mainnet', tier: 'free' } }, false],
  ['a missing label does not match', { matchLabels: { zone: '' } }, false],
  ['a JavaScript property does not match', { matchLabels: { toString: 'x' } }, false],
  ['In', { matchExpressions: [{ key: 'tier', operator: 'In', values: ['paid', 'own'] }] }, true],
  [
    'In, without the label',
    { matchExpressions: [{ key: 'x', operator: 'In', values: ['a'] }] },
    false,
  ],
  ['NotIn', { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['paid'] }] }, false],
  [
    'NotIn, without the label',
    { matchExpressions: [{ key: 'x', operator: 'NotIn', values: ['a'] }] },
    true,
  ],
  ['Exists', { matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, true],
  ['DoesNotExist', { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, false],
  [
    'labels and expressions together',
    { matchLabels: { pool: 'mainnet' }, matchExpressions: [{ key: 'x', operator: 'Exists' }] },
    false,
  ],
] as const)('%s', (_, selector, expected) => {
  expect(selects(selector as never, labels)).toBe(expected)
  if (selector === undefined) return
  expect(selects({}, undefined)).toBe(true)
})
