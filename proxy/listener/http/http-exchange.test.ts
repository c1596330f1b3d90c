// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { readTarget } from './http-exchange.ts'

test.each([
  ['/', { path: '/', query: '' }],
  ['/a/%2F//b?x=1?y', { path: '/a/%2F//b', query: 'x=1?y' }],
  ['//evil/x', { path: '//evil/x', query: '' }],
  ['/?http://x', { path: '/', query: 'http://x' }],
  ['http://x', { path: '/', query: '' }],
  ['HTTP://x:80?a', { path: '/', query: 'a' }],
  ['https://u@x/a/b?c', { path: '/a/b', query: 'c' }],
])('%s', (target, expected) => {
  expect(readTarget(target)).toEqual({ ...expected, fault: null })
})

test.each(['http:///a', '*', '*/a', '', '?a', 'a/b', 'x:443', 'ftp://evil/x', 'httpx://evil/x'])(
  '%s cannot be sent to a node',
  (target) => {
    expect(readTarget(target).fault?.message).toMatch('must be a path that begins with /')
  },
)

test.each(['/a#b', '/a?b#c', 'http://x#/a'])('%s has a fragment', (target) => {
  expect(readTarget(target).fault?.message).toMatch('has no fragment')
})
