// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ofLast } from './of-last.ts'

test('the same items are made something of once, whatever list they are in', () => {
  const [a, b] = [{ name: 'a' }, { name: 'b' }]
  const made: string[] = []
  const names = ofLast((items: readonly { readonly name: string }[]) => {
    const all = items.map(({ name }) => name).join()
    made.push(all)
    return all
  })
  const asked = [[a, b], [a, b], [b, a], [a], [a], [], [], [a, b]].map(names)
  expect(asked).toEqual(['a,b', 'a,b', 'b,a', 'a', 'a', '', '', 'a,b'])
  expect(made).toEqual(['a,b', 'b,a', 'a', '', 'a,b'])
  names([a, { name: 'b' }])
  expect(made).toHaveLength(6)
})
