// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { counted } from './counted.ts'

test.each([
  [0, '0 pods'],
  [1, '1 pod'],
  [2, '2 pods'],
])('%i of a noun', (count, text) => {
  expect(counted(count, 'pod')).toBe(text)
})

test('a verb follows its noun', () => {
  expect(counted(1, 'pod is', 'pods are')).toBe('1 pod is')
  expect(counted(2, 'pod is', 'pods are')).toBe('2 pods are')
})
