// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { contains } from './contains.ts'

test.each([
  ['equal objects', { a: [{ b: 1 }] }, { a: [{ b: 1 }] }, true],
  ['defaults beside it', { a: 1, b: 2 }, { a: 1 }, true],
  ['defaults in items of a list', [{ name: 'x', protocol: 'TCP' }], [{ name: 'x' }], true],
  ['nothing for an empty list', {}, { egress: [] }, true],
  ['nothing for an empty map', {}, { podSelector: {} }, true],
  ['another value', { a: 1 }, { a: 2 }, false],
  ['an extra item', { a: [1, 2] }, { a: [1] }, false],
  ['a missing item', { a: [1] }, { a: [1, 2] }, false],
  ['another order', [1, 2], [2, 1], false],
  ['nothing for false', {}, { a: false }, true],
  ['nothing for zero', {}, { a: 0 }, true],
  ['true for false', { a: true }, { a: false }, false],
  ['one for zero', { a: 1 }, { a: 0 }, false],
  ['nothing for one', {}, { a: 1 }, false],
  ['an amount in other units', { requests: { cpu: '500m' } }, { requests: { cpu: '0.5' } }, true],
  ['another amount', { limits: { memory: '1Gi' } }, { limits: { memory: '1025Mi' } }, false],
  ['a missing amount', { limits: {} }, { limits: { memory: '1Gi' } }, false],
  ['other units elsewhere', { env: { a: '500m' } }, { env: { a: '0.5' } }, false],
  ['a string for a map', { a: 'x' }, { a: { b: 1 } }, false],
])('%s', (_, object, intent, expected) => {
  expect(contains(object, intent)).toBe(expected)
})
