// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { readTarget } from './request-target.ts'

test.each([
  ['/', { path: '/', query: '' }],
  ['/a/%2F//b?x=1?y', { path: '/a/%2F//b', query: 'x=1?y' }],
  ['//evil/x', { path: '//evil/x', query: '' }],
  ['/?http://x', { path: '/', query: 'http://x' }],
  ['http://x', { path: '/', query: '' }],
  ['HTTP://x:80?a', { path: '/', query: 'a' }],
  ['https://u@x/a/b?c', { path: '/a/b', query: 'c' }],
  ['http:///a', null],
  ['*', null],
  ['*/a', null],
  ['', null],
  ['?a', null],
  ['a/b', null],
  ['x:443', null],
  ['ftp://evil/x', null],
  ['httpx://evil/x', null],
])('%s', (target, expected) => {
  expect(readTarget(target)).toEqual(expected)
})
