// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { isSameQuantity, quantityValue } from './quantity.ts'

test.each([
  ['0.5', '500m', true],
  ['1024Mi', '1Gi', true],
  ['1.5Gi', '1536Mi', true],
  ['1000m', '1', true],
  [2, '2', true],
  ['0.3', '300m', true],
  ['1e3', '1k', true],
  ['12E', '12e18', true],
  ['100M', '100Mi', false],
  ['500m', '501m', false],
  ['a', 'a', true],
  ['a', 'b', false],
])('%s equals %s: %s', (a, b, expected) => {
  expect(isSameQuantity(a, b)).toBe(expected)
})

test.each([
  ['250m', 0.25],
  ['128Mi', 128 * 1024 ** 2],
  ['.5', 0.5],
  ['1E3', 1000],
  ['', null],
  ['1Xi', null],
  [undefined, null],
])('%s is %s', (text, expected) => {
  expect(quantityValue(text)).toBe(expected)
})
